package shortlinks

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// KeepDays is the retention period of daily visits, in days.
const KeepDays = 400

// reapRule is a condition for short links to delete, with its arguments and the column of
// its index.
type reapRule struct {
	where, order string
	args         []any
}

// reapRules returns the current conditions. The buffer time protects short links that are
// still active by the clock of another instance. A deleted short link can be restored for
// KeepDeleted, expired or not.
func (s *Store) reapRules() []reapRule {
	now := s.clock.Now()
	ended := now.Add(-s.opts.BufferTime)
	return []reapRule{
		{"expires_at <= ? AND deleted_at IS NULL", "expires_at", []any{ended}},
		{"exhausted_at <= ? AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > ?)", "exhausted_at", []any{ended, ended}},
		{"deleted_at <= ?", "deleted_at", []any{now.Add(-KeepDeleted)}},
	}
}

// ReapExpired deletes up to limit short links, with their visits, that expired before the
// buffer time or were deleted more than KeepDeleted ago. Several instances can run it at
// once. Caches need no update, because they compare each entry with the time.
func (s *Store) ReapExpired(tx *gorm.DB, limit int) (total int64, err error) {
	for _, p := range s.reapRules() {
		if total == int64(limit) {
			break
		}
		n, err := s.db.DeleteBatch(tx, limit-int(total), "short_links", "seq", p.where+" ORDER BY "+p.order, p.args...)
		if err != nil {
			return total, fmt.Errorf("delete short links: %w", err)
		}
		total += n
	}
	return total, nil
}

// Waiting returns the number of short links that ReapExpired would delete now, counted up to most.
func (s *Store) Waiting(ctx context.Context, most int) (total int, err error) {
	for _, p := range s.reapRules() {
		var n int
		err := s.db.Read(ctx).Raw("SELECT count(*) FROM (SELECT 1 FROM short_links WHERE "+p.where+" LIMIT ?) AS w",
			append(p.args, most)...).Scan(&n).Error
		if err != nil {
			return 0, fmt.Errorf("count short links to delete: %w", err)
		}
		total += n
	}
	return min(total, most), nil
}

// ReapDays deletes up to limit daily visit counts older than KeepDays.
func (s *Store) ReapDays(tx *gorm.DB, limit int) (int64, error) {
	n, err := s.db.DeleteBatch(tx, limit, "short_link_days", "short_link_seq, bucket_start", "bucket_start < ? ORDER BY bucket_start",
		s.clock.Now().Add(-KeepDays*models.Day))
	if err != nil {
		return 0, fmt.Errorf("delete old visits: %w", err)
	}
	return n, nil
}
