//go:build e2e

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
	started := time.Now()
	if status := s.Call("POST", "/v1/admin/cleanup/run", nil, nil); status != http.StatusAccepted {
		t.Fatalf("run the reaper: status %d", status)
	}
	ask := func() {
		if status := s.Call("GET", "/v1/admin/cleanup/stats", nil, &stats); status != http.StatusOK {
			t.Fatalf("get the status of the reaper: %d", status)
		}
	}
	busy := steady.send(t)
	if ask(); !stats.IsRunning {
		t.Errorf("the reaper finished before the %.0f s of redirects", steady.Seconds)
	}
	for stats.TotalCleaned < storedShortLinks || stats.IsRunning {
		if time.Since(started) > 20*time.Minute {
			t.Fatalf("deleted only %d short links in %v", stats.TotalCleaned, time.Since(started))
		}
		time.Sleep(time.Second)
		ask()
	}
	table("Cleanup of %d expired short links, %d redirects per second meanwhile", storedShortLinks, steadyRate)
	row("redirects while idle", "", "p50 %.2f, p99 %.2f ms", idle.P50, idle.P99)
	row("redirects while the reaper deletes all short links", fmt.Sprintf("≤ %.2f ms", 2*idle.P99), "p50 %.2f, p99 %.2f ms", busy.P50, busy.P99)
	row("longest redirect, idle and during cleanup", "", "%.0f, %.0f ms", idle.Greatest, busy.Greatest)
	row("failed redirects", "0", "%d", busy.Failed+idle.Failed)
	row("time to delete all short links, and of that work", "", "%.0f, %.0f s", reaperTook(t, s).Seconds(), stats.Average/1000)
	row("deleted short links", "", "%d", stats.TotalCleaned)
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
		t.Fatalf("list runs: status %d", status)
	}
	return time.Duration(runs.Items[0].DurationMS) * time.Millisecond
}
