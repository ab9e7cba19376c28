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

// ErrLost is the error of a run whose instance lost its lease. Another run of the job may have
// started.
var ErrLost = errors.New("the run has lost its claim of the job")

// abandoned is the error of a run without Finish: its process died, or its end could not be
// stored.
const abandoned = "its end was not recorded: the program ended or the database failed during the run"

// Begin starts a run of a job that is due or requested. began is false if the job is not due,
// or already runs on any instance. The run claims the job until Finish, or until the lease of
// holder ends. next returns the due time after a time. A previous run without an end is
// recorded as failed. Errors include lease.ErrLost.
func (s *Store) Begin(ctx context.Context, holder lease.ID, jobID string, next func(time.Time) time.Time) (run Run, began bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		began = false
		if err := lease.Hold(tx, holder); err != nil {
			return err
		}
		now := s.Now()
		run = Run{ID: models.NewID(models.KindRun), JobID: jobID, StartedAt: now, Trigger: BySchedule}
		var previous struct {
			RunID         string
			LastStartedAt models.Time
			RequestedAt   models.Time
			RequestedBy   string
		}
		err := tx.Raw(`SELECT run_id, last_started_at, requested_at, requested_by FROM scheduled_jobs WHERE id = ?`, jobID).Scan(&previous).Error
		if err != nil {
			return err
		}
		res := tx.Exec(`UPDATE scheduled_jobs SET claimed_by = ?, run_id = ?, last_started_at = ?, runs = runs + 1,
				next_run_at = CASE WHEN next_run_at <= ? THEN ? ELSE next_run_at END
			WHERE id = ? AND schedule <> '' AND run_id = ? AND claimed_by IS NULL
				AND (next_run_at <= ? OR requested_at IS NOT NULL)`,
			holder, run.ID, now, now, models.At(next(now.Time)), jobID, previous.RunID, now)
		if res.Error != nil || res.RowsAffected == 0 {
			return res.Error
		}
		began = true
		if !previous.RequestedAt.IsZero() {
			run.Trigger = previous.RequestedBy
		}
		if previous.RunID == "" {
			return nil
		}
		dead := Run{ID: previous.RunID, JobID: jobID, StartedAt: previous.LastStartedAt, Trigger: BySchedule, Error: abandoned}
		if !previous.RequestedAt.IsZero() && !previous.RequestedAt.After(previous.LastStartedAt.Time) {
			dead.Trigger = previous.RequestedBy
		}
		return record(tx, dead)
	})
	if err != nil {
		return Run{}, false, fmt.Errorf("start job %s: %w", jobID, err)
	}
	return run, began, nil
}

// Release releases a job that an instance has claimed but does not run, because Begin or Finish
// failed. It does nothing if the job is not claimed.
func (s *Store) Release(ctx context.Context, holder lease.ID, jobID string) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE scheduled_jobs SET claimed_by = NULL WHERE id = ? AND claimed_by = ?", jobID, holder).Error
	})
	if err != nil {
		return fmt.Errorf("release job %s: %w", jobID, err)
	}
	return nil
}

// Skip skips a due time of a job that is still running, and counts the skip. due is the
// NextRunAt that has passed. skipped is false if the run has ended, or another instance has
// skipped it.
func (s *Store) Skip(ctx context.Context, jobID string, due models.Time, next func(time.Time) time.Time) (skipped bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Exec(`UPDATE scheduled_jobs SET overlap_skips = overlap_skips + 1, next_run_at = ?
			WHERE id = ? AND claimed_by IS NOT NULL AND next_run_at = ?`, models.At(next(s.Now().Time)), jobID, due)
		skipped = res.RowsAffected > 0
		return res.Error
	})
	if err != nil {
		return false, fmt.Errorf("skip run of job %s: %w", jobID, err)
	}
	return skipped, nil
}

// Finish ends a run. It releases the job and records the run with its Duration, Summary and
// Error. It returns ErrLost, and records nothing, if the run has lost its claim of the job.
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
		return fmt.Errorf("record run of job %s: %w", run.JobID, err)
	}
	return nil
}

// Interrupt ends a run that was canceled because the program stops. It records nothing. The job
// is released and due or requested again, so it runs after the restart or on another instance. Both starts count as runs.
// Interrupt returns ErrLost if the run has lost its claim of the job.
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
		return fmt.Errorf("interrupt run of job %s: %w", run.JobID, err)
	}
	return nil
}

// record adds the result of an ended run to the statistics and stores it. It deletes all but KeptRuns runs.
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
	err := tx.Exec(`UPDATE scheduled_jobs SET successes = successes + ?, failures = failures + ?,
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
