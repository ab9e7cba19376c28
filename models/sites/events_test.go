package sites_test

import (
	"slices"
	"testing"

	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

func TestPagesThatGoogleDropsAreTold(t *testing.T) {
	each(t, func(w *world) {
		s := w.google(w.site("https://a.test/"))
		w.read(s, w.sitemap(s, "https://a.test/sitemap.xml"), w.entry("https://a.test/page", 1))
		for _, verdict := range []string{"NEUTRAL", "PASS", "PASS", "NEUTRAL", "NEUTRAL"} {
			w.ok(w.RecordVerified(w.Context(), sites.Verified{Page: w.page(s, "/page"), Inspection: sites.Inspection{Verdict: verdict, CoverageState: "Crawled"}}))
		}
		if got, want := modelstest.Events(w, w.db), []string{"page.dropped once https://a.test/page: Crawled"}; !slices.Equal(got, want) {
			w.Errorf("%q, want %q", got, want)
		}
	})
}

func TestQuotaThatIsNearlySpentIsToldOnce(t *testing.T) {
	each(t, func(w *world) {
		s := w.google(w.site("https://a.test/"))
		for range 200 {
			p, err := w.Acquire(w.Context(), w.me, s, sites.CallPublish)
			w.ok(err)
			w.ok(w.Done(w.Context(), p))
		}
		if got, want := modelstest.Events(w, w.db), []string{"quota.nearly_spent once a.test: 160 of 200 (publish) are used today"}; !slices.Equal(got, want) {
			w.Errorf("%q, want %q", got, want)
		}
	})
}
