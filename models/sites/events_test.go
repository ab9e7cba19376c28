package sites_test

import (
	"slices"
	"testing"

	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

func TestDroppedPageEvent(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://a.test/"))
		w.read(s, w.sitemap(s, "https://a.test/sitemap.xml"), w.entry("https://a.test/page", 1))
		const crawled, indexed, blocked = "Crawled - currently not indexed", "Submitted and indexed", "Indexed, though blocked by robots.txt"
		for _, state := range []string{crawled, indexed, indexed, blocked, crawled, crawled, blocked, "A new state"} {
			w.must(w.RecordVerification(w.Context(), sites.Verification{Page: w.page(s, "/page"), Inspection: sites.Inspection{Verdict: "NEUTRAL", CoverageState: state}}))
		}
		if got, want := modelstest.Events(w, w.db), []string{"page.dropped once https://a.test/page: " + crawled}; !slices.Equal(got, want) {
			w.Errorf("%q, want %q", got, want)
		}
	})
}

// A page keeps its status if Google reports an unknown state or none, whatever the verdict. Only PASS makes it indexed.
func TestUnknownStatesKeepTheStatus(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://a.test/"))
		w.read(s, w.sitemap(s, "https://a.test/sitemap.xml"), w.entry("https://a.test/page", 1))
		verify := func(verdict, state string) sites.Page {
			i := sites.Inspection{Verdict: verdict, CoverageState: state}
			w.must(w.RecordVerification(w.Context(), sites.Verification{Page: w.page(s, "/page"), Inspection: i, Cause: sites.CauseOf(i)}))
			return w.page(s, "/page")
		}
		unknown := func(want sites.Status) {
			for _, state := range []string{"A new state", "索引未登録", ""} {
				for _, verdict := range []string{"NEUTRAL", "FAIL", "PARTIAL", "VERDICT_UNSPECIFIED", ""} {
					if p := verify(verdict, state); p.Status != want || p.CoverageState != state || p.LastVerifiedAt.IsZero() {
						w.Errorf("%s page after %s %q: %+v", want, verdict, state, p)
					}
				}
			}
		}
		unknown(sites.Pending)
		w.publish(s, w.page(s, "/page"), sites.Outcome{Status: sites.Accepted})
		unknown(sites.Submitted)
		if got := w.urls(s, sites.Filter{Unindexed: true}); !slices.Equal(got, []string{"/page"}) {
			w.Errorf("pages without a clear answer: %v", got)
		}
		verify("NEUTRAL", "Not found (404)")
		unknown(sites.NotIndexed)
		if p := verify("PASS", "A new state"); p.Status != sites.Indexed || p.Cause != "" {
			w.Errorf("passed: %+v", p)
		}
		unknown(sites.Indexed)
		if got := modelstest.Events(w, w.db); len(got) != 0 {
			w.Errorf("events: %q", got)
		}
	})
}

func TestQuotaEventOnce(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://a.test/"))
		for range 200 {
			p, err := w.Acquire(w.Context(), w.me, s, sites.CallPublish)
			w.must(err)
			w.must(w.ReleasePermit(w.Context(), p))
		}
		if got, want := modelstest.Events(w, w.db), []string{"quota.nearly_spent once a.test: 160 of 200 used today (publish)"}; !slices.Equal(got, want) {
			w.Errorf("%q, want %q", got, want)
		}
	})
}
