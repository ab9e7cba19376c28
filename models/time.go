package models

import (
	"database/sql/driver"
	"fmt"
	"time"
)

// Day is the length of a day in UTC.
const Day = 24 * time.Hour

// Clock tells the time. Everything in models that needs the present asks one,
// so that tests decide what day it is.
type Clock func() time.Time

// Now is the clock's time in the precision that the store keeps.
func (c Clock) Now() Time {
	if c == nil {
		return At(time.Now())
	}
	return At(c())
}

// Instant is the clock's time with its monotonic reading, which Time drops. Use
// it to measure how long ago something was: the monotonic clock cannot be set.
func (c Clock) Instant() time.Time {
	if c == nil {
		return time.Now()
	}
	return c()
}

// Time is an instant in UTC, stored as an integer of microseconds since 1970:
// integers sort alike in every engine, which RFC 3339 text with trimmed zeros
// does not. The zero Time is stored as NULL and means "never".
type Time struct{ time.Time }

// At is t in UTC, cut to the microsecond that the store keeps.
func At(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	return Time{t.UTC().Truncate(time.Microsecond)}
}

// Add is t moved by d.
func (t Time) Add(d time.Duration) Time { return At(t.Time.Add(d)) }

// StartOfDay is when t's day begins, in UTC.
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
		return fmt.Errorf("a time column holds %T, want microseconds", src)
	}
	return nil
}

// GormDataType tells GORM that the column is an integer.
func (Time) GormDataType() string { return "bigint" }
