package crawl

import (
	"context"
	"strconv"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/crawl"
)

func (a API) registerExecutions(r *api.API) {
	api.Register(r, api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/jobs/{id}/stats", "get-job-stats", "Get job statistics",
		"Covers the stored executions: the newest 100, for up to 30 days.", models.CodeNotFound), a.jobStats)
	api.Register(r, api.Sorts(api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/jobs/{id}/executions", "list-executions", "List executions of a job",
		"Newest first. The newest 100 executions are kept for up to 30 days.", models.CodeNotFound), "started_at"), a.listExecutions)
	api.Register(r, api.Sorts(api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/executions", "list-all-executions", "List executions of all jobs",
		"Newest first. Executions of deleted jobs are omitted."), "started_at"), a.listAllExecutions)
	api.Register(r, api.Item(api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/executions/{id}", "get-execution", "Get an execution", "Includes the progress of a running execution.", models.CodeNotFound),
		"id"), a.getExecution)
	api.Register(r, api.SortsOnly(api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/jobs/{id}/logs", "list-log-lines", "List log lines of an execution",
		"Oldest first. A log keeps about 1 MiB plus its last lines.", models.CodeNotFound), "line", models.Ascending), a.listLog)
}

// JobStats are the statistics of a job in the API.
type JobStats struct {
	TotalExecutions   int      `json:"total_executions" example:"24" doc:"Number of executions"`
	Completed         int      `json:"completed" example:"22" doc:"Executions that completed"`
	Failed            int      `json:"failed" example:"2" doc:"Executions that failed, without interrupted ones"`
	SuccessRate       *float64 `json:"success_rate" example:"0.9167" doc:"Share of completed executions among completed and failed ones, from 0 to 1. null if there are none"`
	AverageDurationMS int64    `json:"average_duration_ms" example:"45230" doc:"Average duration of completed executions, in milliseconds"`
	ItemsCrawled      int64    `json:"items_crawled" example:"2400" doc:"Total number of crawled pages"`
}

func toStats(s crawl.JobStats) JobStats {
	return JobStats{
		TotalExecutions: s.Total, Completed: s.Completed, Failed: s.Failed, SuccessRate: toRate(s),
		AverageDurationMS: s.AverageDuration.Milliseconds(), ItemsCrawled: s.ItemsCrawled,
	}
}

func toRate(s crawl.JobStats) *float64 {
	rate, ok := s.SuccessRate()
	if !ok {
		return nil
	}
	return &rate
}

func (a API) jobStats(ctx context.Context, in *JobPath) (*api.Output[JobStats], error) {
	j, err := a.Crawl.Job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	s, err := a.Crawl.Stats(ctx, j)
	return api.Answer(toStats(s), err)
}

// Execution is one run of a job in the API.
type Execution struct {
	ID              string         `json:"id" example:"e_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the execution"`
	JobID           string         `json:"job_id" example:"j_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the job"`
	ExecutionNumber int            `json:"execution_number" example:"7" doc:"Sequence number within the job, starting at 1"`
	Status          string         `json:"status" enum:"running,completed,failed,cancelled" example:"completed" doc:"Status"`
	StartedAt       time.Time      `json:"started_at" example:"2025-03-24T12:00:00Z" doc:"Start time"`
	CompletedAt     *time.Time     `json:"completed_at" example:"2025-03-24T12:02:00Z" doc:"End time. null while it is running"`
	DurationMS      *int64         `json:"duration_ms" example:"120000" doc:"Duration in milliseconds. null while it is running"`
	ItemsCrawled    int            `json:"items_crawled" example:"100" doc:"Number of crawled pages"`
	ItemsIndexed    int            `json:"items_indexed" example:"97" doc:"Number of crawled pages that have text and allow indexing"`
	Queued          int            `json:"queued" example:"0" doc:"Number of URLs that are still to be fetched"`
	Fetched         int            `json:"fetched" example:"100" doc:"Number of fetched URLs"`
	Failed          int            `json:"failed" example:"3" doc:"Number of URLs that could not be fetched"`
	PagesNew        int            `json:"pages_new" example:"12" doc:"Number of pages that were new, or back after they had been gone"`
	PagesChanged    int            `json:"pages_changed" example:"3" doc:"Number of pages with changed text"`
	PagesGone       int            `json:"pages_gone" example:"2" doc:"Number of pages that were gone: status 404 or 410, or no longer linked"`
	BrokenLinks     int            `json:"broken_links" example:"4" doc:"Number of links to URLs that could not be fetched"`
	Reported        bool           `json:"reported" example:"true" doc:"Whether pages_new, pages_changed, pages_gone and broken_links are final. They are counted after the crawl has completed"`
	ErrorMessage    *string        `json:"error_message" example:"start page: status 503" doc:"Why it failed. null if it did not. instance stopped means that the next execution continues the crawl"`
	CancelledBy     *string        `json:"cancelled_by" example:"alice" doc:"Name of the account or token that stopped the run or cancelled the job. null if it was not cancelled"`
	StackTrace      *string        `json:"stack_trace" doc:"Stack trace of a panic. null if there was none"`
	CPUTimeMS       int64          `json:"cpu_time_ms" example:"840" doc:"Time spent on parsing pages, in milliseconds. Requests and database access are not included"`
	MemoryPeakMB    int64          `json:"memory_peak_mb" example:"64" doc:"Peak memory of the whole program during the execution, in MiB, on the instance that ran the job"`
	RetryAttempt    int            `json:"retry_attempt" example:"0" doc:"0 for a first attempt, 1 for the first retry"`
	LogLines        int            `json:"log_lines" example:"104" doc:"Number of log lines"`
	LogBytes        int            `json:"log_bytes" example:"12400" doc:"Size of the log in bytes. Lines beyond 1 MiB are counted but not stored"`
	Metadata        map[string]any `json:"metadata" nullable:"false" doc:"continues is the id of the interrupted execution that this one continues"`
}

func toExecution(e crawl.Execution) Execution {
	out := Execution{
		ID: e.ID, JobID: e.JobID, ExecutionNumber: e.ExecutionNumber, Status: string(e.Status), StartedAt: e.StartedAt.Time, CompletedAt: api.Time(e.CompletedAt),
		ItemsCrawled: e.ItemsCrawled, ItemsIndexed: e.ItemsIndexed, Queued: max(0, e.Queued), Fetched: e.Fetched, Failed: e.Failed,
		ErrorMessage: api.OrNull(e.ErrorMessage), CancelledBy: api.OrNull(e.CancelledBy), StackTrace: api.OrNull(e.StackTrace), CPUTimeMS: e.CPUTimeUS / 1000, MemoryPeakMB: e.MemoryPeakMB,
		PagesNew: e.PagesNew, PagesChanged: e.PagesChanged, PagesGone: e.PagesGone, BrokenLinks: e.BrokenLinks,
		Reported:     e.Status == crawl.ExecutionCompleted && e.ReportedPage == nil,
		RetryAttempt: e.RetryAttempt, LogLines: e.LogLines, LogBytes: e.LogBytes, Metadata: e.Metadata,
	}
	if out.Metadata == nil {
		out.Metadata = map[string]any{}
	}
	if !e.CompletedAt.IsZero() {
		duration := e.Duration(e.CompletedAt).Milliseconds()
		out.DurationMS = &duration
	}
	return out
}

// ExecutionStatusParam is the query parameter of the status of executions.
type ExecutionStatusParam struct {
	Status string `query:"status" enum:"running,completed,failed,cancelled" example:"failed" doc:"Status"`
}

type listExecutionsInput struct {
	JobPath
	api.SliceParams
	ExecutionStatusParam
}

func (a API) listExecutions(ctx context.Context, in *listExecutionsInput) (*api.Output[api.Slice[Execution]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	j, err := a.Crawl.Job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	l, err := a.Crawl.AllExecutions(ctx, crawl.ExecutionFilter{JobID: j.ID, Status: crawl.ExecutionStatus(in.Status)}, after, limit)
	return api.AnswerSlice(l, toExecution, err)
}

type listAllExecutionsInput struct {
	api.SliceParams
	ExecutionStatusParam
	JobID string `query:"job_id" example:"j_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of a job"`
}

func (a API) listAllExecutions(ctx context.Context, in *listAllExecutionsInput) (*api.Output[api.Slice[Execution]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Crawl.AllExecutions(ctx, crawl.ExecutionFilter{JobID: in.JobID, Status: crawl.ExecutionStatus(in.Status)}, after, limit)
	return api.AnswerSlice(l, toExecution, err)
}

// ExecutionPath is the id of an execution in a path.
type ExecutionPath struct {
	ID string `path:"id" example:"e_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the execution"`
}

func (a API) getExecution(ctx context.Context, in *ExecutionPath) (*api.Output[Execution], error) {
	e, err := a.Crawl.Execution(ctx, in.ID)
	return api.Answer(toExecution(e), err)
}

// LogLine is a line of the log of an execution in the API.
type LogLine struct {
	Line    int       `json:"line" example:"17" doc:"Line number, starting at 1"`
	At      time.Time `json:"at" example:"2025-03-24T12:00:00Z" doc:"Time of the line"`
	Level   string    `json:"level" enum:"info,warn,error" example:"info" doc:"Level"`
	Message string    `json:"message" example:"fetched status=200 url=https://example.com/" doc:"Message, followed by attributes as name=value"`
}

func toLine(l crawl.LogLine) LogLine { return LogLine{l.Number, l.At, l.Level, l.Message} }

type listLogInput struct {
	JobPath
	api.SliceParams
	ExecutionID string `query:"execution_id" example:"e_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of an execution of the job. Default: the newest"`
}

func (a API) listLog(ctx context.Context, in *listLogInput) (*api.Output[api.Slice[LogLine]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	line := 0
	if err = after.OnlyOrder("line", models.Ascending); err != nil {
		return nil, err
	}
	if after.Started() {
		if line, err = strconv.Atoi(after.ID); err != nil || line < 1 {
			return nil, models.ErrPageToken
		}
	}
	e, ok, err := a.executionOf(ctx, in.ID, in.ExecutionID)
	if err != nil || !ok {
		return api.AnswerSlice(models.NoItems[crawl.LogLine](after), toLine, err)
	}
	lines, err := a.Crawl.Log(ctx, e, line, limit+1)
	if err != nil {
		return nil, err
	}
	page := models.NewSlice(lines, limit, func(l crawl.LogLine) models.Cursor {
		return models.Cursor{CreatedAt: models.At(l.At), ID: strconv.Itoa(l.Number)}
	})
	if after.Want.Total {
		n, err := a.Crawl.StoredLines(ctx, e)
		if err != nil {
			return nil, err
		}
		page.Count = models.Count{Known: true, N: min(n, models.MaxCounted), LowerBound: n > models.MaxCounted}
	}
	return api.AnswerSlice(page, toLine, err)
}

// executionOf returns an execution of a job: the one with executionID, or the newest if executionID
// is empty. ok is false if the job has not run.
func (d *Deps) executionOf(ctx context.Context, jobID, executionID string) (e crawl.Execution, ok bool, err error) {
	if err := models.CheckFilter("query.execution_id", executionID); err != nil {
		return e, false, err
	}
	j, err := d.Crawl.Job(ctx, jobID)
	if err != nil {
		return e, false, err
	}
	if executionID == "" {
		return d.Crawl.LastExecution(ctx, j)
	}
	if e, err = d.Crawl.Execution(ctx, executionID); err == nil && e.JobSeq != j.Seq {
		err = models.NotFound("execution")
	}
	return e, err == nil, err
}
