package cache_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// Without Redis, instances poll the database for changes.
func TestPollFindsChanges(t *testing.T) {
	each(t, func(f fixture) {
		changed, deleted, kept := f.add(), f.add(), f.add()
		other := f.another().poll()
		for _, l := range []shortlinks.ShortLink{changed, deleted, kept} {
			other.redirectsTo(l.Key, "https://example.com/page")
		}
		other.redirectsTo("added-late", "unknown")

		f.move(changed.Key, "https://example.com/new")
		f.must(f.Delete(t.Context(), deleted.Key))
		f.add(key("added-late"))
		other.poll()
		other.redirectsTo(changed.Key, "https://example.com/new")
		other.redirectsTo(deleted.Key, "gone")
		other.redirectsTo("added-late", "https://example.com/page")
		queries := modelstest.Queries(t, f.db)
		other.redirectsTo(kept.Key, "https://example.com/page")
		other.poll().redirectsTo(changed.Key, "https://example.com/new") // the poll finds no changes
		if n := queries.Load(); n != 1 {
			t.Errorf("got %d queries, want only that of the poll", n)
		}
		_, err := f.Restore(t.Context(), deleted.Key)
		f.must(err)
		other.poll().redirectsTo(deleted.Key, "https://example.com/page")
	})
}

// A process that was stopped, or whose database did not respond, has not polled. Its cache may
// be stale.
func TestNoStaleRedirectAfterAStop(t *testing.T) {
	each(t, func(f fixture) {
		edited, deleted, kept := f.add(), f.add(), f.add()
		other := f.another().poll()
		visit := func(edit, gone, late string) {
			t.Helper()
			other.redirectsTo(edited.Key, edit)
			other.redirectsTo(deleted.Key, gone)
			other.redirectsTo(kept.Key, "https://example.com/page")
			other.redirectsTo("added-late", late)
		}
		visit("https://example.com/page", "https://example.com/page", "unknown")
		for range 5 {
			f.clock.Advance(time.Second)
			other.poll()
		}
		f.move(edited.Key, "https://example.com/new")
		f.must(f.Delete(t.Context(), deleted.Key))
		f.add(key("added-late"))

		f.clock.Advance(shortlinks.MaxStale - time.Millisecond)
		queries := modelstest.Queries(t, f.db)
		visit("https://example.com/page", "https://example.com/page", "unknown") // as it may still be cached
		if n := queries.Load(); n != 0 {
			t.Errorf("got %d queries for entries that were current less than %s ago", n, shortlinks.MaxStale)
		}
		f.clock.Advance(time.Millisecond)
		for range 10 {
			visit("https://example.com/new", "gone", "https://example.com/page")
		}
		if n := queries.Load(); n != 4 {
			t.Errorf("got %d queries of 4 keys, want one each", n)
		}
	})
}

// While the instance polls, a cached entry needs no query.
func TestPollsKeepEntriesCurrent(t *testing.T) {
	each(t, func(f fixture) {
		other := f.another().poll()
		l := f.add()
		f.clock.Advance(900 * time.Millisecond)
		other.redirectsTo(l.Key, "https://example.com/page")
		for range 60 {
			f.clock.Advance(time.Second)
			f.add() // a change of another link
			other.poll()
			f.clock.Advance(200 * time.Millisecond) // a poll
			queries := modelstest.Queries(t, f.db)
			other.redirectsTo(l.Key, "https://example.com/page")
			if n := queries.Load(); n != 0 {
				t.Fatalf("got %d queries", n)
			}
		}
	})
}

// A process reads a row and is stopped before it uses it. Meanwhile others change the link, and
// polls run that started at different times.
func TestReadFromBeforeAPoll(t *testing.T) {
	each(t, func(f fixture) {
		for name, c := range map[string]struct {
			polls int
			every time.Duration
		}{
			"one poll":                           {1, 0},
			"many polls":                         {20, time.Second},
			"one poll, after changes are reaped": {1, f.opts.BufferTime},
		} {
			l := f.add()
			other := f.another().poll()
			other.racing(func() {
				f.move(l.Key, "https://example.com/new")
				for range c.polls {
					f.clock.Advance(c.every)
					other.poll()
				}
			}).redirectsTo(l.Key, "https://example.com/page") // the state at the start of the visit
			if got := other.visit(l.Key); got != "https://example.com/new" {
				t.Errorf("%s: got %s", name, got)
			}
		}
	})
}

// The commit of a change takes long, because its process or the database was stopped. No later
// change is committed before it, so a poll that finds a later change does not miss it.
func TestLateCommit(t *testing.T) {
	each(t, func(f fixture) {
		if f.db.Engine != models.Postgres {
			return // SQLite has one writer
		}
		late, next := f.add(), f.add()
		other := f.another().poll()
		other.redirectsTo(late.Key, "https://example.com/page")
		other.redirectsTo(next.Key, "https://example.com/page")

		var stop atomic.Bool
		stopped, commit := make(chan struct{}), make(chan struct{})
		f.must(f.db.Read(t.Context()).Callback().Update().After("gorm:update").Register("test:stop", func(*gorm.DB) {
			if stop.CompareAndSwap(true, false) {
				close(stopped)
				<-commit
			}
		}))
		changed := make(chan error, 2)
		edit := func(key string) {
			_, err := f.Edit(context.Background(), key, shortlinks.Edit{LongURL: new("https://example.com/new")})
			changed <- err
		}
		stop.Store(true)
		go edit(late.Key)
		<-stopped
		go edit(next.Key)
		modelstest.Eventually(f, "the next change waits, or is committed", func() (waits bool) {
			f.must(f.db.Read(t.Context()).Raw(`SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waits).Error)
			return waits || len(changed) > 0
		})
		other.poll()
		close(commit)
		f.must(<-changed)
		f.must(<-changed)
		other.poll()
		other.redirectsTo(late.Key, "https://example.com/new")
		other.redirectsTo(next.Key, "https://example.com/new")
	})
}

// Polls do not depend on the clocks of instances.
func TestPollWithWrongClocks(t *testing.T) {
	each(t, func(f fixture) {
		l := f.add()
		other := f.another().poll()
		other.redirectsTo(l.Key, "https://example.com/page")
		for _, wrong := range []time.Duration{-24 * time.Hour, 24 * time.Hour, 0} {
			its := modelstest.NewClock()
			its.Advance(f.clock.Now().Sub(its.Now()) + wrong)
			there := f
			there.clock = its
			to := "https://example.com/" + wrong.String()
			there.another().move(l.Key, to)
			f.clock.Advance(time.Second)
			other.poll().redirectsTo(l.Key, to)
		}
	})
}

// Changes from a time without polls are found by the next successful poll. A poll is one
// statement.
func TestFailedPoll(t *testing.T) {
	each(t, func(f fixture) {
		l := f.add()
		other := f.another().poll()
		other.redirectsTo(l.Key, "https://example.com/page")
		f.move(l.Key, "https://example.com/new")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 10 {
			f.clock.Advance(time.Minute)
			if other.cache.Poll(ended, other.Store) == nil {
				t.Fatal("a poll without a database succeeded")
			}
		}
		queries := modelstest.Queries(t, f.db)
		other.poll()
		if n := queries.Load(); n != 1 {
			t.Errorf("got %d statements for a poll", n)
		}
		other.redirectsTo(l.Key, "https://example.com/new")
	})
}

// More changes than one poll reads and the cache remembers.
func TestPollFindsTooManyChanges(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	changed, kept := f.add(), f.add()
	other := f.another().poll()
	second := func() { f.clock.Advance(time.Second); other.poll() }
	for i, many := range []int{10_001, 9_980, 100} {
		to := fmt.Sprintf("https://example.com/%d", i)
		f.move(changed.Key, to)
		second()
		for range 3 { // only polls keep the entries current
			other.redirectsTo(changed.Key, to)
			other.redirectsTo(kept.Key, "https://example.com/page")
			second()
		}
		f.addMany(many)
		f.move(changed.Key, to+"/new")
		other.poll()
		other.redirectsTo(changed.Key, to+"/new")
		other.redirectsTo(kept.Key, "https://example.com/page")
	}
	before := other.Loads()
	for range 3 {
		f.addMany(100)
		second()
		other.redirectsTo(kept.Key, "https://example.com/page")
	}
	if n := other.Loads() - before; n != 0 {
		t.Errorf("got %d reads of the link", n)
	}
}

// An instance is stopped between two polls. Meanwhile a short link is changed, expires and is
// deleted by the reaper, so no poll finds the change.
func TestChangeOfAReapedLink(t *testing.T) {
	each(t, func(f fixture) {
		ended, other := f.add(), f.another().poll()
		other.redirectsTo(ended.Key, "https://example.com/page")
		_, err := f.Edit(t.Context(), ended.Key, shortlinks.Edit{ExpiresAt: new(f.Now().Add(time.Second))})
		f.must(err)
		f.clock.Advance(f.opts.BufferTime + time.Second)
		f.must(f.db.Write(t.Context(), func(tx *gorm.DB) error {
			archived, err := f.ReapExpired(tx, 10)
			if err != nil {
				return err
			}
			deleted, err := f.ReapArchived(tx, 10)
			if archived != 1 || deleted != 1 {
				t.Errorf("got %d archived and %d deleted short links", archived, deleted)
			}
			return err
		}))
		other.poll().redirectsTo(ended.Key, "unknown")
		queries := modelstest.Queries(t, f.db)
		f.clock.Advance(time.Second)
		other.poll().redirectsTo(ended.Key, "unknown")
		if n := queries.Load(); n != 1 {
			t.Errorf("got %d queries, want only that of the poll", n)
		}
	})
}

// The database is restored from a backup and lacks known changes. Reads from it are cached as
// before.
func TestPollOfARestoredDatabase(t *testing.T) {
	each(t, func(f fixture) {
		l, other := f.add(), f.another().poll()
		f.move(l.Key, "https://example.com/lost")
		other.poll()
		modelstest.Exec(t, f.db, "UPDATE short_link_version SET newest = 1")
		modelstest.Exec(t, f.db, "UPDATE short_links SET version = 1, long_url = 'https://example.com/page'")
		other.poll()
		queries := modelstest.Queries(t, f.db)
		for range 3 {
			other.redirectsTo(l.Key, "https://example.com/page")
		}
		if n := queries.Load(); n != 1 {
			t.Errorf("got %d queries", n)
		}
		f.move(l.Key, "https://example.com/new")
		other.poll().redirectsTo(l.Key, "https://example.com/new")
	})
}
