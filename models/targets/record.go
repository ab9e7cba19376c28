package targets

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
)

// Checked is one finished check of a claimed target.
type Checked struct {
	Target       Target // as returned by Claim
	Result       Result
	Elapsed      time.Duration // of the whole check, with retries
	TLSExpiresAt models.Time   // of the certificate; zero: none or unknown
	RetryAfter   time.Duration // from the response, how long the target may not be checked; 0 = none

	inMaintenance bool // the check does not count towards uptime
}

// apply updates the state of the target with a result. opens and ends report whether the
// result starts or ends an outage.
func (t *Target) apply(r Result) (opens, ends bool) {
	t.LastCheckedAt, t.LastStatusCode = r.CheckedAt, r.StatusCode
	t.LastLatencyMS, t.LastError = r.LatencyMS, r.Error
	t.RecentChecks = t.RecentChecks.plus(RecentCheck{r.CheckedAt, r.Outcome, r.LatencyMS})
	before := t.State
	switch r.Outcome {
	case UpOutcome:
		t.State, t.Failures = Up, 0
	case DownOutcome:
		t.State = Down
		t.Failures++
	case ThrottledOutcome: // leaves the state unchanged
	}
	if t.State != before {
		t.StateSince = r.CheckedAt
	}
	return t.State == Down && before != Down, t.State == Up && before == Down
}

// nextDue returns when a target is due after a check that started at start. Each target
// has a fixed offset in the interval, at least half an interval later. This spreads
// targets evenly, and late checks do not shift the schedule.
func nextDue(seq int64, start models.Time, interval time.Duration) models.Time {
	const spread = 0x9E3779B97F4A7C15 // 2⁶⁴ / golden ratio: spreads consecutive keys evenly
	step := uint64(interval.Microseconds())
	offset := uint64(seq) * spread >> 20 % step
	earliest := uint64(start.UnixMicro()) + step/2
	return models.At(time.UnixMicro(int64(earliest + (offset+step-earliest%step)%step)))
}

// plan sets when a target is checked next: when it is due, or when its Retry-After
// ends. If the clock was set back during the check, plan uses the current time as
// its start, so that the next check is not delayed.
func (s *Store) plan(t *Target, c Checked) {
	now, started := s.clock.Now(), c.Result.CheckedAt
	if started.After(now.Time) {
		started = now
	}
	t.DueAt = nextDue(t.Seq, started, s.Interval(*t))
	t.PostponedUntil = models.Time{}
	if c.RetryAfter > 0 {
		t.PostponedUntil = now.Add(c.RetryAfter)
	}
	t.NextCheckAt = t.OverdueSince()
}

// OverdueSince returns when a check should start: when it is due, or when the Retry-After
// of the target ends.
func (t Target) OverdueSince() models.Time {
	if t.PostponedUntil.After(t.DueAt.Time) {
		return t.PostponedUntil
	}
	return t.DueAt
}

// Throttled reports whether a Retry-After of the target has not ended at a time.
func (t Target) Throttled(now models.Time) bool { return t.PostponedUntil.After(now.Time) }

// Record stores finished checks in one transaction and releases the targets. It writes
// results, states, roll-ups, outages and events, with one statement per table, and one
// more for the columns of targets that few checks change. It drops checks of targets that
// were deleted, paused or edited since the claim, or that another instance has claimed.
// Of several checks of a target it stores the first that is valid.
func (s *Store) Record(ctx context.Context, done ...Checked) error {
	if err := s.markMaintenance(ctx, done); err != nil {
		return fmt.Errorf("record checks: %w", err)
	}
	batches := s.batches(done)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		for _, b := range batches {
			if err := s.store(tx, b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("record checks: %w", err)
	}
	return nil
}

func (s *Store) markMaintenance(ctx context.Context, done []Checked) error {
	all := make([]Target, len(done))
	for i, c := range done {
		all[i] = c.Target
	}
	in, err := s.InMaintenance(ctx, all)
	for i, c := range done {
		done[i].inMaintenance = in[c.Target.ID]
	}
	return err
}

// recorded is a check and its changes.
type recorded struct {
	before, after Target
	result        Result
	opens, ends   bool // an outage
	rollups       rollups
	events        []event.Event
}

// batches returns checks in batches with one check per target each, usually one batch.
func (s *Store) batches(done []Checked) (all [][]recorded) {
	checks := make(map[int64]int, len(done)) // of each target so far
	for _, c := range done {
		n := checks[c.Target.Seq]
		checks[c.Target.Seq]++
		if n == len(all) {
			all = append(all, make([]recorded, 0, len(done)))
		}
		all[n] = append(all[n], s.evaluate(c))
	}
	return all
}

// evaluate returns the changes of a check.
func (s *Store) evaluate(c Checked) recorded {
	t := c.Target
	// A check that takes longer than the interval makes the interval longer.
	c.Result.TargetSeq, c.Result.IntervalMS = t.Seq, max(s.Interval(t), c.Elapsed).Milliseconds()
	r := recorded{before: c.Target, result: c.Result, rollups: t.count(c.Result, c.inMaintenance)}
	r.opens, r.ends = t.apply(c.Result)
	if !c.TLSExpiresAt.IsZero() {
		t.TLSExpiresAt = c.TLSExpiresAt
	}
	r.events = events(c.Target, t, c.Result)
	s.plan(&t, c)
	r.after = t
	return r
}

// store writes a batch. It skips checks whose claim or due time has changed.
func (s *Store) store(tx *gorm.DB, batch []recorded) error {
	valid, err := releaseChecked(tx, batch)
	if err != nil {
		return err
	}
	if err := storeStates(tx, valid); err != nil {
		return err
	}
	results := models.NewRows(`target_seq bigint, checked_at bigint, outcome bigint, status_code bigint, latency_ms bigint,
		attempts bigint, error text, interval_ms bigint`)
	var opened, ended []Result
	var hours, days []rollupRow
	var evts []event.Event
	for _, c := range valid {
		r := c.result
		results.Add(r.TargetSeq, r.CheckedAt, int(r.Outcome), r.StatusCode, r.LatencyMS, r.Attempts, r.Error, r.IntervalMS)
		hours, days = appendRollups(hours, r.TargetSeq, c.rollups.hours), appendRollups(days, r.TargetSeq, c.rollups.days)
		evts = append(evts, c.events...)
		switch {
		case c.opens:
			opened = append(opened, r)
		case c.ends:
			ended = append(ended, r)
		}
	}
	// ON CONFLICT skips duplicates, as in the other INSERTs: one row must not fail the batch.
	err = results.Exec(tx, `INSERT INTO check_results (target_seq, checked_at, outcome, status_code, latency_ms, attempts, error, interval_ms)
		SELECT target_seq, checked_at, outcome, status_code, latency_ms, attempts, error, interval_ms FROM {rows} AS r WHERE true
		ON CONFLICT DO NOTHING`).Error
	if err != nil {
		return err
	}
	if err := beginOutages(tx, opened); err != nil {
		return err
	}
	if err := endOutages(tx, ended); err != nil {
		return err
	}
	if err := event.Add(tx, evts...); err != nil {
		return err
	}
	return s.storeRollups(tx, hours, days)
}

// releaseChecked releases the targets of a batch, schedules their next checks, and returns
// the checks whose claim and due time have not changed.
func releaseChecked(tx *gorm.DB, batch []recorded) (valid []recorded, err error) {
	rows := models.NewRows("seq bigint, claimed_by text, claimed_due bigint, due_at bigint, next_check_at bigint, postponed_until bigint")
	for _, c := range batch {
		rows.Add(c.before.Seq, c.before.ClaimedBy, c.before.DueAt, c.after.DueAt, c.after.NextCheckAt, c.after.PostponedUntil)
	}
	query := rows.Raw(tx, `UPDATE target_schedule SET claimed_by = NULL, due_at = r.due_at, next_check_at = r.next_check_at,
			postponed_until = r.postponed_until, started_at = NULL, requested_at = NULL
		FROM {rows} AS r WHERE target_seq = r.seq AND `+sameClaim+` AND target_schedule.due_at = r.claimed_due
		RETURNING target_seq`)
	released := make(map[int64]bool, len(batch))
	if err := models.Each(query, func(r *models.Row) { released[r.Int64()] = true }); err != nil {
		return nil, err
	}
	for _, c := range batch {
		if released[c.before.Seq] {
			valid = append(valid, c)
		}
	}
	return valid, nil
}

// storeStates stores the new states of targets. Most checks change few columns. Those of
// the first statement have no index, so that the indexes need not change.
func storeStates(tx *gorm.DB, valid []recorded) error {
	usual := models.NewRows(`seq bigint, last_checked_at bigint, last_latency_ms bigint, known_until bigint, recent_checks bytes,
		hour_checks bigint, hour_up_us bigint, hour_down_us bigint, hour_latency bytes`)
	rare := models.NewRows(`seq bigint, state text, state_since bigint, last_status_code bigint, last_error text, failures bigint, tls_expires_at bigint,
		hour_bucket_start bigint, hour_known_from bigint,
		day_bucket_start bigint, day_checks bigint, day_known_from bigint, day_up_us bigint, day_down_us bigint, day_latency bytes`)
	for _, c := range valid {
		t := c.after
		usual.Add(t.Seq, t.LastCheckedAt, t.LastLatencyMS, t.KnownUntil, t.RecentChecks, t.Hour.Checks, t.Hour.UpUS, t.Hour.DownUS, t.Hour.Latency)
		if c.isRare() {
			rare.Add(t.Seq, t.State, t.StateSince, t.LastStatusCode, t.LastError, t.Failures, t.TLSExpiresAt,
				t.Hour.BucketStart, t.Hour.KnownFrom,
				t.Day.BucketStart, t.Day.Checks, t.Day.KnownFrom, t.Day.UpUS, t.Day.DownUS, t.Day.Latency)
		}
	}
	err := usual.Exec(tx, `UPDATE targets SET last_checked_at = r.last_checked_at, last_latency_ms = r.last_latency_ms, known_until = r.known_until,
			recent_checks = r.recent_checks, hour_checks = r.hour_checks, hour_up_us = r.hour_up_us, hour_down_us = r.hour_down_us, hour_latency = r.hour_latency
		FROM {rows} AS r WHERE targets.seq = r.seq`).Error
	if err != nil {
		return err
	}
	return rare.Exec(tx, `UPDATE targets SET state = r.state, state_since = r.state_since, last_status_code = r.last_status_code,
			last_error = r.last_error, failures = r.failures, tls_expires_at = r.tls_expires_at,
			hour_bucket_start = r.hour_bucket_start, hour_known_from = r.hour_known_from,
			day_bucket_start = r.day_bucket_start, day_checks = r.day_checks, day_known_from = r.day_known_from,
			day_up_us = r.day_up_us, day_down_us = r.day_down_us, day_latency = r.day_latency
		FROM {rows} AS r WHERE targets.seq = r.seq`).Error
}

// isRare reports whether a check changed one of the rare columns of storeStates. The day
// changes only when an hour ends.
func (c recorded) isRare() bool {
	a, b := c.before, c.after
	return a.State != b.State || a.StateSince != b.StateSince || a.LastStatusCode != b.LastStatusCode || a.LastError != b.LastError ||
		a.Failures != b.Failures || a.TLSExpiresAt != b.TLSExpiresAt ||
		a.Hour.BucketStart != b.Hour.BucketStart || a.Hour.KnownFrom != b.Hour.KnownFrom || a.Day.BucketStart != b.Day.BucketStart
}

// KeepDays is the retention of daily roll-ups and outages, in days.
const KeepDays = 400

// The retention of roll-ups: slightly longer than the ranges need.
const (
	hourRetention = 35 * models.Day
	dayRetention  = KeepDays * models.Day
)

// rollupRow is a row of target_hours or target_days.
type rollupRow struct {
	TargetSeq int64
	Rollup
}

func appendRollups(rows []rollupRow, seq int64, rollups []Rollup) []rollupRow {
	for _, s := range rollups {
		rows = append(rows, rollupRow{seq, s})
	}
	return rows
}

// storeRollups stores hours and days that have ended. At the end of each day it also
// deletes the expired roll-ups of the target.
func (s *Store) storeRollups(tx *gorm.DB, hours, days []rollupRow) error {
	if err := insertRollups(tx, "target_hours", hours); err != nil {
		return err
	}
	if err := insertRollups(tx, "target_days", days); err != nil {
		return err
	}
	for table, age := range map[string]time.Duration{"target_hours": hourRetention, "target_days": dayRetention} {
		rows := models.NewRows("target_seq bigint, before bigint")
		for _, d := range days {
			rows.Add(d.TargetSeq, d.BucketStart.Add(models.Day-age))
		}
		err := rows.Exec(tx, "DELETE FROM "+table+` WHERE (target_seq, bucket_start) IN (
			SELECT s.target_seq, s.bucket_start FROM {rows} AS r JOIN `+table+` AS s ON s.target_seq = r.target_seq AND s.bucket_start < r.before)`).Error
		if err != nil {
			return err
		}
	}
	return nil
}

func insertRollups(tx *gorm.DB, table string, rollups []rollupRow) error {
	rows := models.NewRows("target_seq bigint, bucket_start bigint, checks bigint, known_from bigint, up_us bigint, down_us bigint, latency bytes")
	for _, s := range rollups {
		rows.Add(s.TargetSeq, s.BucketStart, s.Checks, s.KnownFrom, s.UpUS, s.DownUS, s.Latency)
	}
	return rows.Exec(tx, "INSERT INTO "+table+` (target_seq, bucket_start, checks, known_from, up_us, down_us, latency)
		SELECT target_seq, bucket_start, checks, known_from, up_us, down_us, latency FROM {rows} AS r WHERE true ON CONFLICT DO NOTHING`).Error
}
