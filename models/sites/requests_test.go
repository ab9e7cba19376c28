package sites_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/sites"
)

// A page listed twice in a sitemap is stored once, also when the sitemap is read again.
func TestDuplicateEntry(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://example.com/")
		m := w.sitemap(s, "https://example.com/sitemap.xml")
		a := w.entry("https://example.com/a", -1)
		m = w.read(s, m, a, a)
		w.read(s, m, a, w.entry("https://example.com/b", -1), a)
		w.counts(s, map[sites.Status]int{sites.Pending: 2})
	})
}

// Pages of an interrupted reading are gone if the next reading does not find them.
func TestInterruptedReading(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://example.com/")
		m := w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", -1))
		w.must(w.BeginReading(w.Context(), m))
		_, err := w.StoreEntries(w.Context(), s, m, []sites.Entry{w.entry("https://example.com/b", -1)})
		w.must(err)
		ms, err := w.SitemapsToRead(w.Context(), s, 0) // after a restart
		w.must(err)
		w.must(w.BeginReading(w.Context(), ms[0]))
		w.read(s, ms[0], w.entry("https://example.com/a", -1))
		if got := w.urls(s, sites.Filter{}); !slices.Equal(got, []string{"/a"}) {
			t.Errorf("left: %v", got)
		}
	})
}

// A failed removal is not sent when the page changes later.
func TestFailedRemoval(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://example.com/"))
		s, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexingEnabled: ptr(true)})
		w.must(err)
		m := w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", 10))
		_, err = w.RequestSubmission(w.Context(), w.page(s, "/a").ID(), true)
		w.must(err)
		for range 5 {
			w.publish(s, w.page(s, "/a"), sites.Outcome{Status: sites.Retried, StatusCode: 500, Error: "Google failed.", Cause: "no_answer"})
		}
		w.read(s, m, w.entry("https://example.com/a", 0))
		if p := w.page(s, "/a"); p.Removal || !p.QueuedForGoogle {
			t.Errorf("changed page: %+v", p)
		}
	})
}

// A removal that can be sent through IndexNow only is not queued for Google.
func TestRemovalByIndexNow(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://example.com/"))
		s, err := w.Edit(w.Context(), s.ID, sites.Edit{AutoSubmit: ptr(false), IndexNowKey: ptr("0123456789abcdef")})
		w.must(err)
		w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", -1))
		p, err := w.RequestSubmission(w.Context(), w.page(s, "/a").ID(), true)
		w.must(err)
		if p.QueuedForGoogle || !p.QueuedForIndexNow {
			t.Errorf("queued for Google: %v, for IndexNow: %v", p.QueuedForGoogle, p.QueuedForIndexNow)
		}
		ps, err := w.PagesForIndexNow(w.Context(), s)
		w.must(err)
		if len(ps) != 1 || !ps[0].Removal {
			t.Errorf("to submit: %+v", ps)
		}
		if ms, err := w.SitemapsToSubmit(w.Context(), s); err != nil || len(ms) > 0 {
			t.Errorf("sitemaps to submit: %v %v", ms, err)
		}
	})
}

// A submission requested during a request stays open.
func TestSubmissionRequestedMeanwhile(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://example.com/"))
		s, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexingEnabled: ptr(true)})
		w.must(err)
		w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", -1))
		p := w.page(s, "/a")
		for _, a := range []sites.Outcome{{Status: sites.Accepted}, {Status: sites.Refused, StatusCode: 400, Error: "Refused.", Cause: "refused"}} {
			sub, err := w.BeginSubmission(w.Context(), s, sites.Submission{PageSeq: &p.Seq, URL: p.URL, Method: sites.ByIndexingAPI, Action: sites.Updated, Pages: 1})
			w.must(err)
			w.clock.Advance(time.Second)
			_, err = w.RequestSubmission(w.Context(), p.ID(), true)
			w.must(err)
			w.must(w.RecordOutcome(w.Context(), sub, []int64{p.Seq}, a))
			if ps, err := w.PagesToPublish(w.Context(), s, 10); err != nil || len(ps) != 1 || !ps[0].Removal || ps[0].SubmitRequestedAt != w.Now() {
				t.Errorf("%s: to publish: %+v %v", a.Status, ps, err)
			}
		}
	})
}

// A page that changes during a request is submitted again.
func TestPageChangedMeanwhile(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://example.com/"))
		s, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexingEnabled: ptr(true), IndexNowKey: ptr("0123456789abcdef")})
		w.must(err)
		b := w.entry("https://example.com/b", 10)
		m := w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", 10), b)
		var started []sites.Submission
		seqs := []int64{w.page(s, "/a").Seq, w.page(s, "/b").Seq}
		for _, method := range []sites.Method{sites.ByIndexingAPI, sites.ByIndexNow} {
			sub, err := w.BeginSubmission(w.Context(), s, sites.Submission{Method: method, Action: sites.Updated, Pages: 2})
			w.must(err)
			started = append(started, sub)
		}
		w.clock.Advance(time.Second)
		w.read(s, m, w.entry("https://example.com/a", 1), b)
		for _, sub := range started {
			w.must(w.RecordOutcome(w.Context(), sub, seqs, sites.Outcome{Status: sites.Accepted}))
		}
		if got := w.urls(s, sites.Filter{Queued: true}); !slices.Equal(got, []string{"/a"}) {
			t.Errorf("queued: %v", got)
		}
		if a, b := w.page(s, "/a"), w.page(s, "/b"); !a.QueuedForGoogle || !a.QueuedForIndexNow || b.QueuedForGoogle || b.QueuedForIndexNow {
			t.Errorf("changed page: %+v; other page: %+v", a, b)
		}
	})
}

// A page is queued for the services of its website, or for Google if it has none.
func TestQueued(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://example.com/")
		w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", -1))
		queued := func(want bool) {
			t.Helper()
			list, err := w.Pages(w.Context(), s.ID, sites.Filter{}, models.Cursor{}, 10)
			w.must(err)
			if one := w.page(s, "/a"); one.Queued() != want || list.Items[0].Queued() != want {
				t.Errorf("queued: %v, in the list %v, want %v", one.Queued(), list.Items[0].Queued(), want)
			}
		}
		queued(true)
		s, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexNowKey: ptr("0123456789abcdef")})
		w.must(err)
		queued(false) // only later changes are queued for IndexNow
		_, err = w.RequestSubmission(w.Context(), w.page(s, "/a").ID(), false)
		w.must(err)
		queued(true)
		sub, err := w.BeginSubmission(w.Context(), s, sites.Submission{Method: sites.ByIndexNow, Action: sites.Updated, Pages: 1})
		w.must(err)
		w.clock.Advance(time.Second)
		w.must(w.RecordOutcome(w.Context(), sub, []int64{w.page(s, "/a").Seq}, sites.Outcome{Status: sites.Accepted}))
		queued(false)
		s = w.google(s)
		queued(true)
		_, err = w.Edit(w.Context(), s.ID, sites.Edit{IndexNowKey: ptr("")})
		w.must(err)
		queued(true)
	})
}

// A verification requested during a verification stays open.
func TestVerificationRequestedMeanwhile(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://example.com/"))
		w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", -1))
		for _, problem := range []*sites.Outcome{nil, {Status: sites.Retried, Error: "x"}} {
			_, err := w.RequestVerification(w.Context(), w.page(s, "/a").ID())
			w.must(err)
			ps, err := w.PagesToVerify(w.Context(), s, 1)
			w.must(err)
			w.clock.Advance(time.Second)
			_, err = w.RequestVerification(w.Context(), w.page(s, "/a").ID())
			w.must(err)
			w.must(w.RecordVerification(w.Context(), sites.Verification{Page: ps[0], Inspection: sites.Inspection{Verdict: "PASS"}, Problem: problem}))
			if p := w.page(s, "/a"); p.VerifyRequestedAt != w.Now() {
				t.Errorf("with %v: requested at %v", problem, p.VerifyRequestedAt)
			}
			w.clock.Advance(time.Second)
			ps, err = w.PagesToVerify(w.Context(), s, 1)
			w.must(err)
			w.must(w.RecordVerification(w.Context(), sites.Verification{Page: ps[0], Inspection: sites.Inspection{Verdict: "PASS"}, Problem: problem}))
			if p := w.page(s, "/a"); !p.VerifyRequestedAt.IsZero() {
				t.Errorf("with %v: still requested at %v", problem, p.VerifyRequestedAt)
			}
		}
	})
}

// An outdated reader cannot store entries.
func TestOutdatedReader(t *testing.T) {
	each(t, func(w *fixture) {
		ctx := w.Context()
		s := w.site("https://example.com/")
		entry := w.entry("https://example.com/a", -1)
		first := w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), entry)
		w.must(w.BeginReading(ctx, first))
		ms, err := w.SitemapsToRead(ctx, s, 0)
		w.must(err)
		w.must(w.BeginReading(ctx, ms[0]))
		_, err = w.StoreEntries(ctx, s, ms[0], []sites.Entry{entry})
		w.must(err)
		if _, err := w.StoreEntries(ctx, s, first, []sites.Entry{entry}); !errors.Is(err, lease.ErrLost) {
			t.Errorf("store entries: %v", err)
		}
		if _, err := w.DetachPages(ctx, s, first, false); !errors.Is(err, lease.ErrLost) {
			t.Errorf("detach pages: %v", err)
		}
		_, err = w.DetachPages(ctx, s, ms[0], false)
		w.must(err)
		if got := w.urls(s, sites.Filter{}); !slices.Equal(got, []string{"/a"}) {
			t.Errorf("left: %v", got)
		}
	})
}

// A page listed twice counts once, with the latest lastmod.
func TestLatestLastmod(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://example.com/")
		m := w.sitemap(s, "https://example.com/sitemap.xml")
		w.must(w.BeginReading(w.Context(), m))
		old, late := w.entry("https://example.com/a", 30), w.entry("https://example.com/a", 3)
		for _, c := range []struct {
			batch []sites.Entry
			new   int
		}{{[]sites.Entry{old, late, old}, 1}, {[]sites.Entry{old}, 0}} {
			n, err := w.StoreEntries(w.Context(), s, m, c.batch)
			w.must(err)
			if p := w.page(s, "/a"); n != c.new || p.Lastmod != late.Lastmod {
				t.Errorf("%d new pages, want %d; lastmod %v", n, c.new, p.Lastmod)
			}
		}
		if n, err := w.StoreEntries(w.Context(), s, m, []sites.Entry{late, w.entry("https://example.com/b", 1)}); err != nil || n != 1 {
			t.Errorf("%d new pages, want 1: %v", n, err)
		}
	})
}

// Concurrent refusals count as one failure, and a success clears the error.
func TestServiceState(t *testing.T) {
	each(t, func(w *fixture) {
		ctx := w.Context()
		s := w.google(w.site("https://example.com/"))
		for range 4 {
			w.must(w.RecordServiceOutcome(ctx, s, sites.Indexing, sites.Outcome{Status: sites.Retried, RateLimited: true, Error: "Too many requests."}))
		}
		got, err := w.Get(ctx, s.ID)
		w.must(err)
		if got.Indexing.Failures != 1 || got.Indexing.RetryAt != w.Now().Add(time.Minute) {
			t.Errorf("after four concurrent refusals: %+v", got.Indexing)
		}
		if got, err = w.Edit(ctx, s.ID, sites.Edit{IndexingEnabled: ptr(false)}); err != nil || got.Indexing != (sites.ServiceState{}) {
			t.Errorf("without the Indexing API: %+v %v", got.Indexing, err)
		}
		s, err = w.Edit(ctx, s.ID, sites.Edit{IndexNowKey: ptr("0123456789abcdef")})
		w.must(err)
		w.must(w.KeyChecked(ctx, s, "The key file is not there."))
		w.must(w.RecordServiceOutcome(ctx, s, sites.IndexNow, sites.Outcome{Status: sites.Accepted}))
		if got, err = w.Get(ctx, s.ID); err != nil || got.IndexNowState.Error != "" {
			t.Errorf("after a batch was accepted: %+v %v", got.IndexNowState, err)
		}
	})
}

// A requested verification is retried after a failure.
func TestRequestedVerificationIsRetried(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://example.com/"))
		w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", -1))
		p, err := w.RequestVerification(w.Context(), w.page(s, "/a").ID())
		w.must(err)
		w.must(w.RecordVerification(w.Context(), sites.Verification{Page: p, Problem: &sites.Outcome{Status: sites.Retried, StatusCode: 503, Error: "Google failed."}}))
		w.clock.Advance(2 * time.Hour)
		if ps, err := w.PagesToVerify(w.Context(), s, 10); err != nil || len(ps) != 1 {
			t.Errorf("to verify: %v %v", ps, err)
		}
	})
}

// A sitemap cannot be deleted while robots.txt lists it. Deleting an index keeps the sitemaps of other indexes.
func TestDeletedSitemaps(t *testing.T) {
	each(t, func(w *fixture) {
		ctx := w.Context()
		s := w.site("https://example.com/")
		_, _, err := w.AddFound(ctx, s, nil, []string{"https://cdn.example/listed.xml"})
		w.must(err)
		listed := w.sitemap(s, "https://cdn.example/listed.xml")
		if listed.Origin != sites.FromRobots {
			t.Errorf("after a user added it too: origin %s", listed.Origin)
		}
		w.wantCode(w.DeleteSitemap(ctx, s.ID, listed.ID()), models.CodeConflict)
		a, b := w.sitemap(s, "https://example.com/a.xml"), w.sitemap(s, "https://example.com/b.xml")
		for _, m := range []sites.Sitemap{a, b} {
			_, _, err = w.AddFound(ctx, s, &m, []string{"https://example.com/c.xml"})
			w.must(err)
			w.must(w.RecordRead(ctx, m, sites.ReadResult{Stored: true, Kind: sites.KindIndex, Pages: 1, ContentHash: []byte("x"), ETag: "y", Complete: true}))
		}
		w.must(w.DeleteSitemap(ctx, s.ID, a.ID()))
		ms, err := w.SitemapsToRead(ctx, s, 0)
		w.must(err)
		for _, m := range ms {
			if m.Seq == b.Seq && (m.ETag != "" || m.Complete) {
				t.Errorf("the other index would not be read again: %+v", m)
			}
		}
	})
}

// A change of priorities without effect keeps the previous one undoable.
func TestUndoAfterChangeWithoutEffect(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://example.com/")
		w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", -1))
		b, err := w.SetPriorities(w.Context(), s.ID, sites.Filter{}, ptr(90))
		w.must(err)
		_, err = w.SetPriorities(w.Context(), s.ID, sites.Filter{Match: "/none/*"}, ptr(90))
		w.must(err)
		if n, err := w.UndoPriorities(w.Context(), s.ID, b.At); n != 1 || err != nil {
			t.Errorf("undone: %d %v", n, err)
		}
	})
}

// If two sitemaps list a page, the later lastmod counts.
func TestPageWithTwoLastmods(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://example.com/"))
		a, b := w.sitemap(s, "https://example.com/a.xml"), w.sitemap(s, "https://example.com/b.xml")
		a = w.read(s, a, w.entry("https://example.com/p", 20))
		b = w.read(s, b, w.entry("https://example.com/p", 10))
		w.publish(s, w.page(s, "/p"), sites.Outcome{Status: sites.Accepted})
		a = w.read(s, a, w.entry("https://example.com/p", 20), w.entry("https://example.com/q", -1))
		b = w.read(s, b, w.entry("https://example.com/p", 10), w.entry("https://example.com/r", -1))
		if p := w.page(s, "/p"); p.QueuedForGoogle || p.Lastmod != w.Now().Add(-10*models.Day) {
			t.Errorf("queued: %v, lastmod %s", p.QueuedForGoogle, p.Lastmod)
		}
		w.read(s, b) // now only the first sitemap lists it
		w.read(s, a, w.entry("https://example.com/p", 30))
		if p := w.page(s, "/p"); p.Lastmod != w.Now().Add(-30*models.Day) {
			t.Errorf("lastmod %s", p.Lastmod)
		}
	})
}

// A user's sitemap on another host can be read once robots.txt lists it.
func TestSitemapListedInRobots(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://example.com/")
		m := w.sitemap(s, "https://cdn.example/map.xml")
		_, _, err := w.AddFound(w.Context(), s, nil, []string{m.URL})
		w.must(err)
		if m = w.sitemap(s, m.URL); m.Origin != sites.FromRobots {
			t.Errorf("origin %s", m.Origin)
		}
	})
}
