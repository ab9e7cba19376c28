package shortlinks

import (
	"context"
	"fmt"
	"time"

	"linkwatch/models"
)

const (
	// changesRead is how many changed short links are read at once.
	changesRead = 1000
	// maxOpen is how long before its commit a change on PostgreSQL may have begun
	// and still be found. Requests end sooner.
	maxOpen = time.Minute
)

// Changed calls see for each short link, deleted ones too, that was added or
// changed since a time, in the order of the changes. What the reaper deletes is
// not a change.
func (s *Store) Changed(ctx context.Context, since models.Time, see func(Change)) error {
	after := ShortLink{UpdatedAt: since}
	for {
		var changed []ShortLink
		err := s.db.Read(ctx).Where("(updated_at, seq) > (?, ?)", after.UpdatedAt, after.Seq).
			Order("updated_at, seq").Limit(changesRead).Find(&changed).Error
		if err != nil {
			return fmt.Errorf("reading what changed: %w", err)
		}
		now := s.present()
		for _, l := range changed {
			e, ttl := s.entry(l, now)
			see(Change{l.Key, e, ttl})
		}
		if len(changed) < changesRead {
			return nil
		}
		after = changed[len(changed)-1]
	}
}

// OldestChange is when the oldest open write transaction began, but not more than
// maxOpen before now; now if there is none. SQLite cannot tell and answers now.
func (s *Store) OldestChange(ctx context.Context, now models.Time) (models.Time, error) {
	if s.db.Engine != models.Postgres {
		return now, nil
	}
	var began models.Time
	err := s.db.Read(ctx).Raw(`SELECT CAST(extract(epoch FROM min(xact_start)) * 1000000 AS BIGINT) FROM pg_stat_activity
		WHERE backend_xid IS NOT NULL AND datname = current_database()`).Scan(&began).Error
	if err != nil {
		return now, fmt.Errorf("looking for changes that are under way: %w", err)
	}
	switch earliest := now.Add(-maxOpen); {
	case began.IsZero() || began.After(now.Time):
		return now, nil
	case began.Before(earliest.Time):
		return earliest, nil
	}
	return began, nil
}
