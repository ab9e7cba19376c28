package crawl_test

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

const archiveRetention = 30 * 24 * time.Hour

func bodyHash(s string) crawl.BodyHash { return sha256.Sum256([]byte(s)) }

// archive reserves and records a body of a page.
func (w *world) archive(p crawl.Page, body string) {
	w.Helper()
	_, err := w.ReserveBodies(w.Context(), bodyHash(body))
	w.ok(err)
	lost, err := w.RecordCopies(w.Context(), crawl.NewCopy{Source: p.SourceSeq, URL: p.URL, Hash: bodyHash(body), Bytes: len(body), At: w.Now(), Stored: true})
	w.ok(err)
	if len(lost) != 0 {
		w.Fatal("the body is lost")
	}
}

// crawledPages crawls a site of a start page and its links, and returns its pages.
func (w *world) crawledPages(url string, links ...string) []crawl.Page {
	w.Helper()
	w.job(url, 0)
	w.begin()
	w.crawlAll(func(u string) []string {
		if u == url {
			return links
		}
		return nil
	})
	list, err := w.Pages(w.Context(), crawl.PageFilter{}, models.Cursor{}, 50)
	w.ok(err)
	pages := make([]crawl.Page, len(list.Items))
	for i, p := range list.Items {
		pages[i] = p.Page
	}
	return pages
}

func (w *world) copies(p crawl.Page) []string {
	w.Helper()
	all, err := w.Copies(w.Context(), p, 10)
	w.ok(err)
	var hashes []string
	for _, c := range all {
		hashes = append(hashes, c.Hash.String()[:6])
	}
	return hashes
}

// reapArchive runs the reaper over archived copies until nothing is left, two at a time.
func (w *world) reapArchive() (n int64) {
	w.Helper()
	for {
		var batch int64
		w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) (err error) { batch, err = w.ReapArchive(tx, 2); return err }))
		if n += batch; batch == 0 {
			return n
		}
	}
}

func (w *world) toDelete() map[crawl.BodyHash]bool {
	w.Helper()
	hashes, err := w.BodiesToDelete(w.Context(), 100)
	w.ok(err)
	all := map[crawl.BodyHash]bool{}
	for _, h := range hashes {
		all[h] = true
	}
	return all
}

func short(s string) string { return bodyHash(s).String()[:6] }

func TestCopiesOfAPage(t *testing.T) {
	each(t, func(w *world) {
		pages := w.crawledPages("http://a.test/", "http://a.test/b")
		page, other := pages[0], pages[1]
		w.archive(page, "one")
		w.clock.Advance(time.Hour)
		w.archive(page, "two")
		w.archive(other, "one")
		if got := w.copies(page); len(got) != 2 || got[0] != short("two") || got[1] != short("one") {
			t.Errorf("the newest first: %v", got)
		}
		w.clock.Advance(time.Hour)
		w.archive(page, "one") // as it was before
		all, err := w.Copies(t.Context(), page, 1)
		w.ok(err)
		if len(all) != 1 || all[0].Hash != bodyHash("one") || all[0].Bytes != 3 || all[0].FetchedAt != w.Now() || all[0].CreatedAt != w.Now().Add(-2*time.Hour) {
			t.Errorf("a copy that was fetched again: %+v", all)
		}
		got, err := w.ArchivedCopy(t.Context(), page.ID(), bodyHash("one").String())
		w.ok(err)
		if got != all[0] {
			t.Errorf("by its hash: %+v", got)
		}
		archived, err := w.Archived(t.Context(), page, other, crawl.Page{Seq: 99, SourceSeq: 1, URL: "http://a.test/none"})
		w.ok(err)
		if len(archived) != 2 || !archived[page.Seq] || !archived[other.Seq] {
			t.Errorf("archived: %v", archived)
		}
		for _, c := range [][2]string{
			{other.ID(), bodyHash("two").String()}, {page.ID(), bodyHash("none").String()}, {page.ID(), "x"}, {page.ID(), "../../etc/passwd"},
			{"k_0", bodyHash("one").String()}, {models.NewID(models.KindCrawled), bodyHash("one").String()},
		} {
			if _, err := w.ArchivedCopy(t.Context(), c[0], c[1]); models.CodeOf(err) != models.CodeNotFound {
				t.Errorf("%v: %v", c, err)
			}
		}
		// A body that the archive does not have is not offered until it is stored again.
		w.ok(w.BodyLost(t.Context(), bodyHash("one")))
		if got := w.copies(page); len(got) != 1 || got[0] != short("two") {
			t.Errorf("a lost body: %v", got)
		}
		if _, err := w.ArchivedCopy(t.Context(), page.ID(), bodyHash("one").String()); models.CodeOf(err) != models.CodeNotFound {
			t.Errorf("a lost body: %v", err)
		}
		stored, err := w.ReserveBodies(t.Context(), bodyHash("one"), bodyHash("two"))
		w.ok(err)
		if there, ok := stored[bodyHash("one")]; !ok || there || !stored[bodyHash("two")] {
			t.Errorf("reserved: %v", stored)
		}
		w.archive(other, "one")
		if got := w.copies(page); len(got) != 2 {
			t.Errorf("stored again: %v", got)
		}
	})
}

// A body is deleted once no page names it, and only then.
func TestArchiveRetention(t *testing.T) {
	each(t, func(w *world) {
		pages := w.crawledPages("http://a.test/", "http://a.test/b")
		w.archive(pages[0], "old")
		w.archive(pages[1], "shared")
		w.clock.Advance(archiveRetention - time.Minute)
		w.archive(pages[0], "shared")
		if n := w.reapArchive(); n != 0 {
			t.Fatalf("%d copies were deleted early", n)
		}
		w.clock.Advance(2 * time.Minute)
		if n := w.reapArchive(); n != 2 {
			t.Errorf("%d copies were deleted", n)
		}
		if got := w.copies(pages[0]); len(got) != 1 || got[0] != short("shared") {
			t.Errorf("left: %v", got)
		}
		gone := w.toDelete()
		if len(gone) != 1 || !gone[bodyHash("old")] {
			t.Errorf("bodies to delete: %v", gone)
		}
		if again := w.toDelete(); len(again) != 0 {
			t.Errorf("another instance deletes them too: %v", again)
		}
		// While it is deleted, it can be neither stored nor named.
		stored, err := w.ReserveBodies(t.Context(), bodyHash("old"))
		w.ok(err)
		lost, err := w.RecordCopies(t.Context(), crawl.NewCopy{Source: pages[0].SourceSeq, URL: pages[0].URL, Hash: bodyHash("old"), At: w.Now(), Stored: true})
		w.ok(err)
		if len(stored) != 0 || len(lost) != 1 || len(w.copies(pages[0])) != 1 {
			t.Errorf("a body that is being deleted: %v %v", stored, lost)
		}
		// The one who deletes it dies: it is taken again.
		w.clock.Advance(6 * time.Minute)
		if again := w.toDelete(); len(again) != 1 {
			t.Errorf("taken again: %v", again)
		}
		w.ok(w.BodiesDeleted(t.Context(), bodyHash("old")))
		w.clock.Advance(time.Hour)
		if again := w.toDelete(); len(again) != 0 {
			t.Errorf("deleted already: %v", again)
		}
		w.archive(pages[0], "old")
	})
}

// A body whose copy was never recorded is deleted, as after a crash.
func TestBodiesWithoutACopy(t *testing.T) {
	each(t, func(w *world) {
		_, err := w.ReserveBodies(t.Context(), bodyHash("a"), bodyHash("a"), bodyHash("b"))
		w.ok(err)
		if got := w.toDelete(); len(got) != 0 {
			t.Errorf("deleted while it may be stored: %v", got)
		}
		w.clock.Advance(59 * time.Minute)
		_, err = w.ReserveBodies(t.Context(), bodyHash("b"))
		w.ok(err)
		w.clock.Advance(2 * time.Minute)
		if got := w.toDelete(); len(got) != 1 || !got[bodyHash("a")] {
			t.Errorf("to delete: %v", got)
		}
	})
}

// The copies of a page go with it.
func TestCopiesOfADeletedPage(t *testing.T) {
	each(t, func(w *world) {
		page := w.crawledPages("http://a.test/")[0]
		for _, body := range []string{"one", "two", "three"} {
			w.archive(page, body)
		}
		_, err := w.DeletePages(t.Context(), page.ID())
		w.ok(err)
		if _, err := w.ArchivedCopy(t.Context(), page.ID(), bodyHash("one").String()); models.CodeOf(err) != models.CodeNotFound {
			t.Errorf("of a deleted page: %v", err)
		}
		w.clock.Advance(2 * crawl.KeepDeleted)
		for range 10 {
			w.ok(w.db.Write(t.Context(), func(tx *gorm.DB) error { _, err := w.ReapPages(tx, 2); return err }))
		}
		if got := w.toDelete(); len(got) != 3 {
			t.Errorf("%d bodies are to be deleted", len(got))
		}
	})
}

func TestParseBodyHash(t *testing.T) {
	h := bodyHash("x")
	if got, ok := crawl.ParseBodyHash(h.String()); !ok || got != h {
		t.Error("a hash is not read")
	}
	for _, s := range []string{"", "..", h.String()[:63], h.String() + "0", "A" + h.String()[1:], "g" + h.String()[1:]} {
		if _, ok := crawl.ParseBodyHash(s); ok && s != h.String() {
			t.Errorf("%q is taken", s)
		}
	}
}

// A page keeps its newest copies. A body that was found lost is not taken for stored
// because an instance remembers that it was.
func TestCopiesAreBoundedAndReal(t *testing.T) {
	each(t, func(w *world) {
		page := w.crawledPages("http://a.test/")[0]
		for i := range crawl.KeepCopies + 2 {
			w.archive(page, fmt.Sprint("body ", i))
			w.clock.Advance(time.Minute)
		}
		all, err := w.Copies(t.Context(), page, 100)
		w.ok(err)
		if len(all) != crawl.KeepCopies || all[0].Hash != bodyHash(fmt.Sprint("body ", crawl.KeepCopies+1)) {
			t.Errorf("%d copies, the newest is %s", len(all), all[0].Hash)
		}
		if gone := w.toDelete(); len(gone) != 2 || !gone[bodyHash("body 0")] || !gone[bodyHash("body 1")] {
			t.Errorf("%d bodies are to be deleted", len(gone))
		}
		last := all[0].Hash
		w.ok(w.BodyLost(t.Context(), last))
		lost, err := w.RecordCopies(t.Context(), crawl.NewCopy{Source: page.SourceSeq, URL: page.URL, Hash: last, At: w.Now()})
		w.ok(err)
		if len(lost) != 1 {
			t.Errorf("%d bodies are lost", len(lost))
		}
		all, err = w.Copies(t.Context(), page, 100)
		w.ok(err)
		if len(all) != crawl.KeepCopies-1 {
			t.Errorf("%d copies are listed", len(all))
		}
	})
}
