package shortlinks

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// claimAttempts is how often a claim is tried again because the link was
// changed meanwhile.
const claimAttempts = 3

// claim takes one of the visits of a link that has a MaxVisits: exactly so many
// are led on, however many come at once, to however many instances.
func (s *Store) claim(ctx context.Context, key string, e Entry) (Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	key = strings.Clone(key) // as in find
	for range claimAttempts {
		began := s.clock.Instant()
		var claimed []struct{ ExhaustedAt models.Time }
		err := s.db.Write(ctx, func(tx *gorm.DB) error {
			now := s.present()
			// What is known of the link must still be so: where it leads as well.
			claimed = nil
			return tx.Raw(`UPDATE short_links SET visits = visits + 1, last_visited_at = ?,
					exhausted_at = CASE WHEN visits + 1 >= max_visits THEN CAST(? AS BIGINT) END
				WHERE seq = ? AND updated_at = ? AND visits < max_visits AND (expires_at IS NULL OR expires_at > ?)
				RETURNING exhausted_at`, now, now, e.Link, e.Version, now).Scan(&claimed).Error
		})
		if err != nil {
			return Entry{}, notInTime(fmt.Errorf("claiming a visit: %w", err))
		}
		if len(claimed) > 0 {
			if !claimed[0].ExhaustedAt.IsZero() { // it was the last one
				s.cache.Put(ctx, key, e.tombstone(ReasonExhausted), s.opts.TombstoneTTL, began)
			}
			return e, nil
		}
		if e, err = s.load(ctx, key, s.clock.Instant()); err != nil {
			return Entry{}, notInTime(err)
		}
		if e.IsTombstone {
			return Entry{}, gone[e.Reason]
		}
		if !e.Limited {
			return e, nil
		}
	}
	return Entry{}, errBusy
}
