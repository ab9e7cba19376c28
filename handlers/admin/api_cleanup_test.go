package admin_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/handlers"
	"linkwatch/models/cleanup"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
	"linkwatch/models/shortlinks"
)

const cleanupStats = "/v1/admin/cleanup/stats"

func inAnHour(time.Time) time.Time { return time.Now().Add(time.Hour) }

func TestCleanupStats(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.Server) {
		s.DeclareReaper()
		never := map[string]any{
			"last_cleanup_time": nil, "total_cleaned": 0, "last_batch_size": 0, "successful_runs": 0, "failed_runs": 0, "average_cleanup_ms": 0,
		}
		stats := s.Do("GET", cleanupStats, "").Want(200)
		s.Has(stats, never)
		s.Has(stats, map[string]any{"is_running": false, "enabled": true, "waiting": 0, "waiting_more": false})
		if stats["next_run_at"] == nil {
			s.Error("no next run")
		}
		for i, of := range apptest.Objects(stats["kinds"]) {
			s.Has(of, never)
			if of["kind"] != cleanup.Kinds[i] {
				s.Errorf("kind %d is %v", i, of["kind"])
			}
		}

		// A run through its steps, as the reaper takes them.
		ended(s, 25)
		s.Has(s.Do("GET", cleanupStats, "").Want(200), map[string]any{"waiting": 25})
		s.Must(s.Jobs.Request(s.Context(), cleanup.Job))
		run, _, err := s.Jobs.Begin(s.Context(), cleanup.Job, inAnHour)
		s.Must(err)
		for range 2 {
			_, err = s.Cleanup.Batch(s.Context(), cleanup.ShortLinks, 20, s.ShortLinks.Reap)
			s.Must(err)
		}
		s.Has(s.Do("GET", cleanupStats, "").Want(200), map[string]any{"is_running": true, "total_cleaned": 25, "last_batch_size": 5, "waiting": 0, "successful_runs": 0})
		for _, ms := range []float64{100, 213.4} {
			s.Must(s.Cleanup.Finish(s.Context(), cleanup.Run{
				StartedAt: s.Cleanup.Now(), Kind: cleanup.ShortLinks, Duration: time.Duration(ms * float64(time.Millisecond)),
			}))
		}
		s.Must(s.Cleanup.Finish(s.Context(), cleanup.Run{StartedAt: s.Cleanup.Now(), Kind: cleanup.Tags, Error: "broken"}))
		s.Must(s.Jobs.Finish(s.Context(), run))
		stats = s.Do("GET", cleanupStats, "").Want(200)
		done := map[string]any{
			"last_cleanup_time": s.Clock.Now().Format(time.RFC3339), "total_cleaned": 25, "last_batch_size": 5,
			"successful_runs": 2, "failed_runs": 0, "average_cleanup_ms": 156.7,
		}
		s.Has(stats, done)
		s.Has(stats, map[string]any{"is_running": false})
		kinds := apptest.Objects(stats["kinds"])
		s.Has(kinds[0], done)
		s.Has(kinds[len(kinds)-1], map[string]any{"kind": cleanup.Tags, "failed_runs": 1, "successful_runs": 0, "last_cleanup_time": nil})
	})
}

// The seed's address answers the same as the contract's, and needs the same login.
func TestCleanupStatsAtTheSeedsAddress(t *testing.T) {
	s := apptest.NewServer(t)
	s.DeclareReaper()
	for _, at := range []string{"/api/admin/cleanup/stats", "/api" + cleanupStats} {
		if got, want := s.Do("GET", at, "").Body, s.Do("GET", cleanupStats, "").Body; got != want || !strings.Contains(got, `"total_cleaned":0`) {
			t.Errorf("%s answers %s", at, got)
		}
		if a := s.Do("HEAD", at, ""); a.Status != 200 || a.Body != "" {
			t.Errorf("HEAD %s: %d", at, a.Status)
		}
		s.Do("POST", at, "").Problem(405, "method-not-allowed", "")
	}
	s.Do("GET", "/api/admin/cleanup", "").Problem(404, "not-found", "")
}

func TestCleanupWaitingIsCountedToABound(t *testing.T) {
	s := apptest.NewServer(t)
	s.DeclareReaper()
	ended(s, cleanup.MaxWaiting)
	s.Has(s.Do("GET", cleanupStats, "").Want(200), map[string]any{"waiting": cleanup.MaxWaiting, "waiting_more": false})
	modelstest.Exec(t, s.DB, "UPDATE short_links SET short_key = 'other' || short_key")
	ended(s, 1)
	s.Has(s.Do("GET", cleanupStats, "").Want(200), map[string]any{"waiting": cleanup.MaxWaiting, "waiting_more": true})
}

func TestRunCleanup(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.Server) {
		const run = "/v1/admin/cleanup/run"
		s.DeclareReaper()
		for range 2 { // asking twice before it began is one wish
			if a := s.Do("POST", run, ""); a.Status != http.StatusAccepted || a.Body != "" {
				s.Errorf("%d %s", a.Status, a.Body)
			}
		}
		began, ok, err := s.Jobs.Begin(s.Context(), cleanup.Job, inAnHour)
		if err != nil || !ok || began.Trigger != schedule.Manual {
			s.Fatalf("%+v, %v, %v", began, ok, err)
		}
		if a := s.Do("POST", run, ""); !strings.Contains(a.Body, "running") {
			s.Errorf("it does not say why: %s", a.Body)
		}
		s.Do("POST", run, "").Problem(409, "conflict", "")
		s.Must(s.Jobs.Finish(s.Context(), began))
		s.Do("POST", run, "").Want(http.StatusAccepted)
	})
}

func TestCleanupWithABrokenStore(t *testing.T) {
	s := apptest.NewServer(t)
	s.DeclareReaper()
	modelstest.Exec(t, s.DB, "DROP TABLE cleanup_totals")
	s.Do("GET", cleanupStats, "").Problem(500, "internal", "")
}

// Without CLEANUP_ENABLED the statistics say so, and a run can still be asked for:
// it deletes all other kinds.
func TestCleanup_ShortLinksAreKept(t *testing.T) {
	db := modelstest.New(t)
	s := newServerOn(t, db, func(d *handlers.Deps) {
		opts := d.ShortLinks.Options()
		opts.Keep = true
		d.ShortLinks = shortlinks.NewStore(d.DB, nil, nil, opts)
	})
	s.DeclareReaper()
	ended(s, 3)
	stats := s.Do("GET", cleanupStats, "").Want(200)
	s.Has(stats, map[string]any{"enabled": false, "waiting": 3, "is_running": false})
	if stats["next_run_at"] == nil {
		t.Error("no next run")
	}
	s.Do("POST", "/v1/admin/cleanup/run", "").Want(http.StatusAccepted)
}

// ended stores n short links that ended two hours ago.
func ended(s *apptest.Server, n int) {
	s.Helper()
	modelstest.Exec(s.TB, s.DB, `WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ?)
		INSERT INTO short_links (short_key, long_url, canonical_url, title, folded, max_visits, disabled, created_at, updated_at, expires_at, visits, bots)
		SELECT 'ended' || id, 'https://a.test', 'https://a.test', '', '', 0, FALSE, 1, 1, CAST(? AS BIGINT), 0, 0 FROM n`,
		n, s.ShortLinks.Now().Add(-2*time.Hour))
}
