package sites_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	sitejobs "linkwatch/jobs/sites"
	"linkwatch/jobs/sites/standin"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

const property = "https://example.com/"

// one makes requests to Google sequential, so that their order is known.
func one(o *sitejobs.Options) { o.Concurrency = 1 }

// Pages are published in queue order: requested pages first, then by priority, then oldest first. Removals are sent as such.
func TestPublishOrder(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property, indexing))
		w.have(s, numbered(property, 5)...)
		all := w.pages(s, sites.Filter{})
		high, low := 90, 50
		for path, priority := range map[string]*int{"/4": &high, "/2": &low} {
			_, err := w.SetPriority(w.Context(), all[path].ID(), priority)
			w.must(err)
		}
		_, err := w.RequestSubmission(w.Context(), all["/5"].ID(), false)
		w.must(err)
		w.clock.Advance(time.Second)
		_, err = w.RequestSubmission(w.Context(), all["/3"].ID(), true)
		w.must(err)
		i := w.instance(one)
		if got, want := i.run(sites.Submitting), "1 website: 5 pages submitted"; got != want {
			w.Errorf("got summary %q, want %q", got, want)
		}
		requests := w.engine.Requests(standin.Publish)
		if got, want := urls(requests), []string{property + "5", property + "3", property + "4", property + "2", property + "1"}; !slices.Equal(got, want) {
			w.Errorf("got order %v, want %v", got, want)
		}
		for n, kind := range []string{"URL_UPDATED", "URL_DELETED", "URL_UPDATED", "URL_UPDATED", "URL_UPDATED"} {
			w.has("the request", string(requests[n].Body), kind)
		}
		for path, p := range w.pages(s, sites.Filter{}) {
			if p.Status != sites.Submitted || p.Queued() || p.LastSubmittedAt != w.Now() || !p.SubmitRequestedAt.IsZero() || p.Removal {
				w.Errorf("%s: %+v", path, p)
			}
		}
		if subs := w.submissions(s); len(subs) != 5 || subs[1].Action != sites.Deleted || subs[0].Status != sites.Accepted || subs[0].AnsweredAt.IsZero() {
			w.Errorf("got submissions %+v", subs)
		}
		if got := i.run(sites.Submitting); got != "1 website" || w.engine.Count(standin.Publish) != 5 {
			w.Errorf("want an empty run: %q", got)
		}
	})
}

// When the daily quota is used up, the rest is published on the next day in Pacific time.
func TestPublishDailyQuota(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property, indexing))
		w.have(s, numbered(property, 25)...)
		i := w.instance()
		for range 3 {
			if got := i.run(sites.Submitting); !strings.HasPrefix(got, "1 website: ") || !strings.HasSuffix(got, "1 website stopped early") {
				w.Errorf("got summary %q", got)
			}
		}
		if n := w.engine.Count(standin.Publish); n != 10 || len(w.submissions(s)) != 10 {
			w.Errorf("%d requests, %d submissions", n, len(w.submissions(s)))
		}
		q, err := w.Quota(w.Context(), s)
		w.must(err)
		w.clock.Advance(q.Publish.ResetsAt.Sub(w.Now().Time))
		i.run(sites.Submitting) // Google's clocks may be behind
		if n := w.engine.Count(standin.Publish); n != 10 {
			w.Errorf("%d requests at midnight", n)
		}
		w.clock.Advance(time.Minute)
		i.run(sites.Submitting)
		if n := w.engine.Count(standin.Publish); n != 20 {
			w.Errorf("%d requests after midnight", n)
		}
		w.clock.Advance(25 * time.Hour)
		if got := i.run(sites.Submitting); got != "1 website: 5 pages submitted" {
			w.Errorf("got summary %q", got)
		}
		all := urls(w.engine.Requests(standin.Publish))
		slices.Sort(all)
		if all = slices.Compact(all); len(all) != 25 || w.paths(s, sites.Filter{Queued: true}) != "" {
			w.Errorf("%d pages published, left: %s", len(all), w.paths(s, sites.Filter{Queued: true}))
		}
	}, func(l *sites.Limits) { l.PublishPerDay = 10 })
}

// Errors that concern all requests pause the service and include a fix. Pages stay queued, and verification continues.
func TestPublishRefused(t *testing.T) {
	for name, c := range map[string]struct {
		fault standin.Fault
		part  string
		pause time.Duration // 0 = until the end of the day
	}{
		"not an owner":   {standin.NotOwner(), "add " + standin.ClientEmail + " as an owner", time.Minute},
		"not enabled":    {standin.Disabled("indexing.googleapis.com"), "https://console.cloud.google.com/apis/library/indexing.googleapis.com", time.Minute},
		"old limit":      {standin.OldLimit(), "Google received too many requests: Quota Exceeded. Linkwatch retries later.", time.Minute},
		"429":            {standin.MinuteLimit(0), "retries later", time.Minute},
		"429 with pause": {standin.MinuteLimit(600), "retries later", 10 * time.Minute},
		"daily":          {standin.DailyLimit(), "midnight Pacific time", 0},
		"not JSON":       {standin.Garbage(), "invalid response", time.Minute},
		"404":            {standin.Answer(404, "no"), "Check the Google endpoints", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *fixture) {
				s := w.google(w.site(property, indexing))
				w.have(s, numbered(property, 3)...)
				w.engine.Fail(standin.Publish, c.fault)
				i := w.instance(one)
				if got := i.run(sites.Submitting); got != "1 website: 1 website stopped early" {
					w.Errorf("got summary %q", got)
				}
				s = w.again(s)
				w.has("the state", s.Indexing.Error, c.part)
				if want := w.Now().Add(c.pause); c.pause > 0 && s.Indexing.RetryAt != want || s.Indexing.RetryAt.Before(w.Now().Add(time.Minute).Time) {
					w.Errorf("retry at %v, want %v", s.Indexing.RetryAt, want)
				}
				for path, p := range w.pages(s, sites.Filter{}) {
					if p.Status != sites.Pending || !p.QueuedForGoogle || p.Attempts != 0 || !p.SubmitAfter.IsZero() {
						w.Errorf("%s: %+v", path, p)
					}
				}
				i.run(sites.Submitting)
				if n := w.engine.Count(standin.Publish); n != 1 {
					w.Errorf("%d requests during the pause", n)
				}
				if got := i.run(sites.Verifying); !strings.Contains(got, "3 pages verified") {
					w.Errorf("verification: %q", got)
				}
				w.clock.Advance(s.Indexing.RetryAt.Sub(w.Now().Time))
				i.run(sites.Submitting)
				if s = w.again(s); w.engine.Count(standin.Publish) != 4 || s.Indexing != (sites.ServiceState{}) {
					w.Errorf("after the pause: %d requests, %+v", w.engine.Count(standin.Publish), s.Indexing)
				}
			})
		})
	}
}

// A failed page does not block others and is retried with backoff. A refused page fails with a cause.
func TestPublishFailures(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property, indexing))
		w.have(s, numbered(property, 4)...)
		w.engine.Fail(standin.Publish, standin.Internal(), standin.APIError(400, "Invalid value at 'url'.", ""), standin.Lost())
		i := w.instance(one)
		if got := i.run(sites.Submitting); got != "1 website: 1 page submitted, 1 refused, 2 failed" {
			w.Errorf("got summary %q", got)
		}
		all := w.pages(s, sites.Filter{})
		if p := all["/1"]; p.Status != sites.Pending || !p.QueuedForGoogle || p.Attempts != 1 || p.SubmitAfter != w.Now().Add(time.Minute) {
			w.Errorf("500: %+v", p)
		}
		if p := all["/2"]; p.Status != sites.Failed || p.QueuedForGoogle || p.Cause != sites.CauseRefused || sites.CauseBySlug(p.Cause).Label == "" {
			w.Errorf("400: %+v", p)
		}
		if p := all["/3"]; p.Status != sites.Pending || !p.QueuedForGoogle || p.Attempts != 1 || !strings.Contains(p.LastError, "may have been processed") {
			w.Errorf("lost: %+v", p)
		}
		if p := all["/4"]; p.Status != sites.Submitted {
			w.Errorf("next page: %+v", p)
		}
		subs := w.submissions(s)
		if len(subs) != 4 || subs[0].Status != sites.Retried || subs[1].Status != sites.Refused || subs[2].Status != sites.Sent || !subs[2].AnsweredAt.IsZero() || subs[3].Status != sites.Accepted {
			w.Errorf("got submissions %+v", subs)
		}
		q, err := w.Quota(w.Context(), s)
		w.must(err)
		if q.Publish.Used != 4 {
			w.Errorf("%d units spent", q.Publish.Used)
		}
		w.clock.Advance(time.Minute)
		if got := i.run(sites.Submitting); got != "1 website: 2 pages submitted" {
			w.Errorf("got summary %q", got)
		}
		if got := urls(w.engine.Requests(standin.Publish))[4:]; !slices.Equal(got, []string{property + "1", property + "3"}) {
			w.Errorf("retried: %v", got)
		}
		if subs = w.submissions(s); subs[2].Status != sites.Sent {
			w.Errorf("lost submission: %s", subs[2].Status)
		}
	})
}

// Consecutive failures pause the service with increasing backoff.
func TestPublishOutage(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property, indexing))
		w.have(s, numbered(property, 30)...)
		w.engine.Fail(standin.Publish, standin.Times(100, standin.Internal())...)
		i := w.instance(one)
		for n, pause := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
			i.run(sites.Submitting)
			i.run(sites.Submitting)
			s = w.again(s)
			if got := w.engine.Count(standin.Publish); got != 5*(n+1) || s.Indexing.RetryAt != w.Now().Add(pause) || s.Indexing.Error == "" {
				w.Errorf("%d requests, %+v", got, s.Indexing)
			}
			w.clock.Advance(pause)
		}
		w.engine.Reset()
		i.run(sites.Submitting)
		w.clock.Advance(time.Hour)
		i.run(sites.Submitting)
		if left := w.paths(s, sites.Filter{Queued: true}); left != "" || w.paths(s, sites.Filter{Status: sites.Failed}) != "" {
			w.Errorf("left %s, failed %s", left, w.paths(s, sites.Filter{Status: sites.Failed}))
		}
	})
}

// Unusable credentials are reported on the website, and nothing is sent.
func TestPublishCredentials(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property, indexing))
		w.have(s, property+"1")
		i := w.instanceOf(w.db, w.store(w.db, limits, "another key"))
		i.run(sites.Submitting)
		s = w.again(s)
		w.has("the state", s.Indexing.Error, "cannot be decrypted")
		if s.Indexing.RetryAt.IsZero() || w.engine.Count("") != 0 {
			w.Errorf("%+v, %d requests", s.Indexing, w.engine.Count(""))
		}
		s = w.google(s) // add the credentials again
		w.engine.Fail(standin.Token, standin.TokenError(400, "invalid_grant", "Invalid JWT Signature."))
		i = w.instance()
		i.run(sites.Submitting)
		s = w.again(s)
		w.has("the state", s.Indexing.Error, "Invalid JWT Signature.")
		s = w.google(s)
		w.engine.Fail(standin.Token, standin.Answer(503, ""))
		i.run(sites.Submitting)
		s = w.again(s)
		w.has("the state", s.Indexing.Error, "unavailable")
		w.clock.Advance(time.Minute)
		i.run(sites.Submitting)
		if s = w.again(s); s.Indexing.Error != "" || w.engine.Count(standin.Publish) != 1 {
			w.Errorf("%+v, %d requests", s.Indexing, w.engine.Count(standin.Publish))
		}
	})
}

// Without the Indexing API, new and changed sitemaps are submitted to Google.
func TestSubmitSitemaps(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property))
		w.have(s, numbered(property, 3)...)
		i := w.instance()
		w.engine.Fail(standin.Sitemaps, standin.Internal())
		i.run(sites.Submitting)
		if s = w.again(s); s.Console.Error == "" || w.sitemaps(s)[property+"sitemap.xml"].SubmitError == "" || !w.sitemaps(s)[property+"sitemap.xml"].SubmittedAt.IsZero() {
			w.Errorf("after a 500: %+v", s.Console)
		}
		w.clock.Advance(time.Minute)
		if got := i.run(sites.Submitting); got != "1 website: 1 sitemap submitted" {
			w.Errorf("got summary %q", got)
		}
		i.run(sites.Submitting)
		if got := urls(w.engine.Requests(standin.Sitemaps)); !slices.Equal(got, []string{property + "sitemap.xml", property + "sitemap.xml"}) || w.engine.Count(standin.Publish) != 0 {
			w.Errorf("got requests %v", got)
		}
		for path, p := range w.pages(s, sites.Filter{}) {
			if p.Status != sites.Submitted || p.QueuedForGoogle {
				w.Errorf("%s: %+v", path, p)
			}
		}
		w.clock.Advance(time.Minute)
		w.have(s, property+"new")
		w.engine.Fail(standin.Sitemaps, standin.NoPermission(property))
		i.run(sites.Submitting)
		if s = w.again(s); s.Console.Failures != 1 || w.pages(s, sites.Filter{})["/new"].Status != sites.Pending {
			w.Errorf("after a 403: %+v", s.Console)
		}
		w.has("the state", s.Console.Error, "add "+standin.ClientEmail+" as an owner of "+property)
		w.has("the state", s.Console.Error, "sc-domain:example.com")
		w.clock.Advance(time.Minute)
		i.run(sites.Submitting)
		if s = w.again(s); s.Console.Failures != 0 || w.pages(s, sites.Filter{})["/new"].Status != sites.Submitted {
			w.Errorf("after the pause: %+v", s.Console)
		}
	})
}

// Without automatic submission, only requested pages are submitted.
func TestSubmitManually(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.indexNow(w.google(w.site(property, indexing, manual)))
		w.have(s, numbered(property, 3)...)
		sitemaps := w.google(w.site("https://two.example/", manual))
		w.have(sitemaps, "https://two.example/1")
		i := w.instance(one)
		i.run(sites.Submitting)
		if n := w.engine.Count(""); n != w.engine.Count(standin.Token) {
			w.Errorf("%d requests", n)
		}
		for _, p := range []sites.Page{w.pages(s, sites.Filter{})["/2"], w.pages(sitemaps, sites.Filter{})["/1"]} {
			_, err := w.RequestSubmission(w.Context(), p.ID(), false)
			w.must(err)
		}
		i.Start() // handles requests
		modelstest.Eventually(w, "all services are notified", func() bool {
			return w.again(s).SubmitRequestedAt.IsZero() && w.again(sitemaps).SubmitRequestedAt.IsZero()
		})
		if got := urls(w.engine.Requests(standin.Publish)); !slices.Equal(got, []string{property + "2"}) {
			w.Errorf("published %v", got)
		}
		if got := w.engine.Requests(standin.IndexNow); len(got) != 1 || !slices.Equal(got[0].URLs, []string{property + "2"}) {
			w.Errorf("by IndexNow %+v", got)
		}
		if w.engine.Count(standin.Sitemaps) != 1 {
			w.Error("the sitemap was not submitted")
		}
	})
}

// IndexNow batches have up to 10,000 pages of one host.
func TestIndexNow(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.indexNow(w.site("sc-domain:example.com"))
		w.have(s, append(numbered("https://www.example.com/", 10_003), "https://a.example.com/x", "https://b.example.com:8443/y")...)
		if got, want := w.instance().run(sites.Submitting), "1 website: 10,005 pages submitted"; got != want {
			w.Errorf("got summary %q, want %q", got, want)
		}
		sizes := map[string][]int{}
		for _, r := range w.engine.Requests(standin.IndexNow) {
			sizes[r.URL] = append(sizes[r.URL], len(r.URLs))
			var b map[string]any
			w.must(json.Unmarshal(r.Body, &b))
			if where, _ := b["keyLocation"].(string); where != "https://"+r.URL+"/"+indexNowKey+".txt" || b["key"] != indexNowKey {
				w.Errorf("%s: key location %s", r.URL, where)
			}
		}
		if got := fmt.Sprint(sizes); got != "map[a.example.com:[1] b.example.com:8443:[1] www.example.com:[10000 3]]" {
			w.Errorf("got batches %s", got)
		}
		c, err := w.Counts(w.Context(), s)
		w.must(err)
		if c.ByStatus[sites.Submitted] != 10_005 {
			w.Errorf("got pages %v", c.ByStatus)
		}
	})
}

// Pages stay queued unless IndexNow accepts or refuses the batch.
func TestIndexNowResponses(t *testing.T) {
	each(t, func(w *fixture) {
		for n, c := range []struct {
			fault  standin.Fault
			status sites.Status
			sub    sites.SubmissionStatus
			pauses bool
		}{
			{standin.Answer(200, ""), sites.Submitted, sites.Accepted, false},
			{standin.Answer(202, ""), sites.Submitted, sites.Accepted, false},
			{standin.Answer(400, ""), sites.Failed, sites.Refused, false},
			{standin.Answer(403, ""), sites.Pending, sites.Refused, true},
			{standin.Answer(403, `{"errorCode":"SiteVerificationNotCompleted"}`), sites.Pending, sites.Retried, true},
			{standin.Answer(404, ""), sites.Pending, sites.Refused, true},
			{standin.Answer(422, ""), sites.Failed, sites.Refused, false},
			{standin.Answer(429, "", "Retry-After", "120"), sites.Pending, sites.Retried, true},
			{standin.Answer(500, ""), sites.Pending, sites.Retried, true},
			{standin.Lost(), sites.Pending, sites.Sent, true},
		} {
			url := fmt.Sprintf("https://%d.example/", n)
			s := w.indexNow(w.site(url))
			w.have(s, url+"1", url+"2")
			w.engine.Fail(standin.IndexNow, c.fault)
			i := w.instance()
			i.run(sites.Submitting)
			s = w.again(s)
			for path, p := range w.pages(s, sites.Filter{}) {
				if p.Status != c.status || p.QueuedForIndexNow != (c.status == sites.Pending) || p.Attempts != 0 || c.status == sites.Failed && p.Cause != sites.CauseRefused {
					w.Errorf("%d: %s: %+v", n, path, p)
				}
			}
			if subs := w.submissions(s); len(subs) != 1 || subs[0].Status != c.sub || s.Paused(sites.IndexNow, w.Now()) != c.pauses {
				w.Errorf("%d: submissions %+v, state %+v", n, subs, s.IndexNowState)
			}
			w.has("the state", s.IndexNowState.Error, "")
			w.clock.Advance(2 * time.Minute)
			i.run(sites.Submitting)
			if got := w.paths(s, sites.Filter{Queued: true}); got != "" || w.again(s).IndexNowState.Failures != 0 {
				w.Errorf("%d: still queued: %s", n, got)
			}
		}
	})
}

// A refusal by IndexNow does not change the status of a page if the website uses Google.
func TestIndexNowWithGoogle(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.indexNow(w.google(w.site(property, indexing)))
		w.have(s, property+"1")
		w.engine.Fail(standin.IndexNow, standin.Answer(422, ""))
		w.engine.Fail(standin.Publish, standin.Internal())
		i := w.instance()
		i.run(sites.Submitting)
		if p := w.pages(s, sites.Filter{})["/1"]; p.Status != sites.Pending || p.QueuedForIndexNow || !p.QueuedForGoogle || p.Attempts != 1 {
			w.Errorf("got page %+v", p)
		}
		w.clock.Advance(time.Minute)
		i.run(sites.Submitting)
		if p := w.pages(s, sites.Filter{})["/1"]; p.Status != sites.Submitted || p.QueuedForGoogle {
			w.Errorf("got page %+v", p)
		}
	})
}
