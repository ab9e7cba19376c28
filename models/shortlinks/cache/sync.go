package cache

import (
	"context"
	"time"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
)

const (
	// lookBack is how much older than the last look a change may be and is seen
	// still: the clocks of instances may differ by five seconds, and a visit that
	// read the change's row before it may take maxRead to fill a cache from the
	// database, and shortlinks.MaxStale more from Redis.
	lookBack = 8 * time.Second
	// refreshAtOnce is how many changes caches are told of at once.
	refreshAtOnce = 500
)

// Sync brings to the cache of a store what other instances changed and this
// one did not hear of: without Redis everything, with it what got lost. As long
// as it does, the cache is current.
type Sync struct {
	store *shortlinks.Store
	cache shortlinks.Cache
	// from is where the next look must begin according to each of the last two. A
	// visit may read a row before the last look and fill the cache after it.
	from [2]models.Time
}

// NewSync makes a Sync of a store and its cache, which is empty.
func NewSync(store *shortlinks.Store, cache shortlinks.Cache) *Sync {
	now := store.Now()
	return &Sync{store, cache, [2]models.Time{now, now}}
}

// Look reads what was committed since the last Look (and shortly before: see
// lookBack) into the cache. Calls must not overlap, and follow each other by
// more than maxRead.
func (s *Sync) Look(ctx context.Context) error {
	began := s.store.Instant()
	now := models.At(began)
	// The next looks find what is not committed yet. Its updated_at is from after its beginning.
	oldest, err := s.store.OldestChange(ctx, now)
	if err != nil {
		return err
	}
	since := models.At(earlier(earlier(s.from[0].Time, s.from[1].Time), now.Time)) // now: the clock may have been set back
	if err := refresh(ctx, s.store, s.cache, since.Add(-lookBack)); err != nil {
		return err
	}
	s.from = [2]models.Time{s.from[1], oldest}
	s.cache.Looked(began)
	return nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// refresh tells a cache what changed since a time.
func refresh(ctx context.Context, store *shortlinks.Store, cache shortlinks.Cache, since models.Time) error {
	changes := make([]shortlinks.Change, 0, refreshAtOnce)
	err := store.Changed(ctx, since, func(c shortlinks.Change) {
		changes = append(changes, c)
		if len(changes) == refreshAtOnce {
			cache.Refresh(ctx, changes)
			changes = changes[:0]
		}
	})
	if err != nil {
		return err
	}
	cache.Refresh(ctx, changes)
	return nil
}
