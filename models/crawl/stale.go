package crawl

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
)

// noProgress is the error of an execution that stored nothing for CRAWLER_STALE_LOCK_AFTER.
const noProgress = "no progress"

// ClearStaleLocks unlocks jobs with a stale lock and returns their number. A lock is stale if its lease has ended, or if
// nothing was stored for Options.StaleAfter although a host of the crawl was due. Each job is due at once and continues its
// crawl.
func (s *Store) ClearStaleLocks(ctx context.Context) (cleared int, err error) {
	var stale []struct {
		JobSeq    int64
		LockToken string
		Dead      bool
	}
	now := s.clock.Now()
	// Not stale if a host is claimed, was requested recently, or asked us to wait: another instance could do no better.
	err = s.db.Read(ctx).Raw(`SELECT j.seq AS job_seq, j.lock_token, j.claimed_by IS NULL AS dead
		FROM jobs AS j JOIN job_executions AS e ON e.job_seq = j.seq AND e.execution_number = j.executions
		WHERE j.lock_token IS NOT NULL AND (j.claimed_by IS NULL OR e.progress_at < ? AND NOT EXISTS (
			SELECT 1 FROM frontier AS f JOIN crawl_hosts AS h ON h.seq = f.host_seq
			WHERE f.crawl_seq = e.crawl_seq AND f.status IN ('pending', 'fetching') AND (h.next_at > ? OR h.claimed_by IS NOT NULL OR h.last_attempt_at > ?)))`,
		now.Add(-s.opts.StaleAfter), now, now.Add(-s.opts.StaleAfter)).Scan(&stale).Error
	if err != nil {
		return 0, fmt.Errorf("find stale locks: %w", err)
	}
	for _, l := range stale {
		end := ExecutionEnd{Event: Release, Error: Interrupted, Continue: true}
		if !l.Dead {
			end.Error = noProgress
		}
		err := s.db.Write(ctx, func(tx *gorm.DB) error {
			if err := s.end(tx, l.JobSeq, l.LockToken, end); err != nil {
				return err
			}
			return tx.Exec("UPDATE scheduler_totals SET stale_locks_cleared = stale_locks_cleared + 1").Error
		})
		switch {
		case errors.Is(err, ErrLockLost): // another instance was faster
		case err != nil:
			return cleared, fmt.Errorf("clear stale lock: %w", err)
		default:
			cleared++
		}
	}
	if cleared > 0 {
		signal(s.jobsChanged)
	}
	return cleared, nil
}
