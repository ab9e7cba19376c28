package sites

import (
	"testing"
	"time"

	"linkwatch/models"
)

// The expected values are computed by hand.
func TestAutoPriority(t *testing.T) {
	now := models.At(time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC))
	for _, c := range []struct {
		age  time.Duration
		want int
	}{
		{-48 * time.Hour, 100}, {0, 100}, {models.Day, 100}, {2*models.Day - 1000, 100}, {2 * models.Day, 85}, {3 * models.Day, 84}, {6 * models.Day, 81},
		{7 * models.Day, 80}, {8 * models.Day, 80}, {9 * models.Day, 80}, {10 * models.Day, 70}, {16 * models.Day, 70}, {17 * models.Day, 60}, {23 * models.Day, 60},
		{24 * models.Day, 50}, {30 * models.Day, 50}, {31 * models.Day, 50}, {59 * models.Day, 50}, {60 * models.Day, 40}, {89 * models.Day, 40}, {90 * models.Day, 30},
		{120 * models.Day, 20}, {149 * models.Day, 20}, {150 * models.Day, 10}, {4000 * models.Day, 10},
	} {
		if got := AutoPriority(now.Add(-c.age), now); got != c.want {
			t.Errorf("%s old: %d, want %d", c.age, got, c.want)
		}
	}
	if got := AutoPriority(models.Time{}, now); got != 10 {
		t.Errorf("no lastmod: %d", got)
	}
}

// A priority that is updated whenever nextPriority says is always correct.
func TestNextPriority(t *testing.T) {
	lastmod := models.At(time.Date(2026, 3, 24, 12, 34, 56, 0, time.UTC))
	at := lastmod.Add(-50 * time.Hour)
	current, next := AutoPriority(lastmod, at), nextPriority(lastmod, at)
	changes := 0
	for range 24 * 200 {
		at = at.Add(time.Hour)
		if !next.IsZero() && !next.After(at.Time) {
			changes++
			current, next = AutoPriority(lastmod, at), nextPriority(lastmod, at)
			if !next.IsZero() && !next.After(at.Time) {
				t.Fatalf("next change after %s: %s", at, next)
			}
		}
		if want := AutoPriority(lastmod, at); current != want {
			t.Fatalf("%s after lastmod: got %d, want %d", at.Sub(lastmod.Time), current, want)
		}
	}
	if !next.IsZero() || changes != 13 {
		t.Errorf("%d changes, next %s", changes, next)
	}
	if next := nextPriority(models.Time{}, at); !next.IsZero() {
		t.Errorf("page without lastmod changes at %s", next)
	}
}

func TestWhyPriority(t *testing.T) {
	now := models.At(time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC))
	for want, lastmod := range map[string]models.Time{
		"No lastmod in the sitemap": {}, "Modified today": now.Add(-time.Hour), "Modified 1 day ago": now.Add(-30 * time.Hour),
		"Modified 12 days ago": now.Add(-12 * models.Day), "lastmod is in the future": now.Add(time.Hour),
	} {
		if got := WhyPriority(lastmod, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
