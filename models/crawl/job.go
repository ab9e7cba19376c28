package crawl

import (
	"cmp"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
)

// Limits and defaults of jobs.
const (
	DefaultRetries      = 3
	MaxRetries          = 100
	DefaultRetryBackoff = 60        // seconds
	MaxRetryBackoff     = 60 * 60   // seconds; also the longest pause before a retry
	MaxMetadata         = 16 * 1024 // bytes of JSON
)

// Job is a crawl of a source from a start page, once or on a schedule.
type Job struct {
	Seq                 int64 `gorm:"primaryKey"`
	ID                  string
	SourceSeq           int64
	Name                string // "" = that of the source
	SearchText          string // normalized name for searches
	URL                 string // of the start page, as given
	Status              Status
	IntervalCount       int // 0 = one-time
	IntervalType        IntervalType
	IntervalSeconds     int64 // effective, see Adapt
	AdaptiveScheduling  bool
	SourceDisabled      bool
	NextRunAt           models.Time // zero: it has no next run. See NextRun
	PlannedAt           models.Time // the scheduled time of the next or current run, also while it is paused; NextRunAt differs for a retry, a forced or a continued run
	Forced              bool        // a user started the next or current run outside the schedule
	MovedAt             models.Time // last moved by a rebalance
	PausedAt            models.Time
	CancelledAt         models.Time
	MaxRetries          int
	RetryBackoffSeconds int
	CurrentRetryCount   int
	RetryNextRun        bool // a recurring job that failed with all its retries runs again at its next planned time
	ConsecutiveFailures int  // runs in a row that failed with all their retries
	Metadata            Metadata
	Executions          int // number of the newest execution

	LockToken      *string // nil: not locked
	LockAcquiredAt models.Time
	ClaimedBy      lease.ID // lease that holds the lock; "" with a LockToken = the lease has ended

	CrawlSeq       *int64 // an interrupted crawl to continue
	ContentHash    string // of the start page's text; "" = unknown
	UnchangedCount int    // consecutive crawls without changes
	LastError      string // of the last execution; "" = none
	CreatedAt      models.Time
	UpdatedAt      models.Time
	DeletedAt      models.Time

	// Columns of its source.
	SourceID   string `gorm:"->"`
	SourceName string `gorm:"->"`
	PrivateTo  string `gorm:"->"` // same as that of its source
}

// Title returns the name of the job, or that of its source.
func (j Job) Title() string { return cmp.Or(j.Name, j.SourceName) }

// Private reports whether only the owner of its source and admins can see the job.
func (j Job) Private() bool { return j.PrivateTo != "" }

// Interval returns the interval that the owner set.
func (j Job) Interval() Interval { return Interval{j.IntervalCount, j.IntervalType} }

// Recurring reports whether the job runs on a schedule.
func (j Job) Recurring() bool { return j.IntervalCount > 0 }

// NextRun returns when the job runs next, or zero. A failed job has no NextRunAt until it is retried at its planned time.
func (j Job) NextRun() models.Time {
	if j.Status == Failed && j.RetryNextRun && j.Recurring() {
		return j.PlannedAt
	}
	return j.NextRunAt
}

// Planned reports whether the job has a next run, and its source is enabled.
func (j Job) Planned() bool { return !j.SourceDisabled && !j.NextRun().IsZero() }

// Over reports whether the job does not run again: it is completed, cancelled, or failed without a next run.
func (j Job) Over() bool {
	return j.Status == Completed || j.Status == Cancelled || j.Status == Failed && j.NextRun().IsZero()
}

// WaitsForRetry reports whether the job waits for an automatic retry of a failed run, at NextRunAt.
func (j Job) WaitsForRetry() bool {
	return j.Status == Pending && j.CurrentRetryCount > 0 && !j.NextRunAt.IsZero()
}

// EffectiveInterval returns the effective interval: the owner's, or a longer one with adaptive scheduling.
func (j Job) EffectiveInterval() time.Duration { return time.Duration(j.IntervalSeconds) * time.Second }

// adapt sets the effective interval.
func (j *Job) adapt() {
	every := j.Interval().Duration()
	if j.AdaptiveScheduling && every > 0 {
		every = Adapt(every, j.UnchangedCount)
	}
	j.IntervalSeconds = int64(every / time.Second)
}

// Metadata is a JSON object for the owner's own use.
type Metadata map[string]any

// Value implements driver.Valuer.
func (m Metadata) Value() (driver.Value, error) {
	if m == nil {
		return "{}", nil
	}
	b, err := json.Marshal(m)
	return string(b), err
}

// Scan implements sql.Scanner.
func (m *Metadata) Scan(src any) error {
	switch v := src.(type) {
	case string:
		return json.Unmarshal([]byte(v), m)
	case []byte:
		return json.Unmarshal(v, m)
	}
	return fmt.Errorf("metadata is a %T, want text", src)
}

// GormDataType returns the type of the column.
func (Metadata) GormDataType() string { return "text" }

// NewJob is a job to add.
type NewJob struct {
	// SourceID is the id of the source. If it is "", the source is one of the URL's host that is shared or the caller's own.
	// With Source.Private, it is one that is private to the caller. It is created if there is none.
	SourceID           string
	Name               string // "" = that of the source
	URL                string // "" = that of the source
	Interval           Interval
	Paused             bool // it has no next run until it is resumed
	RunNow             bool // a recurring job that is not paused also runs now, outside its schedule
	AdaptiveScheduling bool
	MaxRetries         *int // nil = DefaultRetries
	RetryBackoff       *int // seconds; nil = DefaultRetryBackoff
	RetryNextRun       bool
	Metadata           Metadata
	// Source has the settings of a source that is created from the URL.
	Source NewSource
	// With OnlyNew, the error is CodeConflict if the source exists. With Distinct, it is CodeInvalid ("interval_minutes") if the
	// source has an unfinished job with the same start page and interval.
	OnlyNew, Distinct bool
}

// JobEdit changes the settings of a job. A nil field leaves the setting unchanged.
type JobEdit struct {
	SourceID           *string
	Name               *string
	URL                *string
	Interval           *Interval
	Paused             *bool // of a recurring job
	AdaptiveScheduling *bool
	MaxRetries         *int
	RetryBackoff       *int
	RetryNextRun       *bool
	Metadata           *Metadata
}

// check validates and normalizes the settings of the job.
func (j *Job) check(src Source) error {
	u, wrong := models.ParseURL("url", j.URL)
	j.URL, j.Name = u.Given, models.CleanLine(j.Name)
	j.SearchText = models.Fold(j.Name)
	if j.IntervalType == "" {
		j.IntervalType = Minutes
	}
	errs := []error{wrong}
	if wrong == nil && !src.Allows(u.Canonical) {
		errs = append(errs, models.Invalid("url", "is outside the allowed domains of its source; add its host and port to them first"))
	}
	if models.Runes(j.Name) > MaxName {
		errs = append(errs, models.TooLong("name", MaxName, "characters"))
	}
	if j.MaxRetries < 0 || j.MaxRetries > MaxRetries {
		errs = append(errs, models.OutOfRange("max_retries", "", 0, MaxRetries))
	}
	if j.RetryBackoffSeconds < 0 || j.RetryBackoffSeconds > MaxRetryBackoff {
		errs = append(errs, models.OutOfRange("retry_backoff_seconds", "seconds", 0, MaxRetryBackoff))
	}
	if text, err := j.Metadata.Value(); err != nil || len(text.(string)) > MaxMetadata {
		errs = append(errs, models.Invalid("metadata", "must be an object of at most %d bytes", MaxMetadata))
	}
	j.adapt()
	return models.Invalids(errs...)
}
