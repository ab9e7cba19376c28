package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// ErrLeaseLost is the error of a run that did not renew its lease in time, so
// that another run of the job has begun.
var ErrLeaseLost = errors.New("the lease of the run is lost")

// abandoned is the error of a run whose process died.
const abandoned = "did not finish: the program ended during the run"

// Begin starts a run of a job that is due or was requested, unless it is
// running on any instance: then, and if another instance was quicker, began is
// false. The run holds the job for Lease; see Renew and Finish. next tells when
// the job is due after a time. A former run whose process died is recorded as failed.
func (s *Store) Begin(ctx context.Context, jobID string, next func(time.Time) time.Time) (run Run, began bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		began = false
		now := s.Now()
		run = Run{ID: models.NewID(models.KindRun), JobID: jobID, StartedAt: now, Trigger: BySchedule}
		var was struct {
			LeaseOwner    string
			LastStartedAt models.Time
			RequestedAt   models.Time
		}
		err := tx.Raw(`SELECT lease_owner, last_started_at, requested_at FROM scheduled_jobs WHERE id = ?`, jobID).Scan(&was).Error
		if err != nil {
			return err
		}
		res := tx.Exec(`UPDATE scheduled_jobs SET lease_owner = ?, lease_until = ?, last_started_at = ?,
				next_run_at = CASE WHEN next_run_at <= ? THEN ? ELSE next_run_at END
			WHERE id = ? AND schedule <> '' AND lease_owner = ? AND lease_until <= ?
				AND (next_run_at <= ? OR requested_at IS NOT NULL)`,
			run.ID, now.Add(Lease), now, now, models.At(next(now.Time)), jobID, was.LeaseOwner, now, now)
		if res.Error != nil || res.RowsAffected == 0 {
			return res.Error
		}
		began = true
		if !was.RequestedAt.IsZero() {
			run.Trigger = Manual
		}
		if was.LeaseOwner == "" {
			return nil
		}
		dead := Run{ID: was.LeaseOwner, JobID: jobID, StartedAt: was.LastStartedAt, Trigger: BySchedule, Error: abandoned}
		if !was.RequestedAt.IsZero() && !was.RequestedAt.After(was.LastStartedAt.Time) {
			dead.Trigger = Manual
		}
		return record(tx, dead)
	})
	if err != nil {
		return Run{}, false, fmt.Errorf("beginning a run of the job %s: %w", jobID, err)
	}
	return run, began, nil
}

// Skip passes over a due time of a job that is still running, and counts it.
// It is false if the run has ended meanwhile, or if another instance did it.
// due is the NextRunAt that has come.
func (s *Store) Skip(ctx context.Context, jobID string, due models.Time, next func(time.Time) time.Time) (skipped bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		now := s.Now()
		res := tx.Exec(`UPDATE scheduled_jobs SET overlap_skips = overlap_skips + 1, next_run_at = ?
			WHERE id = ? AND lease_until > ? AND next_run_at = ?`, models.At(next(now.Time)), jobID, now, due)
		skipped = res.RowsAffected > 0
		return res.Error
	})
	if err != nil {
		return false, fmt.Errorf("skipping a run of the job %s: %w", jobID, err)
	}
	return skipped, nil
}

// Renew makes the lease of a run last for Lease from now. It is ErrLeaseLost
// if another run has taken it.
func (s *Store) Renew(ctx context.Context, run Run) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return held(tx.Exec(`UPDATE scheduled_jobs SET lease_until = ? WHERE id = ? AND lease_owner = ?`,
			s.Now().Add(Lease), run.JobID, run.ID))
	})
	if err != nil {
		return fmt.Errorf("renewing the lease of the job %s: %w", run.JobID, err)
	}
	return nil
}

// Finish ends a run: its lease is free, and the run with its Duration, Summary
// and Error is in the history and the statistics. It is ErrLeaseLost, and
// records nothing, if another run has taken the lease.
func (s *Store) Finish(ctx context.Context, run Run) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		err := held(tx.Exec(`UPDATE scheduled_jobs SET lease_owner = '', lease_until = 0,
				requested_at = CASE WHEN requested_at > last_started_at THEN requested_at END
			WHERE id = ? AND lease_owner = ?`, run.JobID, run.ID))
		if err != nil {
			return err
		}
		return record(tx, run)
	})
	if err != nil {
		return fmt.Errorf("recording a run of the job %s: %w", run.JobID, err)
	}
	return nil
}

// held says whether an update that only the lease's holder may make found it held.
func held(res *gorm.DB) error {
	if res.Error == nil && res.RowsAffected == 0 {
		return ErrLeaseLost
	}
	return res.Error
}

// record adds a run that ended to the statistics and to the history, which it
// keeps at KeptRuns.
func record(tx *gorm.DB, run Run) error {
	run.Summary, run.Error = clean(run.Summary), clean(run.Error)
	success, failure := 1, 0
	if run.Error != "" {
		success, failure = 0, 1
	}
	err := tx.Exec(`UPDATE scheduled_jobs SET runs = runs + 1, successes = successes + ?, failures = failures + ?,
			last_duration = ?, last_error = ? WHERE id = ?`,
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
