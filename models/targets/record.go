package targets

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Checked is one finished check of a claimed target.
type Checked struct {
	Target       Target // as Claim gave it
	Result       Result
	Took         time.Duration // the check as a whole, with its retries
	TLSExpiresAt models.Time   // of the certificate; zero: unknown
	RetryAfter   time.Duration // the host asked for a pause this long; 0 = it did not
}

// found brings the target's state up to a result. opens and ends say whether it
// begins or ends an outage.
func (t *Target) found(r Result) (opens, ends bool) {
	t.LastCheckedAt, t.LastStatusCode = r.CheckedAt, r.StatusCode
	t.LastLatencyMS, t.LastError = r.LatencyMS, r.Error
	t.Beats = t.Beats.plus(Beat{r.CheckedAt, r.Outcome, r.LatencyMS})
	before := t.State
	switch r.Outcome {
	case UpOutcome:
		t.State, t.Failures = Up, 0
	case DownOutcome:
		t.State = Down
		t.Failures++
	case ThrottledOutcome: // says nothing about the target's health
	}
	if t.State != before {
		t.StateSince = r.CheckedAt
	}
	return t.State == Down && before != Down, t.State == Up && before == Down
}

// nextDue is when a target comes due after a check that began at start: at its
// own place in the interval, which spreads the targets evenly over it and does
// not wander, however late a check may be.
func nextDue(seq int64, start models.Time, interval time.Duration) models.Time {
	const spread = 0x9E3779B97F4A7C15 // 2⁶⁴ by the golden ratio: neighbours get places far from each other
	step := uint64(interval.Microseconds())
	place := uint64(seq) * spread >> 20 % step
	earliest := uint64(start.UnixMicro()) + step/2
	return models.At(time.UnixMicro(int64(earliest + (place+step-earliest%step)%step)))
}

// plan says when a target is checked next: when it comes due, or after the
// pause that its host asked for. A check of the future, by a clock that has
// been set back meanwhile, must not put the next one off.
func (s *Store) plan(t *Target, c Checked) {
	now, began := s.clock.Now(), c.Result.CheckedAt
	if began.After(now.Time) {
		began = now
	}
	t.DueAt = nextDue(t.Seq, began, s.Interval(*t))
	t.NextCheckAt = t.DueAt
	if pause := now.Add(c.RetryAfter); c.RetryAfter > 0 && pause.After(t.DueAt.Time) {
		t.NextCheckAt = pause
	}
}

// MaxPutOff is how long a target is put off at most because its host is busy.
// It tells that from a pause that the host asked for.
const MaxPutOff = time.Minute

// LateSince is from when on a check is late: since it came due, or since the
// end of the pause that its host asked for.
func (t Target) LateSince() models.Time {
	if t.NextCheckAt.Sub(t.DueAt.Time) > MaxPutOff {
		return t.NextCheckAt
	}
	return t.DueAt
}

// Resting says whether a target's host asked for a pause that is not over.
func (t Target) Resting(now models.Time) bool {
	return t.NextCheckAt.After(now.Time) && t.LateSince() != t.DueAt
}

// Record stores finished checks in one transaction: result, state, roll-ups and
// outages, and gives the targets back. Nothing is stored of targets that were
// deleted, paused or set to be checked otherwise meanwhile, or that another
// checker has got.
func (s *Store) Record(ctx context.Context, checker string, done ...Checked) error {
	done = slices.Clone(done)
	slices.SortFunc(done, func(a, b Checked) int { return int(a.Target.Seq - b.Target.Seq) })
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var hours, days []sumRow
		for _, c := range done {
			t := c.Target
			// A check that takes longer than the interval makes the interval longer.
			c.Result.TargetSeq, c.Result.IntervalMS = t.Seq, max(s.Interval(t), c.Took).Milliseconds()
			ended := t.count(c.Result)
			opens, ends := t.found(c.Result)
			if !c.TLSExpiresAt.IsZero() {
				t.TLSExpiresAt = c.TLSExpiresAt
			}
			s.plan(&t, c)
			stored, err := giveBack(tx, checker, c.Target.DueAt, t)
			if err != nil || !stored {
				if err != nil {
					return err
				}
				continue
			}
			if err := insertResult(tx, c.Result); err != nil {
				return err
			}
			hours, days = appendSums(hours, t.Seq, ended.hours), appendSums(days, t.Seq, ended.days)
			if opens {
				err = beginOutage(tx, c.Result)
			} else if ends {
				err = endOutage(tx, t.Seq, c.Result.CheckedAt)
			}
			if err != nil {
				return err
			}
		}
		return s.storeSums(tx, hours, days)
	})
	if err != nil {
		return fmt.Errorf("recording checks: %w", err)
	}
	return nil
}

// giveBack writes what a check changed of a target and frees it. stored is
// false if it is no longer the checker's, or not in the way it was claimed.
func giveBack(tx *gorm.DB, checker string, claimedDue models.Time, t Target) (stored bool, err error) {
	res := tx.Exec(`UPDATE targets SET due_at = ?, next_check_at = ?, claimed_by = '',
			state = ?, state_since = ?, last_checked_at = ?, last_status_code = ?, last_latency_ms = ?, last_error = ?,
			failures = ?, tls_expires_at = ?, known_until = ?, beats = ?,
			hour_at = ?, hour_checks = ?, hour_known_from = ?, hour_up_us = ?, hour_down_us = ?, hour_latency = ?,
			day_at = ?, day_checks = ?, day_known_from = ?, day_up_us = ?, day_down_us = ?, day_latency = ?
		WHERE seq = ? AND claimed_by = ? AND due_at = ?`,
		t.DueAt, t.NextCheckAt,
		t.State, t.StateSince, t.LastCheckedAt, t.LastStatusCode, t.LastLatencyMS, t.LastError,
		t.Failures, t.TLSExpiresAt, t.KnownUntil, t.Beats,
		t.Hour.At, t.Hour.Checks, t.Hour.KnownFrom, t.Hour.UpUS, t.Hour.DownUS, t.Hour.Latency,
		t.Day.At, t.Day.Checks, t.Day.KnownFrom, t.Day.UpUS, t.Day.DownUS, t.Day.Latency,
		t.Seq, checker, claimedDue)
	return res.RowsAffected > 0, res.Error
}

// insertResult passes over a result that is there already, as do the other
// INSERTs of Record: one row must not keep a batch from being stored for ever.
func insertResult(tx *gorm.DB, r Result) error {
	return tx.Exec(`INSERT INTO check_results (target_seq, checked_at, outcome, status_code, latency_ms, attempts, error, interval_ms)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		r.TargetSeq, r.CheckedAt, int(r.Outcome), r.StatusCode, r.LatencyMS, r.Attempts, r.Error, r.IntervalMS).Error
}

// sumRow is a row of target_hours or target_days.
type sumRow struct {
	TargetSeq int64
	Sum       `gorm:"embedded"`
}

func appendSums(rows []sumRow, seq int64, sums []Sum) []sumRow {
	for _, s := range sums {
		rows = append(rows, sumRow{seq, s})
	}
	return rows
}

// How long roll-ups are kept: what the ranges need, and a little more.
const (
	hoursKept = 35 * day
	daysKept  = 400 * day
)

// storeSums stores hours and days that ended. A day's end is also when the
// target's oldest roll-ups go, so that there is never much to tidy up.
func (s *Store) storeSums(tx *gorm.DB, hours, days []sumRow) error {
	if err := insertSums(tx, "target_hours", hours); err != nil {
		return err
	}
	if err := insertSums(tx, "target_days", days); err != nil {
		return err
	}
	for i, d := range days {
		if i+1 < len(days) && days[i+1].TargetSeq == d.TargetSeq { // once per target is enough
			continue
		}
		for table, age := range map[string]time.Duration{"target_hours": hoursKept, "target_days": daysKept} {
			err := tx.Exec("DELETE FROM "+table+" WHERE target_seq = ? AND at < ?", d.TargetSeq, d.At.Add(day-age)).Error
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func insertSums(tx *gorm.DB, table string, rows []sumRow) error {
	for _, r := range rows {
		err := tx.Exec("INSERT INTO "+table+" (target_seq, at, checks, known_from, up_us, down_us, latency) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			r.TargetSeq, r.At, r.Checks, r.KnownFrom, r.UpUS, r.DownUS, r.Latency).Error
		if err != nil {
			return err
		}
	}
	return nil
}
