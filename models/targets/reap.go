package targets

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"
)

// purgeBatch is how many rows one transaction deletes, so that whoever wants to
// write waits for milliseconds.
const purgeBatch = 1000

// ReapResults deletes up to limit check results that are older than the
// retention. Instances that do so at once take others each. It is the reaper's part (models/cleanup.Remove).
func (s *Store) ReapResults(tx *gorm.DB, limit int) (int64, error) {
	res := tx.Exec(`DELETE FROM check_results WHERE (target_seq, checked_at) IN (
		SELECT target_seq, checked_at FROM check_results WHERE checked_at < ? ORDER BY checked_at LIMIT ?`+s.db.SkipLocked()+`)`,
		s.clock.Now().Add(-s.opts.Retention), limit)
	if res.Error != nil {
		return 0, fmt.Errorf("deleting old check results: %w", res.Error)
	}
	return res.RowsAffected, nil
}

// Purge deletes what is no longer kept, in small batches: outages older than
// the days that are kept, and deleted targets that can no longer be restored,
// with all their history. It begins no further batch once taking has ended.
// summary says what it did: "12 outages, 1 target".
func (s *Store) Purge(taking, working context.Context) (summary string, err error) {
	now := s.clock.Now()
	p := purge{s, taking, working}
	var parts []string
	note := func(noun string, n int64) {
		if n == 1 {
			parts = append(parts, "1 "+noun)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d %ss", n, noun))
		}
	}
	outages, err := p.all(`DELETE FROM outages WHERE id IN (
		SELECT id FROM outages WHERE started_at < ? AND ended_at IS NOT NULL ORDER BY started_at LIMIT ?)`, now.Add(-daysKept), purgeBatch)
	note("outage", outages)
	if err == nil {
		var n int64
		n, err = p.targets()
		note("target", n)
	}
	if err != nil {
		err = fmt.Errorf("deleting old history: %w", err)
	}
	return strings.Join(parts, ", "), err
}

// purge is one run.
type purge struct {
	*Store
	taking, working context.Context
}

// all repeats a DELETE of a batch, each in a transaction of its own, until it
// finds nothing more to delete, and counts what it deletes.
func (p purge) all(sql string, args ...any) (total int64, err error) {
	for p.taking.Err() == nil {
		var n int64
		err := p.db.Write(p.working, func(tx *gorm.DB) error {
			res := tx.Exec(sql, args...)
			n = res.RowsAffected
			return res.Error
		})
		if err != nil || n == 0 {
			return total, err
		}
		total += n
	}
	return total, nil
}

// targets removes the deleted targets whose time to be restored is over.
func (p purge) targets() (total int64, err error) {
	var seqs []int64
	err = p.db.Read(p.working).Raw("SELECT seq FROM targets WHERE deleted_at < ?", p.clock.Now().Add(-KeepDeleted)).Scan(&seqs).Error
	for _, seq := range seqs {
		if err != nil || p.taking.Err() != nil {
			return total, err
		}
		if err = p.target(seq); err == nil && p.taking.Err() == nil {
			total++
		}
	}
	return total, err
}

// target removes one target, its history first.
func (p purge) target(seq int64) error {
	for _, key := range []struct{ table, column string }{
		{"check_results", "checked_at"}, {"target_hours", "at"}, {"target_days", "at"}, {"outages", "id"},
	} {
		_, err := p.all(fmt.Sprintf(`DELETE FROM %[1]s WHERE target_seq = ? AND %[2]s IN (
			SELECT %[2]s FROM %[1]s WHERE target_seq = ? ORDER BY %[2]s LIMIT ?)`, key.table, key.column), seq, seq, purgeBatch)
		if err != nil || p.taking.Err() != nil {
			return err
		}
	}
	return p.db.Write(p.working, func(tx *gorm.DB) error {
		return tx.Exec("DELETE FROM targets WHERE seq = ? AND deleted_at IS NOT NULL", seq).Error
	})
}
