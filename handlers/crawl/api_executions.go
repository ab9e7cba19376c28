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
	api.Register(r, api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/jobs/{id}/stats", "get-job-stats", "Get the figures of a job",
		"Over the executions that are kept: the newest 100, at most 30 days old.", models.CodeNotFound), a.jobStats)
	api.Register(r, api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/jobs/{id}/executions", "list-executions", "List the executions of a job",
		"Newest first. The newest 100 are kept, at most for 30 days.", models.CodeNotFound), a.listExecutions)
	api.Register(r, api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/executions/{id}", "get-execution", "Get an execution", "With its progress if it is running.", models.CodeNotFound), a.getExecution)
	api.Register(r, api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/jobs/{id}/logs", "list-log-lines", "List lines of the log of an execution",
		"Oldest first. Of each log about 1 MiB is kept, and its last lines.", models.CodeNotFound), a.listLog)
}

// JobStats are the figures of a job on the wire.
type JobStats struct {
	TotalExecutions   int      `json:"total_executions" example:"24" doc:"Number of executions"`
	Completed         int      `json:"completed" example:"22" doc:"Executions that completed"`
	Failed            int      `json:"failed" example:"2" doc:"Executions that failed, without those that were interrupted"`
	SuccessRate       *float64 `json:"success_rate" example:"0.9167" doc:"Completed by completed and failed, from 0 to 1. null if there is neither"`
	AverageDurationMS int64    `json:"average_duration_ms" example:"45230" doc:"Average duration of those that completed"`
	ItemsCrawled      int64    `json:"items_crawled" example:"2400" doc:"Pages that were crawled in all"`
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

// Execution is one run of a job on the wire.
type Execution struct {
	ID              string         `json:"id" example:"e_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the execution"`
	JobID           string         `json:"job_id" example:"j_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the job"`
	ExecutionNumber int            `json:"execution_number" example:"7" doc:"Number among the executions of the job, from 1"`
	Status          string         `json:"status" enum:"running,completed,failed,cancelled" example:"completed" doc:"Status"`
	StartedAt       time.Time      `json:"started_at" example:"2025-03-24T12:00:00Z" doc:"When it began"`
	CompletedAt     *time.Time     `json:"completed_at" example:"2025-03-24T12:02:00Z" doc:"When it ended. null if it is running"`
	DurationMS      *int64         `json:"duration_ms" example:"120000" doc:"How long it took. null if it is running"`
	ItemsCrawled    int            `json:"items_crawled" example:"100" doc:"Pages that were crawled, each counted once"`
	ItemsIndexed    int            `json:"items_indexed" example:"97" doc:"Those of them that have text and may be indexed"`
	Queued          int            `json:"queued" example:"0" doc:"URLs of its frontier that are left to fetch"`
	Fetched         int            `json:"fetched" example:"100" doc:"URLs that were fetched"`
	Failed          int            `json:"failed" example:"3" doc:"URLs that could not be fetched"`
	PagesNew        int            `json:"pages_new" example:"12" doc:"Pages that were new, or back after they were gone"`
	PagesChanged    int            `json:"pages_changed" example:"3" doc:"Pages whose text had changed"`
	PagesGone       int            `json:"pages_gone" example:"2" doc:"Pages that were gone: answered with 404 or 410, or linked from no page any more"`
	BrokenLinks     int            `json:"broken_links" example:"4" doc:"Links of its pages to URLs that could not be fetched"`
	Reported        bool           `json:"reported" example:"true" doc:"Whether pages_gone and broken_links are final: they are counted once the crawl has completed"`
	ErrorMessage    *string        `json:"error_message" example:"start page: status 503" doc:"Why it failed. null if it did not. An interrupted one says instance stopped, and the next one continues it"`
	StackTrace      *string        `json:"stack_trace" doc:"Stack trace of a panic. null if there was none"`
	CPUTimeMS       int64          `json:"cpu_time_ms" example:"840" doc:"Time spent on reading its pages, in milliseconds. Requests and the database are not counted"`
	MemoryPeakMB    int64          `json:"memory_peak_mb" example:"64" doc:"Most memory in MiB that the program used during the execution, for all that it did, on the instance that held the job"`
	RetryAttempt    int            `json:"retry_attempt" example:"0" doc:"0 for a first attempt, 1 for the first retry"`
	LogLines        int            `json:"log_lines" example:"104" doc:"Number of lines of its log"`
	LogBytes        int            `json:"log_bytes" example:"12400" doc:"Size of its log. Lines beyond 1 MiB are counted and not kept"`
	Metadata        map[string]any `json:"metadata" nullable:"false" doc:"continues is the id of the interrupted execution whose crawl this one continues"`
}

func toExecution(e crawl.Execution) Execution {
	out := Execution{
		ID: e.ID, JobID: e.JobID, ExecutionNumber: e.ExecutionNumber, Status: string(e.Status), StartedAt: e.StartedAt.Time, CompletedAt: api.Time(e.CompletedAt),
		ItemsCrawled: e.ItemsCrawled, ItemsIndexed: e.ItemsIndexed, Queued: max(0, e.Queued), Fetched: e.Fetched, Failed: e.Failed,
		ErrorMessage: api.OrNull(e.ErrorMessage), StackTrace: api.OrNull(e.StackTrace), CPUTimeMS: e.CPUTimeUS / 1000, MemoryPeakMB: e.MemoryPeakMB,
		PagesNew: e.PagesNew, PagesChanged: e.PagesChanged, PagesGone: e.PagesGone, BrokenLinks: e.BrokenLinks,
		Reported:     e.Status == crawl.ExecutionCompleted && e.ReportedPage == nil,
		RetryAttempt: e.RetryAttempt, LogLines: e.LogLines, LogBytes: e.LogBytes, Metadata: e.Metadata,
	}
	if out.Metadata == nil {
		out.Metadata = map[string]any{}
	}
	if !e.CompletedAt.IsZero() {
		took := e.Duration(e.CompletedAt).Milliseconds()
		out.DurationMS = &took
	}
	return out
}

type listExecutionsInput struct {
	JobPath
	api.SliceParams
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
	l, err := a.Crawl.Executions(ctx, j, after, limit)
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

// LogLine is one line of the log of an execution on the wire.
type LogLine struct {
	Line    int       `json:"line" example:"17" doc:"Number of the line, from 1"`
	At      time.Time `json:"at" example:"2025-03-24T12:00:00Z" doc:"When it was written"`
	Level   string    `json:"level" enum:"info,warn,error" example:"info" doc:"Level"`
	Message string    `json:"message" example:"fetched status=200 url=https://example.com/" doc:"Message, with its facts as name=value"`
}

func toLine(l crawl.Line) LogLine { return LogLine{l.Number, l.At, l.Level, l.Message} }

type listLogInput struct {
	JobPath
	api.SliceParams
	ExecutionID string `query:"execution_id" example:"e_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of an execution of the job. The newest if left out"`
}

func (a API) listLog(ctx context.Context, in *listLogInput) (*api.Output[api.Slice[LogLine]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	line := 0
	if after != (models.Cursor{}) {
		if line, err = strconv.Atoi(after.ID); err != nil || line < 1 {
			return nil, models.ErrPageToken
		}
	}
	e, ok, err := a.executionOf(ctx, in.ID, in.ExecutionID)
	if err != nil || !ok {
		return api.Answer(api.Slice[LogLine]{Items: []LogLine{}}, err)
	}
	lines, err := a.Crawl.Log(ctx, e, line, limit+1)
	page := models.NewSlice(lines, limit, func(l crawl.Line) models.Cursor {
		return models.Cursor{CreatedAt: models.At(l.At), ID: strconv.Itoa(l.Number)}
	})
	return api.AnswerSlice(page, toLine, err)
}

// executionOf is an execution of a job: that of an id, or the newest; ok is false if
// there is none yet.
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
