// Package cleanup is the record of what the reaper deletes (seed 004): totals
// that survive restarts, and the last runs.
package cleanup

import (
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

// Job is the id of the scheduled job that does the work (contract §7).
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

// Totals are what the reaper did about a subject since the store was made.
type Totals struct {
	Subject        string
	Cleaned        int64 // rows
	LastBatchSize  int64 // rows of the last batch that deleted any
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

// Run is what one run did about a subject.
type Run struct {
	StartedAt models.Time // of the whole run
	Subject   string
	Duration  time.Duration // of its batches together
	Cleaned   int64         // rows
	Error     string        // "" = it succeeded; at most 500 runes
}

// SwitchedOff is the error of who asks for a run where CLEANUP_ENABLED is false.
func SwitchedOff() *models.Error {
	return models.Conflict("The reaper is switched off: CLEANUP_ENABLED is false. Set it to true and start the program anew.")
}
