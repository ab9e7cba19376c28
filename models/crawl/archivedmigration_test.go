package crawl_test

import (
	"testing"
	"time"

	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// TestMigrationToPacks checks that older copies become packs of one body, and that the down migration restores them.
func TestMigrationToPacks(t *testing.T) {
	const packs = 110
	each(t, func(w *world) {
		page := w.crawledPages("http://a.test/")[0]
		w.archiveAll(page, "packed", "packed too")
		back := func() { modelstest.MigrateBelow(t, w.db, packs) }
		back()
		if n := w.n("SELECT count(*) FROM archived_blobs WHERE present"); n != 0 {
			t.Errorf("got %d bodies of packs as objects", n)
		}
		modelstest.Exec(t, w.db, "DELETE FROM archived_pages")
		modelstest.Exec(t, w.db, "DELETE FROM archived_blobs")
		for body, row := range map[string]string{"kept": "true, false, NULL", "lost": "false, false, NULL", "reserved": "false, false, 5", "dropped": "true, false, 5", "deleting": "true, true, 5"} {
			h := bodyHash(body)
			modelstest.Exec(t, w.db, "INSERT INTO archived_blobs (hash, present, deleting, due_at) SELECT ?, "+row, h[:])
			if body == "kept" || body == "lost" {
				modelstest.Exec(t, w.db, `INSERT INTO archived_pages (source_seq, url_hash, hash, size_bytes, created_at, fetched_at)
					SELECT source_seq, url_hash, ?, 4, 1, 1 FROM crawled_pages`, h[:])
			}
		}
		for range 2 { // the second time with migrated data
			w.ok(w.db.Migrate(t.Context()))
			all, err := w.Copies(t.Context(), page, 10)
			w.ok(err)
			hash := bodyHash("kept").String()
			if len(all) != 1 || all[0].Hash != bodyHash("kept") || all[0].Location != (crawl.BodyLocation{Key: hash[:2] + "/" + hash + ".html.zst"}) {
				t.Errorf("got copies %+v", all)
			}
			w.clock.Advance(time.Hour)
			if deleting, moving := w.due(); len(moving) != 0 || len(deleting) == 0 {
				t.Errorf("got packs to delete %v, to move %v", deleting, moving)
			}
			back()
			if n := w.n("SELECT count(*) FROM archived_blobs WHERE present AND due_at IS NULL"); n != 1 {
				t.Errorf("got %d bodies after the down migration", n)
			}
		}
		w.ok(w.db.Migrate(t.Context()))
		w.archive(page, "lost")
		if got := w.copies(page); len(got) != 2 {
			t.Errorf("stored again: got %v", got)
		}
	})
}
