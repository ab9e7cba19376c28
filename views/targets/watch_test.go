package targets

import (
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

func TestIntervals(t *testing.T) {
	const hour = 3600
	for _, c := range []struct {
		check time.Duration
		own   int
		want  []int
	}{
		{15 * time.Second, 0, []int{30, 60, 300, 900, hour, 6 * hour, 24 * hour, 168 * hour}},
		{15 * time.Second, 60, []int{30, 60, 300, 900, hour, 6 * hour, 24 * hour, 168 * hour}},
		{15 * time.Second, 90, []int{30, 60, 90, 300, 900, hour, 6 * hour, 24 * hour, 168 * hour}},
		{15 * time.Second, 5, []int{5, 30, 60, 300, 900, hour, 6 * hour, 24 * hour, 168 * hour}},
		{15 * time.Second, 200 * hour, []int{30, 60, 300, 900, hour, 6 * hour, 24 * hour, 168 * hour, 200 * hour}},
		{time.Hour, 0, []int{6 * hour, 24 * hour, 168 * hour}},
		{time.Hour, 60, []int{60, 6 * hour, 24 * hour, 168 * hour}},
		{time.Hour, 90, []int{90, 6 * hour, 24 * hour, 168 * hour}},
	} {
		if got := Intervals(c.check, c.own); !slices.Equal(got, c.want) {
			t.Errorf("checks %s, own %d s: %v, want %v", ui.Every(c.check), c.own, got, c.want)
		}
	}
}

func TestWatchPlaces(t *testing.T) {
	at := WatchPlace{Filter: targets.Filter{Host: "a.test", Text: "x&y", Status: targets.Down}, Token: "abc"}
	for want, got := range map[string]string{
		"/watch": WatchPlace{}.Path(),
		"/watch?host=a.test&page_token=abc&q=x%26y&status=down": at.Path(),
		"/watch?host=a.test&q=x%26y&status=up":                  at.withStatus(targets.Up).Path(),
		"/watch?q=x%26y&status=down":                            at.withHost("").Path(),
		"/watch/t_1":                                            TargetPlace{ID: "t_1", Range: targets.Last24h}.Path(),
		"/watch/t_1?failed=true&outages=o&page_token=p&range=7d": TargetPlace{
			ID: "t_1", Range: targets.Last7d, Failed: true, Token: "p", Outages: "o"}.Path(),
		"/watch/t_1?outages=o": TargetPlace{ID: "t_1", Failed: true, Token: "p", Outages: "o"}.withFailed(false).Path(),
	} {
		if got != want {
			t.Errorf("path %q, want %q", got, want)
		}
	}
}

func TestBeats(t *testing.T) {
	now := models.At(time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC))
	few := targets.Target{Beats: targets.Beats{
		{At: now, Outcome: targets.UpOutcome, LatencyMS: 80},
		{At: now.Add(time.Minute), Outcome: targets.DownOutcome, LatencyMS: 5000},
		{At: now.Add(2 * time.Minute), Outcome: targets.ThrottledOutcome, LatencyMS: 9},
	}}
	if got := beatsSay(few); got != "1 of 3 checks up, 1 throttled" {
		t.Errorf("%q", got)
	}
	beats := beatsOf(few)
	if len(beats) != targets.MaxBeats || beats[36].Kind != ui.BeatNone || beats[37] != (ui.Beat{Kind: ui.BeatUp}) ||
		beats[38] != (ui.Beat{Kind: ui.BeatDown, Title: "down · 24 Mar, 12:01:00 UTC"}) || beats[39].Kind != ui.BeatThrottled {
		t.Errorf("%v", beats[35:])
	}
	if got := latencies(few); !slices.Equal(got, []int{80, -1, 9}) || latenciesSay(few) != "latency from 9 ms to 80 ms" {
		t.Errorf("%v: %q", got, latenciesSay(few))
	}
	if got := beatsSay(targets.Target{}); got != "not checked yet" || latenciesSay(targets.Target{}) != "no latencies" {
		t.Errorf("%q", got)
	}
	full := targets.Target{Beats: make(targets.Beats, targets.MaxBeats)}
	if got := beatsSay(full); got != "40 of the last 40 checks up" {
		t.Errorf("%q", got)
	}
}
