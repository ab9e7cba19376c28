package sites_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/sites"
)

func TestQueueOrder(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://example.com/")
		m := w.sitemap(s, "https://example.com/sitemap.xml")
		w.read(s, m, w.entry("https://example.com/none", -1), w.entry("https://example.com/old", 200), w.entry("https://example.com/week", 7),
			w.entry("https://example.com/new", 0), w.entry("https://example.com/new2", 1), w.entry("https://example.com/", 40))
		want := []string{"/new", "/new2", "/week", "/", "/none", "/old"}
		if got := w.urls(s, sites.Filter{}); !slices.Equal(got, want) {
			t.Errorf("got queue %v, want %v", got, want)
		}
		// Pagination returns the same order.
		var paged []string
		for after := (models.Cursor{}); ; {
			list, err := w.Pages(w.Context(), s.ID, sites.Filter{Status: sites.Pending}, after, 2)
			w.must(err)
			for _, p := range list.Items {
				paged = append(paged, p.Path())
			}
			if !list.More() {
				break
			}
			after, err = models.ParseToken(list.Next.Token())
			w.must(err)
		}
		if !slices.Equal(paged, want) {
			t.Errorf("paginated: %v", paged)
		}
		p, err := w.SetPriority(w.Context(), w.page(s, "/old").ID(), ptr(90))
		w.must(err)
		if p.Priority() != 90 || p.AutoPriority != 10 || *p.ManualPriority != 90 {
			t.Errorf("boosted: %d %d %v", p.Priority(), p.AutoPriority, p.ManualPriority)
		}
		if got := w.urls(s, sites.Filter{}); got[2] != "/old" {
			t.Errorf("boosted: %v", got)
		}
		p, err = w.SetPriority(w.Context(), p.ID(), nil)
		w.must(err)
		if p.Priority() != 10 || p.ManualPriority != nil {
			t.Errorf("reset: %d", p.Priority())
		}
		for _, bad := range []int{0, 101, -1} {
			_, err := w.SetPriority(w.Context(), p.ID(), &bad)
			w.wantCode(err, models.CodeInvalid)
		}
		_, err = w.SetPriority(w.Context(), models.TimedID(models.KindPage, w.Now(), 99), nil)
		w.wantCode(err, models.CodeNotFound)
		w.counts(s, map[sites.Status]int{sites.Pending: 6})
	})
}

func TestReprioritize(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://example.com/")
		m := w.sitemap(s, "https://example.com/sitemap.xml")
		w.read(s, m, w.entry("https://example.com/a", 0), w.entry("https://example.com/b", 8), w.entry("https://example.com/c", -1))
		_, err := w.SetPriority(w.Context(), w.page(s, "/b").ID(), ptr(55))
		w.must(err)
		for day := range 200 {
			for n := sites.StoreBatch; n == sites.StoreBatch; {
				n, err = w.Reprioritize(w.Context())
				w.must(err)
			}
			for path, age := range map[string]int{"/a": day, "/b": day + 8} {
				p := w.page(s, path)
				if want := sites.AutoPriority(w.Now().Add(-time.Duration(age)*models.Day), w.Now()); p.AutoPriority != want {
					t.Fatalf("day %d: %s has %d, want %d", day, path, p.AutoPriority, want)
				}
			}
			w.clock.Advance(models.Day)
		}
		if p := w.page(s, "/b"); p.Priority() != 55 || p.AutoPriority != 10 {
			t.Errorf("manual priority %d, automatic priority %d", p.Priority(), p.AutoPriority)
		}
		if p := w.page(s, "/a"); p.Priority() != 10 {
			t.Errorf("old page: priority %d", p.Priority())
		}
	})
}

func TestBoost(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://example.com/")
		m := w.sitemap(s, "https://example.com/sitemap.xml")
		w.read(s, m, w.entry("https://example.com/blog/a", -1), w.entry("https://example.com/blog/B%20", -1), w.entry("https://example.com/x/blog/c", -1), w.entry("https://example.com/blog", -1))
		_, err := w.SetPriority(w.Context(), w.page(s, "/blog/a").ID(), ptr(5))
		w.must(err)
		b, err := w.SetPriorities(w.Context(), s.ID, sites.Filter{Match: "/blog/*"}, ptr(100))
		w.must(err)
		if b.N != 2 || b.More {
			t.Errorf("boosted %+v", b)
		}
		if got := w.urls(s, sites.Filter{}); !slices.Equal(got[:2], []string{"/blog/a", "/blog/B%20"}) {
			t.Errorf("boosted: %v", got)
		}
		again, err := w.SetPriorities(w.Context(), s.ID, sites.Filter{Match: "/blog/*"}, ptr(100))
		w.must(err)
		if again.N != 0 {
			t.Errorf("boosted again: %+v", again)
		}
		w.clock.Advance(time.Second)
		b, err = w.SetPriorities(w.Context(), s.ID, sites.Filter{Match: "/blog/*"}, ptr(50))
		w.must(err)
		if n, err := w.UndoPriorities(w.Context(), s.ID, b.At); n != 2 || err != nil {
			t.Errorf("undone: %d %v", n, err)
		}
		if p := w.page(s, "/blog/a"); p.Priority() != 100 {
			t.Errorf("undone to %d", p.Priority())
		}
		if n, err := w.UndoPriorities(w.Context(), s.ID, b.At); n != 0 || err != nil {
			t.Errorf("undone twice: %d %v", n, err)
		}
		b, err = w.SetPriorities(w.Context(), s.ID, sites.Filter{}, nil)
		w.must(err)
		if b.N != 2 || w.page(s, "/blog/a").Priority() != 10 {
			t.Errorf("reset %+v", b)
		}
		_, err = w.SetPriorities(w.Context(), s.ID, sites.Filter{}, ptr(101))
		w.wantCode(err, models.CodeInvalid)
	})
}

func TestPagesOfSitemaps(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://example.com/")
		a, b := w.sitemap(s, "https://example.com/a.xml"), w.sitemap(s, "https://example.com/b.xml")
		a = w.read(s, a, w.entry("https://example.com/1", 10), w.entry("https://example.com/2", 10), w.entry("https://example.com/2", 10))
		w.read(s, b, w.entry("https://example.com/2", -1), w.entry("https://example.com/3", 10))
		w.counts(s, map[sites.Status]int{sites.Pending: 3})

		a = w.read(s, a, w.entry("https://example.com/4", 10)) // 1 is gone, 2 is still in b
		w.counts(s, map[sites.Status]int{sites.Pending: 3})
		if got := w.urls(s, sites.Filter{Gone: true}); !slices.Equal(got, []string{"/1"}) {
			t.Errorf("gone: %v", got)
		}
		if p := w.page(s, "/1"); p.GoneAt != w.Now() || p.QueuedForGoogle {
			t.Errorf("gone page: %+v", p)
		}
		a = w.read(s, a, w.entry("https://example.com/4", 10), w.entry("https://example.com/1", 10)) // 1 is back
		if p := w.page(s, "/1"); !p.GoneAt.IsZero() || !p.QueuedForGoogle {
			t.Errorf("restored page: %+v", p)
		}
		w.counts(s, map[sites.Status]int{sites.Pending: 4})

		w.must(w.DeleteSitemap(w.Context(), s.ID, a.ID()))
		_, err := w.SitemapsOf(w.Context(), s.ID, models.Cursor{}, 10)
		w.must(err)
		deleted, err := w.DeletedSitemaps(w.Context(), s)
		w.must(err)
		for _, m := range deleted {
			_, err := w.DetachPages(w.Context(), s, m, true)
			w.must(err)
			w.must(w.PurgeSitemap(w.Context(), m))
		}
		if deleted, err = w.DeletedSitemaps(w.Context(), s); err != nil || len(deleted) > 0 {
			t.Errorf("deleted sitemaps: %v %v", deleted, err)
		}
		if got := w.urls(s, sites.Filter{}); !slices.Equal(got, []string{"/3", "/2"}) && !slices.Equal(got, []string{"/2", "/3"}) {
			t.Errorf("left: %v", got)
		}
		w.counts(s, map[sites.Status]int{sites.Pending: 2})
		w.wantCode(w.DeleteSitemap(w.Context(), s.ID, a.ID()), models.CodeNotFound)
	})
}

// A page that changed after its submission is queued again. Other pages are not.
func TestChangedPagesAreQueued(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://example.com/"))
		m := w.sitemap(s, "https://example.com/sitemap.xml")
		m = w.read(s, m, w.entry("https://example.com/a", 10), w.entry("https://example.com/b", 10), w.entry("https://example.com/c", -1))
		ps, err := w.PagesToPublish(w.Context(), s, 10)
		w.must(err)
		for _, p := range ps {
			w.publish(s, p, sites.Outcome{Status: sites.Accepted, StatusCode: 200})
		}
		w.counts(s, map[sites.Status]int{sites.Submitted: 3})
		w.clock.Advance(time.Hour)
		w.read(s, m, w.entry("https://example.com/a", 0), w.entry("https://example.com/b", 11), w.entry("https://example.com/c", -1))
		if got := w.urls(s, sites.Filter{Queued: true}); !slices.Equal(got, []string{"/a"}) {
			t.Errorf("queued: %v", got)
		}
		if p := w.page(s, "/b"); p.Lastmod != w.Now().Add(-11*models.Day) {
			t.Errorf("earlier lastmod: %v", p.Lastmod)
		}
		w.counts(s, map[sites.Status]int{sites.Submitted: 3})
	})
}

func (w *fixture) publish(s sites.Website, p sites.Page, a sites.Outcome) {
	w.Helper()
	sub, err := w.BeginSubmission(w.Context(), s, sites.Submission{PageSeq: &p.Seq, URL: p.URL, Method: sites.ByIndexingAPI, Action: sites.Updated, Pages: 1})
	w.must(err)
	w.must(w.RecordOutcome(w.Context(), sub, []int64{p.Seq}, a))
}

func TestOutcomes(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://example.com/"))
		m := w.sitemap(s, "https://example.com/sitemap.xml")
		var entries []sites.Entry
		for i := range 6 {
			entries = append(entries, w.entry(fmt.Sprintf("https://example.com/%d", i), -1))
		}
		w.read(s, m, entries...)
		queue := func() (paths []string) {
			ps, err := w.PagesToPublish(w.Context(), s, 100)
			w.must(err)
			for _, p := range ps {
				paths = append(paths, p.Path())
			}
			return paths
		}
		w.publish(s, w.page(s, "/0"), sites.Outcome{Status: sites.Accepted, StatusCode: 200})
		w.publish(s, w.page(s, "/1"), sites.Outcome{Status: sites.Refused, StatusCode: 400, Error: "Google refused it.", Cause: "refused"})
		w.publish(s, w.page(s, "/2"), sites.Outcome{Status: sites.Retried, StatusCode: 500, Error: "Google failed.", Cause: "unavailable"})
		w.publish(s, w.page(s, "/3"), sites.Outcome{Status: sites.Sent, Error: "No answer.", Cause: "no_answer"})
		w.publish(s, w.page(s, "/4"), sites.Outcome{Status: sites.Refused, StatusCode: 403, Error: "Not an owner.", Cause: "not_owner", Sitewide: true})
		if got := queue(); !slices.Equal(got, []string{"/4", "/5"}) {
			t.Errorf("queued: %v", got)
		}
		w.counts(s, map[sites.Status]int{sites.Submitted: 1, sites.Failed: 1, sites.Pending: 4})
		got, err := w.Get(w.Context(), s.ID)
		w.must(err)
		if got.Indexing != (sites.ServiceState{Error: "Not an owner.", Failures: 1, RetryAt: w.Now().Add(time.Minute)}) || got.Console.Error != "" {
			t.Errorf("website: %+v %+v", got.Indexing, got.Console)
		}
		w.clock.Advance(time.Minute)
		if got := queue(); !slices.Equal(got, []string{"/2", "/3", "/4", "/5"}) {
			t.Errorf("queued after a minute: %v", got)
		}
		for range 4 { // the page fails after five failures
			w.clock.Advance(models.Day)
			w.publish(s, w.page(s, "/2"), sites.Outcome{Status: sites.Retried, StatusCode: 500, Error: "Google failed. It is tried again.", Summary: "Google failed.", Cause: "unavailable"})
		}
		if p := w.page(s, "/2"); p.Status != sites.Failed || p.Cause != "unavailable" || p.QueuedForGoogle || p.LastError != "Google failed." {
			t.Errorf("failed page: %+v", p)
		}
		w.publish(s, w.page(s, "/5"), sites.Outcome{Status: sites.Accepted, StatusCode: 200})
		if got, err = w.Get(w.Context(), s.ID); err != nil || got.Indexing != (sites.ServiceState{}) {
			t.Errorf("website after a success: %+v %v", got, err)
		}
		c, err := w.Counts(w.Context(), s)
		w.must(err)
		if want := []sites.Count{{sites.Failed, "refused", 1}, {sites.Failed, "unavailable", 1}}; !reflect.DeepEqual(c.ByCause, want) {
			t.Errorf("causes: %v", c.ByCause)
		}
		if got := w.urls(s, sites.Filter{Cause: "refused"}); !slices.Equal(got, []string{"/1"}) {
			t.Errorf("refused: %v", got)
		}
		list, err := w.Submissions(w.Context(), s.ID, sites.SubmissionFilter{}, models.Cursor{}, 3)
		w.must(err)
		if len(list.Items) != 3 || list.Items[0].URL != "https://example.com/5" || !list.More() {
			t.Errorf("submissions: %v", list.Items)
		}
		for status, want := range map[sites.SubmissionStatus]int{sites.Sent: 1, sites.Refused: 2, sites.Retried: 5, sites.Accepted: 2, "": 10} {
			list, err := w.Submissions(w.Context(), s.ID, sites.SubmissionFilter{Status: status}, models.Cursor{}, 100)
			w.must(err)
			if len(list.Items) != want || slices.ContainsFunc(list.Items, func(s sites.Submission) bool { return status != "" && s.Status != status }) {
				t.Errorf("submissions with status %q: %+v", status, list.Items)
			}
		}
		_, err = w.Submissions(w.Context(), s.ID, sites.SubmissionFilter{Status: "done"}, models.Cursor{}, 3)
		w.wantCode(err, models.CodeInvalid)
		page := w.page(s, "/3")
		list, err = w.Submissions(w.Context(), s.ID, sites.SubmissionFilter{PageID: page.ID()}, models.Cursor{}, 10)
		w.must(err)
		if len(list.Items) != 1 || list.Items[0].Status != sites.Sent || !list.Items[0].AnsweredAt.IsZero() || list.Items[0].PageID() != page.ID() {
			t.Errorf("submissions of a page: %+v", list.Items)
		}
	})
}

func TestVerifyOrder(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://example.com/"))
		m := w.sitemap(s, "https://example.com/sitemap.xml")
		w.read(s, m, w.entry("https://example.com/never", -1), w.entry("https://example.com/submitted", -1), w.entry("https://example.com/requested", -1),
			w.entry("https://example.com/today", -1), w.entry("https://example.com/old", -1))
		verify := func(path string, i sites.Inspection) {
			w.must(w.RecordVerification(w.Context(), sites.Verification{Page: w.page(s, path), Inspection: i, Cause: map[bool]string{true: "", false: "x"}[i.Verdict == "PASS"]}))
		}
		verify("/old", sites.Inspection{Verdict: "NEUTRAL", CoverageState: "Crawled - currently not indexed"})
		w.clock.Advance(25 * time.Hour)
		verify("/today", sites.Inspection{Verdict: "PASS", CoverageState: "Submitted and indexed"})
		verify("/submitted", sites.Inspection{Verdict: "PASS"})
		w.publish(s, w.page(s, "/submitted"), sites.Outcome{Status: sites.Accepted})
		_, err := w.RequestVerification(w.Context(), w.page(s, "/requested").ID())
		w.must(err)
		order := func() (paths []string) {
			ps, err := w.PagesToVerify(w.Context(), s, 10)
			w.must(err)
			for _, p := range ps {
				paths = append(paths, p.Path())
			}
			return paths
		}
		if got := order(); !slices.Equal(got, []string{"/requested", "/submitted", "/never", "/old"}) {
			t.Errorf("order: %v", got)
		}
		w.counts(s, map[sites.Status]int{sites.Indexed: 2, sites.NotIndexed: 1, sites.Pending: 2})
		for _, a := range []sites.Outcome{{Status: sites.Sent, Error: "No answer."}, {Status: sites.Refused, StatusCode: 429, Error: "Too many.", RateLimited: true}} {
			w.must(w.RecordVerification(w.Context(), sites.Verification{Page: w.page(s, "/never"), Problem: &a}))
		}
		if got := order(); !slices.Equal(got, []string{"/requested", "/submitted", "/old"}) {
			t.Errorf("order after a failure: %v", got)
		}
		ps, err := w.PagesToVerify(w.Context(), s, 2)
		w.must(err)
		if len(ps) != 2 {
			t.Errorf("%d pages", len(ps))
		}
	})
}

func TestSitemapSubmission(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://example.com/"))
		root := w.sitemap(s, "https://example.com/index.xml")
		_, _, err := w.AddFound(w.Context(), s, &root, []string{"https://example.com/child.xml"})
		w.must(err)
		w.must(w.RecordRead(w.Context(), root, sites.ReadResult{Stored: true, Kind: sites.KindIndex, Pages: 1}))
		children, err := w.SitemapsToRead(w.Context(), s, 1)
		w.must(err)
		child := w.read(s, children[0], w.entry("https://example.com/a", -1), w.entry("https://example.com/b", -1))
		other := w.sitemap(s, "https://example.com/other.xml")
		w.read(s, other, w.entry("https://example.com/c", -1))
		names := func() (urls []string) {
			ms, err := w.SitemapsToSubmit(w.Context(), s)
			w.must(err)
			for _, m := range ms {
				urls = append(urls, m.URL)
			}
			return urls
		}
		if got := names(); !slices.Equal(got, []string{"https://example.com/index.xml", "https://example.com/other.xml"}) {
			t.Errorf("to submit: %v", got)
		}
		w.clock.Advance(time.Minute)
		sub, err := w.BeginSubmission(w.Context(), s, sites.Submission{URL: root.URL, Method: sites.BySitemap, Action: sites.Updated, Pages: 2})
		w.must(err)
		w.must(w.RecordSitemapOutcome(w.Context(), sub, root, sites.Outcome{Status: sites.Accepted, StatusCode: 204}))
		group, err := w.SitemapGroup(w.Context(), root)
		w.must(err)
		for _, m := range group {
			if next, err := w.MarkSubmitted(w.Context(), s, m, 0); err != nil || next != 0 {
				t.Errorf("next is %d, %v", next, err)
			}
		}
		w.counts(s, map[sites.Status]int{sites.Submitted: 2, sites.Pending: 1})
		if got := names(); !slices.Equal(got, []string{"https://example.com/other.xml"}) {
			t.Errorf("to submit next: %v", got)
		}
		w.clock.Advance(time.Minute)
		child = w.read(s, child, w.entry("https://example.com/a", 0), w.entry("https://example.com/b", -1))
		if got := names(); len(got) != 2 {
			t.Errorf("to submit after a change: %v", got)
		}
		_ = child
	})
}

func TestIndexNowBatches(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("sc-domain:example.com")
		s, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexNowKey: ptr("0123456789abcdef")})
		w.must(err)
		m := w.sitemap(s, "https://example.com/sitemap.xml")
		w.read(s, m, w.entry("https://example.com/a", -1), w.entry("https://www.example.com/b", -1), w.entry("https://example.com/c", -1))
		ps, err := w.PagesForIndexNow(w.Context(), s)
		w.must(err)
		if len(ps) != 2 || ps[1].URL != "https://example.com/c" {
			t.Errorf("first batch: %v", ps)
		}
		sub, err := w.BeginSubmission(w.Context(), s, sites.Submission{Method: sites.ByIndexNow, Action: sites.Updated, Pages: len(ps)})
		w.must(err)
		w.must(w.RecordOutcome(w.Context(), sub, []int64{ps[0].Seq, ps[1].Seq}, sites.Outcome{Status: sites.Accepted, StatusCode: 200}))
		w.counts(s, map[sites.Status]int{sites.Submitted: 2, sites.Pending: 1})
		if ps, err = w.PagesForIndexNow(w.Context(), s); err != nil || len(ps) != 1 || ps[0].URL != "https://www.example.com/b" {
			t.Errorf("second batch: %v %v", ps, err)
		}
		for _, bad := range []string{"short", "has space in it", "ümlaut-ümlaut", string(make([]byte, 200))} {
			_, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexNowKey: &bad})
			w.wantCode(err, models.CodeInvalid)
		}
	})
}

// Filter texts are limited and cleaned.
func TestFilterTexts(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://example.com/")
		w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/a", 1))
		for _, f := range []sites.Filter{{Match: "\x00/a"}, {Match: " /a\u200b"}, {Cause: "\x00"}} {
			if got := w.urls(s, f); len(got) != 1 {
				t.Errorf("%+v: got %v", f, got)
			}
		}
		long := strings.Repeat("a", models.MaxFilter+1)
		for _, f := range []sites.Filter{{Match: long}, {Cause: long}, {Status: "gone"}} {
			_, err := w.Pages(w.Context(), s.ID, f, models.Cursor{}, 10)
			w.wantCode(err, models.CodeInvalid)
			_, err = w.SetPriorities(w.Context(), s.ID, f, ptr(1))
			w.wantCode(err, models.CodeInvalid)
		}
		_, err := w.Submissions(w.Context(), s.ID, sites.SubmissionFilter{PageID: long}, models.Cursor{}, 10)
		w.wantCode(err, models.CodeInvalid)
		_, err = w.Submissions(w.Context(), s.ID, sites.SubmissionFilter{PageID: "p_1"}, models.Cursor{}, 10)
		w.wantCode(err, models.CodeNotFound)
	})
}

// A bulk change without effect keeps the previous change undoable. A filter that cleaning empties must not match all pages.
func TestBulkChangeWithoutEffect(t *testing.T) {
	each(t, func(w *fixture) {
		ctx := w.Context()
		s := w.site("https://example.com/")
		w.read(s, w.sitemap(s, "https://example.com/sitemap.xml"), w.entry("https://example.com/1", -1), w.entry("https://example.com/2", -1))
		b, err := w.SetPriorities(ctx, s.ID, sites.Filter{}, ptr(90))
		w.must(err)
		w.clock.Advance(time.Second)
		if none, err := w.SetPrioritiesByID(ctx, s.ID, ptr(90), w.page(s, "/2").ID()); err != nil || none.N != 0 {
			t.Errorf("changed %d, %v", none.N, err)
		}
		for _, f := range []sites.Filter{{Match: " \x00"}, {Cause: "\u200b"}} {
			if _, err := w.SetPriorities(ctx, s.ID, f, ptr(5)); models.CodeOf(err) != models.CodeInvalid {
				t.Errorf("%+v: %v", f, err)
			}
		}
		if n, err := w.UndoPriorities(ctx, s.ID, b.At); err != nil || n != 2 {
			t.Errorf("undone: %d, %v", n, err)
		}
	})
}

// A page is found by its canonical URL, whatever the case of the escapes in its sitemap.
func TestPagesByURLWithEscapes(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://a.example/")
		w.read(s, w.sitemap(s, "https://a.example/s.xml"), w.entry("https://a.example/%c3%a9/", -1), w.entry("https://a.example/%C3%A4?q=%C3", -1))
		const lower, upper = "https://a.example/%C3%A9", "https://a.example/%C3%A4?q=%C3"
		found, err := w.PagesByURL(w.Context(), lower, upper)
		w.must(err)
		if len(found[lower]) != 1 || found[lower][0].URL != "https://a.example/%c3%a9/" || len(found[upper]) != 1 || found[upper][0].URL != upper {
			t.Errorf("got %+v", found)
		}
	})
}
