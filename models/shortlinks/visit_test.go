package shortlinks_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
)

// Seed 004, "No expired URL is ever redirected": from the instant of its end,
// although the cache holds it, and on an instance that never saw it before.
func TestExpiredFromTheInstant(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("ends"), ttl(time.Minute))
		f.leads("ends", "https://example.com/page")
		f.clock.Advance(time.Minute - time.Microsecond)
		f.leads("ends", "https://example.com/page")
		f.clock.Advance(time.Microsecond)
		f.leads("ends", "gone")
		f.another().leads("ends", "gone")
		if l := f.get("ends"); l.Status(f.Now()) != shortlinks.Expired {
			t.Errorf("%+v", l)
		}
	})
}

// Seed 004, "Read Path is Sacred" and "Cache Defense": what a visit sends to
// the database is watched. It never deletes; a miss is one SELECT; a hit, live
// or ended, is nothing.
func TestNoSynchronousDeletes(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("ends"), ttl(time.Minute))
		f.add(key("live"))
		f = f.another() // whose cache knows nothing
		sent := func(key, leads string) (statements []string) {
			stop := modelstest.Statements(t, f.db)
			f.leads(key, leads)
			for _, s := range stop() {
				statements = append(statements, s.SQL)
			}
			return statements
		}
		one := func(key, leads string) {
			if got := sent(key, leads); len(got) != 1 || !strings.HasPrefix(got[0], "SELECT ") {
				t.Errorf("%s is asked of the database by %q", key, got)
			}
		}
		none := func(key, leads string) {
			if got := sent(key, leads); len(got) != 0 {
				t.Errorf("%s sends %q", key, got)
			}
		}
		one("live", "https://example.com/page")
		none("live", "https://example.com/page")
		one("ends", "https://example.com/page")
		f.clock.Advance(time.Minute)
		f.cache.Looked(f.clock.Now())
		none("ends", "gone") // the entry has ended: it leaves a tombstone
		none("ends", "gone")
		one("nobody", "unknown")
		none("nobody", "unknown")
		none("a", "unknown") // no key
		f = f.another()
		one("ends", "gone")
		none("ends", "gone")
		if l := f.get("ends"); l.Key != "ends" {
			t.Error("the row is gone")
		}
	})
}

// A burst on a key that no cache knows is one query.
func TestColdHotKey(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("burst"))
		f = f.another()
		n := modelstest.Queries(t, f.db)
		var ready, done sync.WaitGroup
		start := make(chan struct{})
		ready.Add(200)
		for range 200 {
			done.Go(func() {
				ready.Done()
				<-start
				f.leads("burst", "https://example.com/page")
			})
		}
		ready.Wait()
		close(start)
		done.Wait()
		if n.Load() != 1 {
			t.Errorf("%d queries", n.Load())
		}
	})
}

// held is a cache whose visits wait once they have found nothing in it.
type held struct {
	*cache.Memory
	missed, on chan struct{}
}

func (c held) Get(ctx context.Context, key string, now time.Time) (shortlinks.Entry, bool) {
	e, ok := c.Memory.Get(ctx, key, now)
	if !ok {
		c.missed <- struct{}{}
		<-c.on
	}
	return e, ok
}

// So is one whose visits come to the database one after the other, although
// all of them looked into the cache before.
func TestColdHotKeyOfSlowVisits(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("burst"))
		f = f.another()
		c := held{f.cache, make(chan struct{}), make(chan struct{})}
		f.Store = shortlinks.NewStore(f.db, f.clock.Now, c, f.counter, f.opts)
		n := modelstest.Queries(t, f.db)
		for _, k := range []string{"burst", "unknown"} {
			done := make(chan struct{})
			for range 3 {
				go func() {
					_, _ = f.Visit(f.Context(), k, shortlinks.Visitor{})
					done <- struct{}{}
				}()
			}
			for range 3 {
				<-c.missed
			}
			before := n.Load()
			for range 3 {
				c.on <- struct{}{}
				<-done
			}
			if n.Load()-before != 1 {
				t.Errorf("%s: %d queries", k, n.Load()-before)
			}
		}
		f.Store = shortlinks.NewStore(f.db, f.clock.Now, f.cache, f.counter, f.opts)
		f.leads("burst", "https://example.com/page")
		f.leads("unknown", "unknown")
	})
}

// The number of visits is exact, however many come at once to however many instances.
func TestMaxVisitsIsExact(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("some"), limit(7))
		instances := []fixture{f, f.another(), f.another()}
		var led, refused atomic.Int64
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() {
				switch instances[i%3].visit("some") {
				case "https://example.com/page":
					led.Add(1)
				case "gone":
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		l := f.get("some")
		if led.Load() != 7 || refused.Load() != 53 || l.Visits != 7 || l.Status(f.Now()) != shortlinks.Expired || l.ExhaustedAt != f.Now() {
			t.Errorf("%d led on, %d refused: %+v", led.Load(), refused.Load(), l)
		}
		// Two more are two more, seen by those who knew that there are none left.
		_, err := f.Edit(f.Context(), "some", shortlinks.Edit{MaxVisits: ptr(int64(9))})
		f.must(err)
		if l := f.get("some"); !l.ExhaustedAt.IsZero() {
			t.Errorf("%+v", l)
		}
		for i, want := range []string{"https://example.com/page", "https://example.com/page", "gone"} {
			if got := f.visit("some"); got != want {
				t.Errorf("visit %d leads to %s", i, got)
			}
		}
	})
}

// A claim goes by what the link is now, not by what a cache holds of it.
func TestClaimOfAChangedLink(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("moves"), limit(5))
		for _, c := range []struct {
			e    shortlinks.Edit
			want string
		}{
			{shortlinks.Edit{LongURL: ptr("https://new.test")}, "https://new.test"},
			{shortlinks.Edit{Disabled: ptr(true)}, "gone"},
			{shortlinks.Edit{MaxVisits: ptr(int64(0))}, "https://example.com/page"},
		} {
			f.must(f.edit("moves", shortlinks.Edit{Disabled: ptr(false), LongURL: ptr("https://example.com/page"), MaxVisits: ptr(int64(100))}))
			stale := f.another()
			stale.leads("moves", "https://example.com/page")
			f.must(f.edit("moves", c.e))
			stale.leads("moves", c.want)
		}
		if l := f.get("moves"); l.Visits != 4 {
			t.Errorf("%d visits were claimed", l.Visits)
		}
	})
}

func (f fixture) edit(key string, e shortlinks.Edit) error {
	_, err := f.Edit(f.Context(), key, e)
	return err
}

// What was made or changed is so from that moment, whatever was asked before.
func TestChangesShowAtOnce(t *testing.T) {
	each(t, func(f fixture) {
		f.leads("fresh", "unknown")
		f.add(key("fresh"))
		f.leads("fresh", "https://example.com/page")
		f.must(f.edit("fresh", shortlinks.Edit{LongURL: ptr("https://new.test")}))
		f.leads("fresh", "https://new.test")
		f.must(f.edit("fresh", shortlinks.Edit{Disabled: ptr(true)}))
		f.leads("fresh", "gone")
		f.must(f.edit("fresh", shortlinks.Edit{Disabled: ptr(false), ExpiresAt: ptr(f.Now().Add(time.Second))}))
		f.leads("fresh", "https://new.test")
		f.clock.Advance(time.Second)
		f.leads("fresh", "gone")
		f.must(f.edit("fresh", shortlinks.Edit{ExpiresAt: &models.Time{}}))
		f.leads("fresh", "https://new.test")
	})
}

func TestReasonsOfGone(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("expired"), ttl(time.Second))
		f.add(key("exhausted"), limit(1))
		f.add(key("disabled"))
		f.add(key("deleted"))
		f.add(key("blocked"))
		f.add(key("forbidden"))
		f.visit("exhausted")
		f.must(f.edit("disabled", shortlinks.Edit{Disabled: ptr(true)}))
		f.must(f.Delete(f.Context(), "deleted"))
		// What was stored before its host was blocked, or past the store.
		modelstest.Exec(t, f.db, "UPDATE short_links SET long_url = 'https://spam.example/x' WHERE short_key = 'blocked'")
		modelstest.Exec(t, f.db, "UPDATE short_links SET long_url = 'javascript:alert(1)' WHERE short_key = 'forbidden'")
		f.clock.Advance(time.Second)
		f = f.another()
		for key, why := range map[string]string{
			"expired": "expired", "exhausted": "used", "disabled": "switched off", "deleted": "deleted",
			"blocked": "does not link to", "forbidden": "does not link to",
		} {
			for _, from := range []string{"database", "cache"} {
				_, err := f.Visit(f.Context(), key, shortlinks.Visitor{})
				if models.CodeOf(err) != models.CodeGone || !strings.Contains(err.Error(), why) {
					t.Errorf("%s, from the %s: %v", key, from, err)
				}
			}
		}
	})
}

func TestPreview(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("plain"))
		f.add(key("secret"), limit(1))
		for range 3 {
			for key, want := range map[string]string{"plain": "https://example.com/page", "secret": "https://example.com"} {
				if e, err := f.Preview(f.Context(), key); err != nil || e.LongURL != want {
					t.Errorf("%s: %s %v", key, e.LongURL, err)
				}
			}
		}
		if l := f.get("secret"); l.Visits != 0 {
			t.Error("a look was counted")
		}
		other := f.another()
		if _, err := other.Preview(f.Context(), "secret"); err != nil {
			t.Error(err)
		}
		f.leads("secret", "https://example.com/page")
		for _, instance := range []fixture{f, other} { // which was not told that this was the last visit
			_, err := instance.Preview(f.Context(), "secret")
			f.is(err, models.CodeGone, "")
		}
	})
}

// The clock is set back: what has been seen to be over stays so, tombstone or not.
func TestClockSetBack(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("ends"), ttl(time.Minute))
		f.add(key("other"), ttl(time.Minute), limit(5))
		f.add(key("live"))
		f.clock.Advance(2 * time.Minute)
		f.leads("ends", "gone")
		f.clock.Advance(-time.Hour)
		f.leads("ends", "gone")
		f.leads("other", "gone") // though nobody asked for it then
		f.leads("live", "https://example.com/page")
		// A change made now is newer than what caches hold, although the clock says it is older.
		f.must(f.edit("live", shortlinks.Edit{LongURL: ptr("https://new.test")}))
		f.leads("live", "https://new.test")
	})
}

// The database is locked by another program: what the cache holds is served,
// and what has to be claimed is refused, not led on.
func TestDatabaseLocked(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	f.add(key("live"))
	f.add(key("ends"), ttl(time.Minute))
	f.add(key("some"), limit(3))
	for _, k := range []string{"live", "ends", "some"} {
		f.leads(k, "https://example.com/page")
	}
	f.clock.Advance(time.Minute)
	var file string
	f.must(f.db.Read(f.Context()).Raw("SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&file).Error)
	program, err := models.Open(f.Context(), models.SQLite, file, slog.New(slog.DiscardHandler))
	f.must(err)
	defer func() { f.must(program.Close()) }()
	f.must(program.Write(context.Background(), func(*gorm.DB) error { // holds the file
		f.leads("live", "https://example.com/page")
		f.leads("ends", "gone")
		ctx, cancel := context.WithTimeout(f.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := f.Visit(ctx, "some", shortlinks.Visitor{})
		f.is(err, models.CodeUnavailable, "")
		f.another().leads("live", "https://example.com/page") // readers are not held up
		return nil
	}))
	f.leads("some", "https://example.com/page")
}

// The database is gone: what the cache holds is served while it is current, nothing else.
func TestDatabaseGone(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	f.add(key("live"))
	f.add(key("ends"), ttl(time.Minute))
	f.add(key("some"), limit(3))
	f.clock.Advance(59 * time.Second)
	f.leads("live", "https://example.com/page")
	f.leads("ends", "https://example.com/page")
	f.must(f.db.Close())
	f.clock.Advance(time.Second)
	f.leads("live", "https://example.com/page")
	f.leads("ends", "gone")
	f.clock.Advance(shortlinks.MaxStale)
	for _, k := range []string{"live", "some", "nobody"} {
		if to, err := f.Visit(f.Context(), k, shortlinks.Visitor{}); err == nil || models.CodeOf(err) == models.CodeNotFound {
			t.Errorf("%s: %q %v", k, to, err)
		}
	}
}

func TestChanged(t *testing.T) {
	each(t, func(f fixture) {
		seen := func(since models.Time) (keys []string) {
			f.must(f.Changed(f.Context(), since, func(c shortlinks.Change) {
				if c.TTL <= 0 || c.Entry.Version == 0 {
					t.Errorf("%+v", c)
				}
				if c.Entry.IsTombstone {
					c.Key += "†" + string(c.Entry.Reason)
				}
				keys = append(keys, c.Key)
			}))
			return keys
		}
		for i := range 3 {
			f.add(key(fmt.Sprintf("key-%d", i)))
			f.clock.Advance(time.Second)
		}
		since := f.Now()
		f.must(f.edit("key-1", shortlinks.Edit{Title: ptr("x")}))
		f.clock.Advance(time.Second)
		f.must(f.Delete(f.Context(), "key-0"))
		if got := fmt.Sprint(seen(since)); got != "[key-1 key-0†deleted]" {
			t.Error(got)
		}
		if got := fmt.Sprint(seen(f.Now().Add(-time.Hour))); got != "[key-2 key-1 key-0†deleted]" {
			t.Error(got)
		}
	})
}

// More changes than are read at once.
func TestManyChanged(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	since := f.Now()
	f.addMany(2500, "")
	n := map[string]bool{}
	f.must(f.Changed(f.Context(), since, func(c shortlinks.Change) { n[c.Key] = true }))
	if len(n) != 2500 {
		t.Errorf("%d were seen", len(n))
	}
}

// addMany stores short links k-000000 … past the store, which is quicker. set
// are further columns: "expires_at = 1".
func (f fixture) addMany(n int, set string) {
	f.Helper()
	now := f.Now()
	f.must(f.db.Write(context.Background(), func(tx *gorm.DB) error {
		links := make([]shortlinks.ShortLink, n)
		for i := range links {
			links[i] = shortlinks.ShortLink{
				Key: fmt.Sprintf("k-%06d", i), LongURL: "https://example.com/page", CanonicalURL: "https://example.com/page",
				CreatedAt: now, UpdatedAt: now,
			}
		}
		if err := models.Insert(tx, links); err != nil || set == "" {
			return err
		}
		return tx.Exec("UPDATE short_links SET " + set).Error
	}))
}
