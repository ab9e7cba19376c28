package shortlinks

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// KeepDays is for how many days the visits of a day are kept.
const KeepDays = 400

// past is one way for a short link to be past keeping: a condition and its arguments,
// and the column of its index.
type past struct {
	where, order string
	args         []any
}

// reapable returns the ways that apply now. Because of the buffer time, an instance
// whose clock is wrong deletes no link that is active by the clock of another one.
// A link that its owner deleted can be restored for KeepDeleted, whether it has
// expired or not.
func (s *Store) reapable() []past {
	now := s.clock.Now()
	ended := now.Add(-s.opts.BufferTime)
	return []past{
		{"expires_at <= ? AND deleted_at IS NULL", "expires_at", []any{ended}},
		{"exhausted_at <= ? AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > ?)", "exhausted_at", []any{ended, ended}},
		{"deleted_at <= ?", "deleted_at", []any{now.Add(-KeepDeleted)}},
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
		n, err := s.db.DeleteBatch(tx, limit-int(total), "short_links", "seq", p.where+" ORDER BY "+p.order, p.args...)
		if err != nil {
			return total, fmt.Errorf("deleting short links: %w", err)
		}
		total += n
	}
	return total, nil
}

// Waiting returns how many short links ReapEnded would delete now, counted up to most.
func (s *Store) Waiting(ctx context.Context, most int) (total int, err error) {
	for _, p := range s.reapable() {
		var n int
		err := s.db.Read(ctx).Raw("SELECT count(*) FROM (SELECT 1 FROM short_links WHERE "+p.where+" LIMIT ?) AS w",
			append(p.args, most)...).Scan(&n).Error
		if err != nil {
			return 0, fmt.Errorf("counting short links to delete: %w", err)
		}
		total += n
	}
	return min(total, most), nil
}

// ReapDays deletes the visits of up to limit days that are no longer kept.
func (s *Store) ReapDays(tx *gorm.DB, limit int) (int64, error) {
	n, err := s.db.DeleteBatch(tx, limit, "short_link_days", "short_link_seq, bucket_start", "bucket_start < ? ORDER BY bucket_start",
		s.clock.Now().Add(-KeepDays*models.Day))
	if err != nil {
		return 0, fmt.Errorf("deleting old visits: %w", err)
	}
	return n, nil
}
