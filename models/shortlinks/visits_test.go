package shortlinks_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// The number of referrers of a link is limited, because visitors can send any host.
func TestReferrersAreLimited(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("many"))
		for round := range 3 {
			for i := range 120 {
				f.visitAs("many", fmt.Sprintf("https://h%d.example", round*100+i), laptop)
			}
			f.count()
		}
		f.visitAs("many", "https://h7.example", laptop) // it has a row already
		f.count()
		var rows, sum int64
		s, err := f.Stats(f.Context(), "many", 1)
		f.must(err)
		if s.Referrers[0].Host != shortlinks.OtherHosts {
			t.Errorf("got %+v", s.Referrers[0])
		}
		modelstest.Exec(t, f.db, "DELETE FROM short_link_referrers WHERE host = ?", shortlinks.OtherHosts)
		err = f.db.Read(f.Context()).Raw("SELECT count(*), sum(visits) FROM short_link_referrers").Row().Scan(&rows, &sum)
		f.must(err)
		if rows > shortlinks.MaxReferrers || rows < shortlinks.MaxReferrers-40 || sum+s.Referrers[0].Visits != 361 {
			t.Errorf("got %d rows with %d visits, %d of them of other hosts", rows, sum, s.Referrers[0].Visits)
		}
	})
}

// Each visit is counted once, by its claim or later, even if the visit limit is set or removed
// in between.
func TestVisitsAreCountedOnce(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("some"), limit(10))
		f.visitAs("some", "", crawler)
		f.visitAs("some", "", laptop)
		if l := f.get("some"); l.Visits != 2 {
			t.Errorf("got %d visits before they are stored", l.Visits)
		}
		f.count()
		if l := f.get("some"); l.Visits != 2 || l.Bots != 1 {
			t.Errorf("got %+v", l)
		}
		f.visit("some")
		f.must(f.edit("some", shortlinks.Edit{MaxVisits: new(int64(0))}))
		f.visit("some")
		f.count()
		if l := f.get("some"); l.Visits != 4 {
			t.Errorf("limit removed: got %+v", l)
		}
		f.visit("some")
		f.visit("some")
		f.must(f.edit("some", shortlinks.Edit{MaxVisits: new(int64(6))}))
		f.count()
		if l := f.get("some"); l.Visits != 6 || l.Status(f.Now()) != shortlinks.Expired || l.ExhaustedAt != f.Now() {
			t.Errorf("limit set: got %+v", l)
		}
		f.redirectsTo("some", "gone")
	})
}

// Visits of a link that the reaper has deleted since are skipped.
func TestVisitsOfAReapedLink(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("ends"), ttl(time.Minute))
		f.add(key("stay"))
		f.visitAs("ends", "https://a.example", laptop)
		f.visitAs("stay", "https://a.example", laptop)
		f.clock.Advance(2 * time.Hour)
		if n := f.reap(10); n != 1 {
			t.Fatal(n)
		}
		f.count()
		if l := f.get("stay"); l.Visits != 1 {
			t.Errorf("got %+v", l)
		}
	})
}

// Instances that concurrently write visits of the same links lose none and cause no
// deadlocks.
func TestVisitsOfManyInstances(t *testing.T) {
	each(t, func(f fixture) {
		for i := range 30 {
			f.add(key(fmt.Sprintf("key-%d", i)))
		}
		var wg sync.WaitGroup
		for range 4 {
			f := f.another()
			wg.Go(func() {
				for range 5 {
					for i := range 30 {
						f.visitAs(fmt.Sprintf("key-%d", i), "https://a.example", laptop)
					}
					f.count()
				}
			})
		}
		wg.Wait()
		for i := range 30 {
			if l := f.get(fmt.Sprintf("key-%d", i)); l.Visits != 20 {
				t.Errorf("%s: got %d visits", l.Key, l.Visits)
			}
		}
	})
}

// Three statements write any number of visits.
func TestVisitsAreWrittenInBatches(t *testing.T) {
	each(t, func(f fixture) {
		for i := range 100 {
			f.add(key(fmt.Sprintf("key-%d", i)))
			for j := range 3 {
				f.visitAs(fmt.Sprintf("key-%d", i), fmt.Sprintf("https://%d.example", j), laptop)
			}
		}
		stop := modelstest.Statements(t, f.db)
		f.count()
		var kinds []string
		for _, s := range stop() {
			if words := strings.Fields(s.SQL); words[0] != "SELECT" { // lock of PostgreSQL
				kinds = append(kinds, strings.Join(words[:3], " "))
			}
		}
		if fmt.Sprint(kinds) != "[UPDATE short_links SET INSERT INTO short_link_days INSERT INTO short_link_referrers]" {
			t.Errorf("got %q", kinds)
		}
	})
}
