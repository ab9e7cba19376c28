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

// A URL that a sitemap has twice is one page, also when the sitemap is read again.
func TestPageThatIsListedTwice(t *testing.T) {
	each(t, func(w *world) {
		s := w.site("https://example.com/")
		m := w.sitemap(s, "https://example.com/sitemap.xml")
		a := w.entry("https://example.com/a", -1)
		m = w.read(s, m, a, a)
		w.read(s, m, a, w.entry("https://example.com/b", -1), a)
		w.counts(s, map[sites.Status]int{sites.Pending: 2})
	})
}

// Pages of a reading that was cut off are gone if the next one does not have them.
func TestReadingThatWasCutOff(t *testing.T) {
	each(t, func(w *world) {
		s := w.site("https://example.com/")
		m := w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", -1))
		w.ok(w.BeginReading(w.Context(), m))
		_, err := w.StoreEntries(w.Context(), s, m, []sites.Entry{w.entry("https://example.com/b", -1)})
		w.ok(err)
		ms, err := w.ToRead(w.Context(), s, 0) // the program starts again
		w.ok(err)
		w.ok(w.BeginReading(w.Context(), ms[0]))
		w.read(s, ms[0], w.entry("https://example.com/a", -1))
		if got := w.urls(s, sites.Filter{}); !slices.Equal(got, []string{"/a"}) {
			t.Errorf("left: %v", got)
		}
	})
}

// A removal that was given up is not sent later, when the page has changed.
func TestRemovalThatWasGivenUp(t *testing.T) {
	each(t, func(w *world) {
		s := w.google(w.site("https://example.com/"))
		s, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexingEnabled: ptr(true)})
		w.ok(err)
		m := w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", 10))
		_, err = w.WantSubmission(w.Context(), w.page(s, "/a").ID(), true)
		w.ok(err)
		for range 5 {
			w.publish(s, w.page(s, "/a"), sites.Answer{Status: sites.Retried, StatusCode: 500, Error: "Google failed.", Cause: "no_answer"})
		}
		w.read(s, m, w.entry("https://example.com/a", 0))
		if p := w.page(s, "/a"); p.Removal || !p.ForGoogle {
			t.Errorf("the page that has changed: %+v", p)
		}
	})
}

// A removal that only IndexNow takes does not wait for Google.
func TestRemovalByIndexNow(t *testing.T) {
	each(t, func(w *world) {
		s := w.google(w.site("https://example.com/"))
		s, err := w.Edit(w.Context(), s.ID, sites.Edit{AutoSubmit: ptr(false), IndexNowKey: ptr("0123456789abcdef")})
		w.ok(err)
		w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", -1))
		p, err := w.WantSubmission(w.Context(), w.page(s, "/a").ID(), true)
		w.ok(err)
		if p.ForGoogle || !p.ForIndexNow {
			t.Errorf("it waits for Google: %v, for IndexNow: %v", p.ForGoogle, p.ForIndexNow)
		}
		ps, err := w.ToIndexNow(w.Context(), s)
		w.ok(err)
		if len(ps) != 1 || !ps[0].Removal {
			t.Errorf("to submit: %+v", ps)
		}
		if ms, err := w.ToSubmit(w.Context(), s); err != nil || len(ms) > 0 {
			t.Errorf("sitemaps to submit: %v %v", ms, err)
		}
	})
}

// Who asks while a request is under way waits for the next one.
func TestWishDuringARequest(t *testing.T) {
	each(t, func(w *world) {
		s := w.google(w.site("https://example.com/"))
		s, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexingEnabled: ptr(true)})
		w.ok(err)
		w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", -1))
		p := w.page(s, "/a")
		for _, a := range []sites.Answer{{Status: sites.Accepted}, {Status: sites.Refused, StatusCode: 400, Error: "Refused.", Cause: "refused"}} {
			sub, err := w.Begin(w.Context(), s, sites.Submission{PageSeq: &p.Seq, URL: p.URL, Method: sites.ByIndexingAPI, Action: sites.Updated, Pages: 1})
			w.ok(err)
			w.clock.Advance(time.Second)
			_, err = w.WantSubmission(w.Context(), p.ID(), true)
			w.ok(err)
			w.ok(w.Answered(w.Context(), sub, []int64{p.Seq}, a))
			if ps, err := w.ToPublish(w.Context(), s, 10); err != nil || len(ps) != 1 || !ps[0].Removal || ps[0].SubmitWantedAt != w.Now() {
				t.Errorf("%s: to publish: %+v %v", a.Status, ps, err)
			}
		}
	})
}

// A page that changes while a request is under way is submitted again.
func TestChangeDuringARequest(t *testing.T) {
	each(t, func(w *world) {
		s := w.google(w.site("https://example.com/"))
		s, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexingEnabled: ptr(true), IndexNowKey: ptr("0123456789abcdef")})
		w.ok(err)
		b := w.entry("https://example.com/b", 10)
		m := w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", 10), b)
		var begun []sites.Submission
		seqs := []int64{w.page(s, "/a").Seq, w.page(s, "/b").Seq}
		for _, method := range []sites.Method{sites.ByIndexingAPI, sites.ByIndexNow} {
			sub, err := w.Begin(w.Context(), s, sites.Submission{Method: method, Action: sites.Updated, Pages: 2})
			w.ok(err)
			begun = append(begun, sub)
		}
		w.clock.Advance(time.Second)
		w.read(s, m, w.entry("https://example.com/a", 1), b)
		for _, sub := range begun {
			w.ok(w.Answered(w.Context(), sub, seqs, sites.Answer{Status: sites.Accepted}))
		}
		if got := w.urls(s, sites.Filter{Queued: true}); !slices.Equal(got, []string{"/a"}) {
			t.Errorf("queued are %v", got)
		}
		if a, b := w.page(s, "/a"), w.page(s, "/b"); !a.ForGoogle || !a.ForIndexNow || b.ForGoogle || b.ForIndexNow {
			t.Errorf("the page that has changed: %+v; the other: %+v", a, b)
		}
	})
}

// A page waits for the services that its website uses. Without one it waits for the first.
func TestQueued(t *testing.T) {
	each(t, func(w *world) {
		s := w.site("https://example.com/")
		w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", -1))
		queued := func(want bool) {
			t.Helper()
			list, err := w.Pages(w.Context(), s.ID, sites.Filter{}, models.Cursor{}, 10)
			w.ok(err)
			if one := w.page(s, "/a"); one.Queued() != want || list.Items[0].Queued() != want {
				t.Errorf("queued: %v, in the list %v, want %v", one.Queued(), list.Items[0].Queued(), want)
			}
		}
		queued(true)
		s, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexNowKey: ptr("0123456789abcdef")})
		w.ok(err)
		queued(false) // IndexNow is for what changes from now on
		_, err = w.WantSubmission(w.Context(), w.page(s, "/a").ID(), false)
		w.ok(err)
		queued(true)
		sub, err := w.Begin(w.Context(), s, sites.Submission{Method: sites.ByIndexNow, Action: sites.Updated, Pages: 1})
		w.ok(err)
		w.clock.Advance(time.Second)
		w.ok(w.Answered(w.Context(), sub, []int64{w.page(s, "/a").Seq}, sites.Answer{Status: sites.Accepted}))
		queued(false)
		s = w.google(s)
		queued(true)
		_, err = w.Edit(w.Context(), s.ID, sites.Edit{IndexNowKey: ptr("")})
		w.ok(err)
		queued(true)
	})
}

// Who asks for a verification while one is under way waits for the next one.
func TestWishDuringAVerification(t *testing.T) {
	each(t, func(w *world) {
		s := w.google(w.site("https://example.com/"))
		w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", -1))
		for _, problem := range []*sites.Answer{nil, {Status: sites.Retried, Error: "x"}} {
			_, err := w.WantVerification(w.Context(), w.page(s, "/a").ID())
			w.ok(err)
			ps, err := w.ToVerify(w.Context(), s, 1)
			w.ok(err)
			w.clock.Advance(time.Second)
			_, err = w.WantVerification(w.Context(), w.page(s, "/a").ID())
			w.ok(err)
			w.ok(w.RecordVerified(w.Context(), sites.Verified{Page: ps[0], Inspection: sites.Inspection{Verdict: "PASS"}, Problem: problem}))
			if p := w.page(s, "/a"); p.VerifyWantedAt != w.Now() {
				t.Errorf("with %v: wanted since %v", problem, p.VerifyWantedAt)
			}
			w.clock.Advance(time.Second)
			ps, err = w.ToVerify(w.Context(), s, 1)
			w.ok(err)
			w.ok(w.RecordVerified(w.Context(), sites.Verified{Page: ps[0], Inspection: sites.Inspection{Verdict: "PASS"}, Problem: problem}))
			if p := w.page(s, "/a"); !p.VerifyWantedAt.IsZero() {
				t.Errorf("with %v: still wanted since %v", problem, p.VerifyWantedAt)
			}
		}
	})
}

// What a reader stores after somebody else has begun to read the sitemap is refused.
func TestLateReader(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.Context()
		s := w.site("https://example.com/")
		entry := w.entry("https://example.com/a", -1)
		first := w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), entry)
		w.ok(w.BeginReading(ctx, first))
		ms, err := w.ToRead(ctx, s, 0)
		w.ok(err)
		w.ok(w.BeginReading(ctx, ms[0]))
		_, err = w.StoreEntries(ctx, s, ms[0], []sites.Entry{entry})
		w.ok(err)
		if _, err := w.StoreEntries(ctx, s, first, []sites.Entry{entry}); !errors.Is(err, lease.ErrLost) {
			t.Errorf("storing late: %v", err)
		}
		if _, err := w.Detach(ctx, s, first, false); !errors.Is(err, lease.ErrLost) {
			t.Errorf("detaching late: %v", err)
		}
		_, err = w.Detach(ctx, s, ms[0], false)
		w.ok(err)
		if got := w.urls(s, sites.Filter{}); !slices.Equal(got, []string{"/a"}) {
			t.Errorf("left: %v", got)
		}
	})
}

// A URL that a sitemap has twice counts once, and its latest lastmod counts.
func TestLatestLastmodOfAPage(t *testing.T) {
	each(t, func(w *world) {
		s := w.site("https://example.com/")
		m := w.sitemap(s, "https://example.com/sitemap.xml")
		w.ok(w.BeginReading(w.Context(), m))
		old, late := w.entry("https://example.com/a", 30), w.entry("https://example.com/a", 3)
		for _, c := range []struct {
			batch []sites.Entry
			new   int
		}{{[]sites.Entry{old, late, old}, 1}, {[]sites.Entry{old}, 0}} {
			n, err := w.StoreEntries(w.Context(), s, m, c.batch)
			w.ok(err)
			if p := w.page(s, "/a"); n != c.new || p.Lastmod != late.Lastmod {
				t.Errorf("%d are new, want %d; lastmod %v", n, c.new, p.Lastmod)
			}
		}
		if n, err := w.StoreEntries(w.Context(), s, m, []sites.Entry{late, w.entry("https://example.com/b", 1)}); err != nil || n != 1 {
			t.Errorf("of two entries %d are new: %v", n, err)
		}
	})
}

// Google's refusals of one moment are one failure, and one that works again has no error.
func TestPausesOfServices(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.Context()
		s := w.google(w.site("https://example.com/"))
		for range 4 {
			w.ok(w.Note(ctx, s, sites.Indexing, sites.Answer{Status: sites.Retried, Limited: true, Error: "Too many requests."}))
		}
		got, err := w.Get(ctx, s.ID)
		w.ok(err)
		if got.Indexing.Failures != 1 || got.Indexing.RetryAt != w.Now().Add(time.Minute) {
			t.Errorf("after four refusals of one moment: %+v", got.Indexing)
		}
		if got, err = w.Edit(ctx, s.ID, sites.Edit{IndexingEnabled: ptr(false)}); err != nil || got.Indexing != (sites.ServiceState{}) {
			t.Errorf("without the Indexing API: %+v %v", got.Indexing, err)
		}
		s, err = w.Edit(ctx, s.ID, sites.Edit{IndexNowKey: ptr("0123456789abcdef")})
		w.ok(err)
		w.ok(w.KeyChecked(ctx, s, "The key file is not there."))
		w.ok(w.Note(ctx, s, sites.IndexNow, sites.Answer{Status: sites.Accepted}))
		if got, err = w.Get(ctx, s.ID); err != nil || got.IndexNowState.Error != "" {
			t.Errorf("after a batch was accepted: %+v %v", got.IndexNowState, err)
		}
	})
}

// A page that somebody wants to be verified is asked of again after a failure.
func TestWishToVerifyAfterAFailure(t *testing.T) {
	each(t, func(w *world) {
		s := w.google(w.site("https://example.com/"))
		w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", -1))
		p, err := w.WantVerification(w.Context(), w.page(s, "/a").ID())
		w.ok(err)
		w.ok(w.RecordVerified(w.Context(), sites.Verified{Page: p, Problem: &sites.Answer{Status: sites.Retried, StatusCode: 503, Error: "Google failed."}}))
		w.clock.Advance(2 * time.Hour)
		if ps, err := w.ToVerify(w.Context(), s, 10); err != nil || len(ps) != 1 {
			t.Errorf("to verify: %v %v", ps, err)
		}
	})
}

// A sitemap that robots.txt names stays as long as it does, and deleting an index leaves
// what another one names.
func TestDeletedSitemaps(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.Context()
		s := w.site("https://example.com/")
		_, _, err := w.AddFound(ctx, s, nil, []string{"https://cdn.example/named.xml"})
		w.ok(err)
		named := w.sitemap(s, "https://cdn.example/named.xml")
		if named.Origin != sites.FromRobots {
			t.Errorf("after it was given, too, its origin is %s", named.Origin)
		}
		w.code(w.DeleteSitemap(ctx, s.ID, named.ID()), models.CodeConflict)
		a, b := w.sitemap(s, "https://example.com/a.xml"), w.sitemap(s, "https://example.com/b.xml")
		for _, m := range []sites.Sitemap{a, b} {
			_, _, err = w.AddFound(ctx, s, &m, []string{"https://example.com/c.xml"})
			w.ok(err)
			w.ok(w.RecordRead(ctx, m, sites.Read{Stored: true, Kind: sites.KindIndex, Pages: 1, ContentHash: []byte("x"), ETag: "y", Complete: true}))
		}
		w.ok(w.DeleteSitemap(ctx, s.ID, a.ID()))
		ms, err := w.ToRead(ctx, s, 0)
		w.ok(err)
		for _, m := range ms {
			if m.Seq == b.Seq && (m.ETag != "" || m.Complete) {
				t.Errorf("the other index is not read again: %+v", m)
			}
		}
	})
}

// A change of priorities that changes nothing leaves the one before to be undone.
func TestUndoAfterNoChange(t *testing.T) {
	each(t, func(w *world) {
		s := w.site("https://example.com/")
		w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", -1))
		b, err := w.SetPriorities(w.Context(), s.ID, sites.Filter{}, ptr(90))
		w.ok(err)
		_, err = w.SetPriorities(w.Context(), s.ID, sites.Filter{Match: "/none/*"}, ptr(90))
		w.ok(err)
		if n, err := w.UndoPriorities(w.Context(), s.ID, b.At); n != 1 || err != nil {
			t.Errorf("undone: %d %v", n, err)
		}
	})
}

// The later of two lastmods counts while two sitemaps have a page.
func TestPageWithTwoLastmods(t *testing.T) {
	each(t, func(w *world) {
		s := w.google(w.site("https://example.com/"))
		a, b := w.sitemap(s, "https://example.com/a.xml"), w.sitemap(s, "https://example.com/b.xml")
		a = w.read(s, a, w.entry("https://example.com/p", 20))
		b = w.read(s, b, w.entry("https://example.com/p", 10))
		w.publish(s, w.page(s, "/p"), sites.Answer{Status: sites.Accepted})
		a = w.read(s, a, w.entry("https://example.com/p", 20), w.entry("https://example.com/q", -1))
		b = w.read(s, b, w.entry("https://example.com/p", 10), w.entry("https://example.com/r", -1))
		if p := w.page(s, "/p"); p.ForGoogle || p.Lastmod != w.Now().Add(-10*models.Day) {
			t.Errorf("the page waits: %v, lastmod %s", p.ForGoogle, p.Lastmod)
		}
		w.read(s, b) // it is only in the first one now, which may say what it likes
		w.read(s, a, w.entry("https://example.com/p", 30))
		if p := w.page(s, "/p"); p.Lastmod != w.Now().Add(-30*models.Day) {
			t.Errorf("lastmod %s", p.Lastmod)
		}
	})
}

// A sitemap on another host that was given may be read once robots.txt names it.
func TestGivenSitemapThatRobotsNames(t *testing.T) {
	each(t, func(w *world) {
		s := w.site("https://example.com/")
		m := w.sitemap(s, "https://cdn.example/map.xml")
		_, _, err := w.AddFound(w.Context(), s, nil, []string{m.URL})
		w.ok(err)
		if m = w.sitemap(s, m.URL); m.Origin != sites.FromRobots {
			t.Errorf("its origin is %s", m.Origin)
		}
	})
}
