// Package cleanup is the record of what the reaper deletes: totals that survive
// restarts, and the last runs. Each kind of rows has figures of its own.
package cleanup

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Job is the id of the scheduled job that does the work.
const Job = "reaper"

// ActionRun is what the audit log calls a run that an admin asked for.
const ActionRun = "cleanup.run"

// KeptRuns is how many runs are remembered.
const KeptRuns = 100

// MaxWaiting is up to how many rows are counted that wait for the reaper: beyond
// it there are "more than".
const MaxWaiting = 10_000

const maxError = 500 // runes

// Remove deletes up to limit rows within a transaction and tells how many it
// was; 0 means that nothing is left to delete.
type Remove func(tx *gorm.DB, limit int) (int64, error)

// Kind is one kind of rows that the reaper deletes, as a system registers it.
type Kind struct {
	Kind        string // its name in the database, the API and the metrics: "old_notes"
	Label       string // for people: "Old notes"
	Description string // which of them are deleted: "older than 30 days"
	Note        string // a sentence about it for the head of the page; only of the main kind
	Remove      Remove
	Kept        string // why they are not deleted; "" = they are
	// Waiting counts the rows that are due for deletion, up to limit. Only one kind
	// has it, the main one: the figures at the top of the statistics are of it.
	Waiting func(ctx context.Context, limit int) (int, error)
}

// Noun is the name of n rows: "old note", "old notes".
func (k Kind) Noun(n int64) string {
	words := strings.ReplaceAll(k.Kind, "_", " ")
	if n == 1 {
		return strings.TrimSuffix(words, "s")
	}
	return words
}

// Totals are what the reaper did about one kind since the database was made.
type Totals struct {
	Kind           string
	Cleaned        int64 // rows
	LastBatchSize  int64 // rows of the last batch that deleted any
	SuccessfulRuns int64
	FailedRuns     int64
	Duration       time.Duration `gorm:"column:duration_ns"` // of the batches of the successful runs together
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
	StartedAt models.Time // of the whole run
	Kind      string
	Duration  time.Duration `gorm:"column:duration_ns"` // of its batches together
	Cleaned   int64         // rows
	Error     string        // "" = it succeeded; at most 500 runes
}
