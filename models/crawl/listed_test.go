package crawl_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

func (w *world) crawlListed(n crawl.NewJob, urls ...string) crawl.Job {
	w.Helper()
	if n.Source.RateLimitMS == nil {
		n.Source.RateLimitMS = new(0)
	}
	j, err := w.CrawlListed(w.Context(), n, urls)
	w.ok(err)
	return j
}

// waiting are the URLs that wait in the frontier by hand.
func (w *world) waiting() (urls []string) {
	w.Helper()
	w.ok(w.db.Read(w.Context()).Raw("SELECT url FROM frontier WHERE crawl_seq = 0 AND status = 'pending' ORDER BY url").Scan(&urls).Error)
	return urls
}

// Listed pages are fetched beside the crawl, so those that no link leads to are known, too.
func TestCrawlListed(t *testing.T) {
	each(t, func(w *world) {
		j := w.crawlListed(crawl.NewJob{URL: "http://a.example/"},
			"http://a.example/alone", "http://a.example/linked", "http://a.example/alone#top", "http://www.a.example/x", "http://b.example/", "mailto:a@a.example", "")
		if j.Recurring() || j.URL != "http://a.example/" || !j.NextRunAt.Equal(w.Now().Time) {
			w.Errorf("the job is %+v", j)
		}
		if got := w.waiting(); !slices.Equal(got, []string{"http://a.example/alone", "http://a.example/linked", "http://www.a.example/x"}) {
			w.Errorf("waiting are %q", got)
		}
		e := w.begin()
		w.crawlAll(func(url string) []string {
			if url == "http://a.example/" {
				return []string{"http://a.example/linked"}
			}
			return []string{"http://a.example/deeper"} // links of listed pages are not followed
		})
		w.ok(w.EndExecution(w.Context(), e, crawl.End{Event: crawl.Succeed}))
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
		if got := w.waiting(); !slices.Equal(got, []string{"http://a.example/alone"}) {
			w.Errorf("then %q wait", got)
		}
	})
}

// A job that runs or waits is used; others stay as they are.
func TestCrawlListedUsesTheJobThatIsThere(t *testing.T) {
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

func TestCrawlListedRefuses(t *testing.T) {
	each(t, func(w *world) {
		var urls []string
		for i := range crawl.MaxListed {
			urls = append(urls, fmt.Sprintf("http://a.example/%d", i))
		}
		if _, err := w.CrawlListed(w.Context(), crawl.NewJob{URL: "http://a.example/"}, append(urls, "http://a.example/more")); models.CodeOf(err) != models.CodeInvalid {
			w.Errorf("too many: %v", err)
		}
		if _, err := w.CrawlListed(w.Context(), crawl.NewJob{URL: "a.example"}, urls); models.CodeOf(err) != models.CodeInvalid {
			w.Errorf("no URL: %v", err)
		}
		if _, err := w.CrawlListed(w.Context(), crawl.NewJob{URL: "http://a.example/", MaxRetries: new(-1)}, urls); models.CodeOf(err) != models.CodeInvalid || len(w.waiting()) != 0 {
			w.Errorf("an invalid job: %v, %d wait", err, len(w.waiting()))
		}
		queries := modelstest.Queries(w.T, w.db)
		w.crawlListed(crawl.NewJob{URL: "http://a.example/"}, urls[:1]...)
		queries.Store(0)
		w.crawlListed(crawl.NewJob{URL: "http://a.example/"}, urls[1])
		one := queries.Swap(0)
		w.crawlListed(crawl.NewJob{URL: "http://a.example/"}, urls...)
		if n := queries.Load(); n != one || len(w.waiting()) != crawl.MaxListed {
			w.Errorf("one URL takes %d queries, many %d; %d wait", one, n, len(w.waiting()))
		}
		l, err := w.Sources(w.Context(), "", models.Cursor{}, 10)
		w.ok(err)
		_, err = w.EditSource(w.Context(), l.Items[0].ID, crawl.SourceEdit{Enabled: new(false)})
		w.ok(err)
		if _, err := w.CrawlListed(w.Context(), crawl.NewJob{URL: "http://a.example/"}, urls); models.CodeOf(err) != models.CodeConflict {
			w.Errorf("a disabled source: %v", err)
		}
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		if _, err := w.CrawlListed(ctx, crawl.NewJob{URL: "http://c.example/"}, urls); err == nil || models.CodeOf(err) == models.CodeConflict {
			w.Errorf("cancelled: %v", err)
		}
	})
}
