package crawl_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

func (w *world) crawlListed(n crawl.NewJob, urls ...string) crawl.Job {
	w.Helper()
	if n.Source.RateLimitMS == nil {
		n.Source.RateLimitMS = new(0)
	}
	j, err := w.CrawlSite(w.Context(), n, urls)
	w.ok(err)
	return j
}

// queuedManual returns the queued manual entries of the frontier.
func (w *world) queuedManual() (urls []string) {
	w.Helper()
	w.ok(w.db.Read(w.Context()).Raw("SELECT url FROM frontier WHERE crawl_seq = 0 AND status = 'pending' ORDER BY url").Scan(&urls).Error)
	return urls
}

// TestCrawlListed checks that listed pages are fetched next to the crawl, so pages without links to them are found too.
func TestCrawlListed(t *testing.T) {
	each(t, func(w *world) {
		j := w.crawlListed(crawl.NewJob{URL: "http://a.example/"},
			"http://a.example/alone", "http://a.example/linked", "http://a.example/alone#top", "http://www.a.example/x", "http://b.example/", "mailto:a@a.example", "")
		if j.Recurring() || j.URL != "http://a.example/" || !j.NextRunAt.Equal(w.Now().Time) {
			w.Errorf("the job is %+v", j)
		}
		if got := w.queuedManual(); !slices.Equal(got, []string{"http://a.example/alone", "http://a.example/linked", "http://www.a.example/x"}) {
			w.Errorf("waiting are %q", got)
		}
		e := w.begin()
		w.crawlAll(func(url string) []string {
			if url == "http://a.example/" {
				return []string{"http://a.example/linked"}
			}
			return []string{"http://a.example/deeper"} // links of listed pages are not followed
		})
		w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed}))
		facts, err := w.FactsOf(w.Context(), []string{"http://a.example/alone", "http://a.example/linked"})
		w.ok(err)
		if f := facts["http://a.example/alone"]; f.StatusCode != 200 || !f.Unlinked {
			w.Errorf("the page without a link: %+v", f)
		}
		if f := facts["http://a.example/linked"]; f.StatusCode != 200 || f.Unlinked {
			w.Errorf("the linked page: %+v", f)
		}

		again := w.crawlListed(crawl.NewJob{URL: "http://a.example"}, "http://a.example/alone")
		if again.ID == j.ID || again.SourceID != j.SourceID {
			w.Errorf("after the crawl: job %s of %s, was %s of %s", again.ID, again.SourceID, j.ID, j.SourceID)
		}
		if got := w.queuedManual(); !slices.Equal(got, []string{"http://a.example/alone"}) {
			w.Errorf("then %q wait", got)
		}
	})
}

// TestCrawlListedReusesJobs checks that a scheduled or running job is reused, and that other jobs do not change.
func TestCrawlListedReusesJobs(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		other := w.job("http://a.example/other", time.Hour)
		due := w.get(other).NextRunAt
		for _, when := range []string{"scheduled", "due", "running"} {
			if got := w.crawlListed(crawl.NewJob{URL: "http://a.example"}); got.ID != j.ID {
				w.Errorf("%s: job %s, want %s", when, got.ID, j.ID)
			}
			if when == "due" {
				w.begin()
			}
		}
		if got := w.get(j); got.Status != crawl.Running || !got.NextRunAt.IsZero() {
			w.Errorf("the running job is %+v", got)
		}
		if got := w.get(other); got.NextRunAt != due {
			w.Errorf("the other job runs at %s, was %s", got.NextRunAt, due)
		}
		_, err := w.Act(w.Context(), other.ID, crawl.Pause)
		w.ok(err)
		if got := w.crawlListed(crawl.NewJob{URL: other.URL}); got.ID == other.ID || w.get(other).Status != crawl.Paused {
			w.Errorf("a paused job is %s", w.get(other).Status)
		}
	})
}

// crawlUnlinked crawls http://a.example/ and the listed paths. No page links to another. changes sets the result of each
// path, as in crawlPages.
func (w *world) crawlUnlinked(changes map[string]func(*crawl.Result), paths ...string) {
	w.Helper()
	var urls []string
	for _, path := range paths {
		urls = append(urls, "http://a.example"+path)
	}
	w.crawlListed(crawl.NewJob{URL: "http://a.example/"}, urls...)
	e := w.begin()
	w.fetchAll(changes)
	w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed}))
	w.report()
	w.clock.Advance(time.Minute)
}

// fetchListed fetches listed paths of http://a.example while no crawl is running.
func (w *world) fetchListed(changes map[string]func(*crawl.Result)) {
	w.Helper()
	for path := range changes {
		_, _, err := w.AddEntry(w.Context(), "http://a.example"+path, "")
		w.ok(err)
	}
	w.fetchAll(changes)
	w.clock.Advance(time.Minute)
}

// TestFactsOfListedPages checks that facts of listed pages exist even if no page was stored. Only the crawl decides whether
// a page is linked.
func TestFactsOfListedPages(t *testing.T) {
	each(t, func(w *world) {
		w.crawlUnlinked(map[string]func(*crawl.Result){
			"/robots": failed(crawl.ReasonRobots), "/canonical": insteadOf("/plain"), "/moved": movedTo("/target"), "/target": plain,
			"/loop": failed(crawl.ReasonRedirects), "/outside": failed(crawl.ReasonOutside), "/unreachable": failed("timed out"), "/404": status(404),
			"/503": status(503), "/plain": plain, "/slash": movedTo("/slash/"), "/slash/": failed(crawl.ReasonRobots),
		}, "/robots", "/canonical", "/moved", "/loop", "/outside", "/unreachable", "/404", "/503", "/plain", "/slash")
		w.wantFacts("after the crawl", map[string]string{
			"/robots": "0 words=-1 robots unlinked", "/canonical": "200 words=300 other canonical unlinked canonical=/plain",
			"/moved": "0 words=-1 redirects unlinked to=/target", "/target": "200 words=300 unlinked",
			"/loop": "0 words=-1 redirects unlinked error=too many redirects", "/outside": "0 words=-1 redirects unlinked",
			"/unreachable": "0 words=-1 unlinked error=timed out", "/404": "404 words=-1 unlinked", "/503": "503 words=-1 unlinked",
			"/plain": "200 words=300 unlinked", "/slash": "0 words=-1 robots unlinked", "/unlisted": "0 words=-1 unlinked",
		})

		// After they are listed again, the last result counts until there is a new one.
		w.crawlListed(crawl.NewJob{URL: "http://a.example/"}, "http://a.example/unreachable", "http://a.example/plain")
		w.wantFacts("while they wait", map[string]string{"/plain": "200 words=300 unlinked", "/robots": "0 words=-1 robots unlinked"})
		w.crawlUnlinked(map[string]func(*crawl.Result){"/unreachable": plain, "/plain": failed(crawl.ReasonRobots)})
		w.wantFacts("the next time", map[string]string{"/unreachable": "200 words=300 unlinked", "/plain": "0 words=-1 robots unlinked", "/404": "404 words=-1 unlinked"})

		w.clock.Advance(crawl.KeepFrontier + time.Hour)
		w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) error { _, err := w.ReapFrontier(tx, 1000); return err }))
		w.wantFacts("without the frontier", map[string]string{"/robots": "nothing", "/plain": "200 words=300 unlinked"})
	})
}

// TestFactsOfLinkedAndListedPages checks that the newest result of the crawl and of the listed page counts.
func TestFactsOfLinkedAndListedPages(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		w.crawlPages(j, map[string]func(*crawl.Result){"/a": failed(crawl.ReasonRobots), "/b": plain, "/c": failed("timed out")})
		w.fetchListed(map[string]func(*crawl.Result){"/a": status(404), "/b": failed(crawl.ReasonRobots), "/c": plain})
		w.wantFacts("listed last", map[string]string{"/a": "404 words=-1", "/b": "0 words=-1 robots", "/c": "200 words=300"})
		w.crawlPages(j, map[string]func(*crawl.Result){"/a": plain, "/b": status(503), "/c": failed(crawl.ReasonRobots)})
		w.wantFacts("crawled last", map[string]string{"/a": "200 words=300", "/b": "503 words=-1", "/c": "0 words=-1 robots"})
		w.crawlPages(j, nil)
		w.wantFacts("no longer linked", map[string]string{"/a": "200 words=300 unlinked"})
		w.fetchListed(map[string]func(*crawl.Result){"/a": failed(crawl.ReasonRobots)})
		w.wantFacts("listed again", map[string]string{"/a": "0 words=-1 robots unlinked"})
		modelstest.Exec(w.T, w.db, "UPDATE frontier SET source_seq = source_seq + 1 WHERE crawl_seq = 0")
		w.wantFacts("listed for another source", map[string]string{"/a": "200 words=300 unlinked"})
	})
}

func TestCrawlListedErrors(t *testing.T) {
	each(t, func(w *world) {
		var urls []string
		for i := range crawl.MaxSiteURLs {
			urls = append(urls, fmt.Sprintf("http://a.example/%d", i))
		}
		if _, err := w.CrawlSite(w.Context(), crawl.NewJob{URL: "http://a.example/"}, append(urls, "http://a.example/more")); models.CodeOf(err) != models.CodeInvalid {
			w.Errorf("too many: %v", err)
		}
		if _, err := w.CrawlSite(w.Context(), crawl.NewJob{URL: "a.example"}, urls); models.CodeOf(err) != models.CodeInvalid {
			w.Errorf("no URL: %v", err)
		}
		if _, err := w.CrawlSite(w.Context(), crawl.NewJob{URL: "http://a.example/", MaxRetries: new(-1)}, urls); models.CodeOf(err) != models.CodeInvalid || len(w.queuedManual()) != 0 {
			w.Errorf("an invalid job: %v, %d wait", err, len(w.queuedManual()))
		}
		queries := modelstest.Queries(w.T, w.db)
		w.crawlListed(crawl.NewJob{URL: "http://a.example/"}, urls[:1]...)
		queries.Store(0)
		w.crawlListed(crawl.NewJob{URL: "http://a.example/"}, urls[1])
		one := queries.Swap(0)
		w.crawlListed(crawl.NewJob{URL: "http://a.example/"}, urls...)
		if n := queries.Load(); n != one || len(w.queuedManual()) != crawl.MaxSiteURLs {
			w.Errorf("one URL takes %d queries, many %d; %d wait", one, n, len(w.queuedManual()))
		}
		l, err := w.Sources(w.Context(), "", models.Cursor{}, 10)
		w.ok(err)
		_, err = w.EditSource(w.Context(), l.Items[0].ID, crawl.SourceEdit{Enabled: new(false)})
		w.ok(err)
		if _, err := w.CrawlSite(w.Context(), crawl.NewJob{URL: "http://a.example/"}, urls); models.CodeOf(err) != models.CodeConflict {
			w.Errorf("a disabled source: %v", err)
		}
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		if _, err := w.CrawlSite(ctx, crawl.NewJob{URL: "http://c.example/"}, urls); err == nil || models.CodeOf(err) == models.CodeConflict {
			w.Errorf("cancelled: %v", err)
		}
	})
}
