package admin_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/cleanup"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
)

const cleanupStats = "/v1/admin/cleanup/stats"

func TestCleanupStats(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	declareReaper(s)
	never := map[string]any{
		"last_cleanup_time": nil, "total_cleaned": 0, "last_batch_size": 0, "successful_runs": 0, "failed_runs": 0, "average_cleanup_ms": 0,
	}
	stats := s.Do("GET", cleanupStats, "").Want(200)
	apptest.Has(s.TB, stats, never)
	apptest.Has(s.TB, stats, map[string]any{"is_running": false, "enabled": true, "waiting": 0, "waiting_more": false})
	if stats["next_run_at"] == nil {
		s.Error("got no next run")
	}
	for i, of := range apptest.Objects(stats["kinds"]) {
		apptest.Has(s.TB, of, never)
		if of["kind"] != kinds[i] {
			s.Errorf("kind %d is %v", i, of["kind"])
		}
	}

	// The steps of a run.
	ended(s, 25)
	apptest.Has(s.TB, s.Do("GET", cleanupStats, "").Want(200), map[string]any{"waiting": 25})
	s.Must(s.Jobs.Request(s.Context(), cleanup.Job))
	run, _, err := s.Jobs.Begin(s.Context(), s.Holder(), cleanup.Job, inAnHour)
	s.Must(err)
	for range 2 {
		_, err = s.Cleanup.Batch(s.Context(), shortLinks, 20, s.ShortLinks.ReapExpired)
		s.Must(err)
	}
	apptest.Has(s.TB, s.Do("GET", cleanupStats, "").Want(200), map[string]any{"is_running": true, "total_cleaned": 25, "last_batch_size": 5, "waiting": 0, "successful_runs": 0})
	for _, ms := range []float64{100, 213.4} {
		s.Must(s.Cleanup.Finish(s.Context(), cleanup.Run{
			StartedAt: s.Cleanup.Now(), Kind: shortLinks, Duration: time.Duration(ms * float64(time.Millisecond)),
		}))
	}
	s.Must(s.Cleanup.Finish(s.Context(), cleanup.Run{StartedAt: s.Cleanup.Now(), Kind: tags, Error: "broken"}))
	s.Must(s.Jobs.Finish(s.Context(), run))
	stats = s.Do("GET", cleanupStats, "").Want(200)
	done := map[string]any{
		"last_cleanup_time": s.Clock.Now().Format(time.RFC3339), "total_cleaned": 25, "last_batch_size": 5,
		"successful_runs": 2, "failed_runs": 0, "average_cleanup_ms": 156.7,
	}
	apptest.Has(s.TB, stats, done)
	apptest.Has(s.TB, stats, map[string]any{"is_running": false})
	of := apptest.Objects(stats["kinds"])
	if len(of) != len(kinds) {
		s.Fatalf("figures of %d kinds", len(of))
	}
	apptest.Has(s.TB, of[slices.Index(kinds, shortLinks)], done)
	apptest.Has(s.TB, of[slices.Index(kinds, tags)], map[string]any{"kind": tags, "failed_runs": 1, "successful_runs": 0, "last_cleanup_time": nil})
}

// The alias of the statistics has the same response and needs the same login.
func TestCleanupStatsAlias(t *testing.T) {
	s := apptest.New(t)
	declareReaper(s)
	for _, at := range []string{"/api/admin/cleanup/stats", "/api" + cleanupStats} {
		if got, want := s.Do("GET", at, "").Body, s.Do("GET", cleanupStats, "").Body; got != want || !strings.Contains(got, `"total_cleaned":0`) {
			t.Errorf("%s: got %s", at, got)
		}
		if a := s.Do("HEAD", at, ""); a.Status != 200 || a.Body != "" {
			t.Errorf("HEAD %s: %d", at, a.Status)
		}
		s.Do("POST", at, "").Problem(405, "method-not-allowed", "")
	}
	s.Do("GET", "/api/admin/cleanup", "").Problem(404, "not-found", "")
}

func TestCleanupBacklogIsCountedUpToALimit(t *testing.T) {
	s := apptest.New(t)
	declareReaper(s)
	ended(s, cleanup.MaxWaiting)
	apptest.Has(s.TB, s.Do("GET", cleanupStats, "").Want(200), map[string]any{"waiting": cleanup.MaxWaiting, "waiting_more": false})
	modelstest.Exec(t, s.DB, "UPDATE short_links SET short_key = 'other' || short_key")
	ended(s, 1)
	apptest.Has(s.TB, s.Do("GET", cleanupStats, "").Want(200), map[string]any{"waiting": cleanup.MaxWaiting, "waiting_more": true})
}

func TestRunCleanup(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	const run = "/v1/admin/cleanup/run"
	declareReaper(s)
	for range 2 { // two requests before the start cause one run
		if a := s.Do("POST", run, ""); a.Status != http.StatusAccepted || a.Body != "" {
			s.Errorf("%d %s", a.Status, a.Body)
		}
	}
	began, ok, err := s.Jobs.Begin(s.Context(), s.Holder(), cleanup.Job, inAnHour)
	if err != nil || !ok || began.Trigger != schedule.Manual {
		s.Fatalf("%+v, %v, %v", began, ok, err)
	}
	if a := s.Do("POST", run, ""); !strings.Contains(a.Body, "running") {
		s.Errorf("it does not say why: %s", a.Body)
	}
	s.Do("POST", run, "").Problem(409, "conflict", "")
	s.Must(s.Jobs.Finish(s.Context(), began))
	s.Do("POST", run, "").Want(http.StatusAccepted)
}

func TestCleanupWithoutDatabase(t *testing.T) {
	s := apptest.New(t)
	declareReaper(s)
	modelstest.Exec(t, s.DB, "DROP TABLE cleanup_totals")
	s.Do("GET", cleanupStats, "").Problem(500, "internal", "")
}

// Without CLEANUP_ENABLED the statistics show it. A run can still be started and deletes all
// other kinds.
func TestCleanup_ShortLinksAreKept(t *testing.T) {
	s := apptest.New(t, apptest.Set("CLEANUP_ENABLED", "false"))
	declareReaper(s)
	ended(s, 3)
	stats := s.Do("GET", cleanupStats, "").Want(200)
	apptest.Has(s.TB, stats, map[string]any{"enabled": false, "waiting": 3, "is_running": false})
	if stats["next_run_at"] == nil {
		t.Error("got no next run")
	}
	s.Do("POST", "/v1/admin/cleanup/run", "").Want(http.StatusAccepted)
}
