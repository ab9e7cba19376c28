package shortlinks

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// KeepDays is the retention period of daily visits, in days.
const KeepDays = 400

// maxMovedVisits is the number of rows of visits after which a batch moves no further short link. A short link has at most
// KeepDays + MaxReferrers rows.
const maxMovedVisits = 10_000

// reapRule is a condition for rows to delete.
type reapRule struct {
	table, key string // the columns of its primary key
	where      string
	args       []any
	order      string // a column that an index has
	archived   bool   // they are short links, which move to the archive instead
}

// expired returns the current rules for short links. The buffer time protects short links that are still active by the clock
// of another instance. A deleted short link can be restored for KeepDeleted, expired or not.
func (s *Store) expired() []reapRule {
	now := s.clock.Now()
	ended := now.Add(-s.opts.BufferTime)
	return []reapRule{
		{live.links, "seq", "expires_at <= ? AND deleted_at IS NULL", []any{ended}, "expires_at", true},
		{
			live.links, "seq", "exhausted_at <= ? AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > ?)",
			[]any{ended, ended}, "exhausted_at", true,
		},
		{live.links, "seq", "deleted_at <= ?", []any{now.Add(-KeepDeleted)}, "deleted_at", false},
	}
}

// ReapExpired moves up to limit short links, with their visits, to the archive if they expired before the buffer time, and
// deletes those that were deleted more than KeepDeleted ago. Several instances can run it at once. Caches need no update,
// because they compare each entry with the time.
func (s *Store) ReapExpired(tx *gorm.DB, limit int) (int64, error) {
	return s.reap(tx, limit, s.expired())
}

// ReapArchived deletes up to limit short links of the archive, with their visits, that expired before the retention period
// or were deleted more than KeepDeleted ago.
func (s *Store) ReapArchived(tx *gorm.DB, limit int) (int64, error) {
	now := s.clock.Now()
	return s.reap(tx, limit, []reapRule{
		{archive.links, "seq", "ended_at <= ? AND deleted_at IS NULL", []any{now.Add(-s.opts.KeepExpired)}, "ended_at", false},
		{archive.links, "seq", "deleted_at <= ?", []any{now.Add(-KeepDeleted)}, "deleted_at", false},
	})
}

// ReapDays deletes up to limit daily visit counts older than KeepDays.
func (s *Store) ReapDays(tx *gorm.DB, limit int) (int64, error) {
	const key, where = "short_link_seq, bucket_start", "bucket_start < ?"
	old := []any{s.clock.Now().Add(-KeepDays * models.Day)}
	return s.reap(tx, limit, []reapRule{{live.days, key, where, old, "bucket_start", false}, {archive.days, key, where, old, "bucket_start", false}})
}

func (s *Store) reap(tx *gorm.DB, limit int, rules []reapRule) (total int64, err error) {
	for _, r := range rules {
		if total == int64(limit) {
			break
		}
		var n int64
		if r.archived {
			n, err = s.archiveBatch(tx, limit-int(total), r)
		} else {
			n, err = s.db.DeleteBatch(tx, limit-int(total), r.table, r.key, r.where+" ORDER BY "+r.order, r.args...)
		}
		if err != nil {
			return total, fmt.Errorf("clean up %s: %w", r.table, err)
		}
		total += n
	}
	return total, nil
}

// archiveBatch moves up to limit short links to the archive and returns their number.
func (s *Store) archiveBatch(tx *gorm.DB, limit int, r reapRule) (int64, error) {
	var seqs []int64
	visits := 0
	err := models.Each(tx.Raw("SELECT seq, (SELECT count(*) FROM short_link_days WHERE short_link_seq = short_links.seq)"+
		" + (SELECT count(*) FROM short_link_referrers WHERE short_link_seq = short_links.seq) FROM short_links WHERE "+r.where+
		" ORDER BY "+r.order+" LIMIT ?"+s.db.SkipLocked(), append(r.args, limit)...), func(row *models.Row) {
		seq, rows := row.Int64(), row.Int()
		if len(seqs) == 0 || visits+rows <= maxMovedVisits {
			seqs = append(seqs, seq)
			visits += rows
		}
	})
	if err != nil {
		return 0, fmt.Errorf("find short links: %w", err)
	}
	if len(seqs) == 0 {
		return 0, nil
	}
	return int64(len(seqs)), move(tx, live, archive, seqs)
}

// Waiting returns the number of short links that ReapExpired would move or delete now, counted up to most.
func (s *Store) Waiting(ctx context.Context, most int) (total int, err error) {
	for _, r := range s.expired() {
		var n int
		err := s.db.Read(ctx).Raw("SELECT count(*) FROM (SELECT 1 FROM short_links WHERE "+r.where+" LIMIT ?) AS w",
			append(r.args, most)...).Scan(&n).Error
		if err != nil {
			return 0, fmt.Errorf("count short links to clean up: %w", err)
		}
		total += n
	}
	return min(total, most), nil
}
