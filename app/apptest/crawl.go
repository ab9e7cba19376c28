package apptest

import (
	"slices"
	"time"

	"linkwatch/models/crawl"
)

// AddJob adds a crawl job for a URL. It runs once unless change sets a schedule.
func (a *App) AddJob(url string, change ...func(*crawl.NewJob)) crawl.Job {
	a.Helper()
	n := crawl.NewJob{URL: url, Source: crawl.NewSource{RateLimitMS: new(0)}}
	for _, c := range change {
		c(&n)
	}
	j, err := a.Systems.Crawl.Store.AddJob(a.Context(), n)
	a.Must(err)
	return j
}

// BeginCrawl starts an execution of a job that is due.
func (a *App) BeginCrawl(j crawl.Job) crawl.Execution {
	a.Helper()
	e, began, err := a.Systems.Crawl.Store.StartExecution(a.Context(), a.Holder(), j.Seq)
	a.Must(err)
	if !began {
		a.Fatalf("%s is not due", j.ID)
	}
	return e
}

// Fetch records the result of find for each URL of the frontier, a second apart, until the
// frontier is empty. It sets Result.Entry and Page.FetchedAt.
func (a *App) Fetch(find func(crawl.Entry) crawl.Result) {
	a.Helper()
	s := a.Systems.Crawl.Store
	for range 100 {
		hosts, _, err := s.ClaimHosts(a.Context(), a.Holder(), 10, 0)
		a.Must(err)
		if len(hosts) == 0 {
			return
		}
		for _, h := range hosts {
			t := &crawl.HostBatch{Host: h}
			entries, err := s.LoadEntries(a.Context(), h, crawl.MaxBatchEntries)
			a.Must(err)
			for _, e := range entries {
				a.Clock.Advance(time.Second)
				r := find(e)
				if r.Entry = e; r.Page != nil {
					r.Page.FetchedAt = s.Now()
				}
				t.Add(r)
			}
			t.NextAt = s.Now()
			a.Must(s.Record(a.Context(), t))
		}
	}
	a.Fatal("the crawl did not end")
}

// EndCrawl ends an execution.
func (a *App) EndCrawl(e crawl.Execution, end crawl.ExecutionEnd) {
	a.Helper()
	err := a.Systems.Crawl.Store.EndExecution(a.Context(), e, end)
	a.Must(err)
}

// Crawled returns a result for Fetch: a page with links to some URLs.
func Crawled(e crawl.Entry, links ...string) crawl.Result {
	r := crawl.Result{
		Status: crawl.EntryDone, TextHash: "h",
		Page: &crawl.Page{SourceSeq: e.Crawl.Source, CrawlSeq: e.CrawlSeq, URL: e.URL, StatusCode: 200, Title: "T", ContentHash: "h"},
	}
	for _, l := range slices.Sorted(slices.Values(links)) {
		r.Links = append(r.Links, crawl.FoundURL{Crawl: e.CrawlSeq, Source: e.Crawl.Source, URL: l, Depth: e.Depth + 1})
	}
	return r
}
