// Package schedule is the record of the scheduled jobs: what each is doing, how
// it did, and the history of its runs (contract §7, GET /v1/admin/jobs).
package schedule

import (
	"context"
	"time"

	"github.com/linkwatch/linkwatch/models"
)

// Job is one scheduled job with its statistics, which survive restarts.
type Job struct {
	ID            string // "revalidation"
	Schedule      string // as robfig/cron reads it: "@every 1m"
	Running       bool
	Runs          int64
	Successes     int64
	Failures      int64
	OverlapSkips  int64
	LastStartedAt models.Time
	LastDuration  time.Duration
	LastError     string // of the last run; "" = it succeeded
	NextRunAt     models.Time
}

// Run is one run of a job.
type Run struct {
	ID        string
	JobID     string
	StartedAt models.Time
	Duration  time.Duration
	Trigger   string // "schedule" or "manual"
	Summary   string // what it did: "120 checked, 3 dead"
	Error     string // "" = it succeeded
}

type Store struct{}

func NewStore(db *models.DB, clock models.Clock) *Store  { panic("stub") }
func (s *Store) Jobs(ctx context.Context) ([]Job, error) { panic("stub") }
func (s *Store) Runs(ctx context.Context, jobID string, after models.Cursor, limit int) (models.Slice[Run], error) {
	panic("stub")
}

// Request asks for a run now: 404 for an unknown job, CodeConflict while it runs.
func (s *Store) Request(ctx context.Context, jobID string) error { panic("stub") }
