package crawl

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
	"linkwatch/models/event"
	"linkwatch/models/lease"
)

// ErrLockLost is the error of a change to an execution that no longer holds the lock of its job. Another instance may have
// started a new execution, or a user has cancelled it.
var ErrLockLost = errors.New("the execution no longer holds the lock of its job")

// DueJobs returns up to n due jobs, the longest overdue first. next is when the first of all scheduled jobs is due, or zero if
// there is none.
func (s *Store) DueJobs(ctx context.Context, n int) (seqs []int64, next models.Time, err error) {
	tx := s.db.Read(ctx)
	err = tx.Raw("SELECT min(next_run_at) FROM jobs WHERE " + scheduledJobs).Scan(&next).Error
	if err == nil && !next.IsZero() && !next.After(s.clock.Now().Time) {
		err = tx.Raw("SELECT seq FROM jobs WHERE "+scheduledJobs+" AND next_run_at <= ? ORDER BY next_run_at LIMIT ?", s.clock.Now(), n).Scan(&seqs).Error
	}
	if err != nil {
		return nil, next, fmt.Errorf("find due jobs: %w", err)
	}
	return seqs, next, nil
}

// RetryFailed makes failed recurring jobs with RetryNextRun pending, as Retry does, when their next planned time has come.
func (s *Store) RetryFailed(ctx context.Context) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		now := s.clock.Now()
		return tx.Exec(`UPDATE jobs SET status = 'pending', next_run_at = planned_at, current_retry_count = 0, updated_at = ?
			WHERE status = 'failed' AND retry_next_run AND deleted_at IS NULL AND planned_at <= ? AND interval_count > 0 AND NOT source_disabled`, now, now).Error
	})
	if err != nil {
		return fmt.Errorf("retry failed jobs: %w", err)
	}
	return nil
}

// StartExecution locks a due job under a lease and starts an execution. began is false if another instance was faster or the job is
// no longer due. An interrupted crawl continues. Otherwise the start page is added to the frontier. Errors include
// lease.ErrLost.
func (s *Store) StartExecution(ctx context.Context, holder lease.ID, seq int64) (e Execution, began bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		began = false
		if err := lease.Hold(tx, holder); err != nil {
			return err
		}
		j, locked, err := s.lock(tx, holder, seq)
		if err != nil || !locked {
			return err
		}
		began = true
		e, err = s.begin(tx, j)
		return err
	})
	if err != nil {
		return Execution{}, false, fmt.Errorf("start crawl: %w", err)
	}
	if began {
		signal(s.urls)
	}
	return e, began, nil
}

// lock locks a due job by compare-and-swap. The token contains the lease and the number of the execution, so it is unique.
func (s *Store) lock(tx *gorm.DB, holder lease.ID, seq int64) (j Job, locked bool, err error) {
	now := s.clock.Now()
	var js []Job
	err = tx.Raw(`UPDATE jobs SET lock_token = CAST(? AS text) || ':' || (executions + 1), lock_acquired_at = ?, claimed_by = ?,
			status = 'running', executions = executions + 1, next_run_at = NULL, updated_at = ?
		WHERE seq = ? AND lock_token IS NULL AND status IN ('pending', 'scheduled') AND next_run_at <= ? AND NOT source_disabled AND deleted_at IS NULL
		RETURNING *`, holder, now, holder, now, seq, now).Scan(&js).Error
	if err != nil || len(js) == 0 {
		return Job{}, false, err
	}
	return js[0], true, nil
}

func (s *Store) begin(tx *gorm.DB, j Job) (Execution, error) {
	now := s.clock.Now()
	e := Execution{
		ID: models.NewID(models.KindExecution), JobSeq: j.Seq, ExecutionNumber: j.Executions, Status: ExecutionRunning, LockToken: *j.LockToken,
		URL: j.URL, StartedAt: now, ProgressAt: now, RetryAttempt: j.CurrentRetryCount, HasFrontier: true,
	}
	goesOn := false
	if j.CrawlSeq != nil {
		if err := s.db.OneAtATime(tx, lockRecord); err != nil { // Queued must not change meanwhile
			return e, err
		}
		var before Execution
		err := tx.Where("crawl_seq = ?", *j.CrawlSeq).Order("seq DESC").Limit(1).Find(&before).Error
		if err != nil {
			return e, err
		}
		if goesOn = before.canContinue(j); goesOn {
			e.CrawlSeq, e.Queued, e.StartHash, e.Metadata = *j.CrawlSeq, before.Queued, before.StartHash, Metadata{"continues": before.ID}
			e.PagesNew, e.PagesChanged, e.PagesGone = before.PagesNew, before.PagesChanged, before.PagesGone // its changes are listed with those of its crawl
			err = tx.Model(&before).Update("has_frontier", false).Error                                      // the new execution has it now
		} else {
			err = tx.Exec("UPDATE jobs SET crawl_seq = NULL WHERE seq = ?", j.Seq).Error
		}
		if err != nil {
			return e, err
		}
	}
	if err := tx.Create(&e).Error; err != nil {
		return e, err
	}
	if goesOn {
		if err := s.wakeCrawl(tx, e.CrawlSeq); err != nil {
			return e, err
		}
		return e, s.log(tx, e.Seq, s.line("info", "crawl continued", "entries", e.Queued))
	}
	e.CrawlSeq, e.Queued = e.Seq, 1
	if err := tx.Model(&e).Select("crawl_seq", "queued").Updates(&e).Error; err != nil {
		return e, err
	}
	if err := s.log(tx, e.Seq, s.line("info", "crawl started", "url", j.URL)); err != nil {
		return e, err
	}
	url, ok := Normalize(j.URL)
	if !ok {
		url = models.RequestURL(j.URL)
	}
	_, err := s.enqueue(tx, []FoundURL{{Crawl: e.CrawlSeq, Source: j.SourceSeq, URL: url}})
	return e, err
}

// canContinue reports whether a run of a job can continue the crawl of the execution, the newest of its crawl. Results that came
// after the end of the execution count too. If the start page has failed, the crawl cannot continue. If no entries are open, only
// its end is missing, but retries and forced runs must request pages. The zero value is a deleted execution.
func (e *Execution) canContinue(j Job) bool {
	return e.Seq != 0 && e.StartError == "" && (e.Queued > 0 || j.CurrentRetryCount == 0 && !j.Forced)
}

// RunningExecution is what the holder of a running job needs to know about it.
type RunningExecution struct {
	Execution
	Enabled bool // the source is enabled
	Deleted bool // the job or its source is deleted
}

// RunningExecutions returns the executions that run under a lease.
func (s *Store) RunningExecutions(ctx context.Context, holder lease.ID) (all []RunningExecution, err error) {
	err = s.db.Read(ctx).Raw(`SELECT e.*, j.id AS job_id, s.enabled AS enabled, j.deleted_at IS NOT NULL OR s.deleted_at IS NOT NULL AS deleted
		FROM jobs AS j JOIN job_executions AS e ON e.job_seq = j.seq AND e.execution_number = j.executions AND e.status = 'running'
		JOIN sources AS s ON s.seq = j.source_seq WHERE j.claimed_by = ?`, holder).Scan(&all).Error
	if err != nil {
		return nil, fmt.Errorf("load running crawls: %w", err)
	}
	return all, nil
}

// ExecutionEnd is how an execution ends.
type ExecutionEnd struct {
	Event Event  // Succeed, Fail or Release
	Error string // why it failed or was released; "" with Succeed
	// Continue makes the retry of a failed run continue its crawl. Released runs always continue.
	Continue     bool
	Stack        string // of a panic
	MemoryPeakMB int64
}

// EndExecution ends an execution and unlocks its job. After Succeed a recurring job is scheduled again, in phase with its
// schedule. After Fail the job is retried if it has retries left, else it fails. A failed recurring job with RetryNextRun runs
// again at its next planned time. After Release it is due at once, without using up a retry,
// and continues its crawl. The error is ErrLost if the execution no longer holds the lock.
func (s *Store) EndExecution(ctx context.Context, e Execution, end ExecutionEnd) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error { return s.end(tx, e.JobSeq, e.LockToken, end) })
	if err != nil && !errors.Is(err, ErrLockLost) {
		return fmt.Errorf("end crawl: %w", err)
	}
	signal(s.jobsChanged)
	return err
}

// end ends the execution that holds a token.
func (s *Store) end(tx *gorm.DB, jobSeq int64, token string, end ExecutionEnd) error {
	var js []Job
	err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("seq = ? AND lock_token = ? AND status = 'running'", jobSeq, token).Find(&js).Error
	if err != nil {
		return err
	}
	if len(js) == 0 {
		return ErrLockLost
	}
	j, now, failed := js[0], s.clock.Now(), js[0].LastError != ""
	if j.Status, err = Next(j.Status, end.Event); err != nil {
		return err
	}
	j.UpdatedAt, j.LastError, j.CrawlSeq, j.NextRunAt = now, end.Error, nil, models.Time{}
	status := ExecutionFailed
	switch end.Event {
	case Succeed:
		status = ExecutionCompleted
		err = s.succeed(tx, &j)
	case Fail:
		if j.CurrentRetryCount < j.MaxRetries {
			j.Status, err = Next(j.Status, Retry)
			j.CurrentRetryCount++
			j.NextRunAt = now.Add(Backoff(seconds(j.RetryBackoffSeconds), j.CurrentRetryCount))
			if err == nil && end.Continue {
				err = j.keepCrawl(tx)
			}
			break
		}
		j.ConsecutiveFailures++
		j.planRetry(now)
	case Release:
		j.NextRunAt = now
		err = j.keepCrawl(tx)
	case Pause, Resume, Cancel, Retry, ForceRun, Start, Reschedule:
		return fmt.Errorf("crawl: %s does not end an execution", end.Event)
	}
	if err != nil {
		return err
	}
	switch {
	case end.Event == Fail && j.Status == Failed:
		err = storeFailed(tx, event.Started, now, j)
	case end.Event == Succeed && failed:
		err = storeFailed(tx, event.Ended, now, j)
	}
	if err != nil {
		return err
	}
	if err := s.endExecution(tx, &j, status, end.Error, func(e *Execution) { e.StackTrace, e.MemoryPeakMB = end.Stack, end.MemoryPeakMB }); err != nil {
		return err
	}
	return saveJob(tx, &j, "status", "next_run_at", "planned_at", "forced", "current_retry_count", "consecutive_failures", "crawl_seq", "content_hash", "unchanged_count",
		"interval_seconds", "last_error", "lock_token", "lock_acquired_at", "claimed_by")
}

// keepCrawl makes the next run of the job continue the crawl of its newest execution, unless the start page was changed since.
func (j *Job) keepCrawl(tx *gorm.DB) error {
	return tx.Raw("SELECT crawl_seq FROM job_executions WHERE job_seq = ? AND execution_number = ? AND url = ?", j.Seq, j.Executions, j.URL).Scan(&j.CrawlSeq).Error
}

// succeed updates the job of a completed crawl.
func (s *Store) succeed(tx *gorm.DB, j *Job) (err error) {
	var hash string
	if err := tx.Raw("SELECT start_hash FROM job_executions WHERE job_seq = ? AND execution_number = ?", j.Seq, j.Executions).Scan(&hash).Error; err != nil {
		return err
	}
	j.CurrentRetryCount, j.ConsecutiveFailures = 0, 0
	switch hash {
	case "":
	case j.ContentHash:
		j.UnchangedCount++
	default:
		j.ContentHash, j.UnchangedCount = hash, 0
	}
	before := j.IntervalSeconds
	j.adapt()
	if j.Recurring() {
		j.Status, err = Next(j.Status, Reschedule)
		j.reschedule(s.clock.Now(), j.IntervalSeconds != before)
	}
	j.Forced = false
	return err
}

// reschedule plans the next run of a recurring job, in phase with its schedule. adapted reports whether its last run changed
// the effective interval.
func (j *Job) reschedule(now models.Time, adapted bool) {
	planned := j.PlannedAt
	if planned.IsZero() {
		planned = now
	}
	run := Run{Planned: planned.Time, Base: j.Interval().Duration(), Every: j.EffectiveInterval(), Forced: j.Forced, Adapted: adapted}
	j.PlannedAt = models.At(run.Next(now.Time))
	j.NextRunAt = j.PlannedAt
}

// planRetry plans when RetryFailed retries a failed job, if it does.
func (j *Job) planRetry(now models.Time) {
	if j.Recurring() && j.RetryNextRun {
		j.reschedule(now, false)
		j.NextRunAt, j.Forced = models.Time{}, false // it is due once it is pending
	}
}

// endExecution ends the newest execution of a job and clears the lock in j.
func (s *Store) endExecution(tx *gorm.DB, j *Job, status ExecutionStatus, problem string, set ...func(*Execution)) error {
	var e Execution
	if err := tx.Where("job_seq = ? AND execution_number = ?", j.Seq, j.Executions).Take(&e).Error; err != nil {
		return fmt.Errorf("load execution of job: %w", err)
	}
	j.LockToken, j.LockAcquiredAt, j.ClaimedBy = nil, models.Time{}, ""
	e.Status, e.ErrorMessage, e.CompletedAt = status, problem, s.clock.Now()
	for _, f := range set {
		f(&e)
	}
	if status == ExecutionCompleted {
		e.ReportedPage = new(int64)
	}
	if err := tx.Model(&e).Select("status", "error_message", "cancelled_by", "completed_at", "stack_trace", "memory_peak_mb", "reported_page").Updates(&e).Error; err != nil {
		return fmt.Errorf("end execution: %w", err)
	}
	if status == ExecutionCompleted || status == ExecutionFailed && problem != Interrupted {
		completed, took := 0, int64(0)
		if status == ExecutionCompleted {
			completed, took = 1, e.Duration(e.CompletedAt).Microseconds()
		}
		err := tx.Exec("UPDATE scheduler_totals SET completed = completed + ?, failed = failed + ?, duration_us = duration_us + ?",
			completed, 1-completed, took).Error
		if err != nil {
			return fmt.Errorf("count execution: %w", err)
		}
	}
	level, what := "info", "crawl "+string(status)
	if status == ExecutionFailed {
		level = "error"
	}
	facts := []any{"pages", e.ItemsCrawled, "failed", e.Failed}
	if problem != "" {
		facts = append(facts, "error", problem)
	}
	return s.log(tx, e.Seq, s.line(level, what, facts...))
}
