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

// Store stores the scheduled jobs and their runs.
type Store struct {
	db        *models.DB
	clock     models.Clock
	requested chan struct{}
}

// NewStore returns a Store. Schedules use clock. The clocks of instances with the same
// database may differ by a few seconds at most.
func NewStore(db *models.DB, clock models.Clock) *Store {
	return &Store{db: db, clock: clock, requested: make(chan struct{}, 1)}
}

// Now returns the time of the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Declare replaces the list of jobs. It uses their ID, Schedule and NextRunAt. A known job
// keeps its statistics and, unless its schedule changed, its next run, so that restarts do
// not delay rare jobs. Jobs that are missing are no longer listed. They keep their runs, and
// the alerts of their failures are closed.
func (s *Store) Declare(ctx context.Context, jobs ...Job) error {
	ids := make([]string, 0, len(jobs))
	for _, j := range jobs {
		if !validID(j.ID) || j.Schedule == "" {
			return fmt.Errorf("declare scheduled job %q: it needs an id of lower-case letters and a schedule", j.ID)
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
		return fmt.Errorf("declare scheduled jobs: %w", err)
	}
	return nil
}

// retire removes all other jobs from the list and closes the alerts of failed ones.
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

// Jobs returns the declared jobs, ordered by id.
func (s *Store) Jobs(ctx context.Context) ([]Job, error) {
	var jobs []Job
	err := s.db.Read(ctx).Raw(`SELECT id, schedule, claimed_by, runs, successes, failures, overlap_skips,
			last_started_at, last_duration_ns AS last_duration, last_error, next_run_at, requested_at
		FROM scheduled_jobs WHERE schedule <> '' ORDER BY id`).Scan(&jobs).Error
	if err != nil {
		return nil, fmt.Errorf("read scheduled jobs: %w", err)
	}
	return jobs, nil
}

// Job returns a declared job, or CodeNotFound.
func (s *Store) Job(ctx context.Context, jobID string) (Job, error) {
	jobs, err := s.Jobs(ctx) // few
	if err != nil {
		return Job{}, err
	}
	i := slices.IndexFunc(jobs, func(j Job) bool { return j.ID == jobID })
	if i < 0 {
		return Job{}, models.NotFound("job")
	}
	return jobs[i], nil
}

var runOrders = models.Orders[Run]{
	Field: "started_at", Desc: true, Time: "started_at", ID: "id", Kind: models.KindRun,
	At: func(r Run) models.Cursor { return models.Cursor{CreatedAt: r.StartedAt, ID: r.ID} },
}

// Runs returns a page of the ended runs of a job, newest first, after a cursor. limit comes
// from models.NewLimit. An unknown job is CodeNotFound.
func (s *Store) Runs(ctx context.Context, jobID string, after models.Cursor, limit int) (models.Slice[Run], error) {
	if err := s.known(ctx, jobID); err != nil {
		return models.Slice[Run]{}, err
	}
	tx := s.db.Read(ctx)
	q := models.ListQuery{Table: "job_runs", Where: "job_id = ?", Args: []any{jobID}}
	return runOrders.List(tx, q, after, limit, func(p models.ListPart) (found []Run, err error) {
		if err = p.Of(tx.Table("job_runs")).Find(&found).Error; err != nil {
			err = fmt.Errorf("read runs of job %s: %w", jobID, err)
		}
		return found, err
	})
}

// Request requests a run as soon as possible. The request is stored until a run that started
// after it has ended, so it survives crashes. An unknown job is CodeNotFound, a running one
// CodeConflict.
func (s *Store) Request(ctx context.Context, jobID string) error {
	return s.RequestAs(ctx, jobID, "job.run")
}

// RequestAs is like Request, with another action in the audit log.
func (s *Store) RequestAs(ctx context.Context, jobID, action string) error {
	return s.request(ctx, jobID, Manual, action)
}

// RequestAtStart is like Request, for a job that is overdue when the program starts.
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
		return fmt.Errorf("request run of job %s: %w", jobID, err)
	}
	if !free {
		return models.Conflict("The job is running already. Wait until it has ended.")
	}
	select {
	case s.requested <- struct{}{}:
	default: // a wake-up is already pending
	}
	return nil
}

// Requested receives a value after Request was called in this process. For requests of other
// instances, poll Job.RequestedAt.
func (s *Store) Requested() <-chan struct{} { return s.requested }

// known returns CodeNotFound unless the job is declared.
func (s *Store) known(ctx context.Context, jobID string) error {
	if !validID(jobID) {
		return models.NotFound("job")
	}
	var n int
	err := s.db.Read(ctx).Raw(`SELECT COUNT(*) FROM scheduled_jobs WHERE id = ? AND schedule <> ''`, jobID).Scan(&n).Error
	if err != nil {
		return fmt.Errorf("read job %s: %w", jobID, err)
	}
	if n == 0 {
		return models.NotFound("job")
	}
	return nil
}
