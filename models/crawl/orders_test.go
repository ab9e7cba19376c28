package crawl_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// Lists have each row once in each order, with ties, and no statement sorts.
func TestListsInEachOrder(t *testing.T) {
	each(t, func(w *world) {
		const n = 2000
		w.discover("http://other.example/")
		ctx, ties := w.Context(), map[string]string{"created_at": "created_at + i / 9", "url_hash": modelstest.Digits(w.db)}
		modelstest.Copies(w.T, w.db, "jobs", n, map[string]string{"id": modelstest.IDs(w.db, models.KindJob), "created_at": "created_at + i / 9", "updated_at": "updated_at + i % 13"})
		modelstest.ListedOnce(w.T, w.db, crawl.JobOrders, func(after models.Cursor, limit int) (models.Slice[crawl.Job], error) {
			return w.Jobs(ctx, crawl.JobFilter{}, after, limit)
		})
		modelstest.Copies(w.T, w.db, "discovered_links", n, ties)
		modelstest.ListedOnce(w.T, w.db, crawl.DiscoveredOrders, func(after models.Cursor, limit int) (models.Slice[crawl.DiscoveredLink], error) {
			return w.DiscoveredLinks(ctx, crawl.DiscoveredFilter{}, after, limit)
		})
		modelstest.Copies(w.T, w.db, "frontier", n, ties)
		modelstest.ListedOnce(w.T, w.db, crawl.FrontierOrders, func(after models.Cursor, limit int) (models.Slice[crawl.FrontierEntry], error) {
			return w.Frontier(ctx, crawl.EntryFilter{}, after, limit)
		})
		modelstest.Copies(w.T, w.db, "crawled_pages", n, map[string]string{"created_at": "created_at + i / 9", "url_hash": modelstest.Digits(w.db)})
		modelstest.ListedOnce(w.T, w.db, crawl.PageOrders, func(after models.Cursor, limit int) (models.Slice[crawl.FoundPage], error) {
			list, err := w.Pages(ctx, crawl.PageFilter{}, after, limit)
			return list.Slice, err
		})
		modelstest.Copies(w.T, w.db, "sources", n, map[string]string{"id": modelstest.IDs(w.db, models.KindSource), "created_at": "created_at + i / 9"})
		modelstest.ListedOnce(w.T, w.db, crawl.SourceOrders, func(after models.Cursor, limit int) (models.Slice[crawl.Source], error) {
			return w.Sources(ctx, "", after, limit)
		})
	})
}

// The count of each status is that of its list.
func TestCountOfTheFrontier(t *testing.T) {
	each(t, func(w *world) {
		w.discover("http://other.example/")
		modelstest.Copies(w.T, w.db, "frontier", 20, map[string]string{"url_hash": modelstest.Digits(w.db), "status": "CASE WHEN i % 3 = 0 THEN 'failed' WHEN i % 3 = 1 THEN 'pending' ELSE 'done' END"})
		for _, f := range []crawl.EntryFilter{{}, {Status: crawl.EntryPending}, {Status: crawl.EntryFailed}, {Status: crawl.EntryDone}, {Status: crawl.EntryPending, Text: "http"}, {Host: "no.example"}} {
			list, err := w.Frontier(w.as("alice"), f, models.Cursor{Want: models.Want{Total: true}}, 100)
			if err != nil || list.Count != (models.Count{Known: true, N: len(list.Items)}) {
				w.Errorf("%+v: %+v, %v; want %d", f, list.Count, err, len(list.Items))
			}
		}
	})
}
