package crawl_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

func TestParseInterval(t *testing.T) {
	for _, c := range []struct {
		count     *int
		typ       string
		want      crawl.Interval
		every     time.Duration
		recurring bool
	}{
		{nil, "", crawl.Interval{Type: crawl.Minutes}, 0, false},
		{nil, "days", crawl.Interval{Type: crawl.Days}, 0, false},
		{new(1), "", crawl.Interval{Count: 1, Type: crawl.Minutes}, time.Minute, true},
		{new(90), "minutes", crawl.Interval{Count: 90, Type: crawl.Minutes}, 90 * time.Minute, true},
		{new(6), "hours", crawl.Interval{Count: 6, Type: crawl.Hours}, 6 * time.Hour, true},
		{new(366), "days", crawl.Interval{Count: 366, Type: crawl.Days}, 366 * 24 * time.Hour, true},
		{new(366 * 24), "hours", crawl.Interval{Count: 366 * 24, Type: crawl.Hours}, 366 * 24 * time.Hour, true},
	} {
		got, err := crawl.ParseInterval(c.count, c.typ)
		if err != nil || got != c.want || got.Duration() != c.every || got.Recurring() != c.recurring {
			t.Errorf("%v %q: got %+v, %v, %v", c.count, c.typ, got, got.Duration(), err)
		}
	}
}

func TestParseIntervalErrors(t *testing.T) {
	for _, c := range []struct {
		count          *int
		typ            string
		location, says string
	}{
		{new(1), "weeks", "interval_type", "minutes, hours or days"},
		{nil, "Minutes", "interval_type", "minutes, hours or days"},
		{new(0), "", "interval_minutes", "minutes from 1 to 527,040"},
		{new(-5), "days", "interval_minutes", "days from 1 to 366"},
		{new(367), "days", "interval_minutes", "days from 1 to 366"},
		{new(366*24 + 1), "hours", "interval_minutes", "hours from 1 to 8,784"},
		{new(math.MaxInt), "minutes", "interval_minutes", "527,040"},
	} {
		got, err := crawl.ParseInterval(c.count, c.typ)
		e, ok := errors.AsType[*models.Error](err)
		if !ok || e.Code != models.CodeInvalid || e.Fields[0].Location != c.location || !strings.Contains(e.Detail, c.says) {
			t.Errorf("%v %q: got %+v, %v", c.count, c.typ, got, err)
		}
	}
}

func TestBackoffDoublesUpToAnHour(t *testing.T) {
	for _, c := range []struct {
		base    time.Duration
		attempt int
		want    time.Duration
	}{
		{time.Minute, 0, time.Minute},
		{time.Minute, 1, time.Minute},
		{time.Minute, 2, 2 * time.Minute},
		{time.Minute, 6, 32 * time.Minute},
		{time.Minute, 7, time.Hour},
		{time.Minute, math.MaxInt, time.Hour},
		{time.Minute, math.MinInt, time.Minute},
		{2 * time.Hour, 1, time.Hour},
		{math.MaxInt64, 9, time.Hour},
		{1, 62, time.Hour},
		{0, 40, 0},
	} {
		if got := crawl.Backoff(c.base, c.attempt); got != c.want {
			t.Errorf("attempt %d with %v: got %v, want %v", c.attempt, c.base, got, c.want)
		}
	}
}
