// Package schedule is the record of the scheduled jobs: what each is doing, how
// it did, and the history of its runs (GET /v1/admin/jobs).
//
// It is also what keeps a job from running twice at once, in one process or in
// several (ADR 7): a run claims its job under the lease of its instance, which
// ends by itself if the process dies.
package schedule

import (
	"strings"
	"time"
	"unicode/utf8"

	"linkwatch/models"
	"linkwatch/models/lease"
)

const (
	// KeptRuns is how many runs of each job are remembered, the newest ones.
	KeptRuns = 200

	maxText = 500 // runes of a summary or an error
)

// What made a run begin.
const (
	BySchedule = "schedule"
	Manual     = "manual"
	AtStart    = "start" // the job was overdue when the program started
)

// Job is one scheduled job with its statistics, which survive restarts.
type Job struct {
	ID            string   // "revalidation": lower-case letters and "-"
	Schedule      string   // as robfig/cron reads it: "@every 1m"
	ClaimedBy     lease.ID // the instance on which it runs; "" = it does not run
	Runs          int64    // those that ended
	Successes     int64
	Failures      int64
	OverlapSkips  int64       // times it was due while it was still running
	LastStartedAt models.Time // of the run under way, if there is one
	LastDuration  time.Duration
	LastError     string // of the last run that ended; "" = it succeeded
	NextRunAt     models.Time
	RequestedAt   models.Time // since when somebody's wish for a run is unfulfilled; zero: there is none
}

// Running says whether the job runs, on any instance.
func (j Job) Running() bool { return j.ClaimedBy != "" }

// Run is one run of a job.
type Run struct {
	ID        string
	JobID     string
	StartedAt models.Time
	Duration  time.Duration `gorm:"column:duration_ns"`
	Trigger   string        // BySchedule, Manual or AtStart
	Summary   string        // what it did: "120 checked: 3 dead"; at most 500 runes
	Error     string        // "" = it succeeded; at most 500 runes
}

// validID says whether a job could have this id. Ids come from strangers too,
// so anything else is answered "not found" without a look-up.
func validID(id string) bool {
	return id != "" && len(id) <= 40 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// clean makes a text fit for storing: a panic's message may be anything.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if utf8.RuneCountInString(s) <= maxText {
		return s
	}
	return string([]rune(s)[:maxText-1]) + "…"
}
