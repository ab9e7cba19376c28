package crawl

import (
	"time"

	"linkwatch/models"
)

// IntervalType is the unit of an Interval.
type IntervalType string

// The units of an interval.
const (
	Minutes IntervalType = "minutes"
	Hours   IntervalType = "hours"
	Days    IntervalType = "days"
)

const (
	maxInterval = 366 * models.Day // between two runs of a job
	maxBackoff  = time.Hour
)

// unit returns how long one of t is; 0 = there is no such unit.
func (t IntervalType) unit() time.Duration {
	switch t {
	case Minutes:
		return time.Minute
	case Hours:
		return time.Hour
	case Days:
		return models.Day
	}
	return 0
}

// Interval is how often a job runs.
type Interval struct {
	Count int // 0 = the job runs once
	Type  IntervalType
}

// ParseInterval reads an interval. No count means a one-time job; no type means minutes.
// An interval is at most 366 days. Errors are CodeInvalid ("interval_minutes", the count
// of any type, and "interval_type").
func ParseInterval(count *int, typ string) (Interval, error) {
	t := IntervalType(typ)
	if t == "" {
		t = Minutes
	}
	if t.unit() == 0 {
		return Interval{}, models.Invalid("interval_type", "must be one of %s, %s, %s", Minutes, Hours, Days)
	}
	if count == nil {
		return Interval{Type: t}, nil
	}
	if most := int(maxInterval / t.unit()); *count < 1 || *count > most {
		return Interval{}, models.Invalid("interval_minutes",
			"must be a whole number of %s from 1 to %d, or left out for a job that runs once", t, most)
	}
	return Interval{Count: *count, Type: t}, nil
}

// Duration returns the time from one run to the next; 0 = the job runs once.
func (i Interval) Duration() time.Duration { return time.Duration(i.Count) * i.Type.unit() }

// Recurring reports whether the job runs more than once.
func (i Interval) Recurring() bool { return i.Count > 0 }

// Backoff returns how long a job waits after its nth failed attempt: base × 2^(attempt−1),
// at most one hour.
func Backoff(base time.Duration, attempt int) time.Duration {
	return doubled(base, max(attempt, 1)-1, maxBackoff)
}

// doubled returns d × 2^times, at most limit. It does not overflow, since d is below
// limit whenever it is doubled.
func doubled(d time.Duration, times int, limit time.Duration) time.Duration {
	for ; times > 0 && 0 < d && d < limit; times-- {
		d *= 2
	}
	return min(d, limit)
}
