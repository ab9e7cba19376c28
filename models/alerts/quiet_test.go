package alerts_test

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
)

func parseTime(t *testing.T, text string) models.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return models.At(v)
}

// In 2026 the clocks in Berlin go forward on March 29 at 02:00 and back on October 25 at 03:00.
func TestEndOfQuietHours(t *testing.T) {
	night := alerts.Quiet{From: "22:00", To: "07:00", TimeZone: "Europe/Berlin"}
	gap := alerts.Quiet{From: "01:00", To: "02:30", TimeZone: "Europe/Berlin"}
	for _, c := range []struct {
		name  string
		quiet alerts.Quiet
		now   string
		end   string // "" if not in quiet hours
	}{
		{"before", night, "2026-01-10T20:59:59Z", ""},
		{"at the start", night, "2026-01-10T21:00:00Z", "2026-01-11T06:00:00Z"},
		{"after midnight", night, "2026-01-11T02:00:00Z", "2026-01-11T06:00:00Z"},
		{"at the end", night, "2026-01-11T06:00:00Z", ""},
		{"in the night that is an hour shorter", night, "2026-03-29T00:30:00Z", "2026-03-29T05:00:00Z"},
		{"in the night that is an hour longer", night, "2026-10-24T23:30:00Z", "2026-10-25T06:00:00Z"},
		{"within a day", alerts.Quiet{From: "12:00", To: "13:00", TimeZone: "UTC"}, "2026-01-10T12:30:00Z", "2026-01-10T13:00:00Z"},
		{"until a time that the clock skips", gap, "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z"},
		{"after a time that the clock skips", gap, "2026-03-29T01:00:00Z", ""},
		{"without quiet hours", alerts.Quiet{}, "2026-01-10T12:30:00Z", ""},
	} {
		var want models.Time
		if c.end != "" {
			want = parseTime(t, c.end)
		}
		if got := c.quiet.End(parseTime(t, c.now)); got != want {
			t.Errorf("%s: until %v, want %v", c.name, got, want)
		}
	}
}

func TestDurationsInWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 59 * time.Second: "59 s", 5 * time.Minute: "5 min", 61 * time.Second: "1 min 1 s", 130 * time.Minute: "2 h 10 min",
		24 * time.Hour: "1 day", 76 * time.Hour: "3 days 4 h",
	} {
		if got := alerts.FormatDuration(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
