package targets

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/lease"
)

// Claim claims up to n due targets for an instance, the longest overdue first. No two
// instances claim the same target. It sets only what a check needs. next is when the next
// free target is due; zero: there is none. Errors include lease.ErrLost.
func (s *Store) Claim(ctx context.Context, holder lease.ID, n int) (ts []Target, next models.Time, err error) {
	now := s.clock.Now()
	next, err = lease.Claim(ctx, s.db, holder, now, firstDue, func(tx *gorm.DB) error {
		schedules, err := claim(tx, holder, now, n, s.db.SkipLocked())
		if err != nil {
			return err
		}
		ts, err = claimed(tx, schedules)
		return err
	})
	if err != nil {
		return nil, models.Time{}, fmt.Errorf("claim targets: %w", err)
	}
	slices.SortFunc(ts, func(a, b Target) int { return cmp.Or(a.DueAt.Compare(b.DueAt.Time), cmp.Compare(a.Seq, b.Seq)) })
	return ts, next, nil
}

// claim claims up to n due targets and returns their schedules by key.
func claim(tx *gorm.DB, holder lease.ID, now models.Time, n int, skipLocked string) (map[int64]Schedule, error) {
	schedules := make(map[int64]Schedule, n)
	// MATERIALIZED makes PostgreSQL evaluate due only once in the statement.
	query := tx.Raw(`WITH due AS MATERIALIZED (
			SELECT target_seq FROM target_schedule WHERE next_check_at <= ? AND claimed_by IS NULL ORDER BY next_check_at LIMIT ?`+skipLocked+`)
		UPDATE target_schedule SET claimed_by = ?, started_at = NULL WHERE target_seq IN (SELECT target_seq FROM due) RETURNING `+scheduleColumns, now, n, holder)
	return schedules, models.Each(query, func(r *models.Row) {
		seq, s := readSchedule(r)
		schedules[seq] = s
	})
}

// claimed returns targets with what a check needs.
func claimed(tx *gorm.DB, schedules map[int64]Schedule) ([]Target, error) {
	ts := make([]Target, 0, len(schedules))
	rows := models.RowsOf("seq bigint", slices.Sorted(maps.Keys(schedules))) // nearby rows are read together
	query := rows.Raw(tx, `SELECT t.seq, t.id, t.url, t.canonical_url, t.host, t.name, t.interval_seconds,
			t.expect_status, t.expect_keyword, t.expect_absent, t.expect_latency_ms, t.private_to,
			t.state, t.state_since, t.last_checked_at, t.last_status_code, t.last_latency_ms, t.last_error,
			t.failures, t.tls_expires_at, t.known_until, t.recent_checks,
			t.hour_bucket_start, t.hour_checks, t.hour_known_from, t.hour_up_us, t.hour_down_us, t.hour_latency,
			t.day_bucket_start, t.day_checks, t.day_known_from, t.day_up_us, t.day_down_us, t.day_latency
		FROM {rows} AS r CROSS JOIN targets AS t WHERE t.seq = r.seq`)
	return ts, models.Each(query, func(r *models.Row) {
		t := Target{
			Seq: r.Int64(), ID: r.Text(), URL: r.Text(), CanonicalURL: r.Text(), Host: r.Text(), Name: r.Text(), IntervalSeconds: r.Int(),
			Expect:    Expect{Status: r.Text(), Keyword: r.Text(), KeywordAbsent: r.Text(), MaxLatencyMS: r.Int()},
			PrivateTo: r.Text(), State: Status(r.Text()),
		}
		t.Schedule = schedules[t.Seq]
		r.Scan(&t.StateSince)
		r.Scan(&t.LastCheckedAt)
		t.LastStatusCode, t.LastLatencyMS, t.LastError, t.Failures = r.Int(), r.Int(), r.Text(), r.Int()
		r.Scan(&t.TLSExpiresAt)
		r.Scan(&t.KnownUntil)
		r.Scan(&t.RecentChecks)
		t.Hour.read(r)
		t.Day.read(r)
		ts = append(ts, t)
	})
}

// read reads the columns of a roll-up.
func (s *Rollup) read(r *models.Row) {
	r.Scan(&s.BucketStart)
	s.Checks = r.Int64()
	r.Scan(&s.KnownFrom)
	s.UpUS, s.DownUS, s.Latency = r.Int64(), r.Int64(), r.Bytes()
}

// firstDue returns when the next free target is due; zero: there is none.
func firstDue(tx *gorm.DB) (next models.Time, err error) {
	err = tx.Raw("SELECT min(next_check_at) FROM target_schedule WHERE next_check_at IS NOT NULL AND claimed_by IS NULL").Scan(&next).Error
	if err != nil {
		return next, fmt.Errorf("find next due target: %w", err)
	}
	return next, nil
}

// Release frees claimed targets, so that they can be claimed again after a delay. It
// keeps their DueAt. It skips targets whose claim or DueAt has changed.
func (s *Store) Release(ctx context.Context, back ...lease.Released[Target]) error {
	rows := models.NewRows("seq bigint, claimed_by text, due_at bigint, next_check_at bigint")
	now := s.clock.Now()
	for _, b := range back {
		rows.Add(b.Item.Seq, b.Item.ClaimedBy, b.Item.DueAt, now.Add(b.After))
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return rows.Exec(tx, `UPDATE target_schedule SET claimed_by = NULL, next_check_at = r.next_check_at
			FROM {rows} AS r WHERE target_seq = r.seq AND `+sameClaim+` AND target_schedule.due_at = r.due_at`).Error
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
			return tx.Exec("UPDATE target_schedule SET claimed_by = NULL WHERE claimed_by = ?", holder).Error
		}
		rows := models.NewRows("seq bigint")
		for _, t := range keep {
			rows.Add(t.Seq)
		}
		return rows.Exec(tx, "UPDATE target_schedule SET claimed_by = NULL WHERE claimed_by = ? AND target_seq NOT IN (SELECT seq FROM {rows} AS r)", holder).Error
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
		res := tx.Exec(`UPDATE target_schedule SET due_at = ? + target_seq * 2654435761 % ?, next_check_at = ? + target_seq * 2654435761 % ?, postponed_until = NULL
			FROM targets AS t
			WHERE t.seq = target_seq AND next_check_at IS NOT NULL AND claimed_by IS NULL AND (next_check_at < ? OR
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
