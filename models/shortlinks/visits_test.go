package shortlinks_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/models"
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
		f.visitAs("some", "", phone)
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

// HEAD requests, prefetches, link previews and bots are no visits. They use up no visit limit, and do not learn the
// destination of a short link that has one.
func TestRequestsThatAreNoVisits(t *testing.T) {
	each(t, func(f fixture) {
		const referrer = "https://a.example"
		kinds := []shortlinks.Visitor{
			{UserAgent: crawler, Referrer: referrer}, {UserAgent: crawler, Ahead: true},
			{UserAgent: chat, Referrer: referrer}, {UserAgent: chat + strings.Repeat(" ", 1000)},
			{UserAgent: laptop, Referrer: referrer, Ahead: true}, {Ahead: true},
		}
		f.add(key("once"), limit(1))
		f.add(key("free"))
		ask := func(f fixture, key string, want string) {
			t.Helper()
			for _, v := range kinds {
				if to, err := f.Visit(f.Context(), key, v); to != want || err != nil {
					t.Errorf("%s, %+v: got %q, %v, want %q", key, v, to, err, want)
				}
			}
		}
		other := f.another() // its cache is empty
		for _, instance := range []fixture{f, other} {
			ask(instance, "once", "")
			ask(instance, "free", "https://example.com/page")
			instance.count()
		}
		for _, key := range []string{"once", "free"} {
			l := f.get(key)
			if l.Visits != 0 || l.Bots != 4 || l.Previews != 8 || !l.LastVisitedAt.IsZero() || !l.ExhaustedAt.IsZero() {
				t.Errorf("%s: got %+v", key, l)
			}
			s, err := f.Stats(f.Context(), key, 1)
			f.must(err)
			if want := (shortlinks.Day{Start: f.Now().StartOfDay(), Bots: 4, Previews: 8}); s.Days[0] != want || len(s.Referrers) != 0 {
				t.Errorf("%s: got %+v, want %+v", key, s, want)
			}
		}

		f.redirectsTo("once", "https://example.com/page")
		f.redirectsTo("once", "gone")
		for _, instance := range []fixture{f, other} { // its cache does not know that this was the last visit
			for _, v := range kinds {
				_, err := instance.Visit(f.Context(), "once", v)
				f.wantError(err, models.CodeGone, "")
			}
		}
		f.count()
		if l := f.get("once"); l.Visits != 1 || l.Bots != 4 || l.Previews != 8 {
			t.Errorf("got %+v", l)
		}
		// A limit that was set since the link was cached holds, too.
		f.must(f.edit("free", shortlinks.Edit{MaxVisits: new(int64(1))}))
		ask(f, "free", "")
		f.must(f.edit("free", shortlinks.Edit{MaxVisits: new(int64(0))}))
		ask(f, "free", "https://example.com/page")
	})
}

// A client without a known User-Agent visits, as a person does: it may be a tool.
func TestToolsVisit(t *testing.T) {
	each(t, func(f fixture) {
		tools := []string{"", "-", "curl/8.5.0", "Wget/1.21.4", "Go-http-client/1.1", "python-requests/2.32.3", "SomeApp/1.0"}
		f.add(key("some"), limit(int64(len(tools))))
		for _, tool := range tools {
			if to, err := f.Visit(f.Context(), "some", shortlinks.Visitor{UserAgent: tool}); to == "" || err != nil {
				t.Errorf("%s: got %q, %v", tool, to, err)
			}
		}
		f.redirectsTo("some", "gone")
		f.count()
		if l := f.get("some"); l.Visits != int64(len(tools)) || l.Bots != 0 || l.Previews != 0 {
			t.Errorf("got %+v", l)
		}
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
		if fmt.Sprint(kinds) != "[UPDATE short_links AS INSERT INTO short_link_days INSERT INTO short_link_referrers]" {
			t.Errorf("got %q", kinds)
		}
	})
}
