package targets

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/lease"
)

const (
	// lateAfter is how long after its due time a target that waits for its check is late.
	lateAfter = 2 * time.Second
	// overdueAfter is how late a target needs attention. Usual waits for other checks of its host are shorter.
	overdueAfter = time.Minute
	// LongCheck is the duration of a check from which on Started is called for it. It is less than lateAfter, so that
	// a target whose check runs is not shown as late.
	LongCheck = time.Second
	// MaxPostponed is the longest delay of Release.
	MaxPostponed = time.Minute
)

// Late is since when and why a target waits for its check beyond its due time. The zero value means that it is not
// late.
type Late struct {
	Since  models.Time
	Reason string // "another check of example.com is running"
}

// waits reports whether a target is late: its check is due and does not run.
func (t Target) waits(now models.Time) bool {
	running := t.ClaimedBy != "" && !t.StartedAt.IsZero()
	return !t.Paused && !t.DueAt.IsZero() && !running && !t.OverdueSince().After(now.Add(-lateAfter).Time)
}

// loadLate sets Late of targets that have a Schedule, with one query if any is late. Checks
// in progress are in the database, so all instances see the same.
func (s *Store) loadLate(tx *gorm.DB, ts []Target) error {
	now := s.clock.Now()
	var late []int
	for i, t := range ts {
		if t.waits(now) {
			late = append(late, i)
		}
	}
	if len(late) == 0 {
		return nil
	}
	busy := map[string]bool{}
	query := tx.Raw(`SELECT t.canonical_url FROM target_schedule AS s CROSS JOIN targets AS t
		WHERE s.started_at IS NOT NULL AND s.claimed_by IS NOT NULL AND t.seq = s.target_seq`)
	if err := models.Each(query, func(r *models.Row) { busy[models.HostPort(r.Text())] = true }); err != nil {
		return fmt.Errorf("load running checks: %w", err)
	}
	for _, i := range late {
		host := ts[i].HostPort()
		ts[i].Late = Late{Since: ts[i].OverdueSince(), Reason: "other checks run first"}
		if busy[host] {
			ts[i].Late.Reason = "another check of " + host + " is running"
		}
	}
	return nil
}

// Started stores the start of checks that have taken LongCheck, by the key of the target. It skips targets that
// another instance has claimed.
func (s *Store) Started(ctx context.Context, holder lease.ID, at map[int64]models.Time) error {
	rows := models.NewRows("seq bigint, started_at bigint")
	for seq, t := range at {
		rows.Add(seq, t)
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return rows.Exec(tx, `UPDATE target_schedule SET started_at = r.started_at FROM {rows} AS r
			WHERE target_seq = r.seq AND target_schedule.claimed_by || '' = ?`, holder).Error
	})
	if err != nil {
		return fmt.Errorf("store start of checks: %w", err)
	}
	return nil
}

// Requested returns the keys of the targets that an instance has claimed and whose check was requested.
func (s *Store) Requested(ctx context.Context, holder lease.ID) (seqs map[int64]bool, err error) {
	query := s.db.Read(ctx).Raw("SELECT target_seq FROM target_schedule WHERE requested_at IS NOT NULL AND claimed_by || '' = ?", holder)
	err = models.Each(query, func(r *models.Row) {
		if seqs == nil {
			seqs = map[int64]bool{}
		}
		seqs[r.Int64()] = true
	})
	if err != nil {
		return nil, fmt.Errorf("load requested checks: %w", err)
	}
	return seqs, nil
}

// Lateness returns the number of late targets and how late the latest is, for the metrics.
func (s *Store) Lateness(ctx context.Context) (n int, longest time.Duration, err error) {
	now := s.clock.Now()
	var first models.Time
	waiting, args := waitingSince(now, lateAfter)
	query := s.db.Read(ctx).Raw("SELECT count(*), min(since) FROM ("+waiting+") AS waiting", args...)
	if err = models.Each(query, func(r *models.Row) { n = r.Int(); r.Scan(&first) }); err != nil {
		return 0, 0, fmt.Errorf("count late targets: %w", err)
	}
	if n > 0 {
		longest = now.Sub(first.Time)
	}
	return n, longest, nil
}

// Overdue returns the number of targets that are late by more than overdueAfter, and up to limit of them with their Late.
// Their Uptime is not set.
func (s *Store) Overdue(ctx context.Context, limit int) (n int, first []Target, err error) {
	tx := s.db.Read(ctx)
	waiting, args := waitingSince(s.clock.Now(), overdueAfter)
	q := func() *gorm.DB {
		return notDeleted(tx).Where("NOT paused AND seq IN (SELECT target_seq FROM ("+waiting+") AS waiting)", args...)
	}
	var all int64
	if err := q().Count(&all).Error; err != nil {
		return 0, nil, fmt.Errorf("count overdue targets: %w", err)
	}
	if all == 0 {
		return 0, nil, nil
	}
	if first, err = find(q().Limit(limit)); err == nil {
		err = errors.Join(loadSchedule(tx, first), s.loadLate(tx, first))
	}
	return int(all), first, err
}

// waitingSince selects the keys of targets that are late by at least a duration, and since when.
func waitingSince(now models.Time, late time.Duration) (sql string, args []any) {
	const since = "CASE WHEN postponed_until > due_at THEN postponed_until ELSE due_at END AS since"
	cutoff := now.Add(-late)
	return `SELECT target_seq, since FROM (
			SELECT target_seq, ` + since + ` FROM target_schedule
			WHERE next_check_at IS NOT NULL AND claimed_by IS NULL AND next_check_at <= ? AND due_at <= ?
			UNION ALL SELECT target_seq, ` + since + ` FROM target_schedule
			WHERE claimed_by IS NOT NULL AND started_at IS NULL AND due_at <= ?
		) AS due WHERE since <= ?`, []any{now.Add(MaxPostponed), cutoff, cutoff, cutoff}
}
