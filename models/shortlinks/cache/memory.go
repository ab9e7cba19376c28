// Package cache keeps the entries of short links in memory and in Redis, and
// keeps them current when other instances change short links.
//
// Memory is the cache of one process. Shared puts Redis behind it. Sync reads the
// changes of other instances from the database. An entry is used only as long as
// no change older than shortlinks.MaxStale can be missing in it.
package cache

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
)

// maxUnknown is how many unknown keys are remembered. They are kept apart from
// short links, so that guessed keys drive out no short link.
const maxUnknown = 10_000

// Memory is the shortlinks.Cache of one process.
type Memory struct {
	links        *otter.Cache[string, held]
	unknown      *otter.Cache[string, held] // without an Entry
	currency     currency
	hits, misses atomic.Int64
}

// held is an entry, how long it is kept, and when it may be used.
type held struct {
	shortlinks.Entry
	ttl time.Duration
	validity
}

// NewMemory makes a cache of at most size entries (SHORT_CACHE_SIZE). clock is
// the one of its store. Close it when it is no longer used.
func NewMemory(size int, clock models.Clock) *Memory { return newMemory(size, clock, nil) }

func newMemory(size int, clock models.Clock, ttl otter.Clock) *Memory {
	cache := func(size int) *otter.Cache[string, held] {
		return otter.Must(&otter.Options[string, held]{
			MaximumSize: size, Clock: ttl,
			ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, held]) time.Duration { return e.Value.ttl }),
		})
	}
	return &Memory{links: cache(size), unknown: cache(min(size, maxUnknown)), currency: newCurrency(clock)}
}

// Close ends the cache's goroutines.
func (m *Memory) Close() {
	m.links.StopAllGoroutines()
	m.unknown.StopAllGoroutines()
}

// Hits is how many entries were asked for and found since the start.
func (m *Memory) Hits() int64 { return m.hits.Load() }

// Misses is how many entries were asked for and not found since the start.
func (m *Memory) Misses() int64 { return m.misses.Load() }

// Len is about how many entries are held, those of unknown keys included.
func (m *Memory) Len() int { return m.links.EstimatedSize() + m.unknown.EstimatedSize() }

// Get implements shortlinks.Cache.
func (m *Memory) Get(_ context.Context, key string, now time.Time) (e shortlinks.Entry, ok bool) {
	if e, ok = m.Peek(key, now); ok {
		m.hits.Add(1)
	} else {
		m.misses.Add(1)
	}
	return e, ok
}

// Peek implements shortlinks.Cache.
func (m *Memory) Peek(key string, now time.Time) (e shortlinks.Entry, ok bool) {
	if h, ok := m.links.GetIfPresent(key); ok {
		return h.Entry, m.currency.allows(h.validity, now)
	}
	if h, ok := m.unknown.GetIfPresent(key); ok {
		return shortlinks.UnknownEntry(), m.currency.allows(h.validity, now)
	}
	return shortlinks.Entry{}, false
}

// Put implements shortlinks.Cache.
func (m *Memory) Put(_ context.Context, key string, e shortlinks.Entry, ttl time.Duration, read time.Time) {
	m.put(key, e, ttl, func() validity { return m.currency.of(read) })
}

// put keeps an entry unless there is a newer one. valid is called under the lock of
// the key, so a Refresh of the key is either over by then or finds the entry.
func (m *Memory) put(key string, e shortlinks.Entry, ttl time.Duration, valid func() validity) {
	m.links.Compute(key, func(old held, found bool) (held, otter.ComputeOp) {
		h := held{e, ttl, valid()}
		switch {
		case found && e.Compare(old.Entry) < 0:
			return held{}, otter.CancelOp
		case e.Reason == shortlinks.ReasonUnknown:
			m.unknown.Set(key, held{ttl: ttl, validity: h.validity}) // within, so that it is never there beside a link
			return held{}, otter.CancelOp
		case found:
			// The newer entry is at least as current as the older one.
			h.validity = h.or(old.validity)
		}
		m.unknown.Invalidate(key)
		return h, otter.WriteOp
	})
}

// Announce implements shortlinks.Cache. It does not know of other instances.
func (m *Memory) Announce(ctx context.Context, key string, e shortlinks.Entry, ttl time.Duration, began time.Time) {
	m.Put(ctx, key, e, ttl, began)
}

// Refresh implements shortlinks.Cache.
func (m *Memory) Refresh(_ context.Context, changes []shortlinks.Change) {
	for _, c := range changes {
		m.links.Compute(c.Key, func(old held, found bool) (held, otter.ComputeOp) {
			if !found {
				old, found = m.unknown.Invalidate(c.Key)
			}
			if !found || c.Entry.Compare(old.Entry) <= 0 {
				return held{}, otter.CancelOp
			}
			return held{c.Entry, c.TTL, old.validity}, otter.WriteOp
		})
	}
}

// Looked implements shortlinks.Cache.
func (m *Memory) Looked(began time.Time) { m.currency.looked(began) }
