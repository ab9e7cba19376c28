package handlers_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/handlers"
	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
	"linkwatch/models/shortlinks"
)

const cleanupStats = "/v1/admin/cleanup/stats"

func inAnHour(time.Time) time.Time { return time.Now().Add(time.Hour) }

// declareReaper schedules the reaper, as the program does.
func (s *server) declareReaper() {
	s.t.Helper()
	s.must(s.jobs.Declare(s.t.Context(), schedule.Job{ID: cleanup.Job, Schedule: "@every 15m0s", NextRunAt: models.At(time.Now().Add(time.Hour))}))
}

// ended stores n short links that ended two hours ago.
func (s *server) ended(n int) {
	s.t.Helper()
	modelstest.Exec(s.t, s.db, `WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ?)
		INSERT INTO short_links (short_key, long_url, canonical_url, title, folded, max_visits, disabled, created_at, updated_at, expires_at, visits, bots)
		SELECT 'ended' || id, 'https://a.test', 'https://a.test', '', '', 0, FALSE, 1, 1, CAST(? AS BIGINT), 0, 0 FROM n`,
		n, s.short.Now().Add(-2*time.Hour))
}

// has checks members of an answer.
func (s *server) has(got map[string]any, want map[string]any) {
	s.t.Helper()
	for _, member := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[member]; !ok || fmt.Sprint(g) != fmt.Sprint(want[member]) {
			s.t.Errorf("%s = %v, want %v", member, g, want[member])
		}
	}
}

func TestCleanupStats(t *testing.T) {
	eachEngine(t, func(s *server) {
		s.declareReaper()
		never := map[string]any{
			"last_cleanup_time": nil, "total_cleaned": 0, "last_batch_size": 0, "successful_runs": 0, "failed_runs": 0, "average_cleanup_ms": 0,
		}
		stats := s.do("GET", cleanupStats, "").want(200)
		s.has(stats, never)
		s.has(stats, map[string]any{"is_running": false, "enabled": true, "waiting": 0, "waiting_more": false})
		if stats["next_run_at"] == nil {
			s.t.Error("no next run")
		}
		for i, of := range objects(stats["kinds"]) {
			s.has(of, never)
			if of["kind"] != cleanup.Kinds[i] {
				s.t.Errorf("kind %d is %v", i, of["kind"])
			}
		}

		// A run through its steps, as the reaper takes them.
		s.ended(25)
		s.has(s.do("GET", cleanupStats, "").want(200), map[string]any{"waiting": 25})
		s.must(s.jobs.Request(s.t.Context(), cleanup.Job))
		run, _, err := s.jobs.Begin(s.t.Context(), cleanup.Job, inAnHour)
		s.must(err)
		for range 2 {
			_, err = s.cleanup.Batch(s.t.Context(), cleanup.ShortLinks, 20, s.short.ReapEnded)
			s.must(err)
		}
		s.has(s.do("GET", cleanupStats, "").want(200), map[string]any{"is_running": true, "total_cleaned": 25, "last_batch_size": 5, "waiting": 0, "successful_runs": 0})
		for _, ms := range []float64{100, 213.4} {
			s.must(s.cleanup.Finish(s.t.Context(), cleanup.Run{
				StartedAt: s.cleanup.Now(), Kind: cleanup.ShortLinks, Duration: time.Duration(ms * float64(time.Millisecond)),
			}))
		}
		s.must(s.cleanup.Finish(s.t.Context(), cleanup.Run{StartedAt: s.cleanup.Now(), Kind: cleanup.Tags, Error: "broken"}))
		s.must(s.jobs.Finish(s.t.Context(), run))
		stats = s.do("GET", cleanupStats, "").want(200)
		done := map[string]any{
			"last_cleanup_time": s.clock.Now().Format(time.RFC3339), "total_cleaned": 25, "last_batch_size": 5,
			"successful_runs": 2, "failed_runs": 0, "average_cleanup_ms": 156.7,
		}
		s.has(stats, done)
		s.has(stats, map[string]any{"is_running": false})
		kinds := objects(stats["kinds"])
		s.has(kinds[0], done)
		s.has(kinds[len(kinds)-1], map[string]any{"kind": cleanup.Tags, "failed_runs": 1, "successful_runs": 0, "last_cleanup_time": nil})
	})
}

// The seed's address answers the same as the contract's, and needs the same login.
func TestCleanupStatsAtTheSeedsAddress(t *testing.T) {
	s := newServer(t)
	s.declareReaper()
	for _, at := range []string{"/api/admin/cleanup/stats", "/api" + cleanupStats} {
		if got, want := s.do("GET", at, "").body, s.do("GET", cleanupStats, "").body; got != want || !strings.Contains(got, `"total_cleaned":0`) {
			t.Errorf("%s answers %s", at, got)
		}
		if a := s.do("HEAD", at, ""); a.status != 200 || a.body != "" {
			t.Errorf("HEAD %s: %d", at, a.status)
		}
		s.do("POST", at, "").problem(405, "method-not-allowed", "")
	}
	s.do("GET", "/api/admin/cleanup", "").problem(404, "not-found", "")
}

func TestCleanupWaitingIsCountedToABound(t *testing.T) {
	s := newServer(t)
	s.declareReaper()
	s.ended(cleanup.MaxWaiting)
	s.has(s.do("GET", cleanupStats, "").want(200), map[string]any{"waiting": cleanup.MaxWaiting, "waiting_more": false})
	modelstest.Exec(t, s.db, "UPDATE short_links SET short_key = 'other' || short_key")
	s.ended(1)
	s.has(s.do("GET", cleanupStats, "").want(200), map[string]any{"waiting": cleanup.MaxWaiting, "waiting_more": true})
}

func TestRunCleanup(t *testing.T) {
	eachEngine(t, func(s *server) {
		const run = "/v1/admin/cleanup/run"
		s.declareReaper()
		for range 2 { // asking twice before it began is one wish
			if a := s.do("POST", run, ""); a.status != http.StatusAccepted || a.body != "" {
				s.t.Errorf("%d %s", a.status, a.body)
			}
		}
		began, ok, err := s.jobs.Begin(s.t.Context(), cleanup.Job, inAnHour)
		if err != nil || !ok || began.Trigger != schedule.Manual {
			s.t.Fatalf("%+v, %v, %v", began, ok, err)
		}
		if a := s.do("POST", run, ""); !strings.Contains(a.body, "running") {
			s.t.Errorf("it does not say why: %s", a.body)
		}
		s.do("POST", run, "").problem(409, "conflict", "")
		s.must(s.jobs.Finish(s.t.Context(), began))
		s.do("POST", run, "").want(http.StatusAccepted)
	})
}

func TestCleanupWithABrokenStore(t *testing.T) {
	s := newServer(t)
	s.declareReaper()
	modelstest.Exec(t, s.db, "DROP TABLE cleanup_totals")
	s.do("GET", cleanupStats, "").problem(500, "internal", "")
}

// Without CLEANUP_ENABLED the statistics say so, and a run can still be asked for:
// it deletes all other kinds.
func TestCleanup_ShortLinksAreKept(t *testing.T) {
	db := modelstest.New(t)
	s := newServerOn(t, db, func(d *handlers.Deps) {
		opts := d.ShortLinks.Options()
		opts.KeepEnded = true
		d.ShortLinks = shortlinks.NewStore(d.DB, nil, nil, nil, opts)
	})
	s.declareReaper()
	s.ended(3)
	stats := s.do("GET", cleanupStats, "").want(200)
	s.has(stats, map[string]any{"enabled": false, "waiting": 3, "is_running": false})
	if stats["next_run_at"] == nil {
		t.Error("no next run")
	}
	s.do("POST", "/v1/admin/cleanup/run", "").want(http.StatusAccepted)
}
