package targets_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/targets"
)

// Every page shows exactly the same uptime, and since when it counts if the history is
// shorter than the range.
func TestUptimeIsTheSameEverywhere(t *testing.T) {
	s := apptest.New(t)
	month := 30 * 24 * 3600
	shop := s.Watch("https://shop.example", "Shop")
	_, err := s.Targets.Edit(t.Context(), shop.ID, targets.Edit{IntervalSeconds: &month})
	s.Must(err)
	s.Record(shop, foundUp)
	s.Clock.Advance(40 * time.Hour)
	s.Record(shop, foundDown)
	s.Clock.Advance(142 * time.Minute)
	s.Record(shop, foundUp)
	s.Clock.Advance(7 * time.Hour)
	publish(s, "ours", "Ours", shop)

	var api struct {
		Uptime map[string]float64
		Since  map[string]*time.Time `json:"uptime_since"`
	}
	s.Must(json.Unmarshal([]byte(s.Get("/v1/targets/"+shop.ID).HTML), &api))
	const day, week = "89.82%", "95.18%" // without 143 minutes of 23 h 25 min, and of 49 h 24 min
	for r, want := range map[targets.Range]string{"24h": day, "7d": week, "30d": week, "90d": week} {
		if got := fmt.Sprintf("%.2f%%", 100*api.Uptime[string(r)]); got != want {
			t.Errorf("the API says %s of %s, want %s", got, r, want)
		}
		if filled := api.Since[string(r)] == nil; filled != (r == "24h") {
			t.Errorf("the API says of %s that it counts since %v", r, api.Since[string(r)])
		}
		var history struct{ Uptime float64 }
		s.Must(json.Unmarshal([]byte(s.Get("/v1/targets/"+shop.ID+"/history?range="+string(r)).HTML), &history))
		if history.Uptime != api.Uptime[string(r)] {
			t.Errorf("the history of %s says %v, the target %v", r, history.Uptime, api.Uptime[string(r)])
		}
		words := "uptime since 24 Mar | " + want
		if r == "24h" {
			words = "uptime 24h | " + want
		}
		if _, got := badge(s, "/badge/"+shop.ID+"/uptime/"+string(r)+".svg"); got != words {
			t.Errorf("the badge of %s says %q, want %q", r, got, words)
		}
	}
	const since = " first check 2 days ago"
	a := s.Get("/watch/" + shop.ID)
	apptest.WantText(t, a, ".tiles.ranges", day+" 24 hours "+week+" 7 days"+since+" "+week+" 30 days"+since)
	apptest.WantText(t, a, ".tiles.ranges", week+" 365 days"+since)
	a = s.Get("/watch/" + shop.ID + "?range=7d")
	apptest.WantCount(t, a, `[aria-label="Uptime over the last 7 days: `+week+`"]`, 1)
	a = s.Get("/watch")
	apptest.WantText(t, a, `.targets .share[data-label="24 h"]`, day)
	apptest.WantText(t, a, `.targets .share[data-label="30 days"]`, week)
	apptest.WantCount(t, a, `.targets .share[data-label="30 days"] .counts-since`, 1)
	apptest.WantCount(t, a, `.targets .share[data-label="24 h"] .counts-since`, 0)
	apptest.WantText(t, s.Get("/status/ours"), ".system-uptime", week+" up"+since)
}
