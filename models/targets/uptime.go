package targets

import (
	"slices"
	"time"

	"linkwatch/models"
)

// Uptime is time known up ÷ time known, not a ratio of checks. A result determines the
// state until the next result, but for at most knownIntervals intervals. After that, the
// state is unknown and the time does not count. The same is true while the target is
// throttled, paused, deleted or in maintenance.

// knownIntervals is the number of intervals for which a result counts. With two, a
// single missed check leaves no gap.
const knownIntervals = 2

// minStale is the shortest time without a result after which a status is stale.
const minStale = time.Minute

// stale reports whether the state of a target with a Schedule is no longer known: none of its checks within the last two
// intervals, and within minStale, was up or down. Either they were throttled, or checks did not run. A target whose next
// check is more than an interval ahead, as in sample data, keeps its state.
func (s *Store) stale(t Target) bool {
	now, last := s.clock.Now(), t.LastResultAt()
	throttled := last.Before(t.LastCheckedAt.Truncate(time.Second))
	ahead := max(s.Interval(t), s.opts.CheckInterval) // Spread schedules at most CheckInterval ahead
	if t.Paused || t.State == Pending || !throttled && t.OverdueSince().After(now.Add(ahead).Time) {
		return false
	}
	return last.Add(max(minStale, knownIntervals*s.Interval(t))).Before(now.Time)
}

// LastResultAt returns the time of the last check that was up or down, or zero if RecentChecks has none.
func (t Target) LastResultAt() models.Time {
	for _, c := range slices.Backward(t.RecentChecks) {
		if c.Outcome != ThrottledOutcome {
			return c.At
		}
	}
	return models.Time{}
}

// Share is how long a target was known to be up and down.
type Share struct {
	Up, Down time.Duration
	Since    models.Time // start of the first known time; zero: none
}

// Known returns the time in which the state was known.
func (s Share) Known() time.Duration { return s.Up + s.Down }

// Ratio returns Up ÷ Known, from 0 to 1; ok is false if no time is known. It is 1
// only without any down time, and 0 only without any up time.
func (s Share) Ratio() (ratio float64, ok bool) {
	if s.Known() == 0 {
		return 0, false
	}
	return float64(s.Up) / float64(s.Known()), true
}

func (s Share) plus(o Share) Share {
	return Share{s.Up + o.Up, s.Down + o.Down, first(s.Since, o.Since)}
}

// rollups is the ended roll-ups of a target. They are no longer in its row and must be
// stored.
type rollups struct{ hours, days []Rollup }

// count adds a check to the roll-ups of the target. Call it before apply, because it
// needs the previous result. The time after a check in maintenance does not count.
func (t *Target) count(r Result, inMaintenance bool) rollups {
	ended := t.accrue(r.CheckedAt)
	t.KnownUntil = models.Time{}
	if r.Outcome == ThrottledOutcome || inMaintenance {
		return ended
	}
	t.KnownUntil = r.CheckedAt.Add(knownIntervals * time.Duration(r.IntervalMS) * time.Millisecond)
	t.rollOver(r.CheckedAt, &ended)
	t.Hour.Checks++
	if r.StatusCode != 0 {
		t.Hour.Latency = t.Hour.Latency.plus(r.LatencyMS)
	}
	return ended
}

// accrue adds the known time since the last result, up to now.
func (t *Target) accrue(now models.Time) (ended rollups) {
	until := t.KnownUntil
	if now.Before(until.Time) {
		until = now
	}
	for from := t.LastCheckedAt; from.Before(until.Time); {
		to := models.At(from.Truncate(time.Hour).Add(time.Hour))
		if until.Before(to.Time) {
			to = until
		}
		t.rollOver(from, &ended)
		t.Hour.addTime(t.State, from, to)
		from = to
	}
	return ended
}

// rollOver starts the hour of a time, and its day, unless it is the current hour. If the
// clock was set back, an earlier time counts towards the current hour.
func (t *Target) rollOver(at models.Time, ended *rollups) {
	hour := models.At(at.Truncate(time.Hour))
	if !hour.After(t.Hour.BucketStart.Time) {
		return
	}
	if !t.Hour.empty() {
		ended.hours = append(ended.hours, t.Hour)
		if day := t.Hour.BucketStart.StartOfDay(); day != t.Day.BucketStart {
			if !t.Day.empty() {
				ended.days = append(ended.days, t.Day)
			}
			t.Day = Rollup{BucketStart: day}
		}
		t.Day = t.Day.plus(t.Hour)
	}
	t.Hour = Rollup{BucketStart: hour}
	if !t.Day.empty() && hour.StartOfDay().After(t.Day.BucketStart.Time) {
		ended.days = append(ended.days, t.Day)
		t.Day = Rollup{}
	}
}

// unstored returns the roll-ups that are not stored yet, up to now. The days include the
// current hour, which is not part of Day yet.
func (t Target) unstored(now models.Time) rollups {
	ended := t.accrue(now) // t is a copy
	return rollups{append(ended.hours, t.Hour), append(ended.days, t.Day, t.Hour)}
}
