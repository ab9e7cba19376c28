package shortlinks

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
)

// maxUnknown is how many unknown keys are remembered. They have a place of
// their own: whoever guesses keys drives out no short link.
const maxUnknown = 10_000

// Memory is the Cache in this process.
type Memory struct {
	links        *otter.Cache[string, held]
	unknown      *otter.Cache[string, time.Duration]
	hits, misses atomic.Int64
}

// held is an entry and how long it is held.
type held struct {
	Entry
	ttl time.Duration
}

// NewMemory makes a cache of at most size entries (SHORT_CACHE_SIZE). Close it
// when it is no longer used.
func NewMemory(size int) *Memory { return newMemory(size, nil) }

func newMemory(size int, clock otter.Clock) *Memory {
	return &Memory{
		links: otter.Must(&otter.Options[string, held]{
			MaximumSize: size, Clock: clock,
			ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, held]) time.Duration { return e.Value.ttl }),
		}),
		unknown: otter.Must(&otter.Options[string, time.Duration]{
			MaximumSize: min(size, maxUnknown), Clock: clock,
			ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, time.Duration]) time.Duration { return e.Value }),
		}),
	}
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

// Get implements Cache.
func (m *Memory) Get(_ context.Context, key string) (e Entry, ok bool) {
	if e, ok = m.Peek(key); ok {
		m.hits.Add(1)
	} else {
		m.misses.Add(1)
	}
	return e, ok
}

// Peek implements Cache.
func (m *Memory) Peek(key string) (e Entry, ok bool) {
	if h, ok := m.links.GetIfPresent(key); ok {
		return h.Entry, true
	}
	if _, ok := m.unknown.GetIfPresent(key); ok {
		return unknown, true
	}
	return Entry{}, false
}

// Put implements Cache.
func (m *Memory) Put(_ context.Context, key string, e Entry, ttl time.Duration) {
	m.links.Compute(key, func(old held, found bool) (held, otter.ComputeOp) {
		switch {
		case found && e.compare(old.Entry) < 0:
			return held{}, otter.CancelOp
		case e.Reason == ReasonUnknown:
			m.unknown.Set(key, ttl) // within, so that it is never there beside a link
			return held{}, otter.CancelOp
		}
		m.unknown.Invalidate(key)
		return held{e, ttl}, otter.WriteOp
	})
}

// Announce implements Cache. Of other instances it knows nothing.
func (m *Memory) Announce(ctx context.Context, key string, e Entry, ttl time.Duration) {
	m.Put(ctx, key, e, ttl)
}

// Refresh implements Cache.
func (m *Memory) Refresh(_ context.Context, changes []Change) {
	for _, c := range changes {
		m.links.Compute(c.Key, func(old held, found bool) (held, otter.ComputeOp) {
			if !found {
				_, found = m.unknown.Invalidate(c.Key)
			}
			if !found || c.Entry.compare(old.Entry) <= 0 {
				return held{}, otter.CancelOp
			}
			return held{c.Entry, c.TTL}, otter.WriteOp
		})
	}
}
