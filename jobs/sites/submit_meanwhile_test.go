package sites_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	sitejobs "linkwatch/jobs/sites"
	"linkwatch/jobs/sites/standin"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

// A removal requested during a submission is sent after it.
func TestSubmitRemovalMeanwhile(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://example.com/", indexing))
		w.have(s, "https://example.com/1", "https://example.com/2")
		release := make(chan struct{})
		w.engine.Fail(standin.Publish, standin.Slow(release))
		i := w.instance(func(o *sitejobs.Options) { o.Concurrency = 1 })
		done := make(chan string)
		go func() { done <- i.run(sites.Submitting) }()
		modelstest.Eventually(w, "the first page is under way", func() bool { return len(w.submissions(s)) > 0 })
		w.clock.Advance(time.Second)
		_, err := w.RequestSubmission(w.Context(), w.pages(s, sites.Filter{})["/2"].ID(), true)
		w.must(err)
		w.clock.Advance(time.Second)
		close(release)
		<-done
		i.run(sites.Submitting)
		last := map[string]sites.Action{}
		for _, sub := range w.submissions(s) {
			last[sub.URL] = sub.Action
		}
		if p := w.pages(s, sites.Filter{})["/2"]; last["https://example.com/2"] != sites.Deleted || p.Removal || !p.SubmitRequestedAt.IsZero() {
			w.Errorf("last request: %v; page: %+v", last, p)
		}
	})
}

// A page that becomes gone while its request fails is not retried.
func TestSubmitGoneMeanwhile(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://example.com/", indexing))
		w.have(s, "https://example.com/1")
		p := w.pages(s, sites.Filter{})["/1"]
		sub, err := w.BeginSubmission(w.Context(), s, sites.Submission{PageSeq: &p.Seq, URL: p.URL, Method: sites.ByIndexingAPI, Action: sites.Updated, Pages: 1})
		w.must(err)
		_, err = w.DetachPages(w.Context(), s, w.sitemaps(s)["https://example.com/sitemap.xml"], true)
		w.must(err)
		w.must(w.RecordOutcome(w.Context(), sub, []int64{p.Seq}, sites.Outcome{Status: sites.Retried, StatusCode: 500, Error: "x", Cause: "no_answer"}))
		w.clock.Advance(time.Hour)
		w.instance().run(sites.Submitting)
		if got := len(w.submissions(s)); got != 1 {
			w.Errorf("%d submissions", got)
		}
	})
}

// A refused sitemap does not affect pages queued for IndexNow, and is not submitted again for the same request.
func TestSubmitRefusedSitemapAndIndexNow(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.indexNow(w.google(w.site("https://example.com/", manual)))
		w.engine.Permit(s.SiteURL, "siteOwner")
		w.have(s, "https://example.com/1", "https://example.com/2")
		for path, removal := range map[string]bool{"/1": true, "/2": false} {
			_, err := w.RequestSubmission(w.Context(), w.pages(s, sites.Filter{})[path].ID(), removal)
			w.must(err)
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
			w.Errorf("last submission: %+v", last)
		}
	})
}

// On a stop, no new request starts, running requests are recorded, and the rest stays requested.
func TestSubmitStops(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property, indexing))
		w.have(s, numbered(property, 20)...)
		release := make(chan struct{})
		w.engine.Fail(standin.Publish, standin.Times(4, standin.Slow(release))...)
		i := w.instance()
		stopped := make(chan struct{})
		stopping, stop := context.WithCancel(w.Context())
		go func() {
			defer close(stopped)
			if got, err := i.try(stopping, w.Context(), sites.Submitting); got != "1 website: 4 pages submitted" || err != nil {
				w.Errorf("%q %v", got, err)
			}
		}()
		w.engine.Await(w, standin.Publish, 4)
		other := w.instance()
		if got := other.run(sites.Submitting); got != "0 websites" {
			w.Errorf("while another instance works on it: %q", got)
		}
		stop()
		close(release)
		<-stopped
		if s = w.again(s); s.SubmissionClaimedBy != "" || s.SubmitRequestedAt.IsZero() {
			w.Errorf("after the stop: %+v", s)
		}
		if got := len(w.pages(s, sites.Filter{Status: sites.Submitted})); got != 4 || w.engine.Count(standin.Publish) != 4 {
			w.Errorf("%d submitted pages after %d requests", got, w.engine.Count(standin.Publish))
		}
		other.Start()
		modelstest.Eventually(w, "the rest is submitted", func() bool { return w.paths(s, sites.Filter{Queued: true}) == "" })
		if n := w.engine.Count(standin.Publish); n != 20 {
			w.Errorf("%d requests", n)
		}
	})
}

// A request that is aborted at the end of the grace period may have arrived: it counts as spent and is retried.
func TestSubmitAborted(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property, indexing))
		w.have(s, numbered(property, 3)...)
		w.engine.Fail(standin.Publish, standin.Slow(nil))
		working, giveUp := context.WithCancel(w.Context())
		i := w.instance(one)
		done := make(chan error, 1)
		go func() {
			_, err := i.try(working, working, sites.Submitting)
			done <- err
		}()
		w.engine.Await(w, standin.Publish, 1)
		giveUp()
		if err := <-done; err == nil {
			w.Error("the run did not fail")
		}
		s = w.again(s)
		subs := w.submissions(s)
		if s.SubmissionClaimedBy != "" || s.SubmitRequestedAt.IsZero() || len(subs) != 1 || subs[0].Status != sites.Sent {
			w.Errorf("%+v, %+v", s, subs)
		}
		if p := w.pages(s, sites.Filter{})["/1"]; !p.QueuedForGoogle {
			w.Errorf("got page %+v", p)
		}
	})
}

// A lost lease ends the work, since another instance may have started.
func TestSubmitLosesLease(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property, indexing))
		w.have(s, numbered(property, 20)...)
		w.engine.Fail(standin.Publish, standin.Slow(nil))
		i := w.instance(one)
		done := make(chan error, 1)
		go func() {
			_, err := i.try(w.Context(), w.Context(), sites.Submitting)
			done <- err
		}()
		w.engine.Await(w, standin.Publish, 1)
		modelstest.Exec(w, w.db, "DELETE FROM instances")
		if err := <-done; err != nil {
			w.Error(err)
		}
		if n := w.engine.Count(standin.Publish); n != 1 {
			w.Errorf("%d requests", n)
		}
		if s = w.again(s); s.SubmissionClaimedBy != "" || s.SubmitRequestedAt.IsZero() {
			w.Errorf("after losing the lease: %+v", s)
		}
	})
}

// A run sends no more requests for a website that is deleted or whose credentials change.
func TestSubmitChangedMeanwhile(t *testing.T) {
	each(t, func(w *fixture) {
		for name, change := range map[string]func(s sites.Website) error{
			"deleted":             func(s sites.Website) error { return w.Delete(w.Context(), s.ID) },
			"credentials removed": func(s sites.Website) error { _, err := w.RemoveCredentials(w.Context(), s.ID); return err },
			"indexing not permitted": func(s sites.Website) error {
				off := false
				_, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexingEnabled: &off})
				return err
			},
		} {
			url := "https://" + strings.ReplaceAll(name, " ", "-") + ".example/"
			s := w.google(w.site(url, indexing))
			w.have(s, numbered(url, 60)...)
			release := make(chan struct{})
			w.engine.Reset()
			w.engine.Fail(standin.Publish, standin.Slow(release))
			i := w.instance(one)
			done := make(chan string, 1)
			go func() {
				summary, err := i.try(w.Context(), w.Context(), sites.Submitting)
				if err != nil {
					summary = err.Error()
				}
				done <- summary
			}()
			w.engine.Await(w, standin.Publish, 1)
			w.must(change(s))
			close(release)
			if got := <-done; !strings.Contains(got, "50 pages submitted") || w.engine.Count(standin.Publish) != 50 {
				w.Errorf("%s: %q", name, got)
			}
			w.clock.Advance(25 * time.Hour)
		}
	})
}

// Releasing a claim is retried.
func TestReleaseIsRetried(t *testing.T) {
	modelstest.NoLeaks(t)
	w := newFixture(t, modelstest.New(t))
	w.site(property)
	modelstest.Exec(t, w.db, "CREATE TRIGGER held BEFORE UPDATE OF submission_claimed_by ON websites WHEN NEW.submission_claimed_by IS NULL BEGIN SELECT RAISE(ABORT, 'held'); END")
	i := w.instance()
	done := make(chan string, 1)
	go func() {
		summary, err := i.try(w.Context(), w.Context(), sites.Submitting)
		done <- fmt.Sprint(summary, err)
	}()
	modelstest.Eventually(t, "it fails", func() bool { return w.logged.Count("website not released") > 0 })
	modelstest.Exec(t, w.db, "DROP TRIGGER held")
	if got := <-done; got != "1 website<nil>" {
		t.Error(got)
	}
	list, err := w.List(t.Context(), models.Cursor{}, 10)
	if err != nil || list.Items[0].SubmissionClaimedBy != "" {
		t.Errorf("%+v %v", list.Items, err)
	}
}
