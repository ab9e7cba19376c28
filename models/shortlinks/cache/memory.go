// Package cache caches the entries of short links in memory and in Redis, and invalidates
// them when other instances change short links.
//
// Memory is the cache of one process. Memory.Poll reads the changes of other instances.
// Shared is the optional Redis cache behind it. ADR 14 explains why no entry older than
// shortlinks.MaxStale is used.
package cache

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
)

// maxUnknown is the number of cached unknown keys. They have a separate cache, so that
// guessed keys do not evict short links.
const maxUnknown = 10_000

// Memory is the shortlinks.Cache of one process.
type Memory struct {
	links        keyCache
	unknown      keyCache
	shared       *Shared // nil without Redis
	reading      reading
	clock        models.Clock
	start        time.Time
	hits, misses atomic.Int64

	polling sync.Mutex
	horizon atomic.Pointer[horizon]
	mu      sync.Mutex
	changed map[string]int64 // newest known version of each changed key
}

// keyCache is an otter.Cache. It is an interface for the reason that models.Cache gives.
type keyCache interface {
	models.Cache[string, cached]
	Compute(key string, remap func(old cached, found bool) (cached, otter.ComputeOp)) (cached, bool)
	ComputeIfPresent(key string, remap func(old cached) (cached, otter.ComputeOp)) (cached, bool)
	EstimatedSize() int
	StopAllGoroutines() bool
}

type cached struct {
	shortlinks.Entry
	ttl  time.Duration
	upTo int64         // contains all changes of the key up to this version
	asOf time.Duration // contains all changes committed before; since Memory.start, by the monotonic clock
}

// NewMemory returns a cache of at most size entries. clock must be the clock of its store.
// Close stops its goroutines.
func NewMemory(size int, clock models.Clock) *Memory { return newMemory(size, clock, nil) }

func newMemory(size int, clock models.Clock, ttl otter.Clock) *Memory {
	cache := func(size int) keyCache {
		return otter.Must(&otter.Options[string, cached]{
			MaximumSize: size, Clock: ttl,
			ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, cached]) time.Duration { return e.Value.ttl }),
		})
	}
	m := &Memory{
		links: cache(size), unknown: cache(min(size, maxUnknown)), clock: clock, start: clock.Instant(), changed: map[string]int64{},
		reading: reading{slots: make(chan struct{}, maxBatches), timeout: shortlinks.LoadTimeout, missing: map[string]*miss{}},
	}
	m.horizon.Store(&horizon{polled: never})
	return m
}

// Close stops the goroutines of the cache.
func (m *Memory) Close() {
	m.links.StopAllGoroutines()
	m.unknown.StopAllGoroutines()
}

// Hits returns the number of cache hits since the start.
func (m *Memory) Hits() int64 { return m.hits.Load() }

// Misses returns the number of cache misses since the start.
func (m *Memory) Misses() int64 { return m.misses.Load() }

// Len returns the approximate number of entries, including unknown keys.
func (m *Memory) Len() int { return m.links.EstimatedSize() + m.unknown.EstimatedSize() }

// Get implements shortlinks.Cache. A hit takes no lock and allocates nothing.
func (m *Memory) Get(ctx context.Context, key string, now time.Time, load shortlinks.Load) (shortlinks.Entry, error) {
	at := now.Sub(m.start)
	if h, ok := m.peek(key); ok && at-m.asOf(&h) < shortlinks.MaxStale {
		m.hits.Add(1)
		return h.Entry, nil
	}
	m.misses.Add(1)
	return m.find(ctx, strings.Clone(key), at, load) // a substring in the cache would keep the whole request in memory
}

func (m *Memory) peek(key string) (h cached, ok bool) {
	if h, ok = m.links.GetIfPresent(key); !ok {
		h, ok = m.unknown.GetIfPresent(key)
	}
	return h, ok
}

// put stores an entry unless it may miss a known change of its key.
func (m *Memory) put(key string, h cached) (stored bool) {
	m.links.Compute(key, func(old cached, found bool) (cached, otter.ComputeOp) {
		switch {
		case found && old.upTo > h.upTo, !m.isComplete(key, h.upTo):
			return cached{}, otter.CancelOp
		case h.Reason == shortlinks.ReasonUnknown:
			stored = true
			m.unknown.Set(key, h) // under the lock of the key, so that it is never in both caches
			if found {
				return cached{}, otter.InvalidateOp
			}
			return cached{}, otter.CancelOp
		}
		stored = true
		m.unknown.Invalidate(key)
		return h, otter.WriteOp
	})
	return stored
}

// Announce implements shortlinks.Cache.
func (m *Memory) Announce(ctx context.Context, key string, e shortlinks.Entry, ttl time.Duration, started time.Time) {
	m.invalidate(key, e.Version)
	h := cached{Entry: e, ttl: ttl, upTo: e.Version, asOf: started.Sub(m.start)}
	m.put(key, h)
	if m.shared != nil {
		m.shared.announce(ctx, key, h)
	}
}

// End implements shortlinks.Cache.
func (m *Memory) End(key string, version int64, tombstone shortlinks.Entry, ttl time.Duration) {
	m.links.ComputeIfPresent(key, func(h cached) (cached, otter.ComputeOp) {
		if h.Version != version {
			return cached{}, otter.CancelOp
		}
		h.Entry, h.ttl = tombstone, ttl
		return h, otter.WriteOp
	})
}

// now returns the time since the start.
func (m *Memory) now() time.Duration { return m.clock.Instant().Sub(m.start) }
