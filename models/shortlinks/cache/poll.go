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
	// maxChanged is the number of changes that a process keeps in memory.
	maxChanged  = 10_000
	pollTimeout = 10 * time.Second
	// never is a time before the start and before any poll.
	never = time.Duration(math.MinInt64 / 2)
)

// horizon is the range of changes of all instances that this process knows.
type horizon struct {
	version int64         // all changes after floor and up to this version are known
	floor   int64         // polls do not refresh entries that may miss a change up to this version
	polled  time.Duration // start of the last poll, since Memory.start
}

// Poll reads which short links were changed since the last Poll, by any instance, and
// invalidates their entries. All other entries are then current as of its start.
//
// It may miss changes on the first call or if there are too many. It may also miss one if
// the reaper may have deleted a changed short link since the last Poll. Then it resets
// the cache: entries that may miss a change are not current.
func (m *Memory) Poll(ctx context.Context, store *shortlinks.Store) error {
	m.polling.Lock()
	defer m.polling.Unlock()
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	last, started := m.horizon.Load(), m.now()
	after, room := last.version, m.room()
	reset := started-last.polled >= store.ReapedAfter()
	if reset {
		after = math.MaxInt64
	}
	newest, changed, err := store.ChangedAfter(ctx, after, room+1)
	if err != nil {
		return err
	}
	if reset || len(changed) > room || newest < last.version { // smaller: the database was restored from a backup
		m.mu.Lock()
		defer m.mu.Unlock()
		maps.DeleteFunc(m.changed, func(_ string, version int64) bool { return version <= max(newest, last.version) })
		m.horizon.Store(&horizon{version: newest, floor: newest, polled: started})
		return nil
	}
	for _, c := range changed {
		m.invalidate(c.Key, c.Version)
	}
	m.horizon.Store(&horizon{version: newest, floor: last.floor, polled: started})
	return nil
}

// room returns how many more changes fit into changed.
func (m *Memory) room() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(0, maxChanged-len(m.changed))
}

// invalidate removes the entry of a key unless it contains a change. It records the
// change, so that no entry without it is put later.
func (m *Memory) invalidate(key string, version int64) {
	m.mu.Lock()
	m.changed[key] = max(m.changed[key], version)
	m.mu.Unlock()
	m.links.Compute(key, func(old cached, found bool) (cached, otter.ComputeOp) {
		if found && old.upTo >= version {
			return cached{}, otter.CancelOp
		}
		m.unknown.Invalidate(key)
		if !found {
			return cached{}, otter.CancelOp
		}
		return cached{}, otter.InvalidateOp
	})
}

// isComplete reports whether an entry with all changes up to a version contains all
// changes that this process knows.
func (m *Memory) isComplete(key string, upTo int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return upTo >= m.horizon.Load().floor && upTo >= m.changed[key]
}

// asOf returns a time such that the entry contains all changes committed before it.
func (m *Memory) asOf(h *cached) time.Duration {
	if v := m.horizon.Load(); h.upTo >= v.floor {
		return max(h.asOf, v.polled)
	}
	return h.asOf
}
