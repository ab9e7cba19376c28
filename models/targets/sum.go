package targets

import (
	"time"

	"github.com/linkwatch/linkwatch/models"
)

// Sum is the roll-up of an hour or a day: how long the target was known to be
// up and down, how many checks there were, and how long the answers took.
type Sum struct {
	At        models.Time // when it began; zero: there is none yet
	Checks    int64       // without those that were throttled
	KnownFrom models.Time // the first moment that counts; zero: none does
	UpUS      int64       `gorm:"column:up_us"`   // microseconds
	DownUS    int64       `gorm:"column:down_us"` // microseconds
	Latency   Latencies
}

func (s Sum) share() Share {
	return Share{
		Up: time.Duration(s.UpUS) * time.Microsecond, Down: time.Duration(s.DownUS) * time.Microsecond, Since: s.KnownFrom,
	}
}

func (s Sum) empty() bool { return s.Checks == 0 && s.KnownFrom.IsZero() }

// know adds the time from from until until, in which the target was in a state.
func (s *Sum) know(state Status, from, until models.Time) {
	d := until.Sub(from.Time).Microseconds()
	if state == Up {
		s.UpUS += d
	} else {
		s.DownUS += d
	}
	s.KnownFrom = first(s.KnownFrom, from)
}

// plus is the sum with another part of the same day.
func (s Sum) plus(o Sum) Sum {
	var h histogram
	s.Latency.unpack(&h)
	o.Latency.unpack(&h)
	return Sum{
		At: s.At, Checks: s.Checks + o.Checks, KnownFrom: first(s.KnownFrom, o.KnownFrom),
		UpUS: s.UpUS + o.UpUS, DownUS: s.DownUS + o.DownUS, Latency: h.pack(),
	}
}

// first is the earlier of two times, of which either may be zero: none.
func first(a, b models.Time) models.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a.Time) {
		return b
	}
	return a
}
