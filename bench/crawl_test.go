//go:build e2e

package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"linkwatch/e2e"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
)

const (
	crawlHosts = 20
	crawlPages = 10_000
	pageSize   = 5_000 // bytes
	pageLinks  = 30    // per page: some to the next pages, the others the same on every page
)

// TestCrawlFigures measures crawls of the real binary, compared with plain Colly and plain net/http, and the scheduler with
// many jobs. It asserts no times.
func TestCrawlFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	t.Run("crawl", crawlFigures)
	t.Run("frontier", frontierFigures)
	t.Run("search", searchFigures)
	t.Run("scheduler", schedulerFigures)
	t.Run("instances", instanceFigures)
}

func pageTexts() (texts []string) {
	for seed := range uint64(499) { // a prime, so that the pages of a host have different texts
		texts = append(texts, "<p>"+strings.ReplaceAll(newWriter(seed).words(1000), "\n", "</p>\n<p>"))
	}
	return texts
}

// crawlSite serves pages on crawlHosts hosts, all linked from the first one.
func crawlSite(t *testing.T, x, pages int) (urls []string) {
	each, texts := pages/crawlHosts, pageTexts()
	urls = farm(t, x, crawlHosts, func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/p"))
		if err != nil || n >= each {
			http.NotFound(w, r)
			return
		}
		b := make([]byte, 0, pageSize+1000)
		b = fmt.Appendf(b, "<!doctype html><html lang=en><head><title>Page %d of %s</title><meta name=description content=\"A page\"></head><body>", n, r.Host)
		links := 0
		link := func(to string) { b = fmt.Appendf(b, "<a href=\"%s\">page</a>\n", to); links++ }
		if n == 0 {
			for _, u := range urls {
				link(u + "/p0")
			}
		}
		for i := 1; i <= 20; i++ {
			if next := 20*n + i; next < each {
				link("/p" + strconv.Itoa(next))
			}
		}
		for i := 0; links < pageLinks; i++ {
			link("/p" + strconv.Itoa(i%each))
		}
		b = append(b, texts[n%len(texts)][:max(0, pageSize-len(b))]...)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(b) // the client may have disconnected
	})
	return urls
}

// addCrawl adds a source with all hosts and a job that runs at once. It returns the job's id.
func addCrawl(t *testing.T, s *e2e.Server, urls []string) (id string) {
	t.Helper()
	var hosts []string
	for _, u := range urls {
		parsed, err := url.Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, parsed.Host)
	}
	source := map[string]any{"url": urls[0] + "/p0", "rate_limit_ms": 0, "max_depth": 100, "allowed_domains": hosts}
	if status := s.Call("POST", "/v1/sources", source, nil); status != http.StatusCreated {
		t.Fatalf("add source: status %d", status)
	}
	var job struct{ ID string }
	if status := s.Call("POST", "/v1/jobs", map[string]any{"url": urls[0] + "/p0"}, &job); status != http.StatusCreated {
		t.Fatalf("add job: status %d", status)
	}
	return job.ID
}

// run is the current state of an execution.
type run struct {
	Status       string
	DurationMS   int64 `json:"duration_ms"`
	ItemsCrawled int   `json:"items_crawled"`
	Failed       int
}

// lastRun returns the newest execution of a job, or the zero run if there is none yet.
func lastRun(t *testing.T, s *e2e.Server, job string) run {
	t.Helper()
	var list struct{ Items []run }
	if status := s.Call("GET", "/v1/jobs/"+job+"/executions?limit=1", nil, &list); status != http.StatusOK {
		t.Fatalf("list executions: status %d", status)
	}
	if len(list.Items) == 0 {
		return run{}
	}
	return list.Items[0]
}

// crawled waits until a crawl has completed.
func crawled(t *testing.T, s *e2e.Server, job string) run {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if r := lastRun(t, s, job); r.Status != "" && r.Status != "running" {
			if r.Status != "completed" {
				t.Fatalf("got %+v, want a completed crawl", r)
			}
			return r
		}
	}
	t.Fatal("the crawl did not end in time")
	return run{}
}

func perSecond(n int, took time.Duration) string {
	return fmt.Sprintf("%.0f pages/s", float64(n)/took.Seconds())
}

// crawlFigures measures whole crawls of a site with crawlPages pages.
func crawlFigures(t *testing.T) {
	table("A crawl of %d pages of %d bytes with %d links on %d hosts, one request per host at a time", crawlPages, pageSize, pageLinks, crawlHosts)
	urls := crawlSite(t, 40, crawlPages)
	for range 3 {
		started := time.Now()
		if n := bareCrawl(t, urls); n != crawlPages {
			t.Fatalf("net/http: got %d pages", n)
		}
		row("baseline: bare net/http, a tokenizer and a map of URLs", "", "%s", perSecond(crawlPages, time.Since(started)))
		started = time.Now()
		if n := bareColly(t, urls); n < crawlPages { // it visits a few pages twice
			t.Fatalf("Colly: got %d pages", n)
		}
		row("baseline: Colly, visited URLs in memory", "", "%s", perSecond(crawlPages, time.Since(started)))
		plain := wholeCrawl(t, urls, "Linkwatch, SQLite: fetched, extracted, stored, indexed", "CRAWLER_POLL_INTERVAL=100ms")
		archived := wholeCrawl(t, urls, "  with an archive of the HTML in a folder", "CRAWLER_POLL_INTERVAL=100ms", "CRAWLER_ARCHIVE_URL="+t.TempDir())
		row("share of the archive in the CPU time", "≤ 15%", "%.0f%%", 100*(archived-plain)/plain)
	}
	crawlWithAll(t, urls)
}

// wholeCrawl crawls a site with a new server, prints the results and returns the CPU time per page in milliseconds.
func wholeCrawl(t *testing.T, urls []string, name string, env ...string) float64 {
	t.Helper()
	s := e2e.Start(t, env...)
	defer s.Stop()
	return measureCrawl(t, s, urls, name)
}

// measureCrawl is wholeCrawl with a running server.
func measureCrawl(t *testing.T, s *e2e.Server, urls []string, name string) float64 {
	t.Helper()
	c := crawlOnce(t, s, urls)
	row(name, "≥ 800 pages/s", "%.0f pages/s", c.perSecond)
	row("time from the last page to a complete search index", "", "%.1f s", c.lag)
	row("CPU time per page", "", "%.2f ms", c.cpu)
	row("memory at most", "≤ 300 MB", "%d MB", s.PeakMemory()>>20)
	return c.cpu
}

// crawlCost is the cost of a crawl of crawlPages pages.
type crawlCost struct {
	perSecond float64 // pages, until all are in the search index
	lag       float64 // seconds from the last page to a complete search index
	cpu       float64 // milliseconds per page
}

// crawlOnce crawls a site with a running server that has crawled nothing before.
func crawlOnce(t *testing.T, s *e2e.Server, urls []string) (c crawlCost) {
	t.Helper()
	job := addCrawl(t, s, urls)
	r := crawled(t, s, job)
	if r.ItemsCrawled != crawlPages || r.Failed != 0 {
		t.Fatalf("unexpected run: %+v", r)
	}
	ended := time.Now()
	for metric(t, s, "linkwatch_crawl_indexed_total") < crawlPages || metric(t, s, "linkwatch_crawl_index_waiting") > 0 {
		time.Sleep(20 * time.Millisecond)
	}
	c.lag = time.Since(ended).Seconds()
	c.perSecond = crawlPages / (float64(r.DurationMS)/1000 + c.lag)
	c.cpu = cpuOf(t, s.PID()).Seconds() * 1000 / crawlPages
	return c
}

// frontierFigures measures crawls with few and with many URLs in the frontier.
func frontierFigures(t *testing.T) {
	const seconds = 20
	table("A crawl with a long frontier, SQLite, %d s", seconds)
	for _, n := range []int{10_000, 1_000_000, 10_000, 1_000_000} {
		urls := crawlSite(t, 41, 2_000_000)
		file := filepath.Join(t.TempDir(), "crawl.db")
		fillFrontier(t, file, urls, n)
		s := e2e.Start(t, "DATABASE_URL="+file, "CRAWLER_POLL_INTERVAL=100ms")
		var list struct{ Items []struct{ ID string } }
		s.Call("GET", "/v1/jobs", nil, &list)
		job := list.Items[0].ID
		for lastRun(t, s, job).ItemsCrawled == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		before, cpu, started := lastRun(t, s, job).ItemsCrawled, cpuOf(t, s.PID()), time.Now()
		for time.Since(started) < seconds*time.Second && lastRun(t, s, job).Status == "running" {
			time.Sleep(100 * time.Millisecond)
		}
		pages, took := lastRun(t, s, job).ItemsCrawled-before, time.Since(started)
		name := fmt.Sprintf("%d URLs in the frontier", n)
		row(name, "", "%s", perSecond(pages, took))
		row(name+": CPU time per page", "no higher", "%.2f ms", (cpuOf(t, s.PID())-cpu).Seconds()*1000/float64(pages))
		row(name+": memory at most", "≤ 300 MB", "%d MB", s.PeakMemory()>>20)
		s.Stop()
	}
}

// fillFrontier creates a database with an interrupted crawl that has n URLs left to fetch. They link only to each other.
func fillFrontier(t *testing.T, file string, urls []string, n int) {
	t.Helper()
	db, closeDB := e2e.OpenDatabase(t, file)
	defer closeDB()
	ctx := context.Background()
	store := crawl.NewStore(db, time.Now, crawl.Options{StaleAfter: time.Hour})
	zero := 0
	var hosts []string
	for _, u := range urls {
		hosts = append(hosts, models.HostPort(u))
	}
	src, err := store.AddSource(ctx, crawl.NewSource{URL: urls[0], Enabled: true, MaxDepth: 1, RateLimitMS: &zero, AllowedDomains: hosts})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.AddJob(ctx, crawl.NewJob{SourceID: src.ID, URL: urls[0] + "/p0"}); err != nil {
		t.Fatal(err)
	}
	modelstest.Exec(t, db, "INSERT INTO instances (id, started_at, heartbeat_at) VALUES ('i_gone', 1, 1)")
	e, started, err := store.StartExecution(ctx, lease.ID("i_gone"), 1)
	if err != nil || !started {
		t.Fatal(started, err)
	}
	for at := 0; at < n; {
		var found []crawl.FoundURL
		for ; at < n && len(found) < 50_000; at++ {
			found = append(found, crawl.FoundURL{Crawl: e.CrawlSeq, Source: src.Seq, URL: urls[at%len(urls)] + "/p" + strconv.Itoa(at/len(urls)), Depth: 1})
		}
		if err := store.Enqueue(ctx, e, found); err != nil {
			t.Fatal(err)
		}
	}
	modelstest.Exec(t, db, "DELETE FROM instances")
}

// schedulerFigures measures the scheduler and its page with many jobs.
func schedulerFigures(t *testing.T) {
	const n = 10_000
	table("%d scheduled jobs, SQLite", n)
	file := filepath.Join(t.TempDir(), "jobs.db")
	db, closeDB := e2e.OpenDatabase(t, file)
	ctx := context.Background()
	store := crawl.NewStore(db, time.Now, crawl.Options{StaleAfter: time.Hour})
	started := time.Now()
	for i := range n {
		_, err := store.AddJob(ctx, crawl.NewJob{URL: fmt.Sprintf("https://site%d.example/", i), Interval: crawl.Interval{Count: 1 + i%24, Type: crawl.Hours}, AdaptiveScheduling: true})
		if err != nil {
			t.Fatal(err)
		}
	}
	row("add a job, with its source", "", "%.2f ms", time.Since(started).Seconds()*1000/n)
	modelstest.Exec(t, db, "UPDATE jobs SET next_run_at = next_run_at + 86400000000") // none is due during the measurement
	measureCalls(t, "poll with nothing due", "≤ 5 ms", func() error {
		seqs, _, err := store.DueJobs(ctx, 100)
		if len(seqs) > 0 {
			t.Fatal("jobs are due")
		}
		return err
	})
	measureCalls(t, "clear stale locks", "", func() error { _, err := store.ClearStaleLocks(ctx); return err })
	modelstest.Exec(t, db, "UPDATE jobs SET next_run_at = next_run_at - 86400000000 + 3600000000")
	measureCalls(t, "preview of a rebalance", "", func() error { _, err := store.PreviewRebalance(ctx); return err })
	measureCalls(t, "collect the metrics of the scheduler", "", func() error { _, err := store.CollectMetrics(ctx); return err })
	closeDB()
	s := e2e.Start(t, "DATABASE_URL="+file, "CRAWLER_POLL_INTERVAL=1h")
	measurePath(t, s, "page /crawl", "≤ 50 ms", "/crawl")
	measurePath(t, s, "page /crawl?status=scheduled&q=site77", "", "/crawl?status=scheduled&q=site77")
	measurePath(t, s, "GET /v1/jobs", "", "/v1/jobs")
	measurePath(t, s, "GET /v1/scheduler/distribution", "", "/v1/scheduler/distribution")
	measurePath(t, s, "page /", "", "/")
}

// measureCalls calls a function many times and prints the durations as a row.
func measureCalls(t *testing.T, name, target string, call func() error) {
	t.Helper()
	var all []float64
	for range samples {
		started := time.Now()
		if err := call(); err != nil {
			t.Fatal(err)
		}
		all = append(all, time.Since(started).Seconds()*1000)
	}
	quantiles(name, target, all)
}

// instanceFigures measures a crawl by one and by three instances on PostgreSQL.
func instanceFigures(t *testing.T) {
	table("A crawl of %d pages on %d hosts, PostgreSQL", crawlPages, crawlHosts)
	urls := crawlSite(t, 42, crawlPages)
	for _, n := range []int{1, 3} {
		store := "DATABASE_URL=" + modelstest.NewPostgres(t)
		var all []*e2e.Server
		for range n {
			all = append(all, e2e.Start(t, store, "CRAWLER_POLL_INTERVAL=100ms"))
		}
		r := crawled(t, all[0], addCrawl(t, all[0], urls))
		if r.ItemsCrawled != crawlPages || r.Failed != 0 {
			t.Fatalf("unexpected run: %+v", r)
		}
		row(fmt.Sprintf("%d instances", n), "", "%s", perSecond(crawlPages, time.Duration(r.DurationMS)*time.Millisecond))
		for i, s := range all {
			row(fmt.Sprintf("fetched by instance %d", i+1), "", "%.0f", metric(t, s, "linkwatch_crawl_fetches_total"))
			s.Stop()
		}
	}
}
