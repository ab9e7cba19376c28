package targets

import (
	"time"

	"github.com/linkwatch/linkwatch/models"
)

// Sum is the roll-up of an hour or a day: its checks, those that found the
// target up, and how long the answers took.
type Sum struct {
	At      models.Time // when it began; zero: there is none yet
	Checks  int64
	Up      int64
	Latency Latencies
}

func (s Sum) share() Share { return Share{s.Checks, s.Up} }

// count adds a check to the target's hour. hours and days are those that the
// check has ended: they are to be stored, and are no longer in the target's row.
func (t *Target) count(r Result) (hours, days []Sum) {
	if r.Outcome == ThrottledOutcome {
		return nil, nil
	}
	hour := models.At(r.CheckedAt.Truncate(time.Hour))
	if hour.After(t.Hour.At.Time) { // a clock that was set back counts into the hour it was in
		if t.Hour.Checks > 0 {
			hours = append(hours, t.Hour)
			if of := models.At(t.Hour.At.Truncate(day)); of != t.Day.At {
				if t.Day.Checks > 0 {
					days = append(days, t.Day)
				}
				t.Day = Sum{At: of}
			}
			t.Day = t.Day.plus(t.Hour)
		}
		t.Hour = Sum{At: hour}
		if t.Day.Checks > 0 && hour.Truncate(day).After(t.Day.At.Time) {
			days = append(days, t.Day)
			t.Day = Sum{}
		}
	}
	t.Hour.Checks++
	if r.Outcome == UpOutcome {
		t.Hour.Up++
	}
	if r.StatusCode != 0 {
		t.Hour.Latency = t.Hour.Latency.plus(r.LatencyMS)
	}
	return hours, days
}

// plus is the sum with another part of the same day.
func (s Sum) plus(o Sum) Sum {
	var h histogram
	s.Latency.unpack(&h)
	o.Latency.unpack(&h)
	return Sum{At: s.At, Checks: s.Checks + o.Checks, Up: s.Up + o.Up, Latency: h.pack()}
}
