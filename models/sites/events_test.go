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
		for _, verdict := range []string{"NEUTRAL", "PASS", "PASS", "NEUTRAL", "NEUTRAL"} {
			w.must(w.RecordVerification(w.Context(), sites.Verification{Page: w.page(s, "/page"), Inspection: sites.Inspection{Verdict: verdict, CoverageState: "Crawled"}}))
		}
		if got, want := modelstest.Events(w, w.db), []string{"page.dropped once https://a.test/page: Crawled"}; !slices.Equal(got, want) {
			w.Errorf("%q, want %q", got, want)
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
