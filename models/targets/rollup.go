package targets

import (
	"time"

	"linkwatch/models"
)

// Rollup is the roll-up of an hour or a day: the time known up and down, the number
// of checks and their response times.
type Rollup struct {
	BucketStart models.Time // zero: there is none yet
	Checks      int64       // without throttled checks
	KnownFrom   models.Time // start of the first time with a known state; zero: none
	UpUS        int64       `gorm:"column:up_us"`   // microseconds
	DownUS      int64       `gorm:"column:down_us"` // microseconds
	Latency     Latencies
}

func (s Rollup) share() Share {
	return Share{
		Up: time.Duration(s.UpUS) * time.Microsecond, Down: time.Duration(s.DownUS) * time.Microsecond, Since: s.KnownFrom,
	}
}

func (s Rollup) empty() bool { return s.Checks == 0 && s.KnownFrom.IsZero() }

// addTime adds the time between from and until, in which the target had a state.
func (s *Rollup) addTime(state Status, from, until models.Time) {
	d := until.Sub(from.Time).Microseconds()
	if state == Up {
		s.UpUS += d
	} else {
		s.DownUS += d
	}
	s.KnownFrom = first(s.KnownFrom, from)
}

// plus returns the sum of two roll-ups of the same bucket.
func (s Rollup) plus(o Rollup) Rollup {
	var h histogram
	s.Latency.unpack(&h)
	o.Latency.unpack(&h)
	return Rollup{
		BucketStart: s.BucketStart, Checks: s.Checks + o.Checks, KnownFrom: first(s.KnownFrom, o.KnownFrom),
		UpUS: s.UpUS + o.UpUS, DownUS: s.DownUS + o.DownUS, Latency: h.pack(),
	}
}

// first returns the earlier of two times. Zero times are ignored.
func first(a, b models.Time) models.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a.Time) {
		return b
	}
	return a
}
