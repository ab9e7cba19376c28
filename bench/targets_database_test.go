//go:build e2e

package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	sqlite "github.com/ncruces/go-sqlite3/driver"

	"linkwatch/e2e"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

const (
	storedTargets = 100_000
	pageTargets   = 1_000
)

// storedFigures measures memory, CPU time and pages with many targets of which none is due.
func storedFigures(t *testing.T) {
	file := targetFile(t, nil, nil)
	fillTargets(t, file)
	s := e2e.Start(t, "DATABASE_URL="+file, "CHECK_INTERVAL=100ms")
	table("%d targets, none due, SQLite", storedTargets)
	time.Sleep(3 * time.Second) // wait for the startup to finish
	row("memory after start", "≤ 200 MB", "%.0f MB", float64(s.Memory())/1e6)
	const ticks = 200
	cpu := cpuOf(t, s.PID())
	time.Sleep(ticks * 100 * time.Millisecond)
	row("CPU time per scheduler tick", "≤ 20 ms", "%.2f ms", (cpuOf(t, s.PID())-cpu).Seconds()*1000/ticks)
	measurePath(t, s, "GET /v1/targets", "", "/v1/targets")
	measurePath(t, s, "GET /v1/targets?limit=500", "", "/v1/targets?limit=500")
	measurePath(t, s, "GET /v1/targets?host=", "", "/v1/targets?host=host-777.example")
	measurePath(t, s, "page /watch", "", "/watch")
	time.Sleep(30 * time.Second)
	row("memory a minute after start", "≤ 200 MB", "%.0f MB", float64(s.Memory())/1e6)
	row("memory at most", "", "%.0f MB", float64(s.PeakMemory())/1e6)
}

// fillTargets writes targets directly into a database file, each checked an hour ago and due tomorrow.
func fillTargets(t *testing.T, file string) {
	t.Helper()
	db, err := sqlite.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	insert, err := tx.Prepare(`INSERT INTO targets (id, url, canonical_url, host, name, search_text, interval_seconds, expect_status, expect_keyword,
		expect_absent, expect_latency_ms, paused, created_at, updated_at, state, state_since, last_checked_at,
		last_status_code, last_latency_ms, last_error, failures, recent_checks, hour_bucket_start, hour_checks, hour_up_us, hour_down_us, hour_latency,
		day_bucket_start, day_checks, day_up_us, day_down_us, day_latency)
		VALUES (?1, ?2, ?2, ?3, '', ?2, 86400, '', '', '', 0, 0, ?4, ?4, 'up', ?4, ?4, 200, 12, '', 0, ?5, ?4, 1, 0, 0, x'0801', NULL, 0, 0, 0, x'')`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = insert.Close() }() // closed by the commit
	checked := models.At(time.Now().Add(-time.Hour))
	recentChecks, err := targets.RecentChecks{{At: checked, LatencyMS: 12}}.Value()
	if err != nil {
		t.Fatal(err)
	}
	for i := range storedTargets {
		host := fmt.Sprintf("host-%d.example", i%5000)
		_, err := insert.Exec(models.NewID(models.KindTarget), fmt.Sprintf("https://%s/page-%d", host, i), host,
			checked.UnixMicro(), recentChecks)
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = tx.Exec("INSERT INTO target_schedule (target_seq, due_at, next_check_at) SELECT seq, last_checked_at + 86400000000 + seq, last_checked_at + 86400000000 + seq FROM targets")
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// pageFigures measures pages of targets with three months of history.
func pageFigures(t *testing.T) {
	var urls []string
	for i := range pageTargets {
		urls = append(urls, fmt.Sprintf("https://host-%d.example/page-%d", i%200, i))
	}
	var shown targets.Target
	file := targetFile(t, urls, func(db *models.DB, store *targets.Store, clock *time.Time) {
		now := time.Now()
		for ago := 90 * 24 * time.Hour; ago > 0; {
			*clock = now.Add(-ago)
			rest := time.Duration(0)
			if ago == time.Hour { // no checks run while pages are measured
				rest = 24 * time.Hour
			}
			shown = checkAll(t, db, store, rest)
			if ago -= time.Hour; ago > 40*time.Hour {
				ago -= 23 * time.Hour
			}
		}
		*clock = now
		if _, err := store.AddPage(context.Background(), targets.PageSettings{Slug: "all", Title: "All", TargetIDs: firstIDs(t, store, targets.MaxPageTargets)}); err != nil {
			t.Fatal(err)
		}
	})
	s := e2e.Start(t, "DATABASE_URL="+file, "CHECK_INTERVAL=24h")
	table("%d targets with 90 days of history, SQLite", pageTargets)
	measurePath(t, s, "page /watch", "≤ 200 ms", "/watch")
	measurePath(t, s, "page /watch?q=page-77", "", "/watch?q=page-77")
	measurePath(t, s, "page /watch/{id}, 24 hours", "", "/watch/"+shown.ID)
	measurePath(t, s, "page /watch/{id}, 90 days", "", "/watch/"+shown.ID+"?range=90d")
	measurePath(t, s, "page /", "", "/")
	measurePath(t, s, "page /status/{slug} with 100 targets", "", "/status/all")
	measurePath(t, s, "page /admin/checks", "", "/admin/checks")
	measurePath(t, s, "GET /v1/targets", "", "/v1/targets")
	measurePath(t, s, "GET /v1/targets/{id}/results", "", "/v1/targets/"+shown.ID+"/results")
	measurePath(t, s, "GET /v1/targets/{id}/history?range=365d", "", "/v1/targets/"+shown.ID+"/history?range=365d")
}

// sizeFigures measures the speed and the database size of two days of checks, one every 15 s.
func sizeFigures(t *testing.T) {
	const watched, days, step = 20, 2, 15 * time.Second
	var urls []string
	for i := range watched {
		urls = append(urls, fmt.Sprintf("https://host-%d.example", i))
	}
	var spent time.Duration
	file := targetFile(t, urls, func(db *models.DB, store *targets.Store, clock *time.Time) {
		first := time.Now().Truncate(24 * time.Hour).Add(-(days + 1) * 24 * time.Hour)
		started := time.Now()
		for i := range days*int(24*time.Hour/step) + 1 { // the last check completes the last day
			*clock = first.Add(time.Duration(i) * step)
			checkAll(t, db, store, 0)
		}
		spent = time.Since(started)
	})
	const checks = watched * days * int(24*time.Hour/step)
	table("%d targets, checked every 15 s for %d days, SQLite", watched, days)
	row("store results, in batches of 20", "", "%.0f checks/s", float64(checks)/spent.Seconds())
	row("file size per check, with indexes", "", "%s", bytesPerRow(t, file, "check_results"))
	row("file size per hour of a target", "", "%s", bytesPerRow(t, file, "target_hours"))
	row("file size per day of a target", "", "%s", bytesPerRow(t, file, "target_days"))
}

// checkAll records a check of every target that is due, of which one in fifty fails, and delays the next ones by
// rest. It returns one of the targets.
func checkAll(t *testing.T, db *models.DB, store *targets.Store, rest time.Duration) targets.Target {
	t.Helper()
	ctx, now := context.Background(), store.Now()
	due, _, err := store.Claim(ctx, modelstest.Lease(t, db, "k_figures"), pageTargets)
	if err != nil {
		t.Fatal(err)
	}
	done := make([]targets.Checked, len(due))
	for i, x := range due {
		r := targets.Result{CheckedAt: now, StatusCode: 200, LatencyMS: int(120 * math.Exp(0.3*rand.NormFloat64())), Attempts: 1}
		if rand.IntN(50) == 0 {
			r = targets.Result{CheckedAt: now, Outcome: targets.DownOutcome, StatusCode: 500, LatencyMS: 20, Attempts: 3, Error: "unexpected status 500"}
		}
		done[i] = targets.Checked{Target: x, Result: r, RetryAfter: rest}
	}
	if err := store.Record(ctx, done...); err != nil {
		t.Fatal(err)
	}
	return due[0]
}

func firstIDs(t *testing.T, store *targets.Store, n int) (ids []string) {
	t.Helper()
	first, err := store.List(context.Background(), targets.Filter{}, models.Cursor{}, n)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range first.Items {
		ids = append(ids, x.ID)
	}
	return ids
}
