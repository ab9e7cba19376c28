package targets

import (
	"time"

	"github.com/linkwatch/linkwatch/models"
)

// Uptime is measured in time, not in checks: time known up ÷ time known. The
// state that a result found lasts until the next result, but at most
// knownIntervals of the intervals that applied when it was made. After that,
// and while the target is throttled, paused or deleted, its state is unknown,
// which counts neither way.

// knownIntervals is for how many intervals a result is taken to hold: one check
// may be missing without a gap.
const knownIntervals = 2

// Share is how long a target was known to be up and down.
type Share struct {
	Up, Down time.Duration
	Since    models.Time // the first moment that counts; zero: none does
}

// Known is the time that counts.
func (s Share) Known() time.Duration { return s.Up + s.Down }

// Ratio is Up ÷ Known, from 0 to 1; ok is false if no time is known. It is 1
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

// sums are roll-ups that have ended. They are to be stored, and are no longer in
// the target's row.
type sums struct{ hours, days []Sum }

// count adds a check to the target's roll-ups. It comes before found, since it
// needs the result before.
func (t *Target) count(r Result) sums {
	ended := t.settle(r.CheckedAt)
	t.KnownUntil = models.Time{}
	if r.Outcome == ThrottledOutcome {
		return ended
	}
	t.KnownUntil = r.CheckedAt.Add(knownIntervals * time.Duration(r.IntervalMS) * time.Millisecond)
	t.roll(r.CheckedAt, &ended)
	t.Hour.Checks++
	if r.StatusCode != 0 {
		t.Hour.Latency = t.Hour.Latency.plus(r.LatencyMS)
	}
	return ended
}

// settle adds what is known of the time since the last result, until now.
func (t *Target) settle(now models.Time) (ended sums) {
	until := t.KnownUntil
	if now.Before(until.Time) {
		until = now
	}
	for from := t.LastCheckedAt; from.Before(until.Time); {
		to := models.At(from.Truncate(time.Hour).Add(time.Hour))
		if until.Before(to.Time) {
			to = until
		}
		t.roll(from, &ended)
		t.Hour.know(t.State, from, to)
		from = to
	}
	return ended
}

// roll begins the hour of a moment, and with it the day, unless it is under way.
// A moment before it, by a clock that was set back, counts into the hour under way.
func (t *Target) roll(at models.Time, ended *sums) {
	hour := models.At(at.Truncate(time.Hour))
	if !hour.After(t.Hour.At.Time) {
		return
	}
	if !t.Hour.empty() {
		ended.hours = append(ended.hours, t.Hour)
		if of := models.At(t.Hour.At.Truncate(day)); of != t.Day.At {
			if !t.Day.empty() {
				ended.days = append(ended.days, t.Day)
			}
			t.Day = Sum{At: of}
		}
		t.Day = t.Day.plus(t.Hour)
	}
	t.Hour = Sum{At: hour}
	if !t.Day.empty() && hour.Truncate(day).After(t.Day.At.Time) {
		ended.days = append(ended.days, t.Day)
		t.Day = Sum{}
	}
}

// underWay are the roll-ups of a target that are not stored yet, with the time
// until now: hours, and the days that they do not belong to.
func (t Target) underWay(now models.Time) sums {
	ended := t.settle(now) // of a copy
	return sums{append(ended.hours, t.Hour), append(ended.days, t.Day, t.Hour)}
}
