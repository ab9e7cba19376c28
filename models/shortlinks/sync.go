package shortlinks

import (
	"context"
	"time"

	"github.com/linkwatch/linkwatch/models"
)

const (
	// lookBack is how much older than the last look a change may be and is seen
	// still: the clocks of several instances differ, a change takes a moment to be
	// there after its time was set, and so does a visit that read before it to
	// fill a cache.
	lookBack = 5 * time.Second
	// refreshAtOnce is how many changes caches are told of at once.
	refreshAtOnce = 500
)

// Sync brings to the cache of a store what other instances changed and this
// one did not hear of: without Redis everything, with it what got lost.
type Sync struct {
	store *Store
	last  models.Time // when it was last looked
}

// NewSync makes a Sync of a store whose cache is empty.
func NewSync(store *Store) *Sync { return &Sync{store, store.Now()} }

// Look reads what changed since the last Look (and shortly before: see
// lookBack) into the cache. Calls must not overlap.
func (s *Sync) Look(ctx context.Context) error {
	now := s.store.Now()
	since := s.last
	if now.Before(since.Time) { // the clock was set back
		since = now
	}
	if err := s.store.refresh(ctx, since.Add(-lookBack)); err != nil {
		return err
	}
	s.last = now
	return nil
}

// refresh tells the cache of what changed since a time.
func (s *Store) refresh(ctx context.Context, since models.Time) error {
	changes := make([]Change, 0, refreshAtOnce)
	err := s.Changed(ctx, since, func(key string, e Entry, ttl time.Duration) {
		changes = append(changes, Change{key, e, ttl})
		if len(changes) == refreshAtOnce {
			s.cache.Refresh(ctx, changes)
			changes = changes[:0]
		}
	})
	if err != nil {
		return err
	}
	s.cache.Refresh(ctx, changes)
	return nil
}
