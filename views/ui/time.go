package ui

import (
	"fmt"
	"strings"
	"time"

	"linkwatch/models"
)

const (
	day   = models.Day
	week  = 7 * day
	month = 30 * day
	year  = 365 * day
)

// agoSteps are the units of relative times and the ages below which they apply. static/app.js has the
// same steps.
var agoSteps = []struct {
	below, unit time.Duration
	word        string
}{
	{time.Minute, time.Second, "s"},
	{time.Hour, time.Minute, "min"},
	{day, time.Hour, "h"},
	{2 * week, day, "day"},
	{2 * month, week, "week"},
	{2 * year, month, "month"},
}

// justNow is the age below which seconds are not shown.
const justNow = 10 * time.Second

// ago formats t relative to now, in one unit: "3 min ago", "in 2 h".
func ago(t, now time.Time) string {
	d := now.Sub(t)
	future := d < 0
	d = d.Abs()
	switch {
	case future && d < time.Minute:
		return "in a moment"
	case d < justNow:
		return "just now"
	}
	unit, word := year, "year"
	for _, s := range agoSteps {
		if d < s.below {
			unit, word = s.unit, s.word
			break
		}
	}
	n := int(d / unit)
	if n > 1 && unit >= day { // "s", "min" and "h" have no plural
		word += "s"
	}
	if future {
		return fmt.Sprintf("in %d %s", n, word)
	}
	return fmt.Sprintf("%d %s ago", n, word)
}

// exact formats a time for tooltips and history tables.
func exact(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05 UTC") }

// Clock formats a time to the minute: "24 Mar 2026, 14:05 UTC".
func Clock(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

// ShortDuration formats a short duration in two or three digits: "84 ms", "1.2 s".
func ShortDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "< 1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// LongDuration formats a duration in one or two units, truncated: "3 min", "2 h 5 min".
func LongDuration(d time.Duration) string {
	for _, unit := range []struct {
		size, part time.Duration
		word, less string
	}{{day, time.Hour, "d", "h"}, {time.Hour, time.Minute, "h", "min"}, {time.Minute, time.Second, "min", "s"}} {
		if d >= unit.size {
			s := fmt.Sprintf("%d %s", d/unit.size, unit.word)
			if rest := d % unit.size / unit.part; rest > 0 {
				s += fmt.Sprintf(" %d %s", rest, unit.less)
			}
			return s
		}
	}
	return fmt.Sprintf("%d s", d/time.Second)
}

// WholeUnits formats a duration in its largest whole unit: "1 hour", "90 minutes".
func WholeUnits(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		word string
	}{{day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if d >= unit.size && d%unit.size == 0 {
			return Plural(int64(d/unit.size), unit.word)
		}
	}
	return d.String()
}

// Every formats an interval: "every minute", "every 5 minutes".
func Every(d time.Duration) string { return "every " + strings.TrimPrefix(WholeUnits(d), "1 ") }

// ResponseTime formats milliseconds: "84 ms", "1.2 s".
func ResponseTime(ms int) string { return ShortDuration(time.Duration(ms) * time.Millisecond) }
