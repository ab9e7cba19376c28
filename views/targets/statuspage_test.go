package targets

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
)

// stale is the state of a target that was up, and has no recent result.
const stale targets.Status = "stale"

func statusOf(states ...targets.Status) StatusPage {
	var v StatusPage
	for i, s := range states {
		t := targets.Target{Name: string(rune('A' + i)), State: s, Paused: s == targets.Paused}
		if s == stale {
			t.State, t.Stale = targets.Up, true
		}
		v.Targets = append(v.Targets, t)
	}
	return v
}

func TestVerdict(t *testing.T) {
	const up, down, pending, paused = targets.Up, targets.Down, targets.Pending, targets.Paused
	for _, c := range []struct {
		page           StatusPage
		state          targets.Status
		verdict, aside string
	}{
		{statusOf(up), up, "All systems are up", ""},
		{statusOf(up, up, up), up, "All systems are up", ""},
		{statusOf(up, down, up), down, "1 of 3 is down", "B"},
		{statusOf(down, down, up), down, "2 of 3 are down", "A · B"},
		{statusOf(down, down, down, down, up), down, "4 of 5 are down", ""},
		{statusOf(down), down, "All systems are down", ""},
		{statusOf(down, down), down, "All systems are down", ""},
		{statusOf(down, paused), down, "1 of 2 is down", "A · 1 paused"},
		{statusOf(up, paused, pending), up, "1 of 3 is up", "1 paused · 1 pending"},
		{statusOf(up, up, pending), up, "2 of 3 are up", "1 pending"},
		{statusOf(pending), pending, "Waiting for the first results", ""},
		{statusOf(pending, paused), pending, "Waiting for the first results", "1 paused · 1 pending"},
		{statusOf(paused, paused), paused, "Monitoring is paused", ""},
		{statusOf(stale), unknown, "No recent results", ""},
		{statusOf(stale, stale), unknown, "No recent results", ""},
		{statusOf(up, stale), unknown, "1 of 2 is up", "1 without recent results"},
		{statusOf(stale, down), down, "1 of 2 is down", "B · 1 without recent results"},
		{statusOf(stale, paused, pending), unknown, "No recent results", "1 without recent results · 1 paused · 1 pending"},
	} {
		if got := c.page.verdict(); got != c.verdict || c.page.state() != c.state || c.page.details() != c.aside {
			t.Errorf("%q (%s), %q, want %q (%s), %q", got, c.page.state(), c.page.details(), c.verdict, c.state, c.aside)
		}
	}
}

func TestDayKind(t *testing.T) {
	for share, want := range map[targets.Share]segmentKind{
		{}:               segmentNone,
		{Up: models.Day}: segmentUp,
		{Up: models.Day - time.Second, Down: time.Second}: segmentPartly,
		{Up: time.Hour, Down: time.Hour}:                  segmentPartly,
		{Up: time.Hour, Down: 2 * time.Hour}:              segmentDown,
		{Down: time.Second}:                               segmentDown,
	} {
		if got := dayKind(share); got != want {
			t.Errorf("%+v is %s, want %s", share, got, want)
		}
	}
}

func TestOutageTimes(t *testing.T) {
	at := func(s string) models.Time {
		when, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return models.At(when)
	}
	begun := at("2026-03-12T23:50:00Z")
	for want, ended := range map[string]models.Time{
		"since 23:50 UTC": {}, "23:50 – 23:58 UTC": at("2026-03-12T23:58:10Z"), "23:50 – 13 Mar, 00:10 UTC": at("2026-03-13T00:10:00Z"),
	} {
		if got := outageTimes(targets.Outage{StartedAt: begun, EndedAt: ended}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
