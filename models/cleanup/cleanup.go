// Package cleanup is the record of what the reaper deletes (seed 004): totals
// that survive restarts, and the last runs.
package cleanup

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/linkwatch/linkwatch/models"
)

// The subjects: what the reaper deletes.
const (
	ShortLinks      = "short_links"
	VisitDays       = "visit_days"
	IdempotencyKeys = "idempotency_keys"
	CheckResults    = "check_results"
	Tags            = "tags"
)

// Subjects are all of them in the order in which a run takes them.
var Subjects = []string{ShortLinks, VisitDays, IdempotencyKeys, CheckResults, Tags}

// KeptRuns is how many runs are remembered.
const KeptRuns = 100

// Remove deletes up to limit rows within a transaction and tells how many it
// was; 0 means that nothing is left to delete.
type Remove func(tx *gorm.DB, limit int) (int64, error)

// Totals are what the reaper did about a subject since the store was made.
type Totals struct {
	Subject        string
	Cleaned        int64 // rows
	LastBatchSize  int64 // rows of the last batch that deleted any
	SuccessfulRuns int64
	FailedRuns     int64
	Duration       time.Duration // of the successful runs together
	LastRunAt      models.Time   // when the last successful run ended; zero: never
}

// Average is how long a successful run took.
func (t Totals) Average() time.Duration {
	if t.SuccessfulRuns == 0 {
		return 0
	}
	return t.Duration / time.Duration(t.SuccessfulRuns)
}

// Run is what one run did about a subject.
type Run struct {
	StartedAt models.Time // of the whole run
	Subject   string
	Duration  time.Duration
	Cleaned   int64
	Error     string // "" = it succeeded
}

// Store keeps the record. It is safe for concurrent use.
type Store struct {
	db    *models.DB
	clock models.Clock
}

// NewStore makes the store over an open, migrated database.
func NewStore(db *models.DB, clock models.Clock) *Store { return &Store{db, clock} }

// Now is the time by the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Batch runs remove for up to limit rows in a transaction of its own, which
// also counts them in the totals, and tells how many it was.
func (s *Store) Batch(ctx context.Context, subject string, limit int, remove Remove) (int64, error) {
	panic("stub")
}

// Finish records what a run did about a subject and drops the oldest runs.
func (s *Store) Finish(ctx context.Context, r Run) error { panic("stub") }

// Totals are those of every subject, in the order of Subjects; zero for one that never ran.
func (s *Store) Totals(ctx context.Context) ([]Totals, error) { panic("stub") }

// Runs are the last runs, the newest first, and within a run by subject.
func (s *Store) Runs(ctx context.Context) ([]Run, error) { panic("stub") }
