package shortlinks_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
)

// keysIn returns the keys in a table: "one two".
func (f fixture) keysIn(table string) string {
	f.Helper()
	var keys []string
	f.must(f.db.Read(f.Context()).Raw("SELECT short_key FROM " + table + " ORDER BY short_key").Scan(&keys).Error)
	return strings.Join(keys, " ")
}

func (f fixture) backlog() int {
	f.Helper()
	n, err := f.Waiting(f.Context(), 1000)
	f.must(err)
	return n
}

// Expired links stay in the live tables for the buffer time, then move to the archive with their visits. Deleted links are
// deleted after a day.
func TestReap(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("ends"), ttl(time.Minute))
		f.add(key("used"), limit(1))
		f.add(key("drop"))
		f.add(key("live"))
		f.add(key("off1"))
		f.must(f.edit("off1", shortlinks.Edit{Disabled: new(true)}))
		f.visitAs("ends", "https://a.example", laptop)
		f.visit("used")
		f.count()
		f.must(f.Delete(f.Context(), "drop"))
		f.clock.Advance(time.Hour + time.Minute - time.Microsecond)
		if n := f.reap(10); n != 1 { // limit reached an hour ago
			t.Errorf("got %d deleted", n)
		}
		if n := f.backlog(); n != 0 {
			t.Errorf("got a backlog of %d", n)
		}
		f.clock.Advance(time.Microsecond)
		if n := f.backlog(); n != 1 {
			t.Errorf("got a backlog of %d", n)
		}
		if n := f.reap(10); n != 1 {
			t.Errorf("got %d deleted", n)
		}
		f.clock.Advance(day)
		if n := f.reap(10); n != 1 || f.reap(10) != 0 {
			t.Errorf("got %d deleted", n)
		}
		if got := f.keysIn("short_links") + "; " + f.keysIn("archived_short_links"); got != "live off1; ends used" {
			t.Errorf("got %s left", got)
		}
		for _, archived := range []string{"", "archived_"} {
			for _, table := range []string{archived + "short_link_days", archived + "short_link_referrers"} {
				var n int
				f.must(f.db.Read(f.Context()).Raw("SELECT count(*) FROM " + table + " WHERE short_link_seq NOT IN (SELECT seq FROM " + archived + "short_links)").Scan(&n).Error)
				if n != 0 {
					t.Errorf("got %d rows without a link in %s", n, table)
				}
			}
		}
		f.redirectsTo("live", "https://example.com/page")
		f.another().redirectsTo("ends", "gone")
		f.another().redirectsTo("drop", "unknown")
	})
}

// A deleted link can be restored for a day, even if it has expired before or since.
func TestReapKeepsLinksThatCanBeRestored(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("ends"), ttl(time.Minute))
		f.add(key("used"), limit(1))
		f.visit("used")
		for _, k := range []string{"ends", "used"} {
			f.must(f.Delete(f.Context(), k))
		}
		f.clock.Advance(shortlinks.KeepDeleted - time.Second)
		if n := f.reap(10); n != 0 || f.backlog() != 0 {
			t.Errorf("got %d deleted, a backlog of %d", n, f.backlog())
		}
		for _, k := range []string{"ends", "used"} {
			_, err := f.Restore(f.Context(), k)
			f.must(err)
		}
		if n := f.reap(10); n != 2 {
			t.Errorf("got %d of 2 deleted", n)
		}
	})
}

func TestReapIsLimitedToABatch(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(25, "expires_at = 1")
		f.add(key("used"), limit(1), ttl(time.Minute))
		f.visit("used")
		f.clock.Advance(2 * time.Hour)
		if n := f.backlog(); n != 26 { // no link is counted twice
			t.Errorf("got a backlog of %d", n)
		}
		if n, err := f.Waiting(f.Context(), 20); err != nil || n != 20 {
			t.Errorf("got a backlog of %d, %v", n, err)
		}
		for i, want := range []int64{10, 10, 6, 0} {
			if n := f.reap(10); n != want {
				t.Errorf("batch %d: got %d", i, n)
			}
		}
	})
}

// Concurrent instances delete different links, each once.
func TestReapOfManyInstances(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(300, "expires_at = 1")
		f.clock.Advance(2 * time.Hour)
		var total atomic.Int64
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					n := f.reap(20)
					if total.Add(n); n == 0 {
						return
					}
				}
			})
		}
		wg.Wait()
		if total.Load() != 300 || f.backlog() != 0 {
			t.Errorf("got %d deleted, a backlog of %d", total.Load(), f.backlog())
		}
	})
}

// Instances whose runs overlap do not wait for rows that another one deletes. On SQLite,
// transactions run one after the other.
func TestReapDaysOfTwoInstances(t *testing.T) {
	each(t, func(f fixture) {
		if f.db.Engine != models.Postgres {
			return
		}
		f.add(key("long"))
		for range 3 {
			f.visitAs("long", "", laptop)
			f.count()
			f.clock.Advance(day)
		}
		f.clock.Advance((shortlinks.KeepDays + 1) * day)
		days := func(limit int) func(tx *gorm.DB) (int64, error) {
			return func(tx *gorm.DB) (int64, error) { return f.ReapDays(tx, limit) }
		}
		f.write(func(tx *gorm.DB) (int64, error) {
			mine, err := f.ReapDays(tx, 1)
			if others := f.write(days(10)); mine != 1 || others != 2 {
				t.Errorf("got %d and %d days", mine, others)
			}
			return mine, err
		})
	})
}

func TestReapDays(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("long"))
		f.visitAs("long", "", laptop)
		f.count()
		f.clock.Advance((shortlinks.KeepDays + 1) * day)
		f.visitAs("long", "", laptop)
		f.count()
		if n := f.write(func(tx *gorm.DB) (int64, error) { return f.ReapDays(tx, 10) }); n != 1 {
			t.Errorf("got %d days", n)
		}
		if l := f.get("long"); l.Visits != 2 {
			t.Errorf("got a sum of %d visits, want that of the remaining days", l.Visits)
		}
	})
}
