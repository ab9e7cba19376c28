package crawl_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

const archiveRetention = 30 * 24 * time.Hour

func bodyHash(s string) crawl.BodyHash { return sha256.Sum256([]byte(s)) }

// bodyBytes is the size of each body in a pack.
const bodyBytes = 100

func (w *world) pack(bodies ...string) crawl.StoredPack {
	w.Helper()
	w.packs++
	seq, err := w.ReservePack(w.Context(), fmt.Sprint("key ", w.packs), bodyBytes*len(bodies))
	w.ok(err)
	p := crawl.StoredPack{Seq: seq}
	for i, b := range bodies {
		p.Bodies = append(p.Bodies, crawl.PackedBody{Hash: bodyHash(b), Start: int64(bodyBytes * i), Length: bodyBytes})
	}
	return p
}

// newCopy returns a copy of a page that is fetched now.
func (w *world) newCopy(p crawl.Page, body string) crawl.NewCopy {
	return crawl.NewCopy{Source: p.SourceSeq, URL: p.URL, Hash: bodyHash(body), Bytes: len(body), At: w.Now()}
}

// archive stores a copy of a page, in a new pack unless the archive has its body.
func (w *world) archive(p crawl.Page, body string) {
	w.Helper()
	w.archiveAll(p, body)
}

func (w *world) archiveAll(p crawl.Page, bodies ...string) (pack crawl.StoredPack) {
	w.Helper()
	var copies []crawl.NewCopy
	for _, b := range bodies {
		copies = append(copies, w.newCopy(p, b))
	}
	pack = w.pack(bodies...)
	lost, err := w.RecordCopies(w.Context(), pack, copies...)
	w.ok(err)
	if len(lost) != 0 {
		w.Fatal("the body is lost")
	}
	return pack
}

// crawledPages crawls a start page and its links, and returns the pages.
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

// reapArchive reaps archived copies in batches of two until none is left to delete.
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

// due claims the due packs: those to delete and those to move.
func (w *world) due() (deleting, moving []int64) {
	w.Helper()
	packs, err := w.ClaimPacks(w.Context(), 100)
	w.ok(err)
	for _, p := range packs {
		if p.Deleting {
			deleting = append(deleting, p.Seq)
		} else {
			moving = append(moving, p.Seq)
		}
	}
	slices.Sort(deleting)
	return deleting, moving
}

func (w *world) has(body string) bool {
	w.Helper()
	has, err := w.HaveBodies(w.Context(), bodyHash(body))
	w.ok(err)
	return has[bodyHash(body)]
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
			t.Errorf("got %v, want the newest first", got)
		}
		w.clock.Advance(time.Hour)
		w.archive(page, "one") // as it was before
		all, err := w.Copies(t.Context(), page, 1)
		w.ok(err)
		if len(all) != 1 || all[0].Hash != bodyHash("one") || all[0].Bytes != 3 || all[0].FetchedAt != w.Now() || all[0].CreatedAt != w.Now().Add(-2*time.Hour) {
			t.Errorf("unchanged copy: got %+v", all)
		}
		got, err := w.ArchivedCopy(t.Context(), page.ID(), bodyHash("one").String())
		w.ok(err)
		if got != all[0] {
			t.Errorf("by hash: got %+v", got)
		}
		archived, err := w.HaveCopies(t.Context(), page, other, crawl.Page{Seq: 99, SourceSeq: 1, URL: "http://a.test/none"})
		w.ok(err)
		if len(archived) != 2 || !archived[page.Seq] || !archived[other.Seq] {
			t.Errorf("got archived %v", archived)
		}
		for _, c := range [][2]string{
			{other.ID(), bodyHash("two").String()}, {page.ID(), bodyHash("none").String()}, {page.ID(), "x"}, {page.ID(), "../../etc/passwd"},
			{"k_0", bodyHash("one").String()}, {models.NewID(models.KindCrawled), bodyHash("one").String()},
		} {
			if _, err := w.ArchivedCopy(t.Context(), c[0], c[1]); models.CodeOf(err) != models.CodeNotFound {
				t.Errorf("%v: got %v", c, err)
			}
		}
		// A lost body is not listed until it is stored again.
		w.ok(w.MarkBodiesLost(t.Context(), all[0].Location.Key, bodyHash("one")))
		if got := w.copies(page); len(got) != 1 || got[0] != short("two") {
			t.Errorf("lost body: got %v", got)
		}
		if _, err := w.ArchivedCopy(t.Context(), page.ID(), bodyHash("one").String()); models.CodeOf(err) != models.CodeNotFound {
			t.Errorf("lost body: got %v", err)
		}
		if w.has("one") || !w.has("two") {
			t.Error("a lost body exists")
		}
		w.archive(other, "one")
		if got := w.copies(page); len(got) != 2 || !w.has("one") {
			t.Errorf("stored again: got %v", got)
		}
		// A result about the old location does not affect the new location.
		w.ok(w.MarkBodiesLost(t.Context(), all[0].Location.Key, bodyHash("one")))
		w.ok(w.MarkBodiesLost(t.Context(), "no such key", bodyHash("one")))
		if !w.has("one") {
			t.Error("the body is lost again")
		}
	})
}

// TestArchiveRetention checks that a body is deleted with its last copy, and a pack with its last body.
func TestArchiveRetention(t *testing.T) {
	each(t, func(w *world) {
		pages := w.crawledPages("http://a.test/", "http://a.test/b")
		pack := w.archiveAll(pages[0], "old", "older")
		w.archive(pages[1], "shared")
		w.clock.Advance(archiveRetention - time.Minute)
		w.archive(pages[0], "shared") // all its bodies are also in other packs
		if n := w.reapArchive(); n != 0 {
			t.Fatalf("got %d early deletions", n)
		}
		w.clock.Advance(2 * time.Minute)
		if n := w.reapArchive(); n != 3 {
			t.Errorf("got %d deleted copies", n)
		}
		if got := w.copies(pages[0]); len(got) != 1 || got[0] != short("shared") {
			t.Errorf("got copies %v", got)
		}
		if deleting, moving := w.due(); len(deleting) != 0 || len(moving) != 0 {
			t.Errorf("got due packs %v and %v, but a reader may still read them", deleting, moving)
		}
		w.clock.Advance(6 * time.Minute)
		deleting, moving := w.due()
		if len(deleting) != 1 || deleting[0] != pack.Seq || len(moving) != 0 {
			t.Errorf("got packs to delete %v, to move %v", deleting, moving)
		}
		if again, _ := w.due(); len(again) != 0 {
			t.Errorf("another instance: got %v", again)
		}
		// While it is being deleted, no body can be added to it.
		lost, err := w.RecordCopies(t.Context(), pack, w.newCopy(pages[0], "old"))
		w.ok(err)
		if len(lost) != 1 || len(w.copies(pages[0])) != 1 || w.has("old") {
			t.Errorf("pack that is being deleted: got %v", lost)
		}
		// If the instance that deletes it dies, another claims it again.
		w.clock.Advance(6 * time.Minute)
		if again, _ := w.due(); len(again) != 1 {
			t.Errorf("claimed again: got %v", again)
		}
		w.ok(w.DeletePacks(t.Context(), pack.Seq))
		w.clock.Advance(10 * time.Minute)
		if again, _ := w.due(); len(again) != 0 {
			t.Errorf("already deleted: got %v", again)
		}
		w.archive(pages[0], "old")
		w.clock.Advance(time.Hour)
		if deleting, _ := w.due(); len(deleting) != 1 {
			t.Errorf("pack whose body is in another pack: got %v", deleting)
		}
	})
}

// TestReservedPacksAreDeleted checks that a pack whose bodies were never recorded is deleted, as after a crash.
func TestReservedPacksAreDeleted(t *testing.T) {
	each(t, func(w *world) {
		pack := w.pack("a")
		w.clock.Advance(59 * time.Minute)
		if got, _ := w.due(); len(got) != 0 {
			t.Errorf("got %v, but the pack may still be stored", got)
		}
		w.clock.Advance(2 * time.Minute)
		if got, _ := w.due(); len(got) != 1 || got[0] != pack.Seq {
			t.Errorf("got packs to delete %v", got)
		}
	})
}

// TestMoveBodies checks that a pack of which less than half is used is due, and is empty after its bodies have moved.
func TestMoveBodies(t *testing.T) {
	each(t, func(w *world) {
		page := w.crawledPages("http://a.test/")[0]
		pack := w.archiveAll(page, "one", "two", "three", "four")
		drop := func(body string) {
			h := bodyHash(body)
			modelstest.Exec(t, w.db, "UPDATE archived_pages SET fetched_at = 1 WHERE hash = ?", h[:])
			w.reapArchive()
			w.clock.Advance(10 * time.Minute)
		}
		drop("one")
		drop("two")
		if deleting, moving := w.due(); len(deleting) != 0 || len(moving) != 0 {
			t.Errorf("half used: got %v, %v", deleting, moving)
		}
		drop("three")
		if deleting, moving := w.due(); len(deleting) != 0 || len(moving) != 1 || moving[0] != pack.Seq {
			t.Errorf("a quarter used: got %v, %v", deleting, moving)
		}
		bodies, err := w.PackBodies(t.Context(), pack.Seq)
		w.ok(err)
		if len(bodies) != 1 || bodies[0] != pack.Bodies[3] {
			t.Fatalf("got bodies %v", bodies)
		}
		// A slower instance that moves the same bodies changes nothing.
		to, late := w.pack("four"), w.pack("four")
		w.ok(w.MoveBodies(t.Context(), to, pack.Seq))
		w.ok(w.MoveBodies(t.Context(), late, pack.Seq))
		all, err := w.Copies(t.Context(), page, 10)
		w.ok(err)
		if len(all) != 1 || all[0].Location != (crawl.BodyLocation{Key: "key 2", Length: bodyBytes}) {
			t.Errorf("got %+v", all)
		}
		w.clock.Advance(6 * time.Minute)
		if deleting, moving := w.due(); len(deleting) != 1 || deleting[0] != pack.Seq || len(moving) != 0 {
			t.Errorf("empty pack: got %v, %v", deleting, moving)
		}
		w.clock.Advance(time.Hour)
		if deleting, moving := w.due(); len(deleting) != 2 || len(moving) != 0 {
			t.Errorf("got %v, %v, want nothing due", deleting, moving)
		}
	})
}

// TestMoveBodiesTooLate checks that bodies do not move to a pack that was reserved too long ago and is being deleted.
func TestMoveBodiesTooLate(t *testing.T) {
	each(t, func(w *world) {
		page := w.crawledPages("http://a.test/")[0]
		from := w.archiveAll(page, "one")
		to := w.pack("one")
		w.clock.Advance(2 * time.Hour)
		if deleting, _ := w.due(); !slices.Equal(deleting, []int64{to.Seq}) {
			t.Fatalf("got packs to delete %v", deleting)
		}
		w.ok(w.MoveBodies(t.Context(), to, from.Seq))
		bodies, err := w.PackBodies(t.Context(), from.Seq)
		w.ok(err)
		if len(bodies) != 1 {
			t.Error("the body was moved to a pack that is being deleted")
		}
	})
}

// TestCopiesOfADeletedPage checks that the copies of a page are deleted with it.
func TestCopiesOfADeletedPage(t *testing.T) {
	each(t, func(w *world) {
		page := w.crawledPages("http://a.test/")[0]
		for _, body := range []string{"one", "two", "three"} {
			w.archive(page, body)
		}
		_, err := w.DeletePages(t.Context(), page.ID())
		w.ok(err)
		if _, err := w.ArchivedCopy(t.Context(), page.ID(), bodyHash("one").String()); models.CodeOf(err) != models.CodeNotFound {
			t.Errorf("deleted page: got %v", err)
		}
		w.clock.Advance(2 * crawl.KeepDeleted)
		for range 10 {
			w.ok(w.db.Write(t.Context(), func(tx *gorm.DB) error { _, err := w.ReapPages(tx, 2); return err }))
		}
		w.clock.Advance(6 * time.Minute)
		if got, _ := w.due(); len(got) != 3 || w.has("one") {
			t.Errorf("got %d packs to delete", len(got))
		}
	})
}

func TestParseBodyHash(t *testing.T) {
	h := bodyHash("x")
	if got, ok := crawl.ParseBodyHash(h.String()); !ok || got != h {
		t.Error("got no hash")
	}
	for _, s := range []string{"", "..", h.String()[:63], h.String() + "0", "A" + h.String()[1:], "g" + h.String()[1:]} {
		if _, ok := crawl.ParseBodyHash(s); ok && s != h.String() {
			t.Errorf("%q is accepted", s)
		}
	}
}

// TestCopiesAreLimited checks that a page keeps only its newest copies, and that a lost body does not count as stored
// because an instance has it cached.
func TestCopiesAreLimited(t *testing.T) {
	each(t, func(w *world) {
		page := w.crawledPages("http://a.test/")[0]
		for i := range crawl.KeepCopies + 2 {
			w.archive(page, fmt.Sprint("body ", i))
			w.clock.Advance(time.Minute)
		}
		all, err := w.Copies(t.Context(), page, 100)
		w.ok(err)
		if len(all) != crawl.KeepCopies || all[0].Hash != bodyHash(fmt.Sprint("body ", crawl.KeepCopies+1)) {
			t.Errorf("got %d copies, the newest is %s", len(all), all[0].Hash)
		}
		if w.has("body 0") || w.has("body 1") || !w.has("body 2") {
			t.Error("other bodies than the first two are deleted")
		}
		last := all[0].Hash
		w.ok(w.MarkBodiesLost(t.Context(), all[0].Location.Key, last))
		lost, err := w.RecordCopies(t.Context(), crawl.StoredPack{}, crawl.NewCopy{Source: page.SourceSeq, URL: page.URL, Hash: last, At: w.Now()})
		w.ok(err)
		if len(lost) != 1 {
			t.Errorf("got %d lost bodies", len(lost))
		}
		all, err = w.Copies(t.Context(), page, 100)
		w.ok(err)
		if len(all) != crawl.KeepCopies-1 {
			t.Errorf("got %d listed copies", len(all))
		}
		w.archiveAll(page, "a", "b", "c") // several at once
		if n := w.n("SELECT count(*) FROM archived_pages"); n != crawl.KeepCopies {
			t.Errorf("got %d copies", n)
		}
	})
}
