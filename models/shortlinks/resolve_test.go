package shortlinks_test

import (
	"context"
	"log/slog"
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

// An expired link never redirects, from the exact time of its expiry: neither from a cache nor
// on an instance that has not cached it.
func TestExpiredFromTheInstant(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("ends"), ttl(time.Minute))
		f.redirectsTo("ends", "https://example.com/page")
		f.clock.Advance(time.Minute - time.Microsecond)
		f.redirectsTo("ends", "https://example.com/page")
		f.clock.Advance(time.Microsecond)
		f.redirectsTo("ends", "gone")
		f.another().redirectsTo("ends", "gone")
		if l := f.get("ends"); l.Status(f.Now()) != shortlinks.Expired {
			t.Errorf("got %+v", l)
		}
	})
}

// A visit never deletes. A cache miss sends one SELECT, and a hit sends nothing, for active and
// expired links. A key that is not live takes a second SELECT, which reads the archive.
func TestNoSynchronousDeletes(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("ends"), ttl(time.Minute))
		f.add(key("live"))
		f = f.another() // its cache is empty
		f.must(f.cache.Poll(f.Context(), f.Store))
		sent := func(key, want string) (statements []string) {
			stop := modelstest.Statements(t, f.db)
			f.redirectsTo(key, want)
			for _, s := range stop() {
				statements = append(statements, s.SQL)
			}
			return statements
		}
		reads := func(n int, key, want string) {
			got := sent(key, want)
			if len(got) != n || slices.ContainsFunc(got, func(sql string) bool { return !strings.HasPrefix(sql, "SELECT ") }) {
				t.Errorf("%s: got statements %q", key, got)
			}
		}
		one := func(key, want string) { reads(1, key, want) }
		none := func(key, want string) {
			if got := sent(key, want); len(got) != 0 {
				t.Errorf("%s: got statements %q, want none", key, got)
			}
		}
		one("live", "https://example.com/page")
		none("live", "https://example.com/page")
		one("ends", "https://example.com/page")
		f.clock.Advance(time.Minute)
		f.must(f.cache.Poll(f.Context(), f.Store))
		none("ends", "gone") // the entry has expired and becomes a tombstone
		none("ends", "gone")
		reads(2, "unknown", "unknown")
		none("unknown", "unknown")
		none("a", "unknown") // not a valid key
		f = f.another()
		one("ends", "gone")
		none("ends", "gone")
		if l := f.get("ends"); l.Key != "ends" {
			t.Error("the row was deleted")
		}
		f.clock.Advance(time.Hour)
		f.reap(10)
		f = f.another()
		reads(2, "ends", "gone")
		none("ends", "gone")
	})
}

// Keys that are missing together are loaded with one query, and one for those that are not live, each with its own entry.
func TestKeysAreLoadedTogether(t *testing.T) {
	each(t, func(f fixture) {
		first, second := f.add(key("first")), f.add(key("second"), limit(3))
		n := modelstest.Queries(t, f.db)
		loaded, err := shortlinks.LoadKeys(t.Context(), f.Store, "second", "none", "first")
		f.must(err)
		if len(loaded) != 3 || loaded[0].Link != second.Seq || !loaded[0].Limited || loaded[1].Reason != shortlinks.ReasonUnknown ||
			loaded[2].Link != first.Seq || loaded[2].LongURL != first.LongURL {
			t.Errorf("got %+v", loaded)
		}
		if n.Load() != 2 {
			t.Errorf("got %d queries", n.Load())
		}
	})
}

// Concurrent misses of a key send one query.
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
				f.redirectsTo("burst", "https://example.com/page")
			})
		}
		ready.Wait()
		close(start)
		done.Wait()
		if n.Load() != 1 {
			t.Errorf("got %d queries", n.Load())
		}
	})
}

// A change is visible at once, for any state of the cache.
func TestChangesShowAtOnce(t *testing.T) {
	each(t, func(f fixture) {
		f.redirectsTo("fresh", "unknown")
		f.add(key("fresh"))
		f.redirectsTo("fresh", "https://example.com/page")
		f.must(f.edit("fresh", shortlinks.Edit{LongURL: new("https://new.test")}))
		f.redirectsTo("fresh", "https://new.test")
		f.must(f.edit("fresh", shortlinks.Edit{Disabled: new(true)}))
		f.redirectsTo("fresh", "gone")
		f.must(f.edit("fresh", shortlinks.Edit{Disabled: new(false), ExpiresAt: new(f.Now().Add(time.Second))}))
		f.redirectsTo("fresh", "https://new.test")
		f.clock.Advance(time.Second)
		f.redirectsTo("fresh", "gone")
		f.must(f.edit("fresh", shortlinks.Edit{ExpiresAt: &models.Time{}}))
		f.redirectsTo("fresh", "https://new.test")
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
		// Stored before the host was blocked, or without the store.
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
					t.Errorf("%s, from the %s: got %v", key, from, err)
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
					t.Errorf("%s: got %s, %v", key, e.LongURL, err)
				}
			}
		}
		if l := f.get("secret"); l.Visits != 0 {
			t.Error("a preview was counted as a visit")
		}
		other := f.another()
		if _, err := other.Preview(f.Context(), "secret"); err != nil {
			t.Error(err)
		}
		f.redirectsTo("secret", "https://example.com/page")
		for _, instance := range []fixture{f, other} { // its cache does not know that this was the last visit
			_, err := instance.Preview(f.Context(), "secret")
			f.wantError(err, models.CodeGone, "")
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
		f.redirectsTo("ends", "gone")
		f.clock.Advance(-time.Hour)
		f.redirectsTo("ends", "gone")
		f.redirectsTo("other", "gone") // although it was not visited then
		f.redirectsTo("live", "https://example.com/page")
		// A change made now is newer than cached entries, even if its time is earlier.
		f.must(f.edit("live", shortlinks.Edit{LongURL: new("https://new.test")}))
		f.redirectsTo("live", "https://new.test")
	})
}

// While another program locks the database, cached links redirect and visits that need a claim
// fail.
func TestDatabaseLocked(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	f.add(key("live"))
	f.add(key("ends"), ttl(time.Minute))
	f.add(key("some"), limit(3))
	for _, k := range []string{"live", "ends", "some"} {
		f.redirectsTo(k, "https://example.com/page")
	}
	f.clock.Advance(time.Minute)
	var file string
	f.must(f.db.Read(f.Context()).Raw("SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&file).Error)
	program, err := models.Open(f.Context(), models.SQLite, file, slog.New(slog.DiscardHandler))
	f.must(err)
	defer func() { f.must(program.Close()) }()
	f.must(program.Write(context.Background(), func(*gorm.DB) error { // locks the file
		f.redirectsTo("live", "https://example.com/page")
		f.redirectsTo("ends", "gone")
		ctx, cancel := context.WithTimeout(f.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := f.Visit(ctx, "some", shortlinks.Visitor{})
		f.wantError(err, models.CodeUnavailable, "")
		f.another().redirectsTo("live", "https://example.com/page") // reads are not blocked
		return nil
	}))
	f.redirectsTo("some", "https://example.com/page")
}

// Without a database, only cached links redirect, while they are current.
func TestWithoutDatabase(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	f.add(key("live"))
	f.add(key("ends"), ttl(time.Minute))
	f.add(key("some"), limit(3))
	f.clock.Advance(59 * time.Second)
	f.redirectsTo("live", "https://example.com/page")
	f.redirectsTo("ends", "https://example.com/page")
	f.must(f.db.Close())
	f.clock.Advance(time.Second)
	f.redirectsTo("live", "https://example.com/page")
	f.redirectsTo("ends", "gone")
	f.clock.Advance(shortlinks.MaxStale)
	for _, k := range []string{"live", "some", "unknown"} {
		if to, err := f.Visit(f.Context(), k, shortlinks.Visitor{}); err == nil || models.CodeOf(err) == models.CodeNotFound {
			t.Errorf("%s: got %q, %v", k, to, err)
		}
	}
}

// Redirects work even if all other connections are in use.
func TestRedirectsHaveTheirOwnConnections(t *testing.T) {
	each(t, func(f fixture) {
		plain, limited := f.add(), f.add(limit(5))
		other := f.another() // its cache is empty
		release := modelstest.UseUp(f, f.db)
		other.visit(plain.Key)
		other.visit(limited.Key)
		_, _, err := other.ChangedAfter(f.Context(), 0, 1)
		release()
		f.must(err)
	})
}

// Waiting claims of a link with a visit limit block neither other redirects nor the lease.
func TestWaitingClaimsBlockNothingElse(t *testing.T) {
	each(t, func(f fixture) {
		if f.db.Engine != models.Postgres {
			return // SQLite has separate connections for its writer and the readers
		}
		plain, limited := f.add(), f.add(limit(1000))
		other := f.another() // its cache is empty
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
		time.Sleep(100 * time.Millisecond) // wait for the lock
		begun := time.Now()
		other.visit(plain.Key)
		if took := time.Since(begun); took > time.Second {
			f.Errorf("another redirect took %v", took)
		}
	})
}
