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

// unit returns the length of the unit; 0 = the unit is unknown.
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

// Interval is the time between two runs of a job.
type Interval struct {
	Count int // 0 = the job runs once
	Type  IntervalType
}

// ParseInterval parses an interval. Without a count the job runs once. The default type is minutes. An interval is at most
// 366 days. Errors are CodeInvalid ("interval_minutes", for the count of any type, and "interval_type").
func ParseInterval(count *int, typ string) (Interval, error) {
	t := IntervalType(typ)
	if t == "" {
		t = Minutes
	}
	if t.unit() == 0 {
		return Interval{}, models.Invalid("interval_type", "must be %s, %s or %s", Minutes, Hours, Days)
	}
	if count == nil {
		return Interval{Type: t}, nil
	}
	if most := int(maxInterval / t.unit()); *count < 1 || *count > most {
		return Interval{}, models.OutOfRange("interval_minutes", string(t), 1, int64(most))
	}
	return Interval{Count: *count, Type: t}, nil
}

// Duration returns the time between two runs; 0 = the job runs once.
func (i Interval) Duration() time.Duration { return time.Duration(i.Count) * i.Type.unit() }

// Recurring reports whether the job runs more than once.
func (i Interval) Recurring() bool { return i.Count > 0 }

// CheckScheduled returns an error if a job with this interval cannot have a schedule: CodeInvalid ("interval_minutes").
func (i Interval) CheckScheduled() error {
	if !i.Recurring() {
		return models.Invalid("interval_minutes", "must be set if schedule_enabled is true")
	}
	return nil
}

// Backoff returns the pause after the nth failed attempt: base × 2^(attempt−1), at most one hour.
func Backoff(base time.Duration, attempt int) time.Duration {
	return doubled(base, max(attempt, 1)-1, maxBackoff)
}

// doubled returns d × 2^times, at most limit. It does not overflow, because it doubles d only while it is below limit.
func doubled(d time.Duration, times int, limit time.Duration) time.Duration {
	for ; times > 0 && 0 < d && d < limit; times-- {
		d *= 2
	}
	return min(d, limit)
}
