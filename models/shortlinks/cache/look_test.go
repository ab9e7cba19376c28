package cache_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// Without Redis, changes reach other instances by a look at the database.
func TestLookFindsChanges(t *testing.T) {
	each(t, func(f fixture) {
		changed, deleted, kept := f.add(), f.add(), f.add()
		other := f.another().look()
		for _, l := range []shortlinks.ShortLink{changed, deleted, kept} {
			other.leads(l.Key, "https://example.com/page")
		}
		other.leads("added-late", "unknown")

		f.move(changed.Key, "https://example.com/new")
		f.must(f.Delete(t.Context(), deleted.Key))
		f.add(key("added-late"))
		other.look()
		other.leads(changed.Key, "https://example.com/new")
		other.leads(deleted.Key, "gone")
		other.leads("added-late", "https://example.com/page")
		queries := modelstest.Queries(t, f.db)
		other.leads(kept.Key, "https://example.com/page")
		other.look().leads(changed.Key, "https://example.com/new") // the look finds nothing new
		if n := queries.Load(); n != 1 {
			t.Errorf("%d queries, want only that of the look", n)
		}
		_, err := f.Restore(t.Context(), deleted.Key)
		f.must(err)
		other.look().leads(deleted.Key, "https://example.com/page")
	})
}

// A process that was stopped, or whose database did not respond, has looked at
// nothing meanwhile. What it holds may be out of date then.
func TestNoStaleRedirectAfterAStop(t *testing.T) {
	each(t, func(f fixture) {
		edited, deleted, kept := f.add(), f.add(), f.add()
		other := f.another().look()
		visit := func(edit, gone, late string) {
			t.Helper()
			other.leads(edited.Key, edit)
			other.leads(deleted.Key, gone)
			other.leads(kept.Key, "https://example.com/page")
			other.leads("added-late", late)
		}
		visit("https://example.com/page", "https://example.com/page", "unknown")
		for range 5 {
			f.clock.Advance(time.Second)
			other.look()
		}
		f.move(edited.Key, "https://example.com/new")
		f.must(f.Delete(t.Context(), deleted.Key))
		f.add(key("added-late"))

		f.clock.Advance(shortlinks.MaxStale - time.Millisecond)
		queries := modelstest.Queries(t, f.db)
		visit("https://example.com/page", "https://example.com/page", "unknown") // as it may yet
		if n := queries.Load(); n != 0 {
			t.Errorf("%d queries of what was current less than %s ago", n, shortlinks.MaxStale)
		}
		f.clock.Advance(time.Millisecond)
		for range 10 {
			visit("https://example.com/new", "gone", "https://example.com/page")
		}
		if n := queries.Load(); n != 4 {
			t.Errorf("%d queries of 4 keys: each is to be read once", n)
		}
	})
}

// While looks go on, an entry costs no query for as long as it is cached.
func TestLooksKeepEntriesCurrent(t *testing.T) {
	each(t, func(f fixture) {
		other := f.another().look()
		l := f.add()
		f.clock.Advance(900 * time.Millisecond)
		other.leads(l.Key, "https://example.com/page")
		for range 60 {
			f.clock.Advance(time.Second)
			f.add() // a change of another link
			other.look()
			f.clock.Advance(200 * time.Millisecond) // the look itself, say
			queries := modelstest.Queries(t, f.db)
			other.leads(l.Key, "https://example.com/page")
			if n := queries.Load(); n != 0 {
				t.Fatalf("%d queries", n)
			}
		}
	})
}

// A process reads a row, and is stopped before it uses it. Others change the link
// meanwhile, and looks pass, however long ago they started and whatever they find.
func TestReadThatALookOvertakes(t *testing.T) {
	each(t, func(f fixture) {
		for name, c := range map[string]struct {
			looks int
			every time.Duration
		}{
			"one look":                           {1, 0},
			"many looks":                         {20, time.Second},
			"one look, after changes are reaped": {1, f.opts.BufferTime},
		} {
			l := f.add()
			other := f.another().look()
			other.overtaken(func() {
				f.move(l.Key, "https://example.com/new")
				for range c.looks {
					f.clock.Advance(c.every)
					other.look()
				}
			}).leads(l.Key, "https://example.com/page") // as it was when the visit started
			if got := other.visit(l.Key); got != "https://example.com/new" {
				t.Errorf("%s: leads to %s", name, got)
			}
		}
	})
}

// The read of one visit is too old for another visit that waits for it and came
// after a change, if the process was stopped meanwhile.
func TestReadOfAnotherVisitIsTooOld(t *testing.T) {
	each(t, func(f fixture) {
		l := f.add()
		other := f.another()
		read, on := make(chan struct{}), make(chan struct{})
		slow := other.overtaken(func() { read <- struct{}{}; <-on })
		got := make(chan string)
		visit := func() { got <- slow.visit(l.Key) }
		go visit()
		<-read
		f.move(l.Key, "https://example.com/new")
		f.clock.Advance(shortlinks.MaxStale + time.Millisecond)
		go visit()
		modelstest.Eventually(f, "both wait for the same read", func() bool {
			all := make([]byte, 1<<20)
			return bytes.Count(all[:runtime.Stack(all, true)], []byte("singleflight.(*Group).Do(")) == 2
		})
		on <- struct{}{}
		if to := <-got; to != "https://example.com/page" { // the first one's
			t.Errorf("the first visit leads to %s", to)
		}
		for to := ""; to == ""; {
			select {
			case <-read:
				on <- struct{}{}
			case to = <-got:
				if to != "https://example.com/new" {
					t.Errorf("the second visit leads to %s", to)
				}
			}
		}
	})
}

// A change takes long to be committed, because its process or the database was
// stopped. No later change is committed before it, so a look that finds the later
// one does not miss it.
func TestLateCommit(t *testing.T) {
	each(t, func(f fixture) {
		if f.db.Engine != models.Postgres {
			return // which has one writer
		}
		late, next := f.add(), f.add()
		other := f.another().look()
		other.leads(late.Key, "https://example.com/page")
		other.leads(next.Key, "https://example.com/page")

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
		other.look()
		close(commit)
		f.must(<-changed)
		f.must(<-changed)
		other.look()
		other.leads(late.Key, "https://example.com/new")
		other.leads(next.Key, "https://example.com/new")
	})
}

// Neither the clocks of instances nor those of changes matter for what a look finds.
func TestLookWithWrongClocks(t *testing.T) {
	each(t, func(f fixture) {
		l := f.add()
		other := f.another().look()
		other.leads(l.Key, "https://example.com/page")
		for _, wrong := range []time.Duration{-24 * time.Hour, 24 * time.Hour, 0} {
			its := modelstest.NewClock()
			its.Advance(f.clock.Now().Sub(its.Now()) + wrong)
			there := f
			there.clock = its
			to := "https://example.com/" + wrong.String()
			there.another().move(l.Key, to)
			f.clock.Advance(time.Second)
			other.look().leads(l.Key, to)
		}
	})
}

// What changed while the database did not respond is found when it does again. A
// look is one statement.
func TestLookThatFails(t *testing.T) {
	each(t, func(f fixture) {
		l := f.add()
		other := f.another().look()
		other.leads(l.Key, "https://example.com/page")
		f.move(l.Key, "https://example.com/new")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 10 {
			f.clock.Advance(time.Minute)
			if other.cache.Poll(ended, other.Store) == nil {
				t.Fatal("a look that cannot have seen anything succeeds")
			}
		}
		queries := modelstest.Queries(t, f.db)
		other.look()
		if n := queries.Load(); n != 1 {
			t.Errorf("a look takes %d statements", n)
		}
		other.leads(l.Key, "https://example.com/new")
	})
}

// More changes than one look reads, and than are remembered.
func TestLookFindsTooManyChanges(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	changed, kept := f.add(), f.add()
	other := f.another().look()
	second := func() { f.clock.Advance(time.Second); other.look() }
	for i, many := range []int{10_001, 9_980, 100} {
		to := fmt.Sprintf("https://example.com/%d", i)
		f.move(changed.Key, to)
		second()
		for range 3 { // the entries are current by the looks alone
			other.leads(changed.Key, to)
			other.leads(kept.Key, "https://example.com/page")
			second()
		}
		f.addMany(many)
		f.move(changed.Key, to+"/new")
		other.look()
		other.leads(changed.Key, to+"/new")
		other.leads(kept.Key, "https://example.com/page")
	}
	before := other.Loads()
	for range 3 {
		f.addMany(100)
		second()
		other.leads(kept.Key, "https://example.com/page")
	}
	if n := other.Loads() - before; n != 0 {
		t.Errorf("the link was read %d times", n)
	}
}

// A short link is changed, ends and is reaped between two looks of an instance: no
// look can find the change. The instance may have been stopped for so long.
func TestChangeThatWasReaped(t *testing.T) {
	each(t, func(f fixture) {
		ended, other := f.add(), f.another().look()
		other.leads(ended.Key, "https://example.com/page")
		_, err := f.Edit(t.Context(), ended.Key, shortlinks.Edit{ExpiresAt: new(f.Now().Add(time.Second))})
		f.must(err)
		f.clock.Advance(f.opts.BufferTime + time.Second)
		f.must(f.db.Write(t.Context(), func(tx *gorm.DB) error {
			n, err := f.ReapExpired(tx, 10)
			if n != 1 {
				t.Errorf("%d short links were reaped", n)
			}
			return err
		}))
		other.look().leads(ended.Key, "unknown")
		queries := modelstest.Queries(t, f.db)
		f.clock.Advance(time.Second)
		other.look().leads(ended.Key, "unknown")
		if n := queries.Load(); n != 1 {
			t.Errorf("%d queries, want only that of the look", n)
		}
	})
}

// The database is restored from a backup, and lacks changes that were seen: what is
// read from it is cached as before.
func TestLookAtARestoredDatabase(t *testing.T) {
	each(t, func(f fixture) {
		l, other := f.add(), f.another().look()
		f.move(l.Key, "https://example.com/lost")
		other.look()
		modelstest.Exec(t, f.db, "UPDATE short_link_version SET newest = 1")
		modelstest.Exec(t, f.db, "UPDATE short_links SET version = 1, long_url = 'https://example.com/page'")
		other.look()
		queries := modelstest.Queries(t, f.db)
		for range 3 {
			other.leads(l.Key, "https://example.com/page")
		}
		if n := queries.Load(); n != 1 {
			t.Errorf("%d queries", n)
		}
		f.move(l.Key, "https://example.com/new")
		other.look().leads(l.Key, "https://example.com/new")
	})
}
