package crawl_test

import (
	"context"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
)

// world is a store with a clock that only moves when a test advances it.
type world struct {
	*testing.T
	*crawl.Store
	db    *models.DB
	clock *modelstest.Clock
	me    lease.ID
	packs int // number of packs so far, for their keys
}

const staleAfter = 5 * time.Minute

// each runs a test on each engine.
func each(t *testing.T, test func(w *world)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newWorld(t, db)) })
}

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	clock := modelstest.NewClock()
	return &world{T: t, Store: crawl.NewStore(db, clock.Now, crawl.Options{StaleAfter: staleAfter, ArchiveRetention: archiveRetention, FeedInterval: every}), db: db, clock: clock, me: modelstest.Lease(t, db, "i_me")}
}

// ok fails the test on an error.
func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// job adds a job; every nil = once.
func (w *world) job(url string, every time.Duration) crawl.Job {
	w.Helper()
	n := crawl.NewJob{URL: url, AdaptiveScheduling: true, Interval: crawl.Interval{Type: crawl.Minutes}}
	if every > 0 {
		n.Interval.Count = int(every / time.Minute)
	}
	zero := 0
	n.Source.RateLimitMS = &zero
	j, err := w.AddJob(w.Context(), n)
	w.ok(err)
	return j
}

func (w *world) get(j crawl.Job) crawl.Job {
	w.Helper()
	j, err := w.Job(w.Context(), j.ID)
	w.ok(err)
	return j
}

// begin starts the only due job.
func (w *world) begin() crawl.Execution {
	w.Helper()
	seqs, _, err := w.DueJobs(w.Context(), 10)
	w.ok(err)
	if len(seqs) != 1 {
		w.Fatalf("%d jobs are due", len(seqs))
	}
	e, began, err := w.StartExecution(w.Context(), w.me, seqs[0])
	w.ok(err)
	if !began {
		w.Fatal("the job did not begin")
	}
	return e
}

// turn claims the only due host and loads its next entries.
func (w *world) turn() *crawl.HostBatch {
	w.Helper()
	hosts, _, err := w.ClaimHosts(w.Context(), w.me, 1, 0)
	w.ok(err)
	if len(hosts) != 1 {
		w.Fatalf("%d hosts are due", len(hosts))
	}
	t := &crawl.HostBatch{Host: hosts[0]}
	t.NextAt = w.Now()
	t.Unfetched, err = w.LoadEntries(w.Context(), t.Host, crawl.MaxBatchEntries)
	w.ok(err)
	return t
}

// fetched returns a result of the next entry of a batch: a page with links to paths.
func fetched(t *crawl.HostBatch, now models.Time, links ...string) crawl.Result {
	e := t.Unfetched[0]
	t.Unfetched = t.Unfetched[1:]
	r := crawl.Result{
		Entry: e, Status: crawl.EntryDone, TextHash: "h" + e.URL, LogLine: crawl.FormatLogLine(now, "info", "fetched", "url", e.URL),
		Page: &crawl.Page{SourceSeq: e.Crawl.Source, CrawlSeq: e.CrawlSeq, URL: e.URL, StatusCode: 200, Title: "T", ContentHash: "h" + e.URL, FetchedAt: now},
	}
	for _, l := range links {
		r.Links = append(r.Links, crawl.FoundURL{Crawl: e.CrawlSeq, Source: e.Crawl.Source, URL: l, Depth: e.Depth + 1})
	}
	return r
}

// crawlAll fetches entries until the frontier is empty. links returns the links of each page.
func (w *world) crawlAll(links func(url string) []string) {
	w.Helper()
	for range 100 {
		hosts, _, err := w.ClaimHosts(context.Background(), w.me, 10, 0)
		w.ok(err)
		if len(hosts) == 0 {
			return
		}
		for _, h := range hosts {
			t := &crawl.HostBatch{Host: h}
			t.NextAt = w.Now()
			t.Unfetched, err = w.LoadEntries(w.Context(), h, crawl.MaxBatchEntries)
			w.ok(err)
			for len(t.Unfetched) > 0 {
				t.Add(fetched(t, w.Now(), links(t.Unfetched[0].URL)...))
			}
			w.ok(w.Record(w.Context(), t))
		}
	}
	w.Fatal("the crawl does not end")
}

// kill ends the lease of this instance, as another instance does when this one is dead.
func (w *world) kill() {
	w.Helper()
	modelstest.Exec(w.T, w.db, "DELETE FROM instances WHERE id = ?", w.me)
	w.me = modelstest.Lease(w.T, w.db, string(w.me)+"i")
}
