// Package cleanup is the record of what the reaper deletes: totals that survive
// restarts, and the last runs. Each kind of rows has figures of its own.
package cleanup

import (
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// The kinds of rows that the reaper deletes. CLEANUP_ENABLED decides about
// ShortLinks alone; the others are deleted in any case.
const (
	ShortLinks      = "short_links"
	VisitDays       = "visit_days"
	IdempotencyKeys = "idempotency_keys"
	CheckResults    = "check_results"
	Tags            = "tags"
)

// Kinds are all of them in the order in which a run takes them.
var Kinds = []string{ShortLinks, VisitDays, IdempotencyKeys, CheckResults, Tags}

// Job is the id of the scheduled job that does the work.
const Job = "reaper"

// KeptRuns is how many runs are remembered.
const KeptRuns = 100

// MaxWaiting is up to how many short links are counted that wait for the
// reaper: beyond it there are "more than".
const MaxWaiting = 10_000

const maxError = 500 // runes

// Remove deletes up to limit rows within a transaction and tells how many it
// was; 0 means that nothing is left to delete.
type Remove func(tx *gorm.DB, limit int) (int64, error)

// Totals are what the reaper did about one kind since the database was made.
type Totals struct {
	Kind           string `gorm:"column:subject"`
	Cleaned        int64  // rows
	LastBatchSize  int64  // rows of the last batch that deleted any
	SuccessfulRuns int64
	FailedRuns     int64
	Duration       time.Duration // of the batches of the successful runs together
	LastRunAt      models.Time   // when the last successful run ended; zero: never
}

// Average is how long a successful run took.
func (t Totals) Average() time.Duration {
	if t.SuccessfulRuns == 0 {
		return 0
	}
	return t.Duration / time.Duration(t.SuccessfulRuns)
}

// Run is what one run did about a kind.
type Run struct {
	StartedAt models.Time   // of the whole run
	Kind      string        `gorm:"column:subject"`
	Duration  time.Duration // of its batches together
	Cleaned   int64         // rows
	Error     string        // "" = it succeeded; at most 500 runes
}
