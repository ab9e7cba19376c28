package crawl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// ExecutionStatus is the status of an execution.
type ExecutionStatus string

// The statuses of an execution.
const (
	ExecutionRunning   ExecutionStatus = "running"
	ExecutionCompleted ExecutionStatus = "completed"
	ExecutionFailed    ExecutionStatus = "failed"
	ExecutionCancelled ExecutionStatus = "cancelled"
)

// Execution is one run of a job.
type Execution struct {
	Seq             int64 `gorm:"primaryKey"`
	ID              string
	JobSeq          int64
	ExecutionNumber int
	Status          ExecutionStatus
	LockToken       string // of the job when the execution started
	CrawlSeq        int64  // its own Seq, or that of the interrupted execution that it continues
	URL             string // of the start page
	StartedAt       models.Time
	CompletedAt     models.Time // zero: still running
	ProgressAt      models.Time // when a response or a finished entry was last stored
	RetryAttempt    int
	ItemsCrawled    int    // distinct pages
	ItemsIndexed    int    // crawled pages that search can find
	Queued          int    // open frontier entries
	Fetched         int    // entries that are done
	Failed          int    // entries that failed
	ErrorMessage    string // "" = none
	CancelledBy     string // name of the actor who cancelled it; "" = not cancelled
	StackTrace      string // of a panic; "" = none
	CPUTimeUS       int64  // CPU time for parsing its pages, in microseconds
	MemoryPeakMB    int64  // peak memory of the process on the instance that ran the job, in MiB
	StartHash       string // of the start page's text; "" = not fetched
	StartError      string // why the start page could not be crawled; "" = crawled, or not fetched yet
	LogLines        int
	LogBytes        int
	Metadata        Metadata
	HasFrontier     bool   // the frontier may have entries of its crawl
	PagesNew        int    // pages that were new or had been gone
	PagesChanged    int    // pages whose text changed
	PagesGone       int    // pages that were removed or are no longer linked
	BrokenLinks     int    // links to URLs that could not be fetched
	ReportedPage    *int64 // last page that its report has read; nil = the report is complete, or there is none

	JobID string `gorm:"->"`
}

// TableName implements schema.Tabler.
func (Execution) TableName() string { return "job_executions" }

// Duration returns how long the execution took, or has taken until now.
func (e Execution) Duration(now models.Time) time.Duration {
	if e.CompletedAt.IsZero() {
		return max(0, now.Sub(e.StartedAt.Time))
	}
	return max(0, e.CompletedAt.Sub(e.StartedAt.Time))
}

// KnownURLs returns the number of URLs that the crawl has found so far.
func (e Execution) KnownURLs() int { return e.Queued + e.Fetched + e.Failed }

func executions(tx *gorm.DB) *gorm.DB {
	visible, args := ofVisibleSource(tx, "jobs.source_seq")
	return tx.Model(&Execution{}).Select("job_executions.*, jobs.id AS job_id").Joins("JOIN jobs ON jobs.seq = job_executions.job_seq").Where(visible, args...)
}

// Execution returns an execution by id. The error is CodeNotFound if there is none.
func (s *Store) Execution(ctx context.Context, id string) (e Execution, err error) {
	if models.CheckID(models.KindExecution, id) != nil {
		return e, models.NotFound("execution")
	}
	err = executions(s.db.Read(ctx)).Where("job_executions.id = ?", id).Take(&e).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return e, models.NotFound("execution")
	}
	if err != nil {
		return e, fmt.Errorf("load execution: %w", err)
	}
	return e, nil
}

// ExecutionFilter selects executions. The zero value selects those of all jobs that are not deleted.
type ExecutionFilter struct {
	JobID  string
	Status ExecutionStatus
}

// AllExecutions returns one page of the executions that a filter selects, the newest first. limit comes from models.NewLimit.
func (s *Store) AllExecutions(ctx context.Context, f ExecutionFilter, after models.Cursor, limit int) (page models.Slice[Execution], err error) {
	if err := models.CheckFilter("query.job_id", f.JobID); err != nil {
		return page, err
	}
	tx := s.db.Read(ctx)
	q := models.ListQuery{Table: "job_executions", From: "job_executions JOIN jobs ON jobs.seq = job_executions.job_seq"}
	q.And("jobs.deleted_at IS NULL")
	if f.JobID != "" {
		if !isID(models.KindJob, f.JobID) {
			return models.NoItems[Execution](after), nil
		}
		q.And("job_executions.job_seq = (SELECT seq FROM jobs AS j WHERE j.id = ?)", f.JobID)
	}
	switch f.Status {
	case "":
	case ExecutionRunning:
		q.And("job_executions.status = 'running'") // few, from a partial index
	case ExecutionCompleted, ExecutionFailed, ExecutionCancelled:
		q.And("job_executions.status = ? AND job_executions.status <> 'running'", f.Status) // the index is partial
	}
	visible, args := ofVisibleSource(tx, "jobs.source_seq")
	q.Counted(visible, args...)
	return listExecutions(tx, q, after, limit)
}

// Executions returns one page of the executions of a job, the newest first. limit comes from models.NewLimit.
func (s *Store) Executions(ctx context.Context, j Job, after models.Cursor, limit int) (models.Slice[Execution], error) {
	tx := s.db.Read(ctx)
	q := models.ListQuery{Table: "job_executions", Where: "job_executions.job_seq = ?", Args: []any{j.Seq}}
	return listExecutions(tx, q, after, limit)
}

func listExecutions(tx *gorm.DB, q models.ListQuery, after models.Cursor, limit int) (models.Slice[Execution], error) {
	return ExecutionOrders.List(tx, q, after, limit, func(p models.ListPart) (found []Execution, err error) {
		if err = p.Of(executions(tx)).Find(&found).Error; err != nil {
			err = fmt.Errorf("load executions: %w", err)
		}
		return found, err
	})
}

// LastExecution returns the newest execution of a job. ok is false if there is none.
func (s *Store) LastExecution(ctx context.Context, j Job) (e Execution, ok bool, err error) {
	page, err := s.Executions(ctx, j, models.Cursor{}, 1)
	if err != nil || len(page.Items) == 0 {
		return e, false, err
	}
	return page.Items[0], true, nil
}

// JobStats are statistics of a job over its stored executions.
type JobStats struct {
	Total, Completed, Failed int
	ItemsCrawled             int64
	AverageDuration          time.Duration // of completed executions
}

// SuccessRate returns completed ÷ (completed + failed). ok is false if both are 0. Interrupted and cancelled executions do
// not count because they say nothing about the site.
func (s JobStats) SuccessRate() (rate float64, ok bool) {
	if s.Completed+s.Failed == 0 {
		return 0, false
	}
	return float64(s.Completed) / float64(s.Completed+s.Failed), true
}

// Interrupted is the error of an execution whose instance stopped or lost its lock.
const Interrupted = "instance stopped"

// Stats returns the statistics of a job.
func (s *Store) Stats(ctx context.Context, j Job) (JobStats, error) {
	return s.stats(s.db.Read(ctx), "job_seq = ?", j.Seq)
}

func (s *Store) stats(tx *gorm.DB, where string, args ...any) (st JobStats, err error) {
	var row struct {
		Total, Completed, Failed int
		ItemsCrawled             int64
		DurationUS               int64
	}
	err = tx.Raw(`SELECT count(*) AS total, count(CASE WHEN status = 'completed' THEN 1 END) AS completed,
			count(CASE WHEN status = 'failed' AND error_message <> ? THEN 1 END) AS failed,
			coalesce(sum(items_crawled), 0) AS items_crawled,
			CAST(coalesce(avg(CASE WHEN status = 'completed' THEN completed_at - started_at END), 0) AS BIGINT) AS duration_us
		FROM job_executions WHERE `+where, append([]any{Interrupted}, args...)...).Scan(&row).Error
	if err != nil {
		return st, fmt.Errorf("count executions: %w", err)
	}
	return JobStats{row.Total, row.Completed, row.Failed, row.ItemsCrawled, time.Duration(row.DurationUS) * time.Microsecond}, nil
}
