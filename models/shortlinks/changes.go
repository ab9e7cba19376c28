package shortlinks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// lockChanges serializes transactions that change short links, from getting a version
// until the commit.
const lockChanges models.LockKey = 7_110_913_003

// newVersion returns the version of a change, greater than that of every earlier change.
// No other transaction gets a version before this one ends, so changes commit in version
// order. A version is the time in microseconds, or the last version plus one. So versions
// also grow after the database was restored from a backup.
func (s *Store) newVersion(tx *gorm.DB) (version int64, err error) {
	if err := s.db.OneAtATime(tx, lockChanges); err != nil {
		return 0, err
	}
	now := s.clock.Now()
	res := tx.Raw(`UPDATE short_link_version SET newest = CASE WHEN newest < ? THEN ? ELSE newest + 1 END
		WHERE id = 1 RETURNING newest`, now, now).Scan(&version)
	if res.Error == nil && res.RowsAffected == 0 {
		res.Error = errors.New("table short_link_version is empty")
	}
	if res.Error != nil {
		return 0, fmt.Errorf("get version of change: %w", res.Error)
	}
	return version, nil
}

// ChangedAfter returns up to limit changes after a version, and the newest version. No
// change up to newest commits later. What the reaper moves or deletes is no change.
func (s *Store) ChangedAfter(ctx context.Context, version int64, limit int) (newest int64, changed []Change, err error) {
	var rows []struct {
		Newest   int64
		ShortKey *string
		Version  int64
	}
	err = s.db.Urgent().Read(ctx).Raw(`SELECT v.newest, l.short_key, coalesce(l.version, 0) AS version
		FROM short_link_version AS v LEFT JOIN (
			SELECT short_key, version FROM short_links WHERE version > ?
			UNION ALL SELECT short_key, version FROM archived_short_links WHERE version > ? LIMIT ?
		) AS l ON TRUE WHERE v.id = 1`, version, version, limit).Scan(&rows).Error
	if err == nil && len(rows) == 0 {
		err = errors.New("table short_link_version is empty")
	}
	if err != nil {
		return 0, nil, fmt.Errorf("read changed short links: %w", err)
	}
	for _, r := range rows {
		if r.ShortKey != nil {
			changed = append(changed, Change{*r.ShortKey, r.Version})
		}
	}
	return rows[0].Newest, changed, nil
}

// ReapedAfter returns the minimum time between the last change of a short link and its
// deletion by the reaper. Call ChangedAfter more often to see every change.
func (s *Store) ReapedAfter() time.Duration { return min(s.opts.BufferTime, KeepDeleted) }
