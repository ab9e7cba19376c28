package crawl

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
	"linkwatch/models/audit"
	"linkwatch/models/event"
)

// Act applies an action of a user to a job: Pause, Resume, Stop, Cancel, Retry or ForceRun. All but Cancel keep its schedule.
// Resume keeps the planned time if it is still ahead. Stop and Cancel end a running crawl on all instances. Errors are
// CodeConflict if the status does not allow the action, and CodeNotFound.
func (s *Store) Act(ctx context.Context, id string, e Event) (Job, error) {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		j, err := lockJob(tx, id)
		if err != nil {
			return err
		}
		running, before := j.Status == Running, j.Status
		if j.Status, err = Next(j.Status, e); err != nil {
			return err
		}
		now := s.clock.Now()
		j.UpdatedAt = now
		switch e {
		case Pause:
			j.pause(now)
		case Resume:
			err = s.resume(tx, &j)
		case Retry:
			j.CurrentRetryCount, j.NextRunAt, j.Forced = 0, now, true
		case ForceRun:
			j.NextRunAt, j.Forced = now, true
		case Stop:
			err = s.stopRun(tx, &j)
		case Cancel:
			j.CancelledAt, j.NextRunAt, j.PlannedAt, j.CrawlSeq = now, models.Time{}, models.Time{}, nil
			if running {
				err = s.cancelExecution(tx, &j, "the job was cancelled")
			}
			if err == nil && j.LastError != "" {
				err = storeFailed(tx, event.Closed, now, j)
			}
		case RunAgain, Start, Succeed, Fail, Release, Reschedule:
			return fmt.Errorf("crawl: %s is not a user action", e)
		}
		if err != nil {
			return err
		}
		if err := audit.Add(tx, now, e.change(j, before)); err != nil {
			return err
		}
		return saveJob(tx, &j, "status", "next_run_at", "planned_at", "forced", "paused_at", "cancelled_at", "current_retry_count",
			"crawl_seq", "last_error", "lock_token", "lock_acquired_at", "claimed_by")
	})
	if err != nil {
		return Job{}, err
	}
	signal(s.jobsChanged)
	return s.Job(ctx, id)
}

// pause makes the job wait for resume. It keeps its planned time.
func (j *Job) pause(now models.Time) {
	j.PausedAt, j.NextRunAt, j.Forced = now, models.Time{}, false
}

// resume plans the next run of a paused job.
func (s *Store) resume(tx *gorm.DB, j *Job) error {
	j.PausedAt = models.Time{}
	if j.Recurring() && j.PlannedAt.After(s.clock.Now().Time) {
		j.NextRunAt, j.Forced = j.PlannedAt, false
		return nil
	}
	return s.planFirstRun(tx, j)
}

// stopRun ends the run of a job without its crawl being continued. A recurring job waits for its next planned run. A one-time
// job is completed.
func (s *Store) stopRun(tx *gorm.DB, j *Job) (err error) {
	j.CrawlSeq, j.CurrentRetryCount, j.NextRunAt = nil, 0, models.Time{}
	if j.Recurring() {
		j.reschedule(s.clock.Now(), false)
	} else {
		if j.Status, err = Next(Running, Succeed); err != nil {
			return err
		}
		if j.LastError != "" { // of an earlier run
			err = storeFailed(tx, event.Closed, s.clock.Now(), *j)
			j.LastError = ""
		}
	}
	j.Forced = false
	if err == nil {
		err = s.cancelExecution(tx, j, "the run was stopped")
	}
	return err
}

// cancelExecution ends the running execution of a job for the actor of tx.
func (s *Store) cancelExecution(tx *gorm.DB, j *Job, reason string) error {
	return s.endExecution(tx, j, ExecutionCancelled, reason, func(e *Execution) { e.CancelledBy = models.Owner(tx.Statement.Context) })
}

// RunAgain adds a job with the source and the settings of a completed, failed or cancelled one, and runs it now. The new job takes
// over the planned retry of a failed one. Errors are those of AddJob, CodeConflict for another status, and CodeNotFound.
func (s *Store) RunAgain(ctx context.Context, id string) (Job, error) {
	var made string
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockSources); err != nil {
			return err
		}
		j, err := lockJob(tx, id)
		if err != nil {
			return err
		}
		if j.Status, err = Next(j.Status, RunAgain); err != nil {
			return err
		}
		var src Source
		if err := tx.Where("seq = ?", j.SourceSeq).Take(&src).Error; err != nil {
			return err
		}
		if !src.Enabled {
			return models.Conflict("The source is disabled. Enable it first.")
		}
		n := NewJob{
			Name: j.Name, URL: j.URL, Interval: j.Interval(), AdaptiveScheduling: j.AdaptiveScheduling, Metadata: j.Metadata,
			MaxRetries: &j.MaxRetries, RetryBackoff: &j.RetryBackoffSeconds, RetryNextRun: j.RetryNextRun, RunNow: true,
		}
		if j.Status == Failed { // it is no longer retried
			j.PlannedAt, j.UpdatedAt = models.Time{}, s.clock.Now()
			if err := storeFailed(tx, event.Closed, j.UpdatedAt, j); err != nil {
				return err
			}
			if err := saveJob(tx, &j, "planned_at"); err != nil {
				return err
			}
		}
		switch err := checkDistinct(tx, src, n); {
		case models.CodeOf(err) == models.CodeInvalid:
			return models.Conflict("An unfinished job of this source has the same start page and schedule.")
		case err != nil:
			return err
		}
		made, err = s.addJob(tx, src, n)
		return err
	})
	if err != nil {
		return Job{}, err
	}
	signal(s.jobsChanged)
	return s.Job(ctx, made)
}

// change returns the audit entry of an action.
func (e Event) change(j Job, before Status) audit.Change {
	c := audit.Change{Action: "job." + strings.ReplaceAll(string(e), "-", "_"), Subject: j.subject()}
	if j.Status != before {
		c.Before, c.After = audit.Values{"status": string(before)}, audit.Values{"status": string(j.Status)}
	}
	return c
}

// DeleteJob deletes a job and ends its crawl. It can be restored for KeepDeleted. The error is CodeNotFound if there is
// none.
func (s *Store) DeleteJob(ctx context.Context, id string) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		j, err := lockJob(tx, id)
		if err != nil {
			return err
		}
		j.DeletedAt = s.clock.Now() // the crawl ends when its holder sees this
		j.UpdatedAt = j.DeletedAt
		if err := closeFailed(tx, j.DeletedAt, "seq = ?", j.Seq); err != nil {
			return err
		}
		if err := audit.Add(tx, j.DeletedAt, audit.Change{Action: "job.delete", Subject: j.subject()}); err != nil {
			return err
		}
		return saveJob(tx, &j, "deleted_at")
	})
	if err == nil {
		signal(s.jobsChanged)
	}
	return err
}

// RestoreJob restores a deleted job. The error is CodeNotFound if it was not deleted, was deleted too long ago, or was
// deleted with its source. In the last case restore the source.
func (s *Store) RestoreJob(ctx context.Context, id string) (Job, error) {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		visible, args := ofVisibleSource(tx, "jobs.source_seq")
		j, err := oneJob(tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where(
			"deleted_at > ? AND EXISTS (SELECT 1 FROM sources WHERE sources.seq = jobs.source_seq AND sources.deleted_at IS NULL)",
			s.clock.Now().Add(-KeepDeleted)).Where(visible, args...), id)
		if err != nil {
			return err
		}
		j.DeletedAt, j.UpdatedAt = models.Time{}, s.clock.Now()
		if err := saveJob(tx, &j, "deleted_at"); err != nil {
			return err
		}
		if err := audit.Add(tx, j.UpdatedAt, audit.Change{Action: "job.restore", Subject: j.subject()}); err != nil {
			return err
		}
		return catchUp(tx, j.UpdatedAt, "seq = ?", j.Seq)
	})
	if err != nil {
		return Job{}, err
	}
	signal(s.jobsChanged)
	return s.Job(ctx, id)
}

// ms converts a duration to whole milliseconds, as in columns.
func ms(d time.Duration) int64 { return max(0, d.Milliseconds()) }
