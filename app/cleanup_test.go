package app

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/targets"
)

// expired fills a database with a target, its check result, a tag and a short link
// that are all due for deletion.
func expired(t *testing.T, file string) {
	t.Helper()
	db, err := models.Open(t.Context(), models.SQLite, file, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	past := func() time.Time { return time.Now().Add(-90 * 24 * time.Hour) }
	watched := targets.NewStore(db, past, targets.Options{CheckInterval: time.Minute, Retention: time.Hour})
	target, _, err := watched.Add(t.Context(), targets.New{URL: "https://a.example", IntervalSeconds: 3600})
	if err != nil {
		t.Fatal(err)
	}
	due, _, err := watched.Claim(t.Context(), modelstest.Lease(t, db, "k_test"), 10)
	if err != nil || len(due) != 1 {
		t.Fatalf("claimed %d targets: %v", len(due), err)
	}
	result := targets.Result{CheckedAt: watched.Now(), StatusCode: 200, LatencyMS: 1, Attempts: 1}
	if err := watched.Record(t.Context(), targets.Checked{Target: due[0], Result: result}); err != nil {
		t.Fatal(err)
	}
	if err := watched.Delete(t.Context(), target.ID); err != nil {
		t.Fatal(err)
	}
	short := shortlinks.NewStore(db, past, cache.NewMemory(1, past), nil, shortlinks.Options{})
	_, _, err = short.Add(t.Context(), shortlinks.New{LongURL: "https://a.example", Key: "ended", ExpiresAt: short.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	modelstest.Exec(t, db, "INSERT INTO tags (id, name, folded_name, link_count, created_at, last_used_at) VALUES ('g_x', 'x', 'x', 0, 1, 1)")
}

// CLEANUP_ENABLED governs short links only: without it they answer 410 and stay,
// and everything else is deleted as ever.
func TestCleanupEnabledIsAboutShortLinksOnly(t *testing.T) {
	t.Parallel()
	for enabled, left := range map[string]int64{"true": 0, "false": 1} {
		t.Run(enabled, func(t *testing.T) {
			getenv := env(t, map[string]string{"CLEANUP_ENABLED": enabled})
			expired(t, getenv("DATABASE_URL"))
			p := start(t, getenv)
			if status, _ := p.get(t, "/s/ended"); status != http.StatusGone {
				t.Errorf("expired short link: got status %d", status)
			}
			res, err := http.Post(p.url+"/v1/admin/cleanup/run", "", nil)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusAccepted {
				t.Errorf("run the reaper: got status %d", res.StatusCode)
			}
			type figures struct {
				Kind           string
				TotalCleaned   int64 `json:"total_cleaned"`
				SuccessfulRuns int64 `json:"successful_runs"`
			}
			var stats struct {
				figures
				Enabled bool
				Waiting int64
				Kinds   []figures
			}
			modelstest.Eventually(t, "a run has ended", func() bool {
				_, body := p.get(t, "/v1/admin/cleanup/stats")
				if err := json.Unmarshal([]byte(body), &stats); err != nil {
					t.Fatal(err)
				}
				return len(stats.Kinds) > 0 && stats.Kinds[len(stats.Kinds)-1].SuccessfulRuns > 0
			})
			cleaned := map[string]int64{}
			for _, k := range stats.Kinds {
				cleaned[k.Kind] = k.TotalCleaned
			}
			if stats.Enabled != (enabled == "true") || stats.TotalCleaned != 1-left || stats.Waiting != left {
				t.Errorf("of short links: %+v", stats)
			}
			if cleaned["check_results"] != 1 || cleaned["targets"] != 1 || cleaned["tags"] != 1 || cleaned["short_links"] != 1-left {
				t.Errorf("deleted: %v", cleaned)
			}
			if _, body := p.get(t, "/metrics"); !strings.Contains(body, `linkwatch_cleanup_rows_total{kind="check_results"} 1`) {
				t.Error("the metrics do not count the check result")
			}
			if status, _ := p.get(t, "/s/ended"); status != http.StatusGone {
				t.Errorf("expired short link after the run: got status %d", status)
			}
			p.stop()
			if err := p.wait(t); err != nil {
				t.Error(err)
			}
			db, err := models.Open(t.Context(), models.SQLite, getenv("DATABASE_URL"), slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			var links, results int64
			err = db.Read(t.Context()).Raw("SELECT (SELECT count(*) FROM short_links), (SELECT count(*) FROM check_results)").Row().Scan(&links, &results)
			if err != nil || links != left || results != 0 {
				t.Errorf("%d short links and %d check results are left: %v", links, results, err)
			}
		})
	}
}
