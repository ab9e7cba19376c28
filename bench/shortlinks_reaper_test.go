package bench

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"linkwatch/e2e"
)

// reapingFigures measures redirects while the reaper deletes a million expired short links.
func reapingFigures(t *testing.T) {
	file := e2e.ShortLinkFile(t, "old", storedShortLinks, time.Now().Add(-24*time.Hour))
	db, closeDB := e2e.OpenDatabase(t, file)
	e2e.AddShortLinks(t, db, "hot", hotShortLinks, time.Time{})
	closeDB()
	s := e2e.Start(t, "DATABASE_URL="+file, "CLEANUP_INTERVAL=24h", "CLEANUP_MAX_DURATION=1h")
	steady := load{Address: address(s), Path: "/s/hot%07d", Keys: hotShortLinks, Rate: steadyRate, Seconds: 10}
	steady.send(t) // to warm up
	steady.Seconds = 30
	idle := steady.send(t)

	var stats struct {
		TotalCleaned int64   `json:"total_cleaned"`
		IsRunning    bool    `json:"is_running"`
		Average      float64 `json:"average_cleanup_ms"`
	}
	begun := time.Now()
	if status := s.Call("POST", "/v1/admin/cleanup/run", nil, nil); status != http.StatusAccepted {
		t.Fatalf("running the reaper: %d", status)
	}
	ask := func() {
		if status := s.Call("GET", "/v1/admin/cleanup/stats", nil, &stats); status != http.StatusOK {
			t.Fatalf("asking the reaper: %d", status)
		}
	}
	busy := steady.send(t)
	if ask(); !stats.IsRunning {
		t.Errorf("the reaper was quicker than %.0f s of redirects", steady.Seconds)
	}
	for stats.TotalCleaned < storedShortLinks || stats.IsRunning {
		if time.Since(begun) > 20*time.Minute {
			t.Fatalf("reaped %d in %v", stats.TotalCleaned, time.Since(begun))
		}
		time.Sleep(time.Second)
		ask()
	}
	table("%d expired short links reaped, %d redirects a second meanwhile", storedShortLinks, steadyRate)
	row("redirects while idle", "", "p50 %.2f p99 %.2f ms", idle.P50, idle.P99)
	row("redirects while reaping", fmt.Sprintf("≤ %.2f ms", 2*idle.P99), "p50 %.2f p99 %.2f ms", busy.P50, busy.P99)
	row("longest redirect, idle and while reaping", "", "%.0f and %.0f ms", idle.Greatest, busy.Greatest)
	row("redirects that failed", "0", "%d", busy.Failed+idle.Failed)
	row("time to reap all, and to delete meanwhile", "", "%.0f and %.0f s", reaperTook(t, s).Seconds(), stats.Average/1000)
	row("reaped", "", "%d", stats.TotalCleaned)
}

// reaperTook returns the duration of the last run of the reaper.
func reaperTook(t *testing.T, s *e2e.Server) time.Duration {
	t.Helper()
	var runs struct {
		Items []struct {
			DurationMS int64 `json:"duration_ms"`
		}
	}
	if status := s.Call("GET", "/v1/admin/jobs/reaper/runs", nil, &runs); status != http.StatusOK || len(runs.Items) == 0 {
		t.Fatalf("asking for the runs: %d", status)
	}
	return time.Duration(runs.Items[0].DurationMS) * time.Millisecond
}
