package sites_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

// A search reads a bounded number of pages and continues with the next page.
func TestSearchOfManyPages(t *testing.T) {
	each(t, func(w *fixture) {
		const n = models.MaxSearched + 10
		s := w.site("https://example.com/")
		m := w.sitemap(s, "https://example.com/1.xml")
		w.read(s, m, w.entry("https://example.com/page", 1))
		modelstest.Copies(w, w.db, "pages", n, map[string]string{
			"url":    modelstest.Last(n, "https://example.com/needle", "'https://example.com/' || i"),
			"status": "CASE WHEN i % 3 = 0 THEN 'indexed' ELSE 'pending' END", "queue_rank": "i / 200",
		})
		search := func(f sites.Filter) {
			w.Helper()
			modelstest.StopsAndContinues(w, func(after models.Cursor) (models.Slice[sites.Page], error) {
				return w.Pages(w.Context(), s.ID, f, after, 5)
			})
		}
		search(sites.Filter{Match: "Needle"})
		search(sites.Filter{Match: "/needle*"})
		modelstest.Exec(w.T, w.db, "UPDATE pages SET status = 'indexed'")
		search(sites.Filter{Match: "Needle", Status: sites.Indexed})
		modelstest.Exec(w, w.db, "UPDATE pages SET gone_at = created_at")
		search(sites.Filter{Match: "Needle", Gone: true})
	})
}
