package shortlinks

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// KeepDays is for how many days the visits of a day are kept.
const KeepDays = 400

// past is one way for a short link to be past keeping.
type past struct {
	where, order string
	before       models.Time
}

// reapable returns the ways that apply now. Because of the buffer time, an instance
// whose clock is wrong deletes no link that is active by the clock of another one.
// A link that its owner deleted can be restored for KeepDeleted, whether it has
// expired or not.
func (s *Store) reapable() []past {
	now := s.clock.Now()
	ended := now.Add(-s.opts.BufferTime)
	return []past{
		{"expires_at <= @before AND deleted_at IS NULL", "expires_at", ended},
		{"exhausted_at <= @before AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > @before)", "exhausted_at", ended},
		{"deleted_at <= @before", "deleted_at", now.Add(-KeepDeleted)},
	}
}

// ReapEnded deletes up to limit short links that expired longer than the buffer time
// ago, or were deleted longer than KeepDeleted ago, with all their visits. Several
// instances may do so at once: each deletes others. It is no change for caches, which
// compare each entry with the time. The reaper calls it (models/cleanup.Remove).
func (s *Store) ReapEnded(tx *gorm.DB, limit int) (total int64, err error) {
	for _, p := range s.reapable() {
		if total == int64(limit) {
			break
		}
		res := tx.Exec(`DELETE FROM short_links WHERE seq IN (
			SELECT seq FROM short_links WHERE `+p.where+` ORDER BY `+p.order+` LIMIT @limit`+s.db.SkipLocked()+`)`,
			map[string]any{"before": p.before, "limit": limit - int(total)})
		if res.Error != nil {
			return total, fmt.Errorf("deleting short links: %w", res.Error)
		}
		total += res.RowsAffected
	}
	return total, nil
}

// Waiting returns how many short links ReapEnded would delete now, counted up to most.
func (s *Store) Waiting(ctx context.Context, most int) (total int, err error) {
	for _, p := range s.reapable() {
		var n int
		err := s.db.Read(ctx).Raw(`SELECT count(*) FROM (SELECT 1 FROM short_links WHERE `+p.where+` LIMIT @limit) AS w`,
			map[string]any{"before": p.before, "limit": most}).Scan(&n).Error
		if err != nil {
			return 0, fmt.Errorf("counting short links to delete: %w", err)
		}
		total += n
	}
	return min(total, most), nil
}

// ReapDays deletes the visits of up to limit days that are no longer kept.
func (s *Store) ReapDays(tx *gorm.DB, limit int) (int64, error) {
	res := tx.Exec(`DELETE FROM short_link_days WHERE (short_link_seq, bucket_start) IN (
		SELECT short_link_seq, bucket_start FROM short_link_days WHERE bucket_start < ? ORDER BY bucket_start LIMIT ?`+s.db.SkipLocked()+`)`, s.clock.Now().Add(-KeepDays*day), limit)
	if res.Error != nil {
		return 0, fmt.Errorf("deleting old visits: %w", res.Error)
	}
	return res.RowsAffected, nil
}
