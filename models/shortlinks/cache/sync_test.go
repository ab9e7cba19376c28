package cache_test

import (
	"context"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
)

// Without Redis, changes reach other instances by a look at the database.
func TestSyncBringsChanges(t *testing.T) {
	each(t, func(f fixture) {
		changed, deleted, kept := f.add(), f.add(), f.add(limit(5))
		other := f.another()
		sync := cache.NewSync(other.Store, other.cache)
		for _, l := range []shortlinks.ShortLink{changed, deleted, kept} {
			other.leads(l.Key, "https://example.com/page")
		}
		other.leads("taken-late", "unknown")

		f.clock.Advance(time.Minute)
		f.must(sync.Look(t.Context()))
		f.move(changed.Key, "https://example.com/new")
		f.must(f.Delete(t.Context(), deleted.Key))
		f.add(key("taken-late"))
		f.must(sync.Look(t.Context()))
		queries := modelstest.Queries(t, f.db)
		other.leads(changed.Key, "https://example.com/new")
		other.leads(deleted.Key, "gone")
		other.leads("taken-late", "https://example.com/page")
		if n := queries.Load(); n != 0 {
			t.Errorf("%d statements: the look has put aside what it should have put in place", n)
		}
		other.leads(kept.Key, "https://example.com/page")

		_, err := f.Restore(t.Context(), deleted.Key)
		f.must(err)
		f.must(sync.Look(t.Context()))
		other.leads(deleted.Key, "https://example.com/page")
	})
}

func TestSyncSeesWhatIsLate(t *testing.T) {
	each(t, func(f fixture) {
		l := f.add()
		other := f.another()
		f.clock.Advance(time.Hour)
		sync := cache.NewSync(other.Store, other.cache)

		// A reader that took its time: it read before the change, and fills the cache after the look.
		slow := f
		slow.Store = shortlinks.NewStore(f.db, f.clock.Now, overtaken{other.cache, func() {
			f.move(l.Key, "https://example.com/new")
			f.must(sync.Look(t.Context()))
		}}, visits.New(), f.opts)
		slow.leads(l.Key, "https://example.com/page")
		f.clock.Advance(time.Second)
		f.must(sync.Look(t.Context()))
		other.leads(l.Key, "https://example.com/new")

		// An instance whose clock is behind, and one whose clock is ahead.
		for _, wrong := range []time.Duration{-4 * time.Second, 4 * time.Second} {
			f.clock.Advance(time.Minute)
			f.must(sync.Look(t.Context()))
			its := modelstest.NewClock()
			its.Advance(f.clock.Now().Sub(its.Now()) + wrong)
			there := f
			there.Store = shortlinks.NewStore(f.db, its.Now, f.another().cache, visits.New(), f.opts)
			to := "https://example.com/" + wrong.String()
			there.move(l.Key, to)
			f.must(sync.Look(t.Context()))
			other.leads(l.Key, to)
		}

		// The clock of this one is set back: what it changes now bears a time of long ago.
		f.clock.Advance(-time.Hour)
		late := f.add()
		other.leads(late.Key, "https://example.com/page")
		f.clock.Advance(time.Second)
		f.move(late.Key, "https://example.com/back")
		f.must(sync.Look(t.Context()))
		other.leads(late.Key, "https://example.com/back")
	})
}

// What changed while the database did not answer is seen when it does again.
func TestSyncForgetsNothing(t *testing.T) {
	each(t, func(f fixture) {
		l := f.add()
		other := f.another()
		other.leads(l.Key, "https://example.com/page")
		sync := cache.NewSync(other.Store, other.cache)
		f.must(sync.Look(t.Context()))
		f.move(l.Key, "https://example.com/new")
		away, cancel := context.WithCancel(t.Context())
		cancel()
		for range 10 {
			f.clock.Advance(time.Minute)
			if sync.Look(away) == nil {
				t.Fatal("a look that cannot have seen anything says it has")
			}
		}
		queries := modelstest.Queries(t, f.db)
		f.must(sync.Look(t.Context()))
		want := int64(1)
		if f.db.Engine == models.Postgres { // it also asks for open transactions
			want = 2
		}
		if n := queries.Load(); n != want {
			t.Errorf("a look takes %d statements, want %d", n, want)
		}
		other.leads(l.Key, "https://example.com/new")
	})
}

func TestSyncOfMany(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	other := f.another()
	sync := cache.NewSync(other.Store, other.cache)
	var keys []string
	for range 700 { // more than are refreshed at once
		keys = append(keys, f.add().Key)
		other.leads(keys[len(keys)-1], "https://example.com/page")
	}
	modelstest.Exec(t, f.db, "UPDATE short_links SET long_url = 'https://example.com/new', updated_at = updated_at + 1")
	f.must(sync.Look(t.Context()))
	for _, k := range keys {
		other.leads(k, "https://example.com/new")
	}
}
