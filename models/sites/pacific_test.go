package sites_test

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/sites"
)

func instant(t *testing.T, rfc3339 string) models.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		t.Fatal(err)
	}
	return models.At(at)
}

// Quota days end at midnight Pacific time. They have 23 or 25 hours when daylight saving time starts or ends.
func TestQuotaDays(t *testing.T) {
	for _, c := range []struct{ at, end string }{
		{"2026-03-24T12:00:00Z", "2026-03-25T07:00:00Z"},
		{"2026-03-25T06:59:59Z", "2026-03-25T07:00:00Z"},
		{"2026-03-25T07:00:00Z", "2026-03-26T07:00:00Z"},
		{"2026-03-08T07:59:59Z", "2026-03-08T08:00:00Z"},
		{"2026-03-08T08:00:00Z", "2026-03-09T07:00:00Z"}, // 23 hours
		{"2026-03-08T10:00:00Z", "2026-03-09T07:00:00Z"}, // 2:00 is skipped
		{"2026-11-01T06:59:59Z", "2026-11-01T07:00:00Z"},
		{"2026-11-01T07:00:00Z", "2026-11-02T08:00:00Z"}, // 25 hours
		{"2026-11-01T09:30:00Z", "2026-11-02T08:00:00Z"}, // the second 1:30
		{"2026-12-31T20:00:00Z", "2027-01-01T08:00:00Z"},
		{"2028-02-28T20:00:00Z", "2028-02-29T08:00:00Z"},
	} {
		if got, want := sites.DayEnd(instant(t, c.at)), instant(t, c.end); got != want {
			t.Errorf("day of %s: got end %v, want %v", c.at, got, want)
		}
	}
}

func TestPauseEnd(t *testing.T) {
	for _, reset := range []string{"2026-03-25T07:00:00Z", "2026-03-08T08:00:00Z", "2026-03-09T07:00:00Z", "2026-11-01T07:00:00Z", "2026-11-02T08:00:00Z"} {
		reset := instant(t, reset)
		for after, paused := range map[time.Duration]bool{
			-10*time.Second - time.Microsecond: false, -10 * time.Second: true, -time.Microsecond: true, 0: true,
			10*time.Second - time.Microsecond: true, 10 * time.Second: false, time.Hour: false, -time.Hour: false, 12 * time.Hour: false,
		} {
			want := models.Time{}
			if paused {
				want = reset.Add(10 * time.Second)
			}
			if got := sites.PauseEnd(reset.Add(after)); got != want {
				t.Errorf("%v after %v: %v, want %v", after, reset, got, want)
			}
		}
	}
}
