//go:build e2e

package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sqlite "github.com/ncruces/go-sqlite3/driver"

	"linkwatch/e2e"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

const (
	figureHosts   = 500
	figureWorkers = 64
)

// TestTargetFigures measures how the real binary checks targets, and its pages and memory with many of them. It
// asserts nothing about time.
func TestTargetFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	t.Run("busy", func(t *testing.T) { busyFigures(t, "SQLite", filepath.Join(t.TempDir(), "watched.db"), 12_000, 10_000) })
	t.Run("busy on PostgreSQL", func(t *testing.T) { busyFigures(t, "PostgreSQL", modelstest.NewPostgres(t), 7_500, 6_000) })
	t.Run("added", func(t *testing.T) { addFigures(t, "SQLite", filepath.Join(t.TempDir(), "watched.db")) })
	t.Run("added on PostgreSQL", func(t *testing.T) { addFigures(t, "PostgreSQL", modelstest.NewPostgres(t)) })
	t.Run("hanging", hangingFigures)
	t.Run("outage", outageFigures)
	t.Run("stored", storedFigures)
	t.Run("pages", pageFigures)
	t.Run("size", sizeFigures)
}

// targetFile returns a new SQLite file with targets. See addTargets.
func targetFile(t *testing.T, urls []string, edit func(db *models.DB, store *targets.Store, clock *time.Time)) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "watched.db")
	addTargets(t, file, urls, edit)
	return file
}

// addTargets fills an empty database with targets that were added 100 days ago and never checked. edit then
// changes the store; it can be nil.
func addTargets(t *testing.T, database string, urls []string, edit func(db *models.DB, store *targets.Store, clock *time.Time)) {
	t.Helper()
	db, closeDB := e2e.OpenDatabase(t, database)
	defer closeDB()
	clock := time.Now().Add(-100 * 24 * time.Hour)
	store := targets.NewStore(db, func() time.Time { return clock }, targets.Options{CheckInterval: 10 * time.Second})
	for batch := range slices.Chunk(urls, targets.MaxBatch) {
		all := make([]targets.New, len(batch))
		for i, u := range batch {
			all[i].URL = u
		}
		if added, err := store.AddAll(context.Background(), all); err != nil || added != len(batch) {
			t.Fatalf("added %d of %d targets: %v", added, len(batch), err)
		}
	}
	if edit != nil {
		edit(db, store, &clock)
	}
}

// farm serves a page on n loopback addresses from 127.x.0.1 on, all on one port, so that there are n hosts.
func farm(t *testing.T, x, n int, page http.HandlerFunc) (urls []string) {
	t.Helper()
	server := &http.Server{Handler: page}
	port := "0"
	var serving sync.WaitGroup
	for i := range n {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:%s", x, i/250, 1+i%250, port))
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ = net.SplitHostPort(listener.Addr().String())
		urls = append(urls, "http://"+listener.Addr().String())
		serving.Go(func() { _ = server.Serve(listener) }) // returns when it is closed
	}
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return urls
}

// busyFigures measures checks per second, and their cost, with n targets at an interval of a second. wanted is the
// target for the checks per second. Bare GETs before and after are the baseline.
func busyFigures(t *testing.T, engine, database string, n, wanted int) {
	var asked atomic.Int64
	hosts := farm(t, 1, figureHosts, func(rw http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(rw, "<!doctype html><title>Well</title><p>All is well.") // the client may have disconnected
	})
	var urls []string
	for i := range n {
		urls = append(urls, fmt.Sprintf("%s/%d", hosts[i%figureHosts], i))
	}
	addTargets(t, database, urls, nil)
	before := runBare(t, urls)
	s := e2e.Start(t, "DATABASE_URL="+database, "CHECK_INTERVAL=1s", fmt.Sprintf("MAX_CONCURRENCY=%d", figureWorkers))
	table("%d targets on %d hosts, CHECK_INTERVAL=1s, MAX_CONCURRENCY=%d, %s", n, figureHosts, figureWorkers, engine)

	time.Sleep(10 * time.Second) // warm-up: every target has been checked
	checks, cpu, started := asked.Load(), cpuOf(t, s.PID()), time.Now()
	skipped := metric(t, s, "linkwatch_checks_skipped_total")
	var few, many []float64
	for time.Since(started) < 30*time.Second {
		few = append(few, timeGET(t, s.URL+"/v1/targets?limit=50"))
		many = append(many, timeGET(t, s.URL+"/v1/targets?limit=500"))
		time.Sleep(500 * time.Millisecond) // too few requests to cause load
	}
	checks, cpu = asked.Load()-checks, cpuOf(t, s.PID())-cpu
	seconds := time.Since(started).Seconds()
	skipped = metric(t, s, "linkwatch_checks_skipped_total") - skipped
	row("checks due per second", "", "%d", n)
	row("checks made per second, counted at the test server", fmt.Sprintf("≥ %d", wanted), "%.0f", float64(checks)/seconds)
	row("skipped checks", "", "%.1f%%", 100*skipped/(skipped+float64(checks)))
	perThousand := cpu.Seconds() / float64(checks) * 1000
	row("CPU time per 1,000 checks", "", "%.3f s", perThousand)
	row("memory", "", "%.0f MB", float64(s.Memory())/1e6)
	quantiles("GET /v1/targets?limit=50 meanwhile", "≤ 100 ms", few)
	quantiles("GET /v1/targets?limit=500 meanwhile", "≤ 100 ms", many)
	s.Stop()

	after := runBare(t, urls)
	baseline := (before.CPU + after.CPU) / float64(before.Requests+after.Requests) * 1000
	row("baseline: bare net/http GETs with the same concurrency, before and after", "", "%.0f, %.0f GETs/s",
		float64(before.Requests)/before.Seconds, float64(after.Requests)/after.Seconds)
	row("baseline: CPU time per 1,000 bare net/http GETs", "", "%.3f s", baseline)
	row("CPU time of a check compared with a bare GET", "≤ 4", "%.1f times", perThousand/baseline)
}

// addFigures measures how long creating targets by API takes, with a request each. The program also makes the first check
// of each.
func addFigures(t *testing.T, engine, database string) {
	const n, connections = 100_000, 32
	hosts := farm(t, 1, figureHosts, func(http.ResponseWriter, *http.Request) {})
	s := e2e.Start(t, "DATABASE_URL="+database)
	table("%d times POST /v1/targets on %d connections, %s", n, connections, engine)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	var next, failed atomic.Int64
	started := time.Now()
	var group sync.WaitGroup
	for range connections {
		group.Go(func() {
			for i := next.Add(1); i <= n; i = next.Add(1) {
				body := strings.NewReader(fmt.Sprintf(`{"url": "%s/%d", "interval_seconds": 86400}`, hosts[i%figureHosts], i))
				res, err := client.Post(s.URL+"/v1/targets", "application/json", body)
				if err != nil {
					failed.Add(1)
					continue
				}
				_, _ = io.Copy(io.Discard, res.Body) // the status says whether it was created
				_ = res.Body.Close()
				if res.StatusCode != http.StatusCreated {
					failed.Add(1)
				}
			}
		})
	}
	group.Wait()
	seconds := time.Since(started).Seconds()
	if failed.Load() > 0 {
		t.Errorf("%d requests failed", failed.Load())
	}
	row("time", "≤ 60 s", "%.1f s", seconds)
	row("targets created per second", "", "%.0f", n/seconds)
	row("CPU time per 1,000 targets", "", "%.2f s", cpuOf(t, s.PID()).Seconds()/n*1000)
	s.Stop()
}

// bytesPerRow returns the size of a row of a table with its indexes. It counts the pages that become free without
// the rows.
func bytesPerRow(t *testing.T, file, table string) string {
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
	defer func() { _ = tx.Rollback() }() // so that the rows are kept
	number := func(query string) (n float64) {
		if err := tx.QueryRow(query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	rows, size, free := number("SELECT count(*) FROM "+table), number("PRAGMA page_size"), number("PRAGMA freelist_count")
	if _, err := tx.Exec("DELETE FROM " + table); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%.0f B", (number("PRAGMA freelist_count")-free)*size/rows)
}

// hangingFigures measures how many checks of healthy hosts are on time while other hosts hang: after a cold start, and
// after each host was checked once.
func hangingFigures(t *testing.T) {
	const healthy, timeout, watched = 30, 5 * time.Second, 30 * time.Second
	table("%d healthy targets and %d that hang, CHECK_INTERVAL=1s, HTTP_TIMEOUT=5s", healthy, healthy)
	for _, workers := range []int{8, 16, 64} {
		var mu sync.Mutex
		arrivals := map[string][]time.Time{} // by host
		arrive := func(r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			arrivals[r.Host] = append(arrivals[r.Host], time.Now())
		}
		urls := farm(t, 2, healthy, func(_ http.ResponseWriter, r *http.Request) { arrive(r) })
		hang := farm(t, 3, healthy, func(_ http.ResponseWriter, r *http.Request) {
			arrive(r)
			<-r.Context().Done()
		})
		var all []string
		for i := range urls { // alternately
			all = append(all, hang[i], urls[i])
		}
		file := targetFile(t, all, nil)
		s := e2e.Start(t, "DATABASE_URL="+file, "CHECK_INTERVAL="+checkInterval.String(), fmt.Sprintf("MAX_CONCURRENCY=%d", workers), "SHUTDOWN_GRACE=1s")
		started := time.Now()
		modelstest.Eventually(t, "each host was tried once", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(arrivals) == 2*healthy
		})
		time.Sleep(timeout)
		tried := time.Now()
		time.Sleep(watched)
		mu.Lock()
		for name, from := range map[string]time.Time{"from the start": started, "once each was tried": tried} {
			onTime, due := 0, 0
			for _, u := range urls {
				n, of := punctual(arrivals[strings.TrimPrefix(u, "http://")], from, time.Now())
				onTime, due = onTime+n, due+of
			}
			target := ""
			if from.Equal(tried) {
				target = "≥ 95%"
			}
			row(fmt.Sprintf("on time, %s, MAX_CONCURRENCY=%d", name, workers), target, "%.1f%% of %d", 100*float64(onTime)/float64(due), due)
		}
		row(fmt.Sprintf("time until every host was tried, MAX_CONCURRENCY=%d", workers), "", "%.1f s", tried.Sub(started).Seconds())
		mu.Unlock()
		s.Stop()
	}
}

// outageFigures measures the longest gap between checks of healthy targets when 200 others start to hang at the same time.
func outageFigures(t *testing.T) {
	const healthy, others, interval, watched = 20, 200, 5 * time.Second, 2 * time.Minute
	table("%d healthy targets and %d that begin to hang together: CHECK_INTERVAL=%s, HTTP_TIMEOUT=2s, MAX_CONCURRENCY=8", healthy, others, interval)
	var mu sync.Mutex
	last, gaps := map[string]time.Time{}, map[string][]time.Duration{} // by host
	var outage atomic.Bool
	urls := farm(t, 2, healthy, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if before, ok := last[r.Host]; ok && outage.Load() {
			gaps[r.Host] = append(gaps[r.Host], time.Since(before))
		}
		last[r.Host] = time.Now()
	})
	hang := farm(t, 3, others, func(_ http.ResponseWriter, r *http.Request) {
		if outage.Load() {
			<-r.Context().Done()
		}
	})
	s := e2e.Start(t, "DATABASE_URL="+targetFile(t, append(hang, urls...), nil), "CHECK_INTERVAL="+interval.String(), "HTTP_TIMEOUT=2s",
		"MAX_CONCURRENCY=8", "SHUTDOWN_GRACE=1s")
	time.Sleep(4 * interval)
	mu.Lock()
	outage.Store(true)
	mu.Unlock()
	time.Sleep(watched)
	mu.Lock()
	defer mu.Unlock()
	var longest []time.Duration
	onTime, later := 0, 0 // checks after the longest gap
	for host, at := range last {
		of := append(gaps[host], time.Since(at))
		worst := slices.Max(of)
		longest = append(longest, worst)
		for _, gap := range of[slices.Index(of, worst)+1:] {
			later++
			if gap <= 2*interval {
				onTime++
			}
		}
	}
	slices.Sort(longest)
	row("longest time without a check, of a healthy target", "", "p50 %.0f, maximum %.0f s", longest[len(longest)/2].Seconds(), longest[len(longest)-1].Seconds())
	row("on time after that", "", "%.1f%% of %d", 100*float64(onTime)/float64(max(1, later)), later)
	s.Stop()
}

// checkInterval is the CHECK_INTERVAL of hangingFigures.
const checkInterval = time.Second

// punctual counts the checks of a target that were due in a period, and those that were on time. A check is on time at
// most two intervals after the previous one (or the start): it is due within one interval and may wait for another. A
// longer gap counts as one late check per whole interval.
func punctual(arrivals []time.Time, from, to time.Time) (onTime, due int) {
	before := from
	for _, at := range append(slices.Clone(arrivals), to) {
		if at.Before(from) {
			before = at
			continue
		}
		gap := at.Sub(before)
		if gap <= 2*checkInterval {
			onTime++
		}
		due += max(1, int(gap/checkInterval))
		before = at
	}
	return onTime, due
}
