package crawl_test

import (
	"math"
	"testing"
	"time"

	"linkwatch/models/crawl"
)

func TestAdaptDoublesTheIntervalOfUnchangedPages(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		baseline  time.Duration
		unchanged int
		want      time.Duration
	}{
		{time.Hour, -1, time.Hour},
		{time.Hour, 0, time.Hour},
		{time.Hour, 1, 2 * time.Hour},
		{time.Hour, 4, 16 * time.Hour},
		{time.Hour, 5, day},
		{time.Hour, math.MaxInt, day},
		{day, 3, day},
		{7 * day, 0, 7 * day},
		{7 * day, 3, 7 * day},
		{math.MaxInt64, 1, math.MaxInt64},
		{1, 63, day},
		{18 * time.Hour, 1, 18 * time.Hour},
		{7 * time.Hour, 1, 14 * time.Hour},
		{7 * time.Hour, 2, 21 * time.Hour},
		{13 * time.Minute, 10, 110 * 13 * time.Minute},
		{day - 1, 9, day - 1},
		{-time.Hour, 3, -time.Hour},
		{0, 5, 0},
	} {
		if got := crawl.Adapt(c.baseline, c.unchanged); got != c.want {
			t.Errorf("%v, %d times unchanged: got %v, want %v", c.baseline, c.unchanged, got, c.want)
		}
	}
}
