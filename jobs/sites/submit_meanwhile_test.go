package sites_test

import (
	"testing"
	"time"

	sitejobs "linkwatch/jobs/sites"
	"linkwatch/jobs/sites/standin"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

// A removal that is asked for while earlier pages are submitted is sent after them.
func TestSubmitRemovalMeanwhile(t *testing.T) {
	each(t, func(w *world) {
		s := w.google(w.site("https://example.com/", indexing))
		w.have(s, "https://example.com/1", "https://example.com/2")
		release := make(chan struct{})
		w.engine.Fail(standin.Publish, standin.Slow(release))
		i := w.instance(func(o *sitejobs.Options) { o.Concurrency = 1 })
		done := make(chan string)
		go func() { done <- i.run(sites.Submitting) }()
		modelstest.Eventually(w, "the first page is under way", func() bool { return len(w.submissions(s)) > 0 })
		w.clock.Advance(time.Second)
		_, err := w.WantSubmission(w.Context(), w.pages(s, sites.Filter{})["/2"].ID(), true)
		w.ok(err)
		w.clock.Advance(time.Second)
		close(release)
		<-done
		i.run(sites.Submitting)
		last := map[string]sites.Action{}
		for _, sub := range w.submissions(s) {
			last[sub.URL] = sub.Action
		}
		if p := w.pages(s, sites.Filter{})["/2"]; last["https://example.com/2"] != sites.Deleted || p.Removal || !p.SubmitWantedAt.IsZero() {
			w.Errorf("sent at last: %v; the page is %+v", last, p)
		}
	})
}

// A page that is gone while its request fails is not tried again.
func TestSubmitGoneMeanwhile(t *testing.T) {
	each(t, func(w *world) {
		s := w.google(w.site("https://example.com/", indexing))
		w.have(s, "https://example.com/1")
		p := w.pages(s, sites.Filter{})["/1"]
		sub, err := w.Begin(w.Context(), s, sites.Submission{PageSeq: &p.Seq, URL: p.URL, Method: sites.ByIndexingAPI, Action: sites.Updated, Pages: 1})
		w.ok(err)
		_, err = w.Detach(w.Context(), s, w.sitemaps(s)["https://example.com/sitemap.xml"], true)
		w.ok(err)
		w.ok(w.Answered(w.Context(), sub, []int64{p.Seq}, sites.Answer{Status: sites.Retried, StatusCode: 500, Error: "x", Cause: "no_answer"}))
		w.clock.Advance(time.Hour)
		w.instance().run(sites.Submitting)
		if got := len(w.submissions(s)); got != 1 {
			w.Errorf("%d submissions", got)
		}
	})
}

// A sitemap that Google refuses takes nothing from what waits for IndexNow, and is not
// sent again for the same wish.
func TestSubmitRefusedSitemapAndIndexNow(t *testing.T) {
	each(t, func(w *world) {
		s := w.indexNow(w.google(w.site("https://example.com/", manual)))
		w.engine.Permit(s.SiteURL, "siteOwner")
		w.have(s, "https://example.com/1", "https://example.com/2")
		for path, removal := range map[string]bool{"/1": true, "/2": false} {
			_, err := w.WantSubmission(w.Context(), w.pages(s, sites.Filter{})[path].ID(), removal)
			w.ok(err)
		}
		i := w.instance()
		w.clock.Advance(time.Second)
		w.engine.Fail(standin.IndexNow, standin.Answer(503, ""))
		w.engine.Fail(standin.Sitemaps, standin.APIError(400, "bad sitemap", "invalid"))
		i.run(sites.Submitting)
		w.clock.Advance(2 * time.Hour)
		i.run(sites.Submitting)
		if a, b := w.engine.Count(standin.IndexNow), w.engine.Count(standin.Sitemaps); a != 2 || b != 1 {
			w.Errorf("%d requests to IndexNow, %d to Google", a, b)
		}
		subs := w.submissions(s)
		if last := subs[len(subs)-1]; last.Method != sites.ByIndexNow || last.Pages != 2 || last.Status != sites.Accepted {
			w.Errorf("the last submission is %+v", last)
		}
	})
}
