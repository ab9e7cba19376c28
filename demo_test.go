package main

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/linkwatch/linkwatch/models"
	"github.com/linkwatch/linkwatch/models/targets"
)

// TestDemoIsWatched: the targets have months of history up to now, one of each
// sort is there to be looked at, and nobody is asked while that is done.
func TestDemoIsWatched(t *testing.T) {
	getenv := env(t, nil)
	if err := run(t.Context(), []string{"demo", "-links", "5"}, getenv, io.Discard); err != nil {
		t.Fatal(err)
	}
	db, err := models.Open(t.Context(), models.SQLite, getenv("DATABASE_URL"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	store := targets.NewStore(db, nil, targets.Options{CheckInterval: 15 * time.Second})
	counts, err := store.Counts(t.Context())
	if err != nil || counts.All() != 24 || counts[targets.Down] != 1 || counts[targets.Paused] != 1 || counts[targets.Pending] != 0 {
		t.Errorf("the targets are %v: %v", counts, err)
	}
	all, err := store.List(t.Context(), targets.Filter{}, models.Cursor{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	perfect, throttled := 0, 0
	for _, x := range all.Items {
		if x.Name == "" || len(x.Beats) != targets.MaxBeats || x.LastCheckedAt.After(now) || now.Sub(x.LastCheckedAt.Time) > 3*time.Minute {
			t.Errorf("not as lived with: %s, %d beats, checked %s", x.Name, len(x.Beats), x.LastCheckedAt)
		}
		if !x.Paused && x.NextCheckAt.Before(now.Add(demoRest-time.Hour)) {
			t.Errorf("%s is asked soon, at %s, and found down", x.Name, x.NextCheckAt)
		}
		ratio, ok := x.Uptime[targets.Last90d].Ratio()
		if !ok || ratio < 0.8 || x.Beats[0].LatencyMS == 0 {
			t.Errorf("%s: uptime %v (%v), beats %v", x.Name, ratio, ok, x.Beats[:3])
		}
		if ratio == 1 {
			perfect++
		}
		if x.Beats[len(x.Beats)-1].Outcome == targets.ThrottledOutcome {
			throttled++
		}
	}
	if perfect == 0 || perfect > 12 || throttled != 1 {
		t.Errorf("%d of 24 were never down, %d are throttled", perfect, throttled)
	}
	outages, err := store.Outages(t.Context(), "", models.Cursor{}, 500)
	if err != nil || len(outages.Items) < 50 {
		t.Errorf("there were %d outages: %v", len(outages.Items), err)
	}
	if p, err := store.PageBySlug(t.Context(), "demo"); err != nil || len(p.Targets) != demoPublic {
		t.Errorf("the status page has %d targets: %v", len(p.Targets), err)
	}
}
