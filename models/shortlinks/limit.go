package shortlinks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// claimAttempts is how often a claim is retried because the link was changed
// meanwhile.
const claimAttempts = 3

// maxClaims is how many claims run at a time. Those of one link wait for each other in
// the database, where they must not use up the connections that other redirects need.
const maxClaims = 2

// claim claims one of the visits of a link that has a MaxVisits. No more than
// MaxVisits claims succeed, on any number of instances.
func (s *Store) claim(ctx context.Context, key string, e Entry) (Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case s.claims <- struct{}{}:
		defer func() { <-s.claims }()
	case <-ctx.Done():
		return Entry{}, notInTime(fmt.Errorf("waiting to claim a visit: %w", ctx.Err()))
	}
	key = strings.Clone(key) // a cache that held a piece of the request would hold all of it
	for range claimAttempts {
		var claimed []struct{ ExhaustedAt models.Time }
		err := s.db.Urgent().Write(ctx, func(tx *gorm.DB) error {
			now := s.present()
			// The version: a claim is for the link as it is now, not for what a cache holds of it.
			claimed = nil
			return tx.Raw(`UPDATE short_links SET visits = visits + 1, last_visited_at = ?,
					exhausted_at = CASE WHEN visits + 1 >= max_visits THEN CAST(? AS BIGINT) END
				WHERE seq = ? AND version = ? AND visits < max_visits AND (expires_at IS NULL OR expires_at > ?)
				RETURNING exhausted_at`, now, now, e.Link, e.Version, now).Scan(&claimed).Error
		})
		if err != nil {
			return Entry{}, notInTime(fmt.Errorf("claiming a visit: %w", err))
		}
		if len(claimed) > 0 {
			if !claimed[0].ExhaustedAt.IsZero() { // it was the last one
				s.cache.End(key, e.Version, e.tombstone(ReasonExhausted), s.opts.TombstoneTTL)
			}
			return e, nil
		}
		var ttl time.Duration
		version := e.Version
		if e, ttl, err = s.read(ctx, key); err != nil {
			return Entry{}, notInTime(err)
		}
		if e.IsTombstone {
			s.cache.End(key, version, e, ttl)
			return Entry{}, gone[e.Reason]
		}
		if !e.Limited {
			return e, nil
		}
	}
	return Entry{}, errBusy
}
