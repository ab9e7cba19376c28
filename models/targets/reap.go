package targets

import (
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// maxRollUps is about how many hours and days a target has at most.
const maxRollUps = int(hourRetention/time.Hour + dayRetention/models.Day)

// ReapResults deletes up to limit check results: those older than RESULT_RETENTION,
// then those of a target that can no longer be restored.
func (s *Store) ReapResults(tx *gorm.DB, limit int) (int64, error) {
	return s.reapHistory(tx, limit, "check_results", "target_seq, checked_at", "checked_at < ? ORDER BY checked_at", s.opts.Retention)
}

// ReapOutages deletes up to limit outages: those that are over and began longer ago
// than KeepDays, then those of a target that can no longer be restored.
func (s *Store) ReapOutages(tx *gorm.DB, limit int) (int64, error) {
	return s.reapHistory(tx, limit, "outages", "id", "started_at < ? AND ended_at IS NOT NULL ORDER BY started_at", dayRetention)
}

// reapHistory deletes up to limit rows of a table with a target_seq: those that are
// old, then those of one target that can no longer be restored.
func (s *Store) reapHistory(tx *gorm.DB, limit int, table, key, old string, kept time.Duration) (int64, error) {
	now := s.clock.Now()
	n, err := s.db.DeleteBatch(tx, limit, table, key, old, now.Add(-kept))
	if err != nil || n == int64(limit) {
		return n, err
	}
	// One target: for the rows of several, PostgreSQL may read the whole table.
	var seq int64
	err = tx.Raw("SELECT seq FROM targets WHERE deleted_at < ? AND EXISTS (SELECT 1 FROM "+table+` WHERE target_seq = targets.seq)
		ORDER BY deleted_at LIMIT 1`, now.Add(-KeepDeleted)).Scan(&seq).Error
	if err != nil || seq == 0 {
		return n, err
	}
	of, err := s.db.DeleteBatch(tx, limit-int(n), table, key, "target_seq = ?", seq)
	return n + of, err
}

// ReapTargets deletes targets that can no longer be restored, once they have neither
// results nor outages, of which there may be any number. Hours and days go with
// their target, so it deletes only as many targets as have up to limit of those, but
// at least one.
func (s *Store) ReapTargets(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, max(limit/maxRollUps, 1), "targets", "seq", `deleted_at < ?
		AND NOT EXISTS (SELECT 1 FROM check_results WHERE target_seq = targets.seq)
		AND NOT EXISTS (SELECT 1 FROM outages WHERE target_seq = targets.seq)
		ORDER BY deleted_at`, s.clock.Now().Add(-KeepDeleted))
}
