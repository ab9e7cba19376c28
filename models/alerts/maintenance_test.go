package alerts_test

import (
	"testing"

	"linkwatch/models/alerts"
)

func window(t *testing.T, repeat alerts.Repeat, zone, from, to string) alerts.Maintenance {
	t.Helper()
	return alerts.Maintenance{StartsAt: parseTime(t, from), EndsAt: parseTime(t, to), Repeat: repeat, TimeZone: zone}
}

// In 2026 the clocks in Berlin go forward on March 29 at 02:00 and back on October 25 at 03:00.
func TestOccurrencesOfMaintenance(t *testing.T) {
	const berlin = "Europe/Berlin"
	weekly := window(t, alerts.RepeatWeekly, berlin, "2026-03-21T23:00:00+01:00", "2026-03-22T03:00:00+01:00")
	back := window(t, alerts.RepeatWeekly, berlin, "2026-10-24T22:00:00+02:00", "2026-10-25T06:00:00+01:00")
	forward := window(t, alerts.RepeatWeekly, berlin, "2026-03-28T22:00:00+01:00", "2026-03-29T06:00:00+02:00")
	skipped := window(t, alerts.RepeatWeekly, berlin, "2026-03-22T02:10:00+01:00", "2026-03-22T02:40:00+01:00")
	twice := window(t, alerts.RepeatWeekly, berlin, "2026-10-25T02:50:00+02:00", "2026-10-25T02:10:00+01:00")
	second := window(t, alerts.RepeatWeekly, berlin, "2026-10-25T02:30:00+01:00", "2026-10-25T04:00:00+01:00")
	days := window(t, alerts.RepeatWeekly, berlin, "2026-03-20T18:00:00+01:00", "2026-03-23T06:00:00+01:00")
	monthly := window(t, alerts.RepeatMonthly, "UTC", "2026-01-31T10:00:00Z", "2026-02-01T10:00:00Z")
	local := window(t, alerts.RepeatMonthly, berlin, "2026-02-28T22:00:00+01:00", "2026-03-01T06:00:00+01:00")
	once := window(t, alerts.RepeatNone, "UTC", "2026-01-31T10:00:00Z", "2026-02-01T10:00:30Z")
	for _, c := range []struct {
		name     string
		window   alerts.Maintenance
		now      string
		in       bool
		from, to string // of the current or next occurrence; "" if there is none
	}{
		{"once, before", once, "2026-01-31T09:59:59Z", false, "2026-01-31T10:00:00Z", "2026-02-01T10:00:30Z"},
		{"once, in it", once, "2026-02-01T10:00:29Z", true, "2026-01-31T10:00:00Z", "2026-02-01T10:00:30Z"},
		{"once, after", once, "2026-02-01T10:00:30Z", false, "", ""},
		{"weekly, before the first time", weekly, "2026-03-15T01:00:00Z", false, "2026-03-21T23:00:00+01:00", "2026-03-22T03:00:00+01:00"},
		{"weekly, the first time", weekly, "2026-03-22T01:00:00Z", true, "2026-03-21T23:00:00+01:00", "2026-03-22T03:00:00+01:00"},
		{"weekly, between", weekly, "2026-03-24T01:00:00Z", false, "2026-03-28T23:00:00+01:00", "2026-03-29T03:00:00+02:00"},
		{"weekly, in the night that is an hour shorter", weekly, "2026-03-29T00:59:59Z", true, "2026-03-28T23:00:00+01:00", "2026-03-29T03:00:00+02:00"},
		{"weekly, after that night", weekly, "2026-03-29T01:00:00Z", false, "2026-04-04T23:00:00+02:00", "2026-04-05T03:00:00+02:00"},
		{"weekly, in summer", weekly, "2026-04-04T21:30:00Z", true, "2026-04-04T23:00:00+02:00", "2026-04-05T03:00:00+02:00"},
		{"weekly, in summer, an hour early", weekly, "2026-04-04T20:30:00Z", false, "2026-04-04T23:00:00+02:00", "2026-04-05T03:00:00+02:00"},
		{"weekly, in the night that is an hour longer", weekly, "2026-10-25T01:30:00Z", true, "2026-10-24T23:00:00+02:00", "2026-10-25T03:00:00+01:00"},
		{"first in the longer night", back, "2026-10-25T04:59:59Z", true, "2026-10-24T22:00:00+02:00", "2026-10-25T06:00:00+01:00"},
		{"a week after the longer night", back, "2026-11-01T04:59:59Z", true, "2026-10-31T22:00:00+01:00", "2026-11-01T06:00:00+01:00"},
		{"a week after the longer night, after its end", back, "2026-11-01T05:00:00Z", false, "2026-11-07T22:00:00+01:00", "2026-11-08T06:00:00+01:00"},
		{"a summer after the longer night", back, "2027-06-05T21:00:00Z", true, "2027-06-05T22:00:00+02:00", "2027-06-06T06:00:00+02:00"},
		{"a week after the shorter night", forward, "2026-04-05T03:59:59Z", true, "2026-04-04T22:00:00+02:00", "2026-04-05T06:00:00+02:00"},
		{"a week after the shorter night, after its end", forward, "2026-04-05T04:00:00Z", false, "2026-04-11T22:00:00+02:00", "2026-04-12T06:00:00+02:00"},
		{"times that the clock skips", skipped, "2026-03-29T01:15:00Z", true, "2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"},
		{"a week after the skipped times", skipped, "2026-04-05T00:15:00Z", true, "2026-04-05T02:10:00+02:00", "2026-04-05T02:40:00+02:00"},
		{"while the clock goes back", twice, "2026-10-25T01:05:00Z", true, "2026-10-25T02:50:00+02:00", "2026-10-25T02:10:00+01:00"},
		{"a week after the clock went back", twice, "2026-11-01T02:00:00Z", true, "2026-11-01T02:50:00+01:00", "2026-11-01T03:10:00+01:00"},
		{"first at the second 02:30", second, "2026-10-25T01:30:00Z", true, "2026-10-25T02:30:00+01:00", "2026-10-25T04:00:00+01:00"},
		{"a week after the second 02:30", second, "2026-10-27T00:00:00Z", false, "2026-11-01T02:30:00+01:00", "2026-11-01T04:00:00+01:00"},
		{"a weekend with the change", days, "2026-03-30T03:59:59Z", true, "2026-03-27T18:00:00+01:00", "2026-03-30T06:00:00+02:00"},
		{"after a weekend with the change", days, "2026-03-30T04:00:00Z", false, "2026-04-03T18:00:00+02:00", "2026-04-06T06:00:00+02:00"},
		{"monthly, the first time", monthly, "2026-02-01T09:00:00Z", true, "2026-01-31T10:00:00Z", "2026-02-01T10:00:00Z"},
		{"monthly, in a month without that day", monthly, "2026-03-03T11:00:00Z", false, "2026-03-31T10:00:00Z", "2026-04-01T10:00:00Z"},
		{"monthly, in the next one with it", monthly, "2026-04-01T09:00:00Z", true, "2026-03-31T10:00:00Z", "2026-04-01T10:00:00Z"},
		{"monthly, in the night of the change", local, "2026-03-29T03:59:59Z", true, "2026-03-28T22:00:00+01:00", "2026-03-29T06:00:00+02:00"},
		{"monthly, after the night of the change", local, "2026-03-29T04:00:00Z", false, "2026-04-28T22:00:00+02:00", "2026-04-29T06:00:00+02:00"},
	} {
		now := parseTime(t, c.now)
		from, to, ok := c.window.NextOccurrence(now)
		if ok != (c.from != "") || ok && (from != parseTime(t, c.from) || to != parseTime(t, c.to)) {
			t.Errorf("%s: from %v to %v, %v", c.name, from, to, ok)
		}
		if around, until, in := c.window.OccurrenceAt(now); in != c.in || in && (around != from || until != to) {
			t.Errorf("%s: around: from %v to %v, %v", c.name, around, until, in)
		}
	}
}

// Frequent calls do not load time zone files.
func TestTimeZonesAreReadOnce(t *testing.T) {
	quiet := alerts.Quiet{From: "22:00", To: "07:00", TimeZone: "Pacific/Auckland"}
	weekly := window(t, alerts.RepeatWeekly, "Pacific/Auckland", "2026-03-21T22:00:00Z", "2026-03-22T02:00:00Z")
	now := parseTime(t, "2026-06-10T12:00:00Z")
	for name, do := range map[string]func(){"quiet hours": func() { quiet.End(now) }, "maintenance": func() { weekly.NextOccurrence(now) }} {
		if n := testing.AllocsPerRun(100, do); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
