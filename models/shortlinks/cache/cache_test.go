package cache_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
)

func randomKey() string { return fmt.Sprintf("test-%x", rand.Uint64()) }

func reads(e shortlinks.Entry) shortlinks.Load {
	return func(context.Context, []string) ([]shortlinks.Loaded, error) {
		return []shortlinks.Loaded{{Entry: e, TTL: time.Hour}}, nil
	}
}

// whole returns a full entry with a destination of 60 bytes.
func whole(i int) shortlinks.Entry {
	end := time.Now().Add(time.Hour)
	return shortlinks.Entry{LongURL: fmt.Sprintf("https://example.com/%040d", i), ExpiresAt: &end, CreatedAt: time.Now(), Link: 1, Version: 1}
}

// get fails the test if a cache returns an error.
func get(t *testing.T, c shortlinks.Cache, key string, load shortlinks.Load) shortlinks.Entry {
	t.Helper()
	return getAt(t, c, time.Now(), key, load)
}

func getAt(t *testing.T, c shortlinks.Cache, now time.Time, key string, load shortlinks.Load) shortlinks.Entry {
	t.Helper()
	e, err := c.Get(t.Context(), key, now, load)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestUnknownKeysDoNotEvictLinks(t *testing.T) {
	clock := modelstest.NewClock() // the clock does not move, so no entry becomes stale
	m := cache.NewMemory(100, clock.Now)
	defer m.Close()
	// One load for all keys: a visit may be answered by a read that an earlier one began.
	load := func(ctx context.Context, keys []string) ([]shortlinks.Loaded, error) {
		if strings.HasPrefix(keys[0], "guess") {
			return reads(shortlinks.UnknownEntry())(ctx, keys)
		}
		return reads(whole(1))(ctx, keys)
	}
	for i := range 100 {
		getAt(t, m, clock.Now(), fmt.Sprintf("link-%d", i), load)
	}
	for i := range 20_000 {
		getAt(t, m, clock.Now(), fmt.Sprintf("guess-%d", i), load)
	}
	before := m.Misses()
	for i := range 100 {
		getAt(t, m, clock.Now(), fmt.Sprintf("link-%d", i), load)
	}
	if n := m.Misses() - before; n > 0 {
		t.Errorf("got %d of 100 links evicted", n)
	}
}

// The memory that config documents for SHORT_CACHE_SIZE.
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
		get(t, m, fmt.Sprintf("%07d", i), reads(whole(i)))
	}
	took := heap() - before
	t.Logf("%d entries use %.1f MB", m.Len(), float64(took)/1e6)
	if took > most {
		t.Errorf("want at most %d MB", most>>20)
	}
}

func TestHitsAllocateNothing(t *testing.T) {
	m := cache.NewMemory(1000, nil)
	defer m.Close()
	link, unknown := reads(whole(1)), reads(shortlinks.UnknownEntry())
	get(t, m, "key", link)
	get(t, m, "none", unknown)
	ctx, now := t.Context(), time.Now()
	n := testing.AllocsPerRun(1000, func() {
		_, _ = m.Get(ctx, "key", now, link)
		_, _ = m.Get(ctx, "none", now, unknown)
	})
	if n != 0 {
		t.Errorf("got %v allocations for two hits, want 0", n)
	}
	if h := m.Hits(); h != 2*1001 || m.Misses() != 2 {
		t.Errorf("got %d hits, %d misses", h, m.Misses())
	}
}

func TestMemoryEndsItsGoroutines(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	m := cache.NewMemory(1000, nil)
	get(t, m, "key", reads(whole(1)))
	m.Close()
	m.Close()
}

// racing is a cache that calls then between a read of the database and its use.
type racing struct {
	shortlinks.Cache
	then func()
}

func (r racing) Get(ctx context.Context, key string, now time.Time, load shortlinks.Load) (shortlinks.Entry, error) {
	return r.Cache.Get(ctx, key, now, func(ctx context.Context, keys []string) ([]shortlinks.Loaded, error) {
		loaded, err := load(ctx, keys)
		r.then()
		return loaded, err
	})
}

// racing returns an instance with the cache of f that calls then after each read of the database.
func (f fixture) racing(then func()) fixture {
	f.Store = shortlinks.NewStore(f.db, f.clock.Now, racing{f.cache, then}, visits.New(), f.opts)
	return f
}

// A read from before a change on this instance does not undo the change.
func TestReadFromBeforeAChange(t *testing.T) {
	eachCache(t, func(t *testing.T, f fixture) {
		for name, c := range map[string]struct {
			do   func(key string)
			want string
		}{
			"edit":   {func(key string) { f.move(key, "https://example.com/new") }, "https://example.com/new"},
			"delete": {func(key string) { f.must(f.Delete(t.Context(), key)) }, "gone"},
			"disable": {func(key string) {
				_, err := f.Edit(t.Context(), key, shortlinks.Edit{Disabled: new(true)})
				f.must(err)
			}, "gone"},
		} {
			l := f.another().add() // this cache is not notified
			f.racing(func() { c.do(l.Key) }).redirectsTo(l.Key, "https://example.com/page")
			if got := f.visit(l.Key); got != c.want {
				t.Errorf("%s: got %q, want %q", name, got, c.want)
			}
		}
	})
}

// Concurrent misses of a key cost one lookup in Redis and one query.
func TestMissesAreShared(t *testing.T) {
	eachCache(t, func(t *testing.T, f fixture) {
		l := f.another().add()
		queries, redis := modelstest.Queries(t, f.db), int64(0)
		if f.shared != nil {
			redis = f.shared.Misses()
		}
		waiting, on := make(chan struct{}), make(chan struct{})
		slow := f.racing(func() { waiting <- struct{}{}; <-on })
		done := make(chan struct{})
		for range 50 {
			go func() { slow.redirectsTo(l.Key, "https://example.com/page"); done <- struct{}{} }()
		}
		<-waiting
		close(on)
		for range 50 {
			<-done
		}
		if n := queries.Load(); n != 1 {
			t.Errorf("got %d queries", n)
		}
		if f.shared != nil && f.shared.Misses()-redis != 1 {
			t.Errorf("got %d lookups in Redis", f.shared.Misses()-redis)
		}
	})
}
