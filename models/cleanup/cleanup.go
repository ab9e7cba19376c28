// Package cleanup stores the statistics of the reaper: totals that survive restarts, and
// the last runs, for each kind of rows.
package cleanup

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Job is the id of the scheduled job that deletes the rows.
const Job = "reaper"

// ActionRun is the action in the audit log for a run that an admin requested.
const ActionRun = "cleanup.run"

// KeptRuns is the number of newest runs that are stored.
const KeptRuns = 100

// MaxWaiting is the largest exact count of rows that wait for the reaper. Above it, pages
// show "more than".
const MaxWaiting = 10_000

const maxError = 500 // runes

// Remove deletes up to limit rows in a transaction and returns their number. 0 means that
// nothing is left to delete.
type Remove func(tx *gorm.DB, limit int) (int64, error)

// Kind is one kind of rows that the reaper deletes, as a system registers it.
type Kind struct {
	Kind        string // its name in the database, the API and the metrics: "old_notes"
	Label       string // for people: "Old notes"
	Description string // which of them are deleted: "older than 30 days"
	Note        string // a sentence about it for the head of the page; only of the main kind
	Remove      Remove
	Kept        string // why they are not deleted; "" = they are
	// Waiting counts the rows that are due for deletion, up to limit. Only the main kind has
	// it: the one at the top of the statistics.
	Waiting func(ctx context.Context, limit int) (int, error)
}

// Noun returns the name of n rows: "old note", "old notes".
func (k Kind) Noun(n int64) string {
	words := strings.Fields(k.Label)
	if words[0] != strings.ToUpper(words[0]) { // an abbreviation stays in upper case
		words[0] = strings.ToLower(words[0])
	}
	if n != 1 {
		return strings.Join(words, " ")
	}
	i := 0 // "visits by day" and "audit entries" have their plural in different words
	if !strings.HasSuffix(words[0], "s") {
		i = len(words) - 1
	}
	if stem, ok := strings.CutSuffix(words[i], "ies"); ok {
		words[i] = stem + "y"
	} else {
		words[i] = strings.TrimSuffix(words[i], "s")
	}
	return strings.Join(words, " ")
}

// Totals are the totals of one kind since the database was created.
type Totals struct {
	Kind           string
	Cleaned        int64 // rows
	LastBatchSize  int64 // rows of the last batch that deleted any
	SuccessfulRuns int64
	FailedRuns     int64
	Duration       time.Duration `gorm:"column:duration_ns"` // of all batches of successful runs
	LastRunAt      models.Time   // end of the last successful run; zero = never
}

// Average returns the average duration of a successful run.
func (t Totals) Average() time.Duration {
	if t.SuccessfulRuns == 0 {
		return 0
	}
	return t.Duration / time.Duration(t.SuccessfulRuns)
}

// Run is the result of one run for one kind.
type Run struct {
	StartedAt models.Time // of the whole run
	Kind      string
	Duration  time.Duration `gorm:"column:duration_ns"` // of all its batches
	Cleaned   int64         // rows
	Error     string        // "" = it succeeded; at most 500 runes
}
