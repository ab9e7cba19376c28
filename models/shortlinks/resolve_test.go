package shortlinks_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// No expired URL is ever redirected: from the instant of its end,
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

// The statements that a visit sends to the database are watched: it never
// deletes; a cache miss is one SELECT; a hit, live or expired, is nothing.
func TestNoSynchronousDeletes(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("ends"), ttl(time.Minute))
		f.add(key("live"))
		f = f.another() // whose cache is empty
		f.must(f.cache.Poll(f.Context(), f.Store))
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
		f.must(f.cache.Poll(f.Context(), f.Store))
		none("ends", "gone") // the entry has ended: it leaves a tombstone
		none("ends", "gone")
		one("unknown", "unknown")
		none("unknown", "unknown")
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

// A change is visible from the moment it is made, whatever is cached.
func TestChangesShowAtOnce(t *testing.T) {
	each(t, func(f fixture) {
		f.leads("fresh", "unknown")
		f.add(key("fresh"))
		f.leads("fresh", "https://example.com/page")
		f.must(f.edit("fresh", shortlinks.Edit{LongURL: new("https://new.test")}))
		f.leads("fresh", "https://new.test")
		f.must(f.edit("fresh", shortlinks.Edit{Disabled: new(true)}))
		f.leads("fresh", "gone")
		f.must(f.edit("fresh", shortlinks.Edit{Disabled: new(false), ExpiresAt: new(f.Now().Add(time.Second))}))
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
		f.must(f.edit("disabled", shortlinks.Edit{Disabled: new(true)}))
		f.must(f.Delete(f.Context(), "deleted"))
		// Stored before the host was blocked, or not by the store.
		modelstest.Exec(t, f.db, "UPDATE short_links SET long_url = 'https://spam.example/x' WHERE short_key = 'blocked'")
		modelstest.Exec(t, f.db, "UPDATE short_links SET long_url = 'javascript:alert(1)' WHERE short_key = 'forbidden'")
		f.clock.Advance(time.Second)
		f = f.another()
		for key, why := range map[string]string{
			"expired": "expired", "exhausted": "visit limit", "disabled": "disabled", "deleted": "deleted",
			"blocked": "is blocked", "forbidden": "is blocked",
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
		for _, instance := range []fixture{f, other} { // whose cache does not know that this was the last visit
			_, err := instance.Preview(f.Context(), "secret")
			f.is(err, models.CodeGone, "")
		}
	})
}

// An expired short link stays expired when the clock is set back, with or without a tombstone.
func TestClockSetBack(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("ends"), ttl(time.Minute))
		f.add(key("other"), ttl(time.Minute), limit(5))
		f.add(key("live"))
		f.clock.Advance(2 * time.Minute)
		f.leads("ends", "gone")
		f.clock.Advance(-time.Hour)
		f.leads("ends", "gone")
		f.leads("other", "gone") // though it was not visited then
		f.leads("live", "https://example.com/page")
		// A change made now is newer than what caches hold, although the clock says it is older.
		f.must(f.edit("live", shortlinks.Edit{LongURL: new("https://new.test")}))
		f.leads("live", "https://new.test")
	})
}

// The database is locked by another program: what the cache holds is served,
// and a visit that has to be claimed is refused.
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
	for _, k := range []string{"live", "some", "unknown"} {
		if to, err := f.Visit(f.Context(), k, shortlinks.Visitor{}); err == nil || models.CodeOf(err) == models.CodeNotFound {
			t.Errorf("%s: %q %v", k, to, err)
		}
	}
}

// Redirects are served although the rest of the program has no connection left.
func TestRedirectsHaveConnectionsOfTheirOwn(t *testing.T) {
	each(t, func(f fixture) {
		plain, limited := f.add(), f.add(limit(5))
		other := f.another() // with an empty cache
		release := modelstest.UseUp(f, f.db)
		other.visit(plain.Key)
		other.visit(limited.Key)
		_, _, err := other.ChangedAfter(f.Context(), 0, 1)
		release()
		f.must(err)
	})
}

// Visits of a link with a limit that wait for each other hold up neither other
// redirects nor the lease.
func TestClaimsThatWaitHoldUpNothingElse(t *testing.T) {
	each(t, func(f fixture) {
		if f.db.Engine != models.Postgres {
			return // where the one writer is apart from the readers
		}
		plain, limited := f.add(), f.add(limit(1000))
		other := f.another() // with an empty cache
		locked, release := make(chan struct{}), make(chan struct{})
		var all sync.WaitGroup
		defer all.Wait()
		defer close(release)
		all.Go(func() {
			err := f.db.Write(context.Background(), func(tx *gorm.DB) error {
				err := tx.Exec("SELECT 1 FROM short_links WHERE short_key = ? FOR UPDATE", limited.Key).Error
				close(locked)
				<-release
				return err
			})
			if err != nil {
				f.Error(err)
			}
		})
		<-locked
		for range 20 {
			all.Go(func() { _, _ = other.Visit(context.Background(), limited.Key, shortlinks.Visitor{}) })
		}
		time.Sleep(100 * time.Millisecond) // they wait
		begun := time.Now()
		other.visit(plain.Key)
		if took := time.Since(begun); took > time.Second {
			f.Errorf("another redirect took %v", took)
		}
	})
}
