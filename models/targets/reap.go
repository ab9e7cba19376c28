package targets

import (
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// maxRollUps is the approximate maximum of roll-ups of a target.
const maxRollUps = int(hourRetention/time.Hour + dayRetention/models.Day)

// ReapResults deletes up to limit check results: those older than RESULT_RETENTION,
// then those of a target that can no longer be restored.
func (s *Store) ReapResults(tx *gorm.DB, limit int) (int64, error) {
	return s.reapHistory(tx, limit, "check_results", "target_seq, checked_at", "checked_at < ? ORDER BY checked_at", s.opts.Retention)
}

// ReapOutages deletes up to limit outages: those that have ended and started more than
// KeepDays ago, then those of a target that can no longer be restored.
func (s *Store) ReapOutages(tx *gorm.DB, limit int) (int64, error) {
	return s.reapHistory(tx, limit, "outages", "id", "started_at < ? AND ended_at IS NOT NULL ORDER BY started_at", dayRetention)
}

// reapHistory deletes up to limit rows of a table with a target_seq: those that match
// old, then those of one target that can no longer be restored. old is a condition with
// the time of the retention as its parameter.
func (s *Store) reapHistory(tx *gorm.DB, limit int, table, key, old string, retention time.Duration) (int64, error) {
	now := s.clock.Now()
	n, err := s.db.DeleteBatch(tx, limit, table, key, old, now.Add(-retention))
	if err != nil || n == int64(limit) {
		return n, err
	}
	// One target only: for several, PostgreSQL may scan the whole table.
	var seq int64
	err = tx.Raw("SELECT seq FROM targets WHERE deleted_at < ? AND EXISTS (SELECT 1 FROM "+table+` WHERE target_seq = targets.seq)
		ORDER BY deleted_at LIMIT 1`, now.Add(-KeepDeleted)).Scan(&seq).Error
	if err != nil || seq == 0 {
		return n, err
	}
	more, err := s.db.DeleteBatch(tx, limit-int(n), table, key, "target_seq = ?", seq)
	return n + more, err
}

// ReapTargets deletes targets that can no longer be restored and have no results or
// outages left. Roll-ups are deleted with their target. Therefore it deletes only as many
// targets as have about limit roll-ups, but at least one.
func (s *Store) ReapTargets(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, max(limit/maxRollUps, 1), "targets", "seq", `deleted_at < ?
		AND NOT EXISTS (SELECT 1 FROM check_results WHERE target_seq = targets.seq)
		AND NOT EXISTS (SELECT 1 FROM outages WHERE target_seq = targets.seq)
		ORDER BY deleted_at`, s.clock.Now().Add(-KeepDeleted))
}
