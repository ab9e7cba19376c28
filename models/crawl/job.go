package crawl

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
)

// The limits and defaults of a job's parts.
const (
	DefaultRetries      = 3
	MaxRetries          = 100
	DefaultRetryBackoff = 60        // seconds
	MaxRetryBackoff     = 60 * 60   // seconds, which is also the longest pause before a retry
	MaxMetadata         = 16 * 1024 // bytes of JSON
)

// Job is a crawl of a source from a start page, once or on a schedule.
type Job struct {
	Seq                 int64 `gorm:"primaryKey"`
	ID                  string
	SourceSeq           int64
	URL                 string // of the start page, as it was given
	Status              Status
	IntervalCount       int // 0 = one-time
	IntervalType        IntervalType
	IntervalSeconds     int64 // in force, see Adapt
	AdaptiveScheduling  bool
	Held                bool        // its source is disabled
	NextRunAt           models.Time // zero: it does not wait for a time
	PlannedAt           models.Time // the run that NextRunAt is of by the schedule; retries leave it
	MovedAt             models.Time // when a rebalance last moved it
	PausedAt            models.Time
	CancelledAt         models.Time
	MaxRetries          int
	RetryBackoffSeconds int
	CurrentRetryCount   int
	Metadata            Metadata
	Executions          int // the number of the newest execution

	LockToken      *string // nil: not locked
	LockAcquiredAt models.Time
	ClaimedBy      lease.ID // the lease that holds the lock; "" with a LockToken: it has ended

	CrawlSeq       *int64 // a crawl that was interrupted and is to be continued
	ContentHash    string // of the start page's text; "" = unknown
	UnchangedCount int    // crawls in a row that found it unchanged
	LastError      string // of the last execution; "" = none
	CreatedAt      models.Time
	UpdatedAt      models.Time
	DeletedAt      models.Time

	// Of its source.
	SourceID   string `gorm:"->"`
	SourceName string `gorm:"->"`
	PrivateTo  string `gorm:"->"` // as that of its source
}

// Private reports whether only the owner of its source and admins see the job.
func (j Job) Private() bool { return j.PrivateTo != "" }

// Interval is how often the job runs by what its owner set.
func (j Job) Interval() Interval { return Interval{j.IntervalCount, j.IntervalType} }

// Recurring reports whether the job runs on a schedule.
func (j Job) Recurring() bool { return j.IntervalCount > 0 }

// Every is the interval in force: the owner's, or longer with adaptive scheduling.
func (j Job) Every() time.Duration { return time.Duration(j.IntervalSeconds) * time.Second }

// adapt sets the interval in force.
func (j *Job) adapt() {
	every := j.Interval().Duration()
	if j.AdaptiveScheduling && every > 0 {
		every = Adapt(every, j.UnchangedCount)
	}
	j.IntervalSeconds = int64(every / time.Second)
}

// Metadata is a JSON object that belongs to the owner of a job.
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

// GormDataType is the type of the column.
func (Metadata) GormDataType() string { return "text" }

// NewJob is a job to add.
type NewJob struct {
	// SourceID is that of the source. "" = a source of the URL's host that is shared or the caller's own, or with
	// Source.Private one that is private to the caller. If there is none, it is made.
	SourceID           string
	URL                string // "" = that of the source
	Interval           Interval
	Paused             bool // it waits until it is resumed
	AdaptiveScheduling bool
	MaxRetries         *int // nil = DefaultRetries
	RetryBackoff       *int // seconds; nil = DefaultRetryBackoff
	Metadata           Metadata
	// Source says what a source is like that is made from the URL.
	Source NewSource
}

// JobEdit replaces what the owner of a job set; nil leaves a part as it is.
type JobEdit struct {
	SourceID           *string
	URL                *string
	Interval           *Interval
	Paused             *bool // of a recurring job
	AdaptiveScheduling *bool
	MaxRetries         *int
	RetryBackoff       *int
	Metadata           *Metadata
}

// check bounds what the owner set and brings it to its stored form.
func (j *Job) check(src Source) error {
	u, err := models.ParseURL("url", j.URL)
	if err != nil {
		return err
	}
	j.URL = u.Given
	if j.IntervalType == "" {
		j.IntervalType = Minutes
	}
	var errs []error
	if !src.AllowedDomains.allow(u.Host, src.Host) {
		errs = append(errs, models.Invalid("url", "is not in the allowed domains of its source"))
	}
	if j.MaxRetries < 0 || j.MaxRetries > MaxRetries {
		errs = append(errs, models.Invalid("max_retries", "must be a whole number from 0 to %d", MaxRetries))
	}
	if j.RetryBackoffSeconds < 0 || j.RetryBackoffSeconds > MaxRetryBackoff {
		errs = append(errs, models.Invalid("retry_backoff_seconds", "must be a whole number of seconds from 0 to %d", MaxRetryBackoff))
	}
	if text, err := j.Metadata.Value(); err != nil || len(text.(string)) > MaxMetadata {
		errs = append(errs, models.Invalid("metadata", "must be an object of at most %d bytes", MaxMetadata))
	}
	j.adapt()
	return errors.Join(errs...)
}
