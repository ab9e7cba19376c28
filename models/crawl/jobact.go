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

// Act applies an action of a user to a job: Pause, Resume, Cancel, Retry or ForceRun. Retry and ForceRun keep its schedule.
// Canceling a running job ends its crawl on all instances. Errors are CodeConflict if the status does not allow the action, and CodeNotFound.
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
			j.PausedAt, j.NextRunAt, j.PlannedAt, j.Forced = now, models.Time{}, models.Time{}, false
		case Resume:
			j.PausedAt = models.Time{}
			err = s.planFirstRun(tx, &j)
		case Retry:
			j.CurrentRetryCount, j.NextRunAt, j.Forced = 0, now, true
		case ForceRun:
			j.NextRunAt, j.Forced = now, true
		case Cancel:
			j.CancelledAt, j.NextRunAt, j.PlannedAt, j.CrawlSeq = now, models.Time{}, models.Time{}, nil
			if running {
				err = s.endExecution(tx, &j, ExecutionCancelled, "cancelled by a user")
			}
			if err == nil && j.LastError != "" {
				err = storeEvents(tx, sourceEvent{j.SourceSeq, j.event(event.Closed, now)})
			}
		case Start, Succeed, Fail, Release, Reschedule:
			return fmt.Errorf("crawl: %s is not a user action", e)
		}
		if err != nil {
			return err
		}
		if err := audit.Add(tx, now, e.change(j, before)); err != nil {
			return err
		}
		return saveJob(tx, &j, "status", "next_run_at", "planned_at", "forced", "paused_at", "cancelled_at", "current_retry_count",
			"crawl_seq", "lock_token", "lock_acquired_at", "claimed_by")
	})
	if err != nil {
		return Job{}, err
	}
	signal(s.jobsChanged)
	return s.Job(ctx, id)
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
