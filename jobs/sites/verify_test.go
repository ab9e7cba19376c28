package sites_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/jobs/sites/standin"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

var (
	passed   = standin.Coverage{Verdict: "PASS", CoverageState: "Submitted and indexed", GoogleCanonical: property + "other", UserCanonical: property + "1", LastCrawlTime: "2026-01-02T03:04:05Z"}
	excluded = standin.Coverage{Verdict: "NEUTRAL", CoverageState: "Excluded by ‘noindex’ tag", IndexingState: "BLOCKED_BY_META_TAG"}
)

// Requested pages are verified first, then submitted ones, then those never verified. Pages are verified again after a day.
func TestVerify(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property, indexing, manual))
		w.have(s, numbered(property, 4)...)
		w.engine.Cover(property+"1", passed)
		w.engine.Cover(property+"2", excluded)
		i := w.instance(one)
		all := w.pages(s, sites.Filter{})
		_, err := w.RequestSubmission(w.Context(), all["/3"].ID(), false)
		w.must(err)
		i.run(sites.Submitting)
		_, err = w.RequestVerification(w.Context(), all["/4"].ID())
		w.must(err)
		if got, want := i.run(sites.Verifying), "1 website: 4 pages verified, 1 indexed"; got != want {
			w.Errorf("got summary %q, want %q", got, want)
		}
		if got, want := urls(w.engine.Requests(standin.Inspect)), []string{property + "4", property + "3", property + "1", property + "2"}; !slices.Equal(got, want) {
			w.Errorf("got order %v, want %v", got, want)
		}
		all = w.pages(s, sites.Filter{})
		if p := all["/1"]; p.Status != sites.Indexed || p.GoogleCanonical != property+"other" || !p.OtherCanonical(p.URL) || p.UserCanonical != property+"1" || p.LastCrawledAt.IsZero() || p.LastVerifiedAt != w.Now() {
			w.Errorf("indexed: %+v", p)
		}
		if p := all["/2"]; p.Status != sites.NotIndexed || p.Cause != sites.CauseNoIndex {
			w.Errorf("not indexed: %+v", p)
		}
		if got := urls(w.engine.Requests(standin.Metadata)); !slices.Equal(got, []string{property + "3"}) || all["/3"].NotifiedAt.IsZero() || !all["/1"].NotifiedAt.IsZero() {
			w.Errorf("metadata requests for %v", got)
		}
		w.clock.Advance(23 * time.Hour)
		i.run(sites.Verifying)
		if n := w.engine.Count(standin.Inspect); n != 4 {
			w.Errorf("%d requests within a day", n)
		}
		w.clock.Advance(time.Hour)
		i.run(sites.Verifying)
		if n := w.engine.Count(standin.Inspect); n != 8 {
			w.Errorf("%d requests after a day", n)
		}
	})
}

// A page that Google has indexed stays indexed if robots.txt blocks it or the state is unknown, although the verdict is NEUTRAL.
func TestVerifyIndexedPages(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property, manual))
		w.have(s, numbered(property, 1)...)
		i := w.instance(one)
		for _, state := range []string{"Submitted and indexed", "Indexed, though blocked by robots.txt", "Page indexed without content", "A new state"} {
			w.engine.Cover(property+"1", standin.Coverage{Verdict: "NEUTRAL", CoverageState: state})
			i.run(sites.Verifying)
			if p := w.pages(s, sites.Filter{})["/1"]; p.Status != sites.Indexed || p.CoverageState != state {
				w.Errorf("%s: %+v", state, p)
			}
			w.clock.Advance(25 * time.Hour)
		}
		if got := modelstest.Events(w, w.db); len(got) != 0 {
			w.Errorf("events: %q", got)
		}
	})
}

// Metadata is requested only for pages that were published through the Indexing API. It has its own quota.
func TestVerifyMetadata(t *testing.T) {
	each(t, func(w *fixture) {
		sitemap := w.google(w.site("https://sitemap.example/"))
		w.have(sitemap, "https://sitemap.example/1")
		i := w.instance(one)
		i.run(sites.Submitting)
		i.run(sites.Verifying)
		other := w.indexNow(w.site("https://indexnow.example/", indexing))
		w.have(other, "https://indexnow.example/1")
		i.run(sites.Submitting)
		w.google(other)
		off := false
		_, err := w.Edit(w.Context(), other.ID, sites.Edit{AutoSubmit: &off})
		w.must(err)
		i.run(sites.Verifying)
		if n := w.engine.Count(standin.Metadata); n != 0 || w.engine.Count(standin.Inspect) != 2 {
			w.Errorf("%d metadata requests for unpublished pages", n)
		}
		s := w.google(w.site(property, indexing))
		w.have(s, numbered(property, 5)...)
		i.run(sites.Submitting)
		w.engine.Fail(standin.Metadata, standin.Internal())
		i.run(sites.Verifying)
		if n := w.engine.Count(standin.Metadata); n != 2 || w.engine.Count(standin.Inspect) != 7 {
			w.Errorf("%d metadata requests, want 2; %d inspections", n, w.engine.Count(standin.Inspect))
		}
	}, func(l *sites.Limits) { l.MetadataPerMinute = 2 })
}

// A failure of one page does not affect others. The page is verified again later, sooner if it was submitted.
func TestVerifyFailures(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property, indexing, manual))
		w.have(s, numbered(property, 4)...)
		i := w.instance(one)
		_, err := w.RequestSubmission(w.Context(), w.pages(s, sites.Filter{})["/1"].ID(), false)
		w.must(err)
		i.run(sites.Submitting)
		w.clock.Advance(time.Second)
		w.engine.Fail(standin.Inspect, standin.Internal(), standin.Lost(), standin.APIError(400, "Invalid value.", ""))
		if got, want := i.run(sites.Verifying), "1 website: 1 page verified, 1 refused, 2 failed"; got != want {
			w.Errorf("got summary %q, want %q", got, want)
		}
		all := w.pages(s, sites.Filter{})
		for path, part := range map[string]string{"/1": "unavailable", "/2": "was lost", "/3": "Invalid value."} {
			w.has(path, all[path].LastError, part)
		}
		if p := all["/1"]; p.Status != sites.Submitted || !p.Unverified {
			w.Errorf("submitted page: %+v", p)
		}
		i.run(sites.Verifying)
		if n := w.engine.Count(standin.Inspect); n != 4 {
			w.Errorf("%d immediate requests", n)
		}
		w.clock.Advance(time.Hour)
		i.run(sites.Verifying)
		if got := urls(w.engine.Requests(standin.Inspect))[4:]; !slices.Equal(got, []string{property + "1"}) {
			w.Errorf("after an hour: %v", got)
		}
	})
}

// Errors that concern all requests pause Search Console until a request succeeds.
func TestVerifyRefused(t *testing.T) {
	for name, c := range map[string]struct {
		fault standin.Fault
		part  string
	}{
		"no permission": {standin.NoPermission(property), "add " + standin.ClientEmail + " as an owner"},
		"not enabled":   {standin.Disabled("searchconsole.googleapis.com"), "Enable it"},
		"429":           {standin.MinuteLimit(30), "retries later"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *fixture) {
				s := w.google(w.site(property))
				w.have(s, numbered(property, 3)...)
				w.engine.Fail(standin.Inspect, c.fault)
				i := w.instance(one)
				if got := i.run(sites.Verifying); got != "1 website: 1 website stopped early" {
					w.Errorf("got summary %q", got)
				}
				i.run(sites.Verifying)
				s = w.again(s)
				w.has("the state", s.Console.Error, c.part)
				if n := w.engine.Count(standin.Inspect); n != 1 || s.Console.RetryAt != w.Now().Add(time.Minute) || !w.pages(s, sites.Filter{})["/1"].VerifyAttemptedAt.IsZero() {
					w.Errorf("%d requests, %+v", n, s.Console)
				}
				w.clock.Advance(time.Minute)
				i.run(sites.Verifying)
				if s = w.again(s); s.Console != (sites.ServiceState{}) || w.engine.Count(standin.Inspect) != 4 {
					w.Errorf("%d requests, %+v", w.engine.Count(standin.Inspect), s.Console)
				}
			})
		})
	}
}

// A verification that was aborted is repeated.
func TestVerifyAborted(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property))
		w.have(s, property+"1")
		w.engine.Fail(standin.Inspect, standin.Slow(nil))
		working, giveUp := context.WithCancel(w.Context())
		done := make(chan struct{})
		i := w.instance()
		go func() { defer close(done); _, _ = i.try(working, working, sites.Verifying) }()
		w.engine.Await(w, standin.Inspect, 1)
		giveUp()
		<-done
		if p := w.pages(s, sites.Filter{})["/1"]; !p.VerifyAttemptedAt.IsZero() || p.LastError != "" {
			w.Errorf("got page %+v", p)
		}
		if s = w.again(s); s.VerificationClaimedBy != "" || s.VerifyRequestedAt.IsZero() {
			w.Errorf("got website %+v", s)
		}
		if got := i.run(sites.Verifying); !strings.Contains(got, "1 page verified") {
			w.Errorf("got summary %q", got)
		}
	})
}
