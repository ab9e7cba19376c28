package cache_test

import (
	"bytes"
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
)

// A process that was stopped, or whose database did not answer, has looked at
// nothing meanwhile. What it holds may be out of date then.
func TestNoStaleRedirectAfterAStop(t *testing.T) {
	each(t, func(f fixture) {
		edited, deleted, kept := f.add(), f.add(), f.add()
		other := f.another()
		sync := cache.NewSync(other.Store, other.cache)
		visit := func(edit, gone, taken string) {
			t.Helper()
			other.leads(edited.Key, edit)
			other.leads(deleted.Key, gone)
			other.leads(kept.Key, "https://example.com/page")
			other.leads("taken-late", taken)
		}
		visit("https://example.com/page", "https://example.com/page", "unknown")
		for range 5 {
			f.clock.Advance(time.Second)
			f.must(sync.Look(t.Context()))
		}
		f.move(edited.Key, "https://example.com/new")
		f.must(f.Delete(t.Context(), deleted.Key))
		f.add(key("taken-late"))

		f.clock.Advance(shortlinks.MaxStale - time.Millisecond)
		visit("https://example.com/page", "https://example.com/page", "unknown") // it may yet
		f.clock.Advance(time.Millisecond)
		queries := modelstest.Queries(t, f.db)
		for range 10 {
			visit("https://example.com/new", "gone", "https://example.com/page")
		}
		if n := queries.Load(); n != 4 {
			t.Errorf("%d queries of 4 keys: each is to be read once", n)
		}
	})
}

// While looks go on, what is held costs no query, for as long as it is held.
func TestLooksKeepEntriesCurrent(t *testing.T) {
	each(t, func(f fixture) {
		other := f.another()
		sync := cache.NewSync(other.Store, other.cache)
		l := f.add()
		f.clock.Advance(900 * time.Millisecond)
		other.leads(l.Key, "https://example.com/page")
		for range 60 {
			f.clock.Advance(time.Second)
			f.must(sync.Look(t.Context()))
			f.clock.Advance(200 * time.Millisecond) // the look itself, say
			queries := modelstest.Queries(t, f.db)
			other.leads(l.Key, "https://example.com/page")
			if n := queries.Load(); n != 0 {
				t.Fatalf("%d queries", n)
			}
		}
	})
}

// A process is stopped while it holds what it has read of a row, and others
// change that meanwhile, longer ago than any look reaches back.
func TestReaderThatWasStopped(t *testing.T) {
	each(t, func(f fixture) {
		l := f.add()
		other := f.another()
		sync := cache.NewSync(other.Store, other.cache)
		slow := f
		slow.Store = shortlinks.NewStore(f.db, f.clock.Now, overtaken{other.cache, func() {
			f.move(l.Key, "https://example.com/new")
			for range 20 {
				f.clock.Advance(time.Second)
				f.must(sync.Look(t.Context()))
			}
		}}, visits.New(), f.opts)
		slow.leads(l.Key, "https://example.com/page") // as it was when it was asked for
		other.leads(l.Key, "https://example.com/new")
	})
}

// waiting is a cache that does not take what was read until it is told to.
type waiting struct {
	*cache.Memory
	read, on chan struct{}
}

func (w waiting) Put(ctx context.Context, key string, e shortlinks.Entry, ttl time.Duration, read time.Time) {
	w.read <- struct{}{}
	<-w.on
	w.Memory.Put(ctx, key, e, ttl, read)
}

// So is one for whose query another visit waits, that came after the change.
func TestQueryOfAnotherVisitIsTooOld(t *testing.T) {
	each(t, func(f fixture) {
		l := f.add()
		other := f.another()
		w := waiting{other.cache, make(chan struct{}), make(chan struct{})}
		other.Store = shortlinks.NewStore(f.db, f.clock.Now, w, visits.New(), f.opts)
		got := make(chan string)
		visit := func() { got <- other.visit(l.Key) }
		go visit()
		<-w.read
		f.move(l.Key, "https://example.com/new")
		f.clock.Advance(shortlinks.MaxStale + time.Millisecond)
		go visit()
		f.eventually("both wait for the same query", func() bool {
			all := make([]byte, 1<<20)
			return bytes.Count(all[:runtime.Stack(all, true)], []byte("singleflight.(*Group).Do(")) == 2
		})
		w.on <- struct{}{}
		if to := <-got; to != "https://example.com/page" { // the first one's
			t.Errorf("the first visit leads to %s", to)
		}
		for to := ""; to == ""; {
			select {
			case <-w.read:
				w.on <- struct{}{}
			case to = <-got:
				if to != "https://example.com/new" {
					t.Errorf("the second visit leads to %s", to)
				}
			}
		}
	})
}

// A change takes long to be committed, because its process or the database was stopped.
func TestLateCommit(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if db.Engine != models.Postgres {
			return // which has one writer, and no way to see what it does
		}
		f := newFixture(t, db)
		f.clock.Advance(time.Since(f.clock.Now())) // that of PostgreSQL counts too
		l := f.add()
		other := f.another()
		sync := cache.NewSync(other.Store, other.cache)
		other.leads(l.Key, "https://example.com/page")
		written, commit, committed := make(chan struct{}), make(chan struct{}), make(chan error)
		f.clock.Advance(time.Millisecond)
		now := f.clock.Now()
		go func() {
			committed <- db.Write(context.Background(), func(tx *gorm.DB) error {
				err := tx.Exec("UPDATE short_links SET long_url = 'https://example.com/new', updated_at = ? WHERE seq = ?", models.At(now), l.Seq).Error
				close(written)
				<-commit
				return err
			})
		}()
		<-written
		for range 30 {
			f.clock.Advance(time.Second)
			f.must(sync.Look(t.Context()))
		}
		other.leads(l.Key, "https://example.com/page")
		close(commit)
		f.must(<-committed)
		f.clock.Advance(time.Second)
		f.must(sync.Look(t.Context()))
		queries := modelstest.Queries(t, f.db)
		other.leads(l.Key, "https://example.com/new")
		if n := queries.Load(); n != 0 {
			t.Errorf("the look has not found it: %d queries", n)
		}
	})
}

// Redis too is as current as the last look, which would have told it.
func TestRedisIsAsCurrentAsTheLastLook(t *testing.T) {
	r := miniredis.RunT(t)
	f := newFixture(t, modelstest.New(t))
	a, b := f.sharing("redis://"+r.Addr()).inUse(), f.sharing("redis://"+r.Addr()).inUse()
	l := a.add()
	f.move(l.Key, "https://example.com/new") // of which Redis does not hear
	b.leads(l.Key, "https://example.com/page")
	f.clock.Advance(shortlinks.MaxStale)
	b.leads(l.Key, "https://example.com/new")

	// b has told Redis. What others announce is believed as far as it is newer.
	f.must(cache.NewSync(b.Store, b.cache).Look(t.Context()))
	c := f.sharing("redis://" + r.Addr()).inUse()
	c.leads(l.Key, "https://example.com/new")
}
