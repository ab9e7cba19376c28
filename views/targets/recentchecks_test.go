package targets

import (
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
)

func TestRecentChecksBar(t *testing.T) {
	now := models.At(time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC))
	few := targets.Target{RecentChecks: targets.RecentChecks{
		{At: now, Outcome: targets.UpOutcome, LatencyMS: 80},
		{At: now.Add(time.Minute), Outcome: targets.DownOutcome, LatencyMS: 5000},
		{At: now.Add(2 * time.Minute), Outcome: targets.ThrottledOutcome, LatencyMS: 9},
	}}
	if got := recentChecksLabel(few); got != "up in 1 of 3 checks, 1 throttled" {
		t.Errorf("%q", got)
	}
	segments := recentChecksBar(few)
	if len(segments) != targets.MaxRecentChecks || segments[36].Kind != segmentNone || segments[37] != (segment{Kind: segmentUp}) ||
		segments[38] != (segment{Kind: segmentDown, Title: "down · 24 Mar, 12:01:00 UTC"}) || segments[39].Kind != segmentThrottled {
		t.Errorf("%v", segments[35:])
	}
	if got := latencies(few); !slices.Equal(got, []int{80, -1, 9}) || latenciesLabel(few) != "response time from 9 ms to 80 ms" {
		t.Errorf("%v: %q", got, latenciesLabel(few))
	}
	if got := recentChecksLabel(targets.Target{}); got != "not checked yet" || latenciesLabel(targets.Target{}) != "no response times" {
		t.Errorf("%q", got)
	}
	full := targets.Target{RecentChecks: make(targets.RecentChecks, targets.MaxRecentChecks)}
	if got := recentChecksLabel(full); got != "up in 40 of the last 40 checks" {
		t.Errorf("%q", got)
	}
}
