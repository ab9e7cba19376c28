package targets

import (
	"slices"
	"testing"
	"time"

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
	at := Place{Filter: targets.Filter{Host: "a.test", Text: "x&y", Status: targets.Down}, Token: "abc"}
	for want, got := range map[string]string{
		"/watch": Place{}.Path(),
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
