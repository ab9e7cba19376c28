package models

import (
	"database/sql/driver"
	"fmt"
	"time"
)

// Day is the length of a day in UTC.
const Day = 24 * time.Hour

// Clock returns the current time. Code in models uses a Clock instead of time.Now, so that tests can set the time.
// A nil Clock is time.Now.
type Clock func() time.Time

// Now returns the time in the precision of the database.
func (c Clock) Now() Time {
	if c == nil {
		return At(time.Now())
	}
	return At(c())
}

// Instant returns the time with its monotonic reading, which Time drops. Use it to measure durations: setting the
// system clock does not affect them.
func (c Clock) Instant() time.Time {
	if c == nil {
		return time.Now()
	}
	return c()
}

// Time is a time in UTC, stored as microseconds since 1970: integers sort alike in every engine, but RFC 3339 text
// with trimmed zeros does not. The zero Time is stored as NULL and means "never".
type Time struct{ time.Time }

// At returns t in UTC, truncated to microseconds.
func At(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	return Time{t.UTC().Truncate(time.Microsecond)}
}

// Add returns t+d.
func (t Time) Add(d time.Duration) Time { return At(t.Time.Add(d)) }

// StartOfDay returns the start of t's day in UTC.
func (t Time) StartOfDay() Time { return At(t.Truncate(Day)) }

// Value implements driver.Valuer.
func (t Time) Value() (driver.Value, error) {
	if t.IsZero() {
		return nil, nil //nolint:nilnil // NULL is the value of "never"
	}
	return t.UnixMicro(), nil
}

// Scan implements sql.Scanner.
func (t *Time) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*t = Time{}
	case int64:
		*t = At(time.UnixMicro(v))
	default:
		return fmt.Errorf("time column has a %T, want microseconds", src)
	}
	return nil
}

// GormDataType tells GORM that the column is an integer.
func (Time) GormDataType() string { return "bigint" }
