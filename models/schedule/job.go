// Package schedule stores the state, statistics and runs of scheduled jobs (GET
// /v1/admin/jobs).
//
// It also prevents a job from running twice at the same time, in one process or in
// several (ADR 7). A run claims its job under the lease of its instance, which ends if
// the process dies.
package schedule

import (
	"strings"
	"time"
	"unicode/utf8"

	"linkwatch/models"
	"linkwatch/models/lease"
)

const (
	// KeptRuns is the number of newest runs of each job that are stored.
	KeptRuns = 200

	maxText = 500 // runes of a summary or an error
)

// The triggers of a run.
const (
	BySchedule = "schedule"
	Manual     = "manual"
	AtStart    = "start" // the job was overdue when the program started
)

// Job is one scheduled job with its statistics, which survive restarts.
type Job struct {
	ID            string   // "revalidation": lower-case letters and "-"
	Schedule      string   // in the syntax of robfig/cron: "@every 1m"
	ClaimedBy     lease.ID // the instance that runs it; "" = not running
	Runs          int64    // starts; Successes + Failures, and runs that have not ended or were interrupted
	Successes     int64
	Failures      int64
	OverlapSkips  int64       // number of times it was due while still running
	LastStartedAt models.Time // of the current run, or else of the last one
	LastDuration  time.Duration
	LastError     string // of the last ended run; "" = it succeeded
	NextRunAt     models.Time
	RequestedAt   models.Time // when the pending run was requested; zero = none
}

// Running reports whether the job runs on any instance.
func (j Job) Running() bool { return j.ClaimedBy != "" }

// overdueAfter is how long after its due time a job that has not started needs attention.
const overdueAfter = 5 * time.Minute

// Overdue reports whether the job should have started, and has not.
func (j Job) Overdue(now models.Time) bool {
	return !j.Running() && !j.NextRunAt.IsZero() && j.NextRunAt.Before(now.Add(-overdueAfter).Time)
}

// Run is one run of a job.
type Run struct {
	ID        string
	JobID     string
	StartedAt models.Time
	Duration  time.Duration `gorm:"column:duration_ns"`
	Trigger   string        // BySchedule, Manual or AtStart
	Summary   string        // such as "120 checked: 3 dead"; at most 500 runes
	Error     string        // "" = it succeeded; at most 500 runes
}

// validID reports whether id has the form of a job id. Other ids in requests are not found
// without a query.
func validID(id string) bool {
	return id != "" && len(id) <= 40 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// clean makes a text valid and short enough to store. The message of a panic may be any text.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if utf8.RuneCountInString(s) <= maxText {
		return s
	}
	return string([]rune(s)[:maxText-1]) + "…"
}
