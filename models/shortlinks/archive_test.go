package shortlinks_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// archived adds a short link with a visit, lets it expire and moves it to the archive.
func (f fixture) archived(k string, change ...func(*shortlinks.New)) {
	f.Helper()
	f.add(append([]func(*shortlinks.New){key(k), ttl(time.Minute)}, change...)...)
	f.visitAs(k, "https://a.example/post", laptop)
	f.count()
	f.clock.Advance(time.Hour + time.Minute)
	if n := f.reap(10); n != 1 {
		f.Fatalf("got %d archived", n)
	}
}

// stored returns the number of rows of short links, days and referrers in the live tables and in the archive.
func (f fixture) stored() (n [6]int) {
	f.Helper()
	f.must(f.db.Read(f.Context()).Raw(`SELECT (SELECT count(*) FROM short_links), (SELECT count(*) FROM short_link_days), (SELECT count(*) FROM short_link_referrers),
		(SELECT count(*) FROM archived_short_links), (SELECT count(*) FROM archived_short_link_days), (SELECT count(*) FROM archived_short_link_referrers)`).
		Row().Scan(&n[0], &n[1], &n[2], &n[3], &n[4], &n[5]))
	return n
}

func (f fixture) stats(key string) string {
	f.Helper()
	s, err := f.Stats(f.Context(), key, 30)
	f.must(err)
	return fmt.Sprintf("%+v", s)
}

// A short link that has expired keeps its page and its statistics, also in lists and searches. Its key stays taken, and visitors
// get 410 from any instance.
func TestArchiveKeepsStatistics(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("spring"), ttl(time.Minute), func(n *shortlinks.New) { n.Title = "Spring campaign" })
		f.visitAs("spring", "https://a.example/post", laptop)
		f.visitAs("spring", "", phone)
		f.count()
		cached, link, stats := f, f.get("spring"), f.stats("spring")
		f.clock.Advance(time.Hour + time.Minute)
		if n := f.reap(10); n != 1 || f.reap(10) != 0 {
			t.Errorf("got %d archived", n)
		}
		if got := f.stored(); got != [6]int{0, 0, 0, 1, 1, 1} {
			t.Errorf("got %v rows", got)
		}
		if got := f.get("spring"); got != link || got.Status(f.Now()) != shortlinks.Expired || got.EndedAt() != link.ExpiresAt {
			t.Errorf("got %+v, want %+v", got, link)
		}
		if got := f.stats("spring"); got != stats {
			t.Errorf("got %s, want %s", got, stats)
		}
		for _, filter := range []shortlinks.Filter{{}, {Status: shortlinks.Expired}, {Status: shortlinks.Expired, Newest: true}, {Text: "campaign"}, {Text: "campaign", Status: shortlinks.Expired}} {
			if got := fmt.Sprint(f.list(filter)); got != "[spring]" {
				t.Errorf("%+v: got %s", filter, got)
			}
		}
		if got := f.list(shortlinks.Filter{Status: shortlinks.Active}); len(got) != 0 {
			t.Errorf("active: got %v", got)
		}
		if found, err := f.Any(f.Context()); err != nil || !found {
			t.Errorf("any: got %v, %v", found, err)
		}
		if got := f.found("campaign", 5) + f.found("spr", 5) + f.found("example.com/pa", 5); got != "[spring][spring][spring]" {
			t.Errorf("search: got %s", got)
		}
		cached.redirectsTo("spring", "gone")
		f.another().redirectsTo("spring", "gone")
		_, err := f.another().Visit(f.Context(), "spring", shortlinks.Visitor{})
		if err == nil || !strings.Contains(err.Error(), "has expired") {
			t.Errorf("got %v", err)
		}
		_, _, err = f.Add(f.Context(), shortlinks.New{LongURL: "https://other.test", Key: "spring"})
		f.wantError(err, models.CodeConflict, "")
	})
}

// Only what is in the archive for longer than the retention period is deleted, with its statistics. Then the key is free.
func TestReapArchived(t *testing.T) {
	each(t, func(f fixture) {
		f.archived("spring")
		f.archived("summer")
		f.clock.Advance(f.opts.KeepExpired - 2*time.Hour - time.Minute - time.Microsecond)
		if n := f.reapArchived(10); n != 0 {
			t.Errorf("got %d deleted", n)
		}
		f.clock.Advance(time.Microsecond)
		if n := f.reapArchived(10); n != 1 || f.reapArchived(10) != 0 || f.keysIn("archived_short_links") != "summer" {
			t.Errorf("got %d deleted", n)
		}
		f.another().redirectsTo("spring", "unknown")
		f.add(key("spring"))
		f.clock.Advance(2 * time.Hour)
		if n := f.reapArchived(10); n != 1 || f.stored() != [6]int{1} {
			t.Errorf("got %d deleted, %v rows", n, f.stored())
		}
	})
}

// An edit that reactivates an archived short link moves it back with its statistics. Every instance redirects at once.
func TestEditReactivatesArchived(t *testing.T) {
	each(t, func(f fixture) {
		f.archived("spring")
		other, fresh := f.another(), f.another()
		f.must(other.cache.Poll(f.Context(), other.Store))
		other.redirectsTo("spring", "gone")
		stats, version := f.stats("spring"), f.get("spring").Version
		f.must(f.edit("spring", shortlinks.Edit{Title: new("Spring again")}))
		if got := f.stored(); got != [6]int{0, 0, 0, 1, 1, 1} || f.get("spring").Title != "Spring again" {
			t.Errorf("after a change of the title: got %v rows", got)
		}
		f.must(f.edit("spring", shortlinks.Edit{ExpiresAt: new(models.Time{})}))
		if got := f.stored(); got != [6]int{1, 1, 1} || f.stats("spring") != stats || f.get("spring").Version <= version {
			t.Errorf("got %v rows, %s", got, f.stats("spring"))
		}
		f.must(other.cache.Poll(f.Context(), other.Store))
		for _, in := range []fixture{f, other, fresh} {
			in.redirectsTo("spring", "https://example.com/page")
		}
		if got := fmt.Sprint(f.list(shortlinks.Filter{Status: shortlinks.Active})); got != "[spring]" {
			t.Errorf("got %s", got)
		}
		f.count()
		if got := f.get("spring").Visits; got != 2 {
			t.Errorf("got %d visits", got)
		}
	})
}

// A short link that has expired and has no visits left is active again only after both changes.
func TestEditReactivatesUsedUp(t *testing.T) {
	each(t, func(f fixture) {
		f.archived("first", limit(1))
		_, err := f.another().Visit(f.Context(), "first", shortlinks.Visitor{})
		f.wantError(err, models.CodeGone, "")
		f.must(f.edit("first", shortlinks.Edit{ExpiresAt: new(f.Now().Add(time.Hour))}))
		f.redirectsTo("first", "gone")
		if f.keysIn("archived_short_links") != "first" || f.get("first").EndedAt() != f.get("first").ExhaustedAt {
			t.Error("not in the archive since its limit was reached")
		}
		f.must(f.edit("first", shortlinks.Edit{MaxVisits: new(int64(2))}))
		f.another().redirectsTo("first", "https://example.com/page")
		f.redirectsTo("first", "gone")
		if f.keysIn("short_links") != "first" {
			t.Error("not in the live table")
		}
	})
}

// A deleted short link of the archive can be restored for a day. It is counted as archived, not as deleted live one.
func TestDeleteArchived(t *testing.T) {
	each(t, func(f fixture) {
		f.archived("spring")
		stats := f.stats("spring")
		f.must(f.Delete(f.Context(), "spring"))
		f.wantError(f.Delete(f.Context(), "spring"), models.CodeNotFound, "")
		_, err := f.Get(f.Context(), "spring")
		f.wantError(err, models.CodeNotFound, "")
		_, err = f.another().Visit(f.Context(), "spring", shortlinks.Visitor{})
		if err == nil || !strings.Contains(err.Error(), "was deleted") {
			t.Errorf("got %v", err)
		}
		_, _, err = f.Add(f.Context(), shortlinks.New{LongURL: "https://other.test", Key: "spring"})
		f.wantError(err, models.CodeConflict, "")
		if got := f.list(shortlinks.Filter{}); len(got) != 0 || f.found("spring", 5) != "[]" {
			t.Errorf("got %v", got)
		}
		_, err = f.Restore(f.Context(), "spring")
		f.must(err)
		if got := f.stats("spring"); got != stats || f.get("spring").Status(f.Now()) != shortlinks.Expired {
			t.Errorf("got %s", got)
		}
		f.must(f.Delete(f.Context(), "spring"))
		f.clock.Advance(shortlinks.KeepDeleted)
		if archived, deleted := f.reap(10), f.reapArchived(10); archived != 0 || deleted != 1 || f.stored() != [6]int{} {
			t.Errorf("got %d archived, %d deleted, %v rows", archived, deleted, f.stored())
		}
	})
}

// Lists continue across the live table and the archive, in each order.
func TestListWithArchive(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("some"))
		modelstest.Copies(f, f.db, "short_links", 2000, map[string]string{"short_key": "'a' || (1000000 + i)", "created_at": "created_at + i / 9"})
		modelstest.Exec(f, f.db, "UPDATE short_links SET disabled = TRUE WHERE seq % 5 = 0")
		modelstest.Exec(f, f.db, "UPDATE short_links SET expires_at = created_at WHERE seq % 3 = 0")
		f.clock.Advance(day)
		before := map[shortlinks.Filter][]string{}
		for _, status := range []shortlinks.Status{"", shortlinks.Active, shortlinks.Disabled, shortlinks.Expired} {
			for _, newest := range []bool{false, true} {
				for _, text := range []string{"", "page"} {
					filter := shortlinks.Filter{Status: status, Newest: newest, Text: text}
					before[filter] = f.all(filter, 2500)
				}
			}
		}
		f.reap(300)
		for filter, want := range before {
			if got := f.all(filter, 77); len(got) == 0 || !slices.Equal(got, want) {
				t.Errorf("%+v: got %d keys, want %d in the same order", filter, len(got), len(want))
			}
			page, err := f.List(f.Context(), filter, models.Cursor{Want: models.Want{Total: true}}, 5)
			if err != nil || page.Count != (models.Count{Known: true, N: len(want)}) {
				t.Errorf("%+v: count %+v of %d, %v", filter, page.Count, len(want), err)
			}
		}
		for _, status := range []shortlinks.Status{"", shortlinks.Disabled} {
			modelstest.ListedOnce(f, f.db, shortlinks.ListOrders, func(after models.Cursor, limit int) (models.Slice[shortlinks.ShortLink], error) {
				return f.List(f.Context(), shortlinks.Filter{Status: status}, after, limit)
			})
		}
	})
}

// all returns the keys of a list that is read in pages of this size.
func (f fixture) all(filter shortlinks.Filter, size int) (keys []string) {
	f.Helper()
	for after := (models.Cursor{}); ; {
		page, err := f.List(f.Context(), filter, after, size)
		f.must(err)
		for _, l := range page.Items {
			keys = append(keys, l.Key)
		}
		if after = page.Next; !page.More() {
			return keys
		}
	}
}

// Visits that are stored after the move count, too.
func TestLateVisitsOfArchived(t *testing.T) {
	each(t, func(f fixture) {
		f.opts.BufferTime = 0
		f = f.another()
		f.add(key("spring"), ttl(time.Minute))
		f.add(key("live"))
		f.visitAs("spring", "https://a.example/post", laptop)
		f.visitAs("live", "", laptop)
		f.clock.Advance(time.Minute)
		f.reap(10)
		f.count()
		if got := f.get("spring").Visits + f.get("live").Visits; got != 2 || f.stored() != [6]int{1, 1, 0, 1, 1, 1} {
			t.Errorf("got %d visits, %v rows", got, f.stored())
		}
	})
}

// A key is never in both tables, even if a short link is added while the reaper moves the one with its key.
func TestAddWhileArchived(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("spring"), ttl(time.Minute))
		f.clock.Advance(2 * time.Hour)
		var wg sync.WaitGroup
		var err error
		f.write(func(tx *gorm.DB) (int64, error) {
			n, reapErr := f.ReapExpired(tx, 10)
			wg.Go(func() { _, _, err = f.Add(f.Context(), shortlinks.New{LongURL: "https://other.test", Key: "spring"}) })
			return n, reapErr
		})
		wg.Wait()
		f.wantError(err, models.CodeConflict, "")
		if got := f.stored(); got != [6]int{0, 0, 0, 1} {
			t.Errorf("got %v rows", got)
		}
	})
}

// A batch of short links with many visits is smaller, so that its transaction is short.
func TestArchiveBatchesAreBounded(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(40, "expires_at = 1")
		modelstest.Exec(t, f.db, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
			INSERT INTO short_link_days (short_link_seq, bucket_start, bots, desktop, mobile, tablet, other)
			SELECT seq, i, 0, 1, 0, 0, 0 FROM short_links CROSS JOIN n`)
		for i, want := range []int64{25, 15, 0} {
			if n := f.reap(1000); n != want {
				t.Errorf("batch %d: got %d", i, n)
			}
		}
		if got := f.stored(); got != [6]int{0, 0, 0, 40, 16_000} {
			t.Errorf("got %v rows", got)
		}
	})
}

// The tables of the archive have the columns of the live ones, so that a move loses nothing.
func TestArchiveHasAllColumns(t *testing.T) {
	each(t, func(f fixture) {
		columns := func(table string) string {
			rows, err := f.db.Read(f.Context()).Raw("SELECT * FROM " + table).Rows()
			f.must(err)
			defer rows.Close()
			names, err := rows.Columns()
			f.must(err)
			f.must(rows.Err())
			names = slices.DeleteFunc(names, func(name string) bool { return name == "ended_at" }) // generated
			slices.Sort(names)
			return strings.Join(names, " ")
		}
		for _, table := range []string{"short_links", "short_link_days", "short_link_referrers"} {
			if got, want := columns("archived_"+table), columns(table); got != want || shortlinks.Columns(table) != want {
				t.Errorf("%s: the archive has %s, a move copies %s, want %s", table, got, shortlinks.Columns(table), want)
			}
		}
	})
}
