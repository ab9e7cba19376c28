package crawl_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// Until schema 160, crawls kept the case of escapes. The migration changes one row of each URL, with its copies, and the next
// requests are not conditional.
func TestMigrationOfEscapes(t *testing.T) {
	const upperEscapes = 160
	each(t, func(w *world) {
		pages := w.crawledPages("http://a.test/", "http://a.test/1", "http://a.test/2", "http://a.test/3", "http://a.test/%C3%A9", "http://a.test/%C3%B6")
		pages = slices.DeleteFunc(pages, func(p crawl.Page) bool { return len(p.URL) != len("http://a.test/1") }) // in any order
		old, twice, again := pages[0], pages[1], pages[2]
		w.archive(old, "old")
		w.archive(twice, "twice")
		_, _, err := w.AddFeed(t.Context(), "http://a.test/feed", "")
		w.ok(err)
		modelstest.Exec(t, w.db, "INSERT INTO discovered_links (source_seq, url, url_hash, text, found_on, created_at) SELECT seq, '', ?, '', '', 1 FROM sources", []byte("x"))
		modelstest.MigrateBelow(t, w.db, upperEscapes)
		rename := func(table, from, to string) {
			sum := sha256.Sum256([]byte(to))
			if table == "crawled_pages" {
				modelstest.Exec(t, w.db, "UPDATE archived_pages SET url_hash = ? WHERE url_hash = (SELECT url_hash FROM crawled_pages WHERE url = ?)", sum[:16], from)
			}
			modelstest.Exec(t, w.db, "UPDATE "+table+" SET url = ?, url_hash = ? WHERE url = ?", to, sum[:16], from)
		}
		for _, table := range []string{"crawled_pages", "frontier"} {
			rename(table, old.URL, "http://a.test/%c3%a4")
			rename(table, twice.URL, "http://a.test/%c3%a9") // there is another row
		}
		rename("crawled_pages", again.URL, "http://a.test/%C3%a4") // equals old
		rename("feeds", "http://a.test/feed", "http://a.test/%c3")
		rename("discovered_links", "", "http://b.test/%c3")
		modelstest.Exec(t, w.db, "UPDATE frontier SET linked_as = 'http://a.test/%e3' WHERE url = 'http://a.test/%c3%a4'")
		modelstest.Exec(t, w.db, "UPDATE crawled_pages SET etag = 'x'")
		w.ok(w.db.Migrate(t.Context()))

		for table, want := range map[string]string{
			"crawled_pages": "[http://a.test/%C3%A4 http://a.test/%C3%A9 http://a.test/%C3%B6 http://a.test/%C3%a4 http://a.test/%c3%a9]",
			"frontier":      "[http://a.test/%C3%A4 http://a.test/%C3%A9 http://a.test/%C3%B6 http://a.test/%c3%a9]",
		} {
			var urls []string
			w.ok(w.db.Read(t.Context()).Raw("SELECT url FROM " + table + " WHERE url LIKE '%\\%%' ESCAPE '\\'").Scan(&urls).Error)
			slices.Sort(urls)
			if got := fmt.Sprint(urls); got != want {
				t.Errorf("%s: got %s\nwant %s", table, got, want)
			}
		}
		for table, where := range map[string]string{
			"crawled_pages": "url = 'http://a.test/%C3%A4'", "frontier": "url = 'http://a.test/%C3%A4' AND linked_as = 'http://a.test/%E3'",
			"feeds": "url = 'http://a.test/%C3'", "discovered_links": "url = 'http://b.test/%C3'",
		} {
			var url, sum = "", []byte(nil)
			w.ok(w.db.Read(t.Context()).Raw("SELECT url, url_hash FROM "+table+" WHERE "+where).Row().Scan(&url, &sum))
			if want := sha256.Sum256([]byte(url)); string(sum) != string(want[:16]) {
				t.Errorf("%s: got hash %x of %s", table, sum, url)
			}
		}
		p, ok, err := w.StoredPage(t.Context(), old.SourceSeq, "http://a.test/%C3%A4")
		if err != nil || !ok || p.Seq != old.Seq || p.ETag != "" || len(w.copies(p)) != 1 {
			t.Errorf("got %+v, %v, %v, copies %v", p, ok, err, w.copies(p))
		}
		p, ok, err = w.StoredPage(t.Context(), old.SourceSeq, "http://a.test/%c3%a9")
		if err != nil || !ok || p.Seq != twice.Seq || len(w.copies(p)) != 1 {
			t.Errorf("got %+v, %v, %v", p, ok, err)
		}
	})
}
