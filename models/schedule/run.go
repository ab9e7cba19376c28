package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
	"linkwatch/models/lease"
)

// ErrLost is the error of a run that no longer holds its job, because its instance
// lost its lease: another run of the job may have begun.
var ErrLost = errors.New("the run no longer holds its job")

// abandoned is the error of a run that lost its job without Finish: its process died,
// or the end could not be stored.
const abandoned = "its end was not recorded: the program ended or the database failed during the run"

// Begin starts a run of a job that is due or was requested, unless it is
// running on any instance: then, and if another instance was quicker, began is
// false. The run holds the job until Finish, or until the lease of holder ends.
// next returns when the job is due after a time. A former run without an end is
// recorded as failed. Errors include lease.ErrLost.
func (s *Store) Begin(ctx context.Context, holder lease.ID, jobID string, next func(time.Time) time.Time) (run Run, began bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		began = false
		if err := lease.Hold(tx, holder); err != nil {
			return err
		}
		now := s.Now()
		run = Run{ID: models.NewID(models.KindRun), JobID: jobID, StartedAt: now, Trigger: BySchedule}
		var was struct {
			RunID         string
			LastStartedAt models.Time
			RequestedAt   models.Time
			RequestedBy   string
		}
		err := tx.Raw(`SELECT run_id, last_started_at, requested_at, requested_by FROM scheduled_jobs WHERE id = ?`, jobID).Scan(&was).Error
		if err != nil {
			return err
		}
		res := tx.Exec(`UPDATE scheduled_jobs SET claimed_by = ?, run_id = ?, last_started_at = ?,
				next_run_at = CASE WHEN next_run_at <= ? THEN ? ELSE next_run_at END
			WHERE id = ? AND schedule <> '' AND run_id = ? AND claimed_by IS NULL
				AND (next_run_at <= ? OR requested_at IS NOT NULL)`,
			holder, run.ID, now, now, models.At(next(now.Time)), jobID, was.RunID, now)
		if res.Error != nil || res.RowsAffected == 0 {
			return res.Error
		}
		began = true
		if !was.RequestedAt.IsZero() {
			run.Trigger = was.RequestedBy
		}
		if was.RunID == "" {
			return nil
		}
		dead := Run{ID: was.RunID, JobID: jobID, StartedAt: was.LastStartedAt, Trigger: BySchedule, Error: abandoned}
		if !was.RequestedAt.IsZero() && !was.RequestedAt.After(was.LastStartedAt.Time) {
			dead.Trigger = was.RequestedBy
		}
		return record(tx, dead)
	})
	if err != nil {
		return Run{}, false, fmt.Errorf("beginning a run of the job %s: %w", jobID, err)
	}
	return run, began, nil
}

// Release frees a job that an instance holds but does not run, because beginning or
// finishing the run failed. It does nothing if the job is free.
func (s *Store) Release(ctx context.Context, holder lease.ID, jobID string) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE scheduled_jobs SET claimed_by = NULL WHERE id = ? AND claimed_by = ?", jobID, holder).Error
	})
	if err != nil {
		return fmt.Errorf("releasing the job %s: %w", jobID, err)
	}
	return nil
}

// Skip passes over a due time of a job that is still running, and counts it.
// It is false if the run has ended meanwhile, or if another instance did it.
// due is the NextRunAt that has come.
func (s *Store) Skip(ctx context.Context, jobID string, due models.Time, next func(time.Time) time.Time) (skipped bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Exec(`UPDATE scheduled_jobs SET overlap_skips = overlap_skips + 1, next_run_at = ?
			WHERE id = ? AND claimed_by IS NOT NULL AND next_run_at = ?`, models.At(next(s.Now().Time)), jobID, due)
		skipped = res.RowsAffected > 0
		return res.Error
	})
	if err != nil {
		return false, fmt.Errorf("skipping a run of the job %s: %w", jobID, err)
	}
	return skipped, nil
}

// Finish ends a run: its job is free, and the run with its Duration, Summary
// and Error is in the history and the statistics. It is ErrLost, and records
// nothing, if the run no longer holds the job.
func (s *Store) Finish(ctx context.Context, run Run) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Exec(`UPDATE scheduled_jobs SET claimed_by = NULL, run_id = '',
				requested_at = CASE WHEN requested_at > last_started_at THEN requested_at END
			WHERE id = ? AND run_id = ? AND claimed_by IS NOT NULL`, run.JobID, run.ID)
		if res.Error != nil {
			return res.Error
		}
		if res.RowsAffected == 0 {
			return ErrLost
		}
		return record(tx, run)
	})
	if err != nil {
		return fmt.Errorf("recording a run of the job %s: %w", run.JobID, err)
	}
	return nil
}

// Interrupt ends a run that was given up because the program stops. It is no failure and leaves no
// record. The job is free, and due or still requested, so that it runs again after the restart or on
// another instance. It is ErrLost if the run no longer holds the job.
func (s *Store) Interrupt(ctx context.Context, run Run) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Exec(`UPDATE scheduled_jobs SET claimed_by = NULL, run_id = '',
				next_run_at = CASE WHEN requested_at IS NULL THEN ? ELSE next_run_at END,
				last_started_at = (SELECT max(started_at) FROM job_runs WHERE job_id = scheduled_jobs.id)
			WHERE id = ? AND run_id = ? AND claimed_by IS NOT NULL`, run.StartedAt, run.JobID, run.ID)
		if res.Error == nil && res.RowsAffected == 0 {
			return ErrLost
		}
		return res.Error
	})
	if err != nil {
		return fmt.Errorf("interrupting a run of the job %s: %w", run.JobID, err)
	}
	return nil
}

// record adds a run that ended to the statistics and to the history, which it
// keeps at KeptRuns.
func record(tx *gorm.DB, run Run) error {
	run.Summary, run.Error = clean(run.Summary), clean(run.Error)
	success, failure := 1, 0
	if run.Error != "" {
		success, failure = 0, 1
	}
	var job struct{ LastError, Schedule string }
	if err := tx.Raw("SELECT last_error, schedule FROM scheduled_jobs WHERE id = ?", run.JobID).Scan(&job).Error; err != nil {
		return err
	}
	if job.Schedule != "" && (job.LastError != "" || run.Error != "") { // no event of a job that was retired during its run
		if err := event.Add(tx, failed(run)); err != nil {
			return err
		}
	}
	err := tx.Exec(`UPDATE scheduled_jobs SET runs = runs + 1, successes = successes + ?, failures = failures + ?,
			last_duration_ns = ?, last_error = ? WHERE id = ?`,
		success, failure, int64(run.Duration), run.Error, run.JobID).Error
	if err != nil {
		return err
	}
	if err := tx.Table("job_runs").Create(&run).Error; err != nil {
		return err
	}
	return tx.Exec(`DELETE FROM job_runs WHERE job_id = ? AND (started_at, id) < (
			SELECT started_at, id FROM job_runs WHERE job_id = ? ORDER BY started_at DESC, id DESC LIMIT 1 OFFSET ?)`,
		run.JobID, run.JobID, KeptRuns-1).Error
}
