package shortlinks

import (
	"context"
	"fmt"
	"time"

	"linkwatch/models"
)

const (
	// lookBack is how much older than the last look a change may be and is seen
	// still: the clocks of instances may differ by five seconds, and a visit that
	// read the change's row before it may take maxRead to fill a cache from the
	// database, and MaxStale more from Redis.
	lookBack = 8 * time.Second
	// maxOpen is how long before its commit a change on PostgreSQL may have begun
	// and still be found. Requests end sooner.
	maxOpen = time.Minute
	// refreshAtOnce is how many changes caches are told of at once.
	refreshAtOnce = 500
)

// Sync brings to the cache of a store what other instances changed and this
// one did not hear of: without Redis everything, with it what got lost. As long
// as it does, the cache is current.
type Sync struct {
	store *Store
	// from is where the next look must begin according to each of the last two. A
	// visit may read a row before the last look and fill the cache after it.
	from [2]models.Time
}

// NewSync makes a Sync of a store whose cache is empty.
func NewSync(store *Store) *Sync {
	now := store.Now()
	return &Sync{store, [2]models.Time{now, now}}
}

// Look reads what was committed since the last Look (and shortly before: see
// lookBack) into the cache. Calls must not overlap, and follow each other by
// more than maxRead.
func (s *Sync) Look(ctx context.Context) error {
	began := instant(s.store.clock)
	now := models.At(began)
	// The next looks find what is not committed yet. Its updated_at is from after its beginning.
	oldest, err := s.store.oldestChange(ctx, now)
	if err != nil {
		return err
	}
	since := models.At(earlier(earlier(s.from[0].Time, s.from[1].Time), now.Time)) // now: the clock may have been set back
	if err := s.store.refresh(ctx, since.Add(-lookBack)); err != nil {
		return err
	}
	s.from = [2]models.Time{s.from[1], oldest}
	s.store.cache.Looked(began)
	return nil
}

// oldestChange is when the oldest open write transaction began; now if there is
// none. SQLite cannot tell: there a change is taken to be committed within lookBack.
func (s *Store) oldestChange(ctx context.Context, now models.Time) (models.Time, error) {
	if s.db.Engine != models.Postgres {
		return now, nil
	}
	var began models.Time
	err := s.db.Read(ctx).Raw(`SELECT CAST(extract(epoch FROM min(xact_start)) * 1000000 AS BIGINT) FROM pg_stat_activity
		WHERE backend_xid IS NOT NULL AND datname = current_database()`).Scan(&began).Error
	if err != nil {
		return now, fmt.Errorf("looking for changes that are under way: %w", err)
	}
	if began.IsZero() {
		return now, nil
	}
	return models.At(earlier(later(began.Time, now.Add(-maxOpen).Time), now.Time)), nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
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
