package crawl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
)

// noProgress is the error of an execution without progress for CRAWLER_STALE_LOCK_AFTER.
const noProgress = "no progress"

// staleLock is a lock of a job that is released because its run does not proceed.
type staleLock struct {
	JobSeq, Execution, CrawlSeq int64
	LockToken                   string
	Dead                        bool // its lease has ended
}

// ClearStaleLocks ends the runs of jobs with a stale lock and returns their number. A lock is stale in two cases:
//   - Its lease has ended. The job is due at once.
//   - For Options.StaleAfter, the run finished no entry, and no host of its open entries responded. The run fails, and its job
//     is retried if it has retries left.
//
// In both cases the next run continues the crawl. It is not a lack of progress if a host demanded a longer delay, or if it
// waits for a worker. Pauses after earlier failures of a host do not count either, until it was requested during the run.
func (s *Store) ClearStaleLocks(ctx context.Context) (cleared int, err error) {
	var stale []staleLock
	since := s.clock.Now().Add(-s.opts.StaleAfter)
	err = s.db.Read(ctx).Raw(`SELECT j.seq AS job_seq, e.seq AS execution, e.crawl_seq, j.lock_token, j.claimed_by IS NULL AS dead
		FROM jobs AS j JOIN job_executions AS e ON e.job_seq = j.seq AND e.execution_number = j.executions
		WHERE j.lock_token IS NOT NULL AND (j.claimed_by IS NULL OR e.progress_at < ? AND NOT EXISTS (
			SELECT 1 FROM crawl_hosts AS h WHERE h.seq IN (SELECT f.host_seq FROM frontier AS f WHERE f.crawl_seq = e.crawl_seq AND f.`+openEntries+`) AND (
				h.silent_since >= ? OR h.claimed_by IS NULL AND h.failures = 0 AND h.next_at >= ?
				OR coalesce(h.last_attempt_at, 0) < e.started_at AND CASE WHEN h.claimed_by IS NULL THEN h.next_at ELSE h.next_at - h.delay_ms * 1000 - ? END >= ?
				OR h.claimed_by IS NOT NULL AND NOT EXISTS (SELECT 1 FROM frontier AS l WHERE l.host_seq = h.seq AND l.`+openEntries+` AND l.status = 'fetching'))))`,
		since, since, since, MaxClaimTime.Microseconds(), since).Scan(&stale).Error
	if err != nil {
		return 0, fmt.Errorf("find stale locks: %w", err)
	}
	for _, l := range stale {
		err := s.db.Write(ctx, func(tx *gorm.DB) error { return s.clearLock(tx, l) })
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

func (s *Store) clearLock(tx *gorm.DB, l staleLock) error {
	end := ExecutionEnd{Event: Release, Error: Interrupted}
	if !l.Dead {
		end = ExecutionEnd{Event: Fail, Error: noProgress, Continue: true}
		var hosts []string
		err := tx.Raw("SELECT host FROM crawl_hosts WHERE seq IN (SELECT host_seq FROM frontier WHERE crawl_seq = ? AND "+openEntries+") ORDER BY host LIMIT 3", l.CrawlSeq).Scan(&hosts).Error
		if err == nil {
			err = s.log(tx, l.Execution, s.line("warn", "no response", "for", s.opts.StaleAfter, "hosts", strings.Join(hosts, ",")))
		}
		if err != nil {
			return err
		}
	}
	if err := s.end(tx, l.JobSeq, l.LockToken, end); err != nil {
		return err
	}
	return tx.Exec("UPDATE scheduler_totals SET stale_locks_cleared = stale_locks_cleared + 1").Error
}
