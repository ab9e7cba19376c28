package targets

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/lease"
)

// Claim claims up to n due targets for an instance, the longest overdue first. No two
// instances claim the same target. next is when the next free target is due; zero: there
// is none. Errors include lease.ErrLost.
func (s *Store) Claim(ctx context.Context, holder lease.ID, n int) (ts []Target, next models.Time, err error) {
	now := s.clock.Now()
	next, err = lease.Claim(ctx, s.db, holder, now, firstDue, func(tx *gorm.DB) error {
		ts = nil
		// MATERIALIZED makes PostgreSQL evaluate due only once in the statement.
		return tx.Raw(`WITH due AS MATERIALIZED (
				SELECT seq FROM targets WHERE next_check_at <= ? AND claimed_by IS NULL ORDER BY next_check_at LIMIT ?`+s.db.SkipLocked()+`)
			UPDATE targets SET claimed_by = ? WHERE seq IN (SELECT seq FROM due) RETURNING *`, now, n, holder).Scan(&ts).Error
	})
	if err != nil {
		return nil, models.Time{}, fmt.Errorf("claim targets: %w", err)
	}
	slices.SortFunc(ts, func(a, b Target) int { return a.DueAt.Compare(b.DueAt.Time) })
	return ts, next, nil
}

// firstDue returns when the next free target is due; zero: there is none.
func firstDue(tx *gorm.DB) (next models.Time, err error) {
	err = tx.Raw("SELECT min(next_check_at) FROM targets WHERE next_check_at IS NOT NULL AND claimed_by IS NULL").Scan(&next).Error
	if err != nil {
		return next, fmt.Errorf("find next due target: %w", err)
	}
	return next, nil
}

// Release frees claimed targets, so that they can be claimed again after a delay. It
// stores their PostponedUntil and keeps their DueAt. It skips targets whose claim or
// DueAt has changed.
func (s *Store) Release(ctx context.Context, back ...lease.Released[Target]) error {
	rows := models.NewRows("seq bigint, claimed_by text, due_at bigint, next_check_at bigint, postponed_until bigint")
	now := s.clock.Now()
	for _, b := range back {
		rows.Add(b.Item.Seq, b.Item.ClaimedBy, b.Item.DueAt, now.Add(b.After), b.Item.PostponedUntil)
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return rows.Exec(tx, `UPDATE targets SET claimed_by = NULL, next_check_at = r.next_check_at, postponed_until = r.postponed_until FROM {rows} AS r
			WHERE targets.seq = r.seq AND targets.claimed_by = r.claimed_by AND targets.due_at = r.due_at`).Error
	})
	if err != nil {
		return fmt.Errorf("release targets: %w", err)
	}
	return nil
}

// ReleaseOthers frees all targets that an instance has claimed except keep. Call it
// after a failed claim, which may have been committed.
func (s *Store) ReleaseOthers(ctx context.Context, holder lease.ID, keep ...Target) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if len(keep) == 0 {
			return tx.Exec("UPDATE targets SET claimed_by = NULL WHERE claimed_by = ?", holder).Error
		}
		rows := models.NewRows("seq bigint")
		for _, t := range keep {
			rows.Add(t.Seq)
		}
		return rows.Exec(tx, "UPDATE targets SET claimed_by = NULL WHERE claimed_by = ? AND seq NOT IN (SELECT seq FROM {rows} AS r)", holder).Error
	})
	if err != nil {
		return fmt.Errorf("release other targets: %w", err)
	}
	return nil
}

// Spread reschedules targets when an instance starts to check, and returns how many. It
// spreads targets that are overdue by more than overdue over one CHECK_INTERVAL, for
// example after downtime. It also spreads targets that are due too far ahead: their
// interval became shorter or the clock was set back. It does nothing while other
// instances run, because they use the same schedule.
func (s *Store) Spread(ctx context.Context, holder lease.ID, overdue time.Duration) (n int64, err error) {
	now, every := s.clock.Now(), s.opts.CheckInterval.Microseconds()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		n = 0
		if others, err := lease.Others(tx, holder, now.Add(-lease.Duration)); err != nil || others {
			return err
		}
		// 2654435761 is Knuth's multiplicative hash: it spreads consecutive keys evenly.
		res := tx.Exec(`UPDATE targets SET due_at = ? + seq * 2654435761 % ?, next_check_at = ? + seq * 2654435761 % ?, postponed_until = NULL
			WHERE next_check_at IS NOT NULL AND claimed_by IS NULL AND (next_check_at < ? OR
				due_at > ? + 3 * CASE WHEN interval_seconds * 1000000 > ? THEN interval_seconds * 1000000 ELSE ? END / 2)`,
			now, every, now, every, now.Add(-overdue), now, every, every)
		n = res.RowsAffected
		return res.Error
	})
	if err != nil {
		return 0, fmt.Errorf("spread overdue checks: %w", err)
	}
	return n, nil
}
