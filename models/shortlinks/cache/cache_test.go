package cache_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
)

func randomKey() string { return fmt.Sprintf("test-%x", rand.Uint64()) }

func leading(to string, link, version int64) shortlinks.Entry {
	return shortlinks.Entry{LongURL: "https://example.com/" + to, Link: link, Version: version}
}

var nobody = shortlinks.Entry{IsTombstone: true, Reason: shortlinks.ReasonUnknown}

func put(e shortlinks.Entry) func(shortlinks.Cache, string) {
	return func(c shortlinks.Cache, key string) { c.Put(context.Background(), key, e, time.Hour, start()) }
}

func announce(e shortlinks.Entry) func(shortlinks.Cache, string) {
	return func(c shortlinks.Cache, key string) { c.Announce(context.Background(), key, e, time.Hour, start()) }
}

func refresh(e shortlinks.Entry) func(shortlinks.Cache, string) {
	return func(c shortlinks.Cache, key string) {
		c.Refresh(context.Background(), []shortlinks.Change{{Key: key, Entry: e, TTL: time.Hour}})
	}
}

func TestCacheKeepsTheNewest(t *testing.T) {
	old, newer := leading("old", 1, 10), leading("new", 1, 11)
	over := shortlinks.Entry{IsTombstone: true, Reason: shortlinks.ReasonExpired, Link: 1, Version: 11}
	type steps []func(shortlinks.Cache, string)
	eachCache(t, func(t *testing.T, c shortlinks.Cache, cold func() shortlinks.Cache) {
		for name, test := range map[string]struct {
			steps
			want string // "" = nothing
		}{
			"nothing":                          {steps{}, ""},
			"what was put":                     {steps{put(old)}, "https://example.com/old"},
			"a newer one":                      {steps{put(old), put(newer)}, "https://example.com/new"},
			"not an older one":                 {steps{put(newer), put(old)}, "https://example.com/new"},
			"one as new":                       {steps{put(newer), put(over)}, "expired"},
			"a newer announced":                {steps{put(old), announce(newer)}, "https://example.com/new"},
			"announced, then read before that": {steps{announce(newer), put(old)}, "https://example.com/new"},
			"announced late":                   {steps{announce(newer), announce(old)}, "https://example.com/new"},
			"refreshed":                        {steps{put(old), refresh(newer)}, "https://example.com/new"},
			"refreshed with an older one":      {steps{put(newer), refresh(old)}, "https://example.com/new"},
			"refreshed where nothing is":       {steps{refresh(newer)}, ""},
			"the key taken anew":               {steps{put(newer), put(leading("again", 2, 1))}, "https://example.com/again"},
			"the key of long ago":              {steps{put(leading("again", 2, 1)), put(newer), refresh(newer)}, "https://example.com/again"},
			"no link after a link":             {steps{put(old), put(nobody)}, "https://example.com/old"},
		} {
			key := randomKey()
			for _, do := range test.steps {
				do(c, key)
			}
			told := map[string]shortlinks.Cache{"itself": c}
			if cold != nil {
				told["another"] = cold()
			}
			for who, c := range told {
				e, ok := c.Get(t.Context(), key, start())
				got := e.LongURL + string(e.Reason)
				if got != test.want || ok != (test.want != "") {
					t.Errorf("%s: %s has %q, want %q", name, who, got, test.want)
				}
			}
		}
	})
}

func TestUnknownKeys(t *testing.T) {
	eachCache(t, func(t *testing.T, c shortlinks.Cache, cold func() shortlinks.Cache) {
		key := randomKey()
		put(nobody)(c, key)
		if e, ok := c.Get(t.Context(), key, start()); !ok || e != nobody {
			t.Errorf("got %+v", e)
		}
		if cold != nil {
			if e, ok := cold().Get(t.Context(), key, start()); ok {
				t.Errorf("whoever guesses keys fills Redis: %+v", e)
			}
		}
		refresh(leading("made", 1, 1))(c, key)
		if e, _ := c.Get(t.Context(), key, start()); e != leading("made", 1, 1) {
			t.Errorf("the key was taken: got %+v", e)
		}
		put(nobody)(c, key)
		if e, _ := c.Get(t.Context(), key, start()); e.IsTombstone {
			t.Error("who read before the key was taken undid it")
		}
	})
}

func TestGuessedKeysDriveNothingOut(t *testing.T) {
	m := cache.NewMemory(100, nil)
	defer m.Close()
	for i := range 100 {
		m.Put(t.Context(), fmt.Sprintf("link-%d", i), leading("", 1, 1), time.Hour, time.Now())
	}
	for i := range 20_000 {
		m.Put(t.Context(), fmt.Sprintf("guess-%d", i), nobody, time.Hour, time.Now())
	}
	for i := range 100 {
		if _, ok := m.Get(t.Context(), fmt.Sprintf("link-%d", i), time.Now()); !ok {
			t.Fatalf("link %d is driven out", i)
		}
	}
}

// whole is a full entry of an address of 60 bytes.
func whole(i int) shortlinks.Entry {
	end := time.Now().Add(time.Hour)
	return shortlinks.Entry{LongURL: fmt.Sprintf("https://example.com/%040d", i), ExpiresAt: &end, CreatedAt: time.Now(), Link: 1, Version: 1}
}

// The figure of SHORT_CACHE_SIZE in config.
func TestMemoryIsSmall(t *testing.T) {
	const size, most = 100_000, 40 << 20
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	m := cache.NewMemory(size, nil)
	defer m.Close()
	for i := range size {
		m.Put(t.Context(), fmt.Sprintf("%07d", i), whole(i), time.Hour, time.Now())
	}
	took := heap() - before
	t.Logf("%d entries take %.1f MB", m.Len(), float64(took)/1e6)
	if took > most {
		t.Errorf("that is more than %d MB", most>>20)
	}
}

func TestHitsAllocateNothing(t *testing.T) {
	m := cache.NewMemory(1000, nil)
	defer m.Close()
	m.Put(t.Context(), "key", whole(1), time.Hour, time.Now())
	m.Put(t.Context(), "none", nobody, time.Hour, time.Now())
	ctx, now := t.Context(), time.Now()
	if n := testing.AllocsPerRun(1000, func() { m.Get(ctx, "key", now); m.Get(ctx, "none", now); m.Get(ctx, "miss", now) }); n != 0 {
		t.Errorf("three Gets allocate %v times", n)
	}
	if m.Hits() != 2*m.Misses() {
		t.Errorf("%d hits, %d misses", m.Hits(), m.Misses())
	}
}

func TestMemoryEndsItsGoroutines(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	m := cache.NewMemory(1000, nil)
	put(leading("", 1, 1))(m, "key")
	m.Close()
	m.Close()
}

// overtaken is a Cache of which Put comes late: something happens first.
type overtaken struct {
	shortlinks.Cache
	first func()
}

func (o overtaken) Put(ctx context.Context, key string, e shortlinks.Entry, ttl time.Duration, read time.Time) {
	o.first()
	o.Cache.Put(ctx, key, e, ttl, read)
}

func TestReaderThatIsOvertakenUndoesNothing(t *testing.T) {
	eachCache(t, func(t *testing.T, c shortlinks.Cache, _ func() shortlinks.Cache) {
		f := newFixture(t, modelstest.New(t))
		f.Store = shortlinks.NewStore(f.db, f.clock.Now, c, visits.New(), f.opts)
		for name, change := range map[string]struct {
			do   func(key string)
			want string
		}{
			"edit": {func(key string) {
				_, err := f.Edit(t.Context(), key, shortlinks.Edit{LongURL: ptr("https://example.com/new")})
				f.must(err)
			}, "https://example.com/new"},
			"delete": {func(key string) { f.must(f.Delete(t.Context(), key)) }, "gone"},
			"disable": {func(key string) {
				_, err := f.Edit(t.Context(), key, shortlinks.Edit{Disabled: ptr(true)})
				f.must(err)
			}, "gone"},
		} {
			// Made by an instance of which this cache does not hear.
			l := f.another().add()
			reader := f
			reader.Store = shortlinks.NewStore(f.db, f.clock.Now, overtaken{c, func() { change.do(l.Key) }}, visits.New(), f.opts)
			reader.leads(l.Key, "https://example.com/page") // as it was when it was read
			if got := f.visit(l.Key); got != change.want {
				t.Errorf("%s: leads to %q, want %q", name, got, change.want)
			}
		}
	})
}
