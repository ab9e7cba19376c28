// Package cache holds the entries of short links in memory and in Redis, and keeps
// them current when other instances change short links.
//
// Memory is the cache of one process. Memory.Look tells it what other instances
// changed. Shared is the Redis behind it, if there is one. ADR 14 shows why no
// entry is used that is older than shortlinks.MaxStale.
package cache

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/singleflight"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
)

// maxUnknown is the number of unknown keys that are remembered. They have a cache
// of their own, so that guessed keys evict no short link.
const maxUnknown = 10_000

// Memory is the shortlinks.Cache of one process.
type Memory struct {
	links        *otter.Cache[string, held]
	unknown      *otter.Cache[string, held]
	shared       *Shared // nil without Redis
	loads        singleflight.Group
	clock        models.Clock
	start        time.Time
	hits, misses atomic.Int64

	looking sync.Mutex
	horizon atomic.Pointer[horizon]
	mu      sync.Mutex
	changed map[string]int64 // known changes: the newest version of each key
}

// held is an entry as it is in memory.
type held struct {
	shortlinks.Entry
	ttl  time.Duration
	upTo int64         // no change of the key up to this version is missing
	asOf time.Duration // no change that was committed before is missing; since Memory.start, by the monotonic clock
}

// NewMemory makes a cache of at most size entries (SHORT_CACHE_SIZE). clock is
// that of its store. Close it when it is no longer used.
func NewMemory(size int, clock models.Clock) *Memory { return newMemory(size, clock, nil) }

func newMemory(size int, clock models.Clock, ttl otter.Clock) *Memory {
	cache := func(size int) *otter.Cache[string, held] {
		return otter.Must(&otter.Options[string, held]{
			MaximumSize: size, Clock: ttl,
			ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, held]) time.Duration { return e.Value.ttl }),
		})
	}
	m := &Memory{
		links: cache(size), unknown: cache(min(size, maxUnknown)), clock: clock, start: clock.Instant(), changed: map[string]int64{},
	}
	m.horizon.Store(&horizon{looked: never})
	return m
}

// Close ends the cache's goroutines.
func (m *Memory) Close() {
	m.links.StopAllGoroutines()
	m.unknown.StopAllGoroutines()
}

// Hits returns the number of cache hits since the start.
func (m *Memory) Hits() int64 { return m.hits.Load() }

// Misses returns the number of cache misses since the start.
func (m *Memory) Misses() int64 { return m.misses.Load() }

// Len returns about how many entries are held, those of unknown keys included.
func (m *Memory) Len() int { return m.links.EstimatedSize() + m.unknown.EstimatedSize() }

// Get implements shortlinks.Cache. A hit takes no lock and allocates nothing.
func (m *Memory) Get(ctx context.Context, key string, now time.Time, load shortlinks.Load) (shortlinks.Entry, error) {
	at := now.Sub(m.start)
	if h, ok := m.peek(key); ok && at-m.asOf(&h) < shortlinks.MaxStale {
		m.hits.Add(1)
		return h.Entry, nil
	}
	m.misses.Add(1)
	return m.find(ctx, strings.Clone(key), at, load) // a cache that held a piece of the request would hold all of it
}

func (m *Memory) peek(key string) (h held, ok bool) {
	if h, ok = m.links.GetIfPresent(key); !ok {
		h, ok = m.unknown.GetIfPresent(key)
	}
	return h, ok
}

// find is Get for a visit at a time that missed. Visits that miss the same key at
// the same time share one read.
func (m *Memory) find(ctx context.Context, key string, at time.Duration, load shortlinks.Load) (shortlinks.Entry, error) {
	for {
		found, err, _ := m.loads.Do(key, func() (any, error) { return m.read(ctx, key, load) })
		if err != nil {
			return shortlinks.Entry{}, err
		}
		// The read of another visit may be too old for this one, if the process was stopped meanwhile.
		if h, _ := found.(held); at-h.asOf < shortlinks.MaxStale {
			return h.Entry, nil
		}
	}
}

// read reads the entry of a key into the cache, from Redis or from the database.
func (m *Memory) read(ctx context.Context, key string, load shortlinks.Load) (h held, err error) {
	now, seen := m.now(), m.horizon.Load().seen
	if h, ok := m.peek(key); ok { // another visit may have read it since this one missed
		if h.asOf = m.asOf(&h); now-h.asOf < shortlinks.MaxStale {
			return h, nil
		}
	}
	if m.shared != nil {
		if h, ok := m.shared.read(ctx, key, now); ok {
			return h, nil
		}
	}
	h = held{asOf: m.now()}
	if h.Entry, h.ttl, err = load(ctx, key); err != nil {
		return held{}, err
	}
	h.upTo = max(seen, h.Version)
	if m.put(key, h) && m.shared != nil {
		m.shared.write(ctx, key, h)
	}
	return h, nil
}

// put keeps an entry unless a change of its key may be missing in it that this
// process knows of, or knew of.
func (m *Memory) put(key string, h held) (kept bool) {
	m.links.Compute(key, func(old held, found bool) (held, otter.ComputeOp) {
		switch {
		case found && old.upTo > h.upTo, !m.isComplete(key, h.upTo):
			return held{}, otter.CancelOp
		case h.Reason == shortlinks.ReasonUnknown:
			kept = true
			m.unknown.Set(key, h) // under the lock of the key, so that it is never there beside a link
			if found {
				return held{}, otter.InvalidateOp
			}
			return held{}, otter.CancelOp
		}
		kept = true
		m.unknown.Invalidate(key)
		return h, otter.WriteOp
	})
	return kept
}

// Announce implements shortlinks.Cache.
func (m *Memory) Announce(ctx context.Context, key string, e shortlinks.Entry, ttl time.Duration, began time.Time) {
	m.invalidate(key, e.Version)
	h := held{Entry: e, ttl: ttl, upTo: e.Version, asOf: began.Sub(m.start)}
	m.put(key, h)
	if m.shared != nil {
		m.shared.announce(ctx, key, h)
	}
}

// End implements shortlinks.Cache.
func (m *Memory) End(key string, version int64, tombstone shortlinks.Entry, ttl time.Duration) {
	m.links.ComputeIfPresent(key, func(h held) (held, otter.ComputeOp) {
		if h.Version != version {
			return held{}, otter.CancelOp
		}
		h.Entry, h.ttl = tombstone, ttl
		return h, otter.WriteOp
	})
}

// now returns the time since the start.
func (m *Memory) now() time.Duration { return m.clock.Instant().Sub(m.start) }
