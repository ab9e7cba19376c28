package schedule

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
	"linkwatch/models/event"
)

// Store keeps the scheduled jobs and their runs.
type Store struct {
	db        *models.DB
	clock     models.Clock
	requested chan struct{}
}

// NewStore is the record in db. Schedules go by clock; instances that share a
// database need clocks that differ by a few seconds at most.
func NewStore(db *models.DB, clock models.Clock) *Store {
	return &Store{db: db, clock: clock, requested: make(chan struct{}, 1)}
}

// Now is the time by the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Declare makes jobs the ones there are, by their ID, Schedule and NextRunAt.
// A known job keeps its statistics and, unless its schedule changed, its next
// run, so that a restart does not delay a rare job. A job that is not named
// is no longer listed, but keeps its history for the day it comes back; the alert of its failure is closed.
func (s *Store) Declare(ctx context.Context, jobs ...Job) error {
	ids := make([]string, 0, len(jobs))
	for _, j := range jobs {
		if !validID(j.ID) || j.Schedule == "" {
			return fmt.Errorf("declaring the scheduled job %q: it needs an id of lower-case letters and a schedule", j.ID)
		}
		ids = append(ids, j.ID)
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		for _, j := range jobs {
			err := tx.Exec(`INSERT INTO scheduled_jobs (id, schedule, next_run_at) VALUES (?, ?, ?)
				ON CONFLICT (id) DO UPDATE SET schedule = excluded.schedule, next_run_at =
					CASE scheduled_jobs.schedule WHEN excluded.schedule THEN scheduled_jobs.next_run_at ELSE excluded.next_run_at END`,
				j.ID, j.Schedule, j.NextRunAt).Error
			if err != nil {
				return err
			}
		}
		return retire(tx, ids, s.Now())
	})
	if err != nil {
		return fmt.Errorf("declaring the scheduled jobs: %w", err)
	}
	return nil
}

// retire takes all jobs but these from the list. Nothing more is known of those that failed last.
func retire(tx *gorm.DB, kept []string, now models.Time) error {
	var failing []string
	if err := tx.Raw("SELECT id FROM scheduled_jobs WHERE id NOT IN ? AND last_error <> '' ORDER BY id", kept).Scan(&failing).Error; err != nil {
		return err
	}
	var events []event.Event
	for _, id := range failing {
		events = append(events, closed(id, now))
	}
	if len(events) > 0 {
		if err := event.Add(tx, events...); err != nil {
			return err
		}
	}
	return tx.Exec(`UPDATE scheduled_jobs SET schedule = '', next_run_at = NULL, requested_at = NULL, last_error = '' WHERE id NOT IN ?`, kept).Error
}

// Jobs are the declared jobs, by id.
func (s *Store) Jobs(ctx context.Context) ([]Job, error) {
	var jobs []Job
	err := s.db.Read(ctx).Raw(`SELECT id, schedule, claimed_by, runs, successes, failures, overlap_skips,
			last_started_at, last_duration_ns AS last_duration, last_error, next_run_at, requested_at
		FROM scheduled_jobs WHERE schedule <> '' ORDER BY id`).Scan(&jobs).Error
	if err != nil {
		return nil, fmt.Errorf("reading the scheduled jobs: %w", err)
	}
	return jobs, nil
}

// Job is one declared job; any other is CodeNotFound.
func (s *Store) Job(ctx context.Context, jobID string) (Job, error) {
	jobs, err := s.Jobs(ctx) // of which there are few
	if err != nil {
		return Job{}, err
	}
	i := slices.IndexFunc(jobs, func(j Job) bool { return j.ID == jobID })
	if i < 0 {
		return Job{}, models.NotFound("job")
	}
	return jobs[i], nil
}

// Runs is a page of the runs of a job that ended, newest first, after the place
// of a cursor. limit is as models.NewLimit made it. An unknown job is CodeNotFound.
func (s *Store) Runs(ctx context.Context, jobID string, after models.Cursor, limit int) (models.Slice[Run], error) {
	var page models.Slice[Run]
	if after != (models.Cursor{}) && models.CheckID(models.KindRun, after.ID) != nil {
		return page, models.ErrPageToken
	}
	if err := s.known(ctx, jobID); err != nil {
		return page, err
	}
	q := s.db.Read(ctx).Table("job_runs").Where("job_id = ?", jobID)
	if after != (models.Cursor{}) {
		q = q.Where("(started_at, id) < (?, ?)", after.CreatedAt, after.ID)
	}
	if err := q.Order("started_at DESC, id DESC").Limit(limit + 1).Find(&page.Items).Error; err != nil {
		return page, fmt.Errorf("reading the runs of the job %s: %w", jobID, err)
	}
	return models.NewSlice(page.Items, limit, func(r Run) models.Cursor { return models.Cursor{CreatedAt: r.StartedAt, ID: r.ID} }), nil
}

// Request asks for a run as soon as possible. The wish is kept in the store
// until a run that began after it has ended, whatever crashes meanwhile. An
// unknown job is CodeNotFound, a running one CodeConflict.
func (s *Store) Request(ctx context.Context, jobID string) error {
	return s.RequestAs(ctx, jobID, "job.run")
}

// RequestAs is Request with the name of the action for the audit log.
func (s *Store) RequestAs(ctx context.Context, jobID, action string) error {
	return s.request(ctx, jobID, Manual, action)
}

// RequestAtStart is Request for a job that is overdue when the program starts.
func (s *Store) RequestAtStart(ctx context.Context, jobID string) error {
	return s.request(ctx, jobID, AtStart, "job.run")
}

func (s *Store) request(ctx context.Context, jobID, by, action string) error {
	if err := s.known(ctx, jobID); err != nil {
		return err
	}
	free := false
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Exec(`UPDATE scheduled_jobs SET requested_at = COALESCE(requested_at, ?),
				requested_by = CASE WHEN requested_at IS NULL THEN ? ELSE requested_by END
			WHERE id = ? AND claimed_by IS NULL`, s.Now(), by, jobID)
		if free = res.RowsAffected > 0; res.Error != nil || !free {
			return res.Error
		}
		return audit.Add(tx, s.Now(), audit.Change{Action: action, Subject: audit.Subject{Kind: "job", ID: jobID, Name: jobID}})
	})
	if err != nil {
		return fmt.Errorf("asking for a run of the job %s: %w", jobID, err)
	}
	if !free {
		return models.Conflict("The job is running already. Wait until it has ended.")
	}
	select {
	case s.requested <- struct{}{}:
	default: // a wake-up is waiting already
	}
	return nil
}

// Requested gets a value after Request was called in this process. Wishes made
// through other instances do not ring: look at Job.RequestedAt now and then.
func (s *Store) Requested() <-chan struct{} { return s.requested }

// known is nil for a declared job.
func (s *Store) known(ctx context.Context, jobID string) error {
	if !validID(jobID) {
		return models.NotFound("job")
	}
	var n int
	err := s.db.Read(ctx).Raw(`SELECT COUNT(*) FROM scheduled_jobs WHERE id = ? AND schedule <> ''`, jobID).Scan(&n).Error
	if err != nil {
		return fmt.Errorf("looking up the job %s: %w", jobID, err)
	}
	if n == 0 {
		return models.NotFound("job")
	}
	return nil
}
