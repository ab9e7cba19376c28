package cache

import (
	"context"
	"maps"
	"math"
	"time"

	"github.com/maypok86/otter/v2"

	"linkwatch/models/shortlinks"
)

const (
	// maxChanged is the number of changes that a process remembers.
	maxChanged = 10_000
	// lookTime is how long Look may take.
	lookTime = 10 * time.Second
	// never is before the start, and longer ago than any look.
	never = time.Duration(math.MinInt64 / 2)
)

// horizon is how far this process knows the changes of all instances.
type horizon struct {
	seen   int64         // all changes after floor and up to this version are known
	floor  int64         // looks make no entry current that may miss a change up to this version
	looked time.Duration // when the last look began, since Memory.start
}

// Look reads from the database which short links were changed since the last Look,
// by any instance, and invalidates their entries. It makes all others current as of
// its beginning.
//
// It may miss changes if it is the first, if there are too many to remember, or if
// the reaper may have deleted one since the last Look. Then it resets the cache: it
// makes no entry current that may miss a change up to now.
func (m *Memory) Look(ctx context.Context, store *shortlinks.Store) error {
	m.looking.Lock()
	defer m.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	last, began := m.horizon.Load(), m.now()
	after, room := last.seen, m.room()
	reset := began-last.looked >= store.ReapedAfter()
	if reset {
		after = math.MaxInt64
	}
	newest, changed, err := store.ChangedAfter(ctx, after, room+1)
	if err != nil {
		return err
	}
	if reset || len(changed) > room || newest < last.seen { // less: the database was restored from a backup
		m.mu.Lock()
		defer m.mu.Unlock()
		maps.DeleteFunc(m.changed, func(_ string, version int64) bool { return version <= max(newest, last.seen) })
		m.horizon.Store(&horizon{seen: newest, floor: newest, looked: began})
		return nil
	}
	for _, c := range changed {
		m.invalidate(c.Key, c.Version)
	}
	m.horizon.Store(&horizon{seen: newest, floor: last.floor, looked: began})
	return nil
}

// room returns how many more changes may be known.
func (m *Memory) room() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(0, maxChanged-len(m.changed))
}

// invalidate removes the entry of a key unless it has a change, and remembers the
// change, so that no entry is put later that misses it.
func (m *Memory) invalidate(key string, version int64) {
	m.mu.Lock()
	m.changed[key] = max(m.changed[key], version)
	m.mu.Unlock()
	m.links.Compute(key, func(old held, found bool) (held, otter.ComputeOp) {
		if found && old.upTo >= version {
			return held{}, otter.CancelOp
		}
		m.unknown.Invalidate(key)
		if !found {
			return held{}, otter.CancelOp
		}
		return held{}, otter.InvalidateOp
	})
}

// isComplete reports whether an entry of a key that has all changes up to a version
// has all that this process knows of, and can be kept current.
func (m *Memory) isComplete(key string, upTo int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return upTo >= m.horizon.Load().floor && upTo >= m.changed[key]
}

// asOf returns a time before which no change was committed that is missing in an
// entry of this cache.
func (m *Memory) asOf(h *held) time.Duration {
	if v := m.horizon.Load(); h.upTo >= v.floor {
		return max(h.asOf, v.looked)
	}
	return h.asOf
}
