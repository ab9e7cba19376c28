package crawl_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// A search reads a bounded number of rows and continues with the next page.
func TestSearchesOfManyRows(t *testing.T) {
	each(t, func(w *world) {
		const n = models.MaxSearched + 10
		w.discover("http://other.example/")
		alice := w.as("alice")
		id := func(prefix string) string { return "'" + prefix + "_000000000000' || (1000000000 + i)" }
		modelstest.Copies(w.T, w.db, "jobs", n, map[string]string{"id": id("j"), "url": modelstest.Last(n, "http://needle.example/", "url")})
		modelstest.StopsAndContinues(w.T, func(after models.Cursor) (models.Slice[crawl.Job], error) {
			return w.Jobs(alice, crawl.JobFilter{Text: "Needle"}, after, 5)
		})
		modelstest.Copies(w.T, w.db, "discovered_links", n, map[string]string{"url_hash": modelstest.Digits(w.db), "url": modelstest.Last(n, "http://needle.example/", "url")})
		for _, f := range []crawl.DiscoveredFilter{{Text: "Needle"}, {Host: "needle.example"}} {
			modelstest.StopsAndContinues(w.T, func(after models.Cursor) (models.Slice[crawl.DiscoveredLink], error) {
				return w.DiscoveredLinks(alice, f, after, 5)
			})
		}
		modelstest.Copies(w.T, w.db, "frontier", n, map[string]string{"url_hash": modelstest.Digits(w.db), "url": modelstest.Last(n, "http://needle.example/", "url")})
		modelstest.StopsAndContinues(w.T, func(after models.Cursor) (models.Slice[crawl.FrontierEntry], error) {
			return w.Frontier(alice, crawl.EntryFilter{Text: "Needle"}, after, 5)
		})
		modelstest.Copies(w.T, w.db, "sources", n, map[string]string{"id": id("s"), "search_text": modelstest.Last(n, "needle", "search_text")})
		modelstest.StopsAndContinues(w.T, func(after models.Cursor) (models.Slice[crawl.Source], error) {
			return w.Sources(alice, "Needle", after, 5)
		})
	})
}
