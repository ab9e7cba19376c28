//go:build e2e

package bench

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/e2e"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

const (
	yearTargets  = 1_000
	yearSample   = 60 // of the stored results of other targets, one in yearSample is generated
	yearExpired  = yearTargets * 24 * 60
	yearDeleting = 90 * time.Second // maximum duration of a measured cleanup
)

// TestYearFigures measures pages of targets with a year of history, compared with a day of it, and how fast expired results
// are deleted. It asserts no times.
func TestYearFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	t.Run("sqlite", func(t *testing.T) {
		yearFigures(t, "SQLite", func(name string) string { return filepath.Join(t.TempDir(), name+".db") })
	})
	if os.Getenv("TEST_POSTGRES_URL") != "" {
		t.Run("postgres", func(t *testing.T) {
			yearFigures(t, "PostgreSQL", func(string) string { return modelstest.NewPostgres(t) })
		})
	}
}

func yearFigures(t *testing.T, engine string, open func(name string) (url string)) {
	hosts := farm(t, 7, figureHosts, func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "<!doctype html><title>Well</title>") // the client may have disconnected
	})
	var urls []string
	for i := range yearTargets {
		urls = append(urls, fmt.Sprintf("%s/%d", hosts[i%figureHosts], i))
	}
	day, year := open("day"), open("year")
	shown := map[string]string{}
	for url, days := range map[string]int{day: 1, year: 365} {
		addTargets(t, url, urls, nil)
		shown[url] = addHistory(t, url, days)
	}
	table("%d targets at 60 s, with one day and with one year of history, %s", yearTargets, engine)
	for name, url := range map[string]string{"one day": day, "one year": year} {
		if info, err := os.Stat(url); err == nil {
			row("database file, "+name, "", "%.0f MB", float64(info.Size())/1e6)
		}
	}
	a := e2e.Start(t, "DATABASE_URL="+day, "CHECK_INTERVAL=24h", "CLEANUP_INTERVAL=24h")
	b := e2e.Start(t, "DATABASE_URL="+year, "CHECK_INTERVAL=24h", "CLEANUP_INTERVAL=24h")
	paths := []string{"/", "/watch", "/status/all", "/status/all/feed", "/v1/targets", "/v1/targets/{id}/results", "/v1/targets/{id}/outages", "/v1/status-pages"}
	for _, r := range targets.Ranges {
		paths = append(paths, "/watch/{id}?range="+string(r), "/v1/targets/{id}/history?range="+string(r))
	}
	paths = append(paths, "/badge/{id}/status.svg", "/badge/{id}/uptime/90d.svg")
	for _, path := range paths {
		var p95 [2]float64
		var all [2][]float64
		for range samples { // in turn, so that the load of the machine is the same
			for i, s := range []*e2e.Server{a, b} {
				id := shown[[]string{day, year}[i]]
				all[i] = append(all[i], timeGET(t, s.URL+strings.ReplaceAll(path, "{id}", id)))
			}
		}
		for i := range all {
			slices.Sort(all[i])
			p95[i] = all[i][len(all[i])*95/100]
		}
		row("`"+path+"`", "≤ 1.3, or ≤ 5 ms", "p95 %.1f, %.1f ms: %.2f times", p95[0], p95[1], p95[1]/p95[0])
	}
	a.Stop()
	b.Stop()
	cleanupFigures(t, year)
}

// addHistory adds the history of a number of days to all targets, as roll-ups, and returns the id of one target. That one
// has each of its stored results, the others have one in yearSample. Then it adds a status page of 100 targets.
func addHistory(t *testing.T, url string, days int) (id string) {
	t.Helper()
	db, closeDB := e2e.OpenDatabase(t, url)
	defer closeDB()
	now := time.Now()
	const hour, day = int64(time.Hour / time.Microsecond), int64(models.Day / time.Microsecond)
	at := now.UnixMicro()
	hourNow, dayNow := at/hour*hour, at/day*day
	latency := "x'083c'"
	if db.Engine == models.Postgres {
		latency = `'\x083c'::bytea`
	}
	series := func(n int) string {
		return fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT CAST(1 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", n)
	}
	results := `INSERT INTO check_results (target_seq, checked_at, outcome, status_code, latency_ms, attempts, error, interval_ms)
		SELECT seq, %d - i * %d + seq, CASE WHEN i %% 500 = 0 THEN 1 ELSE 0 END, 200, 20, 1, CASE WHEN i %% 500 = 0 THEN 'timed out' ELSE '' END, 60000
		FROM targets CROSS JOIN n WHERE `
	minute := int64(time.Minute / time.Microsecond)
	stored := min(days, 30) * 24 * 60
	statements := []string{
		fmt.Sprintf(`UPDATE targets SET state = 'up', state_since = %d, last_checked_at = %d, last_status_code = 200, last_latency_ms = 20,
			hour_bucket_start = %d, hour_checks = 30, hour_up_us = 1, hour_latency = %s, day_bucket_start = %d, day_checks = 30, day_up_us = 1, day_latency = %s`,
			at-hour, at, hourNow, latency, dayNow, latency),
		fmt.Sprintf("UPDATE target_schedule SET due_at = %d, next_check_at = %d", at+day, at+day),
		series(min(days, 35)*24) + fmt.Sprintf(`INSERT INTO target_hours (target_seq, bucket_start, checks, known_from, up_us, down_us, latency)
			SELECT seq, %d - i * %d, 60, %d - i * %d, %d, 0, %s FROM targets CROSS JOIN n`, hourNow, hour, hourNow, hour, hour, latency),
		series(days) + fmt.Sprintf(`INSERT INTO target_days (target_seq, bucket_start, checks, known_from, up_us, down_us, latency)
			SELECT seq, %d - i * %d, 1440, %d - i * %d, %d, 0, %s FROM targets CROSS JOIN n`, dayNow, day, dayNow, day, day, latency),
		series(max(days/10, 1)) + fmt.Sprintf(`INSERT INTO outages (id, target_seq, started_at, ended_at, cause)
			SELECT 'o_1' || (1000000000 + i) || (1000000000 + seq), seq, %d - i * %d + %d, %d - i * %d + %d, 'timed out' FROM targets CROSS JOIN n`,
			at, 10*day, 10*day-hour, at, 10*day, 10*day-hour+minute),
		series(stored/yearSample) + fmt.Sprintf(results, at, minute*yearSample) + "seq > 1",
		series(stored) + fmt.Sprintf(results, at, minute) + "seq = 1",
	}
	for _, sql := range statements {
		if err := db.Write(t.Context(), func(tx *gorm.DB) error { return tx.Exec(sql).Error }); err != nil {
			t.Fatal(err)
		}
	}
	if days > 30 { // the results of the day before expire together
		sql := series(24*60) + fmt.Sprintf(results, at-30*day-hour, minute) + "true"
		if err := db.Write(t.Context(), func(tx *gorm.DB) error { return tx.Exec(sql).Error }); err != nil {
			t.Fatal(err)
		}
	}
	if db.Engine == models.Postgres {
		if err := db.Write(t.Context(), func(tx *gorm.DB) error { return tx.Exec("ANALYZE").Error }); err != nil {
			t.Fatal(err)
		}
	}
	store := targets.NewStore(db, time.Now, targets.Options{CheckInterval: time.Minute})
	if _, err := store.AddPage(t.Context(), targets.PageSettings{Slug: "all", Title: "All", TargetIDs: firstIDs(t, store, targets.MaxPageTargets)}); err != nil {
		t.Fatal(err)
	}
	return firstIDs(t, store, 1)[0]
}

// cleanupFigures measures how fast the results of a day are deleted, and checks meanwhile.
func cleanupFigures(t *testing.T, url string) {
	func() {
		db, closeDB := e2e.OpenDatabase(t, url)
		defer closeDB()
		now := time.Now().UnixMicro()
		err := db.Write(t.Context(), func(tx *gorm.DB) error { // one check every 60 ms
			return tx.Exec("UPDATE target_schedule SET due_at = ? + target_seq * 60000, next_check_at = ? + target_seq * 60000", now, now).Error
		})
		if err != nil {
			t.Fatal(err)
		}
	}()
	s := e2e.Start(t, "DATABASE_URL="+url, "CHECK_INTERVAL=60s", "CLEANUP_INTERVAL=24h")
	defer s.Stop()
	deleted := func() float64 { return labeled(t, s, `linkwatch_cleanup_rows_total{kind="check_results"}`) }
	checks := func(name string, do func()) {
		before, started := metric(t, s, "linkwatch_checks_total"), time.Now()
		lag := []float64{}
		done := make(chan struct{})
		go func() {
			do()
			close(done)
		}()
		for running := true; running; {
			select {
			case <-done:
				running = false
			case <-time.After(100 * time.Millisecond):
				lag = append(lag, timeGET(t, s.URL+"/v1/targets?limit=1"))
			}
		}
		row(name+": checks per second", "16.7", "%.1f", (metric(t, s, "linkwatch_checks_total")-before)/time.Since(started).Seconds())
		quantiles(name+": `GET /v1/targets?limit=1`", "", lag)
	}
	checks("no cleanup", func() { time.Sleep(30 * time.Second) })
	before, started := deleted(), time.Now()
	checks("cleanup", func() {
		if status := s.Call("POST", "/v1/admin/jobs/reaper/run", nil, nil); status >= 300 {
			t.Errorf("run the cleanup job: status %d", status)
		}
		for deleted()-before < yearExpired && time.Since(started) < yearDeleting {
			time.Sleep(200 * time.Millisecond)
		}
	})
	rate := (deleted() - before) / time.Since(started).Seconds()
	row("results deleted per second, while 16.7 expire", "≥ 16.7", "%.0f", rate)
	row(fmt.Sprintf("time to delete %d results, those of a day", yearExpired), "", "%.0f s", yearExpired/rate)
	row("skipped checks", "0", "%.0f", metric(t, s, "linkwatch_checks_skipped_total"))
}

// labeled returns a sample of the metrics with its labels, or the sum over all labels for a bare name.
func labeled(t *testing.T, s *e2e.Server, sample string) float64 {
	t.Helper()
	if !strings.Contains(sample, "{") {
		return metric(t, s, sample)
	}
	res, err := http.Get(s.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(all), "\n"+sample+" ")
	if !ok {
		t.Fatalf("no metric %s", sample)
	}
	value, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
