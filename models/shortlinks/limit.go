package shortlinks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// claimAttempts limits retries of a claim after concurrent changes of the short link.
const claimAttempts = 3

// maxClaims limits concurrent claims. Claims of one short link wait for each other in the
// database and must not use up the connections of other redirects.
const maxClaims = 2

// claim claims a visit of a short link with a visit limit. At most MaxVisits claims
// succeed, on all instances together.
func (s *Store) claim(ctx context.Context, key string, e Entry) (Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, LoadTimeout)
	defer cancel()
	select {
	case s.claims <- struct{}{}:
		defer func() { <-s.claims }()
	case <-ctx.Done():
		return Entry{}, asBusy(fmt.Errorf("wait to claim visit: %w", ctx.Err()))
	}
	key = strings.Clone(key) // a substring in the cache would keep the whole request in memory
	for range claimAttempts {
		var claimed []struct{ ExhaustedAt models.Time }
		err := s.db.Urgent().Write(ctx, func(tx *gorm.DB) error {
			now := s.now()
			// The version makes the claim fail if the cached entry is outdated.
			claimed = nil
			return tx.Raw(`UPDATE short_links SET visits = visits + 1, last_visited_at = ?,
					exhausted_at = CASE WHEN visits + 1 >= max_visits THEN CAST(? AS BIGINT) END
				WHERE seq = ? AND version = ? AND visits < max_visits AND (expires_at IS NULL OR expires_at > ?)
				RETURNING exhausted_at`, now, now, e.Link, e.Version, now).Scan(&claimed).Error
		})
		if err != nil {
			return Entry{}, asBusy(fmt.Errorf("claim visit: %w", err))
		}
		if len(claimed) > 0 {
			if !claimed[0].ExhaustedAt.IsZero() { // this was the last visit
				s.cache.End(key, e.Version, e.tombstone(ReasonExhausted), s.opts.TombstoneTTL)
			}
			return e, nil
		}
		var ttl time.Duration
		version := e.Version
		if e, ttl, err = s.read(ctx, key); err != nil {
			return Entry{}, asBusy(err)
		}
		if e.IsTombstone {
			s.cache.End(key, version, e, ttl)
			return Entry{}, tombstoneErrors[e.Reason]
		}
		if !e.Limited {
			return e, nil
		}
	}
	return Entry{}, errBusy
}
