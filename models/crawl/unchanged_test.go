package crawl_test

import (
	"testing"
	"time"

	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// TestUnchangedPageKeepsItsCopyCurrent checks that an unchanged page updates its newest archived copy, and no other.
func TestUnchangedPageKeepsItsCopyCurrent(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		pages := site{"/": "Home\n->/a\n->/b", "/a": "Alpha", "/b": "Beta"}
		w.crawlSite(j, pages)
		first := w.Now()
		w.archive(w.page("/a"), "old")
		w.archive(w.page("/b"), "new")
		w.clock.Advance(time.Hour)
		second := w.Now()
		w.archive(w.page("/a"), "new")
		w.clock.Advance(time.Hour)
		third := w.Now()
		pages["/a"] = "unchanged"
		pages["/b"] = "unchanged" // since a fetch without a stored copy
		modelstest.Exec(t, w.db, "UPDATE crawled_pages SET fetched_at = ? WHERE url LIKE '%/b'", second)
		if e := w.crawlSite(j, pages); e.ItemsCrawled != 3 || w.changes(e, "") != nil {
			t.Errorf("got %+v", e)
		}
		if p := w.page("/a"); p.FetchedAt != third || p.Title != "Alpha" {
			t.Errorf("got page %+v", p)
		}
		for path, want := range map[string][]crawl.Copy{
			"/a": {{Hash: bodyHash("new"), CreatedAt: second, FetchedAt: third}, {Hash: bodyHash("old"), CreatedAt: first, FetchedAt: first}},
			"/b": {{Hash: bodyHash("new"), CreatedAt: first, FetchedAt: first}},
		} {
			copies, err := w.Copies(w.Context(), w.page(path), 10)
			w.ok(err)
			if len(copies) != len(want) {
				t.Fatalf("%s: got %d copies", path, len(copies))
			}
			for i, c := range copies {
				if c.Hash != want[i].Hash || c.CreatedAt != want[i].CreatedAt || c.FetchedAt != want[i].FetchedAt {
					t.Errorf("%s: copy %d: got %+v", path, i, c)
				}
			}
		}
	})
}

// TestPagesWithoutACopyAreRequestedUnconditionally checks that a page is requested unconditionally while its archived copy is
// missing.
func TestPagesWithoutACopyAreRequestedUnconditionally(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		w.crawlSite(j, site{"/": "Home"})
		page := w.page("/")
		page.ETag, page.LastModified = `"v1"`, "Tue, 24 Mar 2026 12:00:00 GMT"
		modelstest.Exec(w.T, w.db, "UPDATE crawled_pages SET etag = ?, last_modified = ?", page.ETag, page.LastModified)
		_, err := w.Act(w.Context(), j.ID, crawl.ForceRun)
		w.ok(err)
		w.begin()
		host := w.turn().Host
		archives := crawl.NewStore(w.db, w.clock.Now, crawl.Options{StaleAfter: staleAfter, ArchiveRetention: archiveRetention, Archive: true})
		wants := func(s *crawl.Store, conditional bool, when string) {
			t.Helper()
			entries, err := s.LoadEntries(w.Context(), host, 1)
			w.ok(err)
			if len(entries) != 1 || (entries[0].ETag == page.ETag) != conditional || (entries[0].LastModified == page.LastModified) != conditional {
				t.Errorf("%s: got %+v", when, entries)
			}
		}
		wants(w.Store, true, "without an archive")
		wants(archives, false, "without a copy")
		w.archive(page, "body")
		wants(archives, true, "with a copy")
		copies, err := w.Copies(w.Context(), page, 1)
		w.ok(err)
		w.ok(w.MarkBodiesLost(w.Context(), copies[0].Location.Key, copies[0].Hash))
		wants(archives, false, "with a copy that is lost")
		w.archive(page, "body")
		wants(archives, true, "once it is stored again")
		w.clock.Advance(time.Minute)
		modelstest.Exec(w.T, w.db, "UPDATE crawled_pages SET fetched_at = ?", w.Now())
		wants(archives, false, "with a copy of an earlier fetch")
	})
}
