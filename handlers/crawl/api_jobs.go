package crawl

import (
	"context"
	"net/http"
	"strings"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/crawl"
)

func (a API) registerJobs(r *api.API) {
	api.Register(r, api.Sorts(api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/jobs", "list-jobs", "List jobs", "Oldest first."), crawl.JobOrders.Fields()...), a.listJobs)
	add := api.Operation(groupJobs, middleware.Editor, "POST", "/v1/jobs", "add-job", "Add a job",
		"Without interval_minutes the job runs once, as soon as possible. With it, the first run is in the least-loaded slot of the first interval.")
	add.DefaultStatus = http.StatusCreated
	api.Register(r, add, a.addJob)
	api.Register(r, api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/jobs/status-counts", "count-jobs", "Count jobs by status", "Includes statuses with 0 jobs."), a.countJobs)
	api.Register(r, api.Item(api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/jobs/{id}", "get-job", "Get a job", "Returns its settings and status.", models.CodeNotFound),
		"id", "name", "url", "interval_minutes", "interval_type", "schedule_enabled", "adaptive_scheduling", "is_paused", "cancelled_at", "max_retries", "retry_backoff_seconds",
		"retry_next_run", "metadata"), a.getJob)
	api.Register(r, api.Operation(groupJobs, middleware.Editor, "PUT", "/v1/jobs/{id}", "edit-job", "Update a job",
		"Omitted fields stay unchanged. A new interval reschedules a waiting job. A running crawl is not affected.",
		models.CodeNotFound, models.CodeConflict), a.editJob)
	api.Register(r, api.Operation(groupJobs, middleware.Editor, "DELETE", "/v1/jobs/{id}", "delete-job", "Delete a job",
		"Stops its running crawl. POST /v1/jobs/{id}/restore restores the job within a day.", models.CodeNotFound), a.deleteJob)
	api.Register(r, api.Operation(groupJobs, middleware.Editor, "POST", "/v1/jobs/{id}/restore", "restore-job", "Restore a deleted job",
		"Returns 404 if the job was not deleted, was deleted more than a day ago, or was deleted with its source.", models.CodeNotFound), a.restoreJob)
	crawlLink := api.Operation(groupJobs, middleware.Editor, "POST", "/v1/link/{id}/crawl", "crawl-link", "Crawl the site of a link",
		"Adds a job that runs once, as soon as possible, and starts at the root of the link's host. The site of a private link is crawled with a private source.",
		models.CodeNotFound)
	crawlLink.DefaultStatus = http.StatusCreated
	api.Register(r, crawlLink, a.crawlLink)
	again := api.Operation(groupJobs, middleware.Editor, "POST", "/v1/jobs/{id}/"+string(crawl.RunAgain), "run-job-again", "Run a finished job again",
		"Adds a job with the source and the settings of a completed, failed or cancelled job, and runs it as soon as possible. The finished job stays as it is, "+
			"but a failed one is no longer retried at its next planned time. Returns 409 if its status does not allow this, "+
			"if the source is disabled, or if an unfinished job has the same start page and schedule.", models.CodeNotFound, models.CodeConflict)
	again.DefaultStatus = http.StatusCreated
	api.Register(r, again, a.runAgain)
	for _, act := range []struct {
		event             crawl.Event
		id, name, details string
	}{
		{crawl.Pause, "pause-job", "Pause a job", "A paused job does not run until it is resumed."},
		{crawl.Resume, "resume-job", "Resume a paused job", "The next run is at its planned time if that is still ahead, else in the least-loaded slot of its interval."},
		{crawl.Stop, "stop-job", "Stop the run of a job", "The running execution is cancelled within 2 seconds and is not continued. A recurring job runs again as planned. A one-time job is completed."},
		{crawl.Cancel, "cancel-job", "Cancel a job", "The job does not run again. A running crawl stops within 2 seconds."},
		{crawl.Retry, "retry-job", "Retry a failed job", "Runs the job as soon as possible and resets its retry count. Its schedule stays the same."},
		{crawl.ForceRun, "force-run-job", "Run a scheduled job now", "Its schedule stays the same: the planned run still happens, unless adaptive scheduling changes the interval."},
	} {
		op := api.Operation(groupJobs, middleware.Editor, "POST", "/v1/jobs/{id}/"+string(act.event), act.id, act.name,
			act.details+" Returns 409 if its status does not allow this.", models.CodeNotFound, models.CodeConflict)
		api.Register(r, op, func(ctx context.Context, in *JobPath) (*api.Output[CrawlJob], error) {
			j, err := a.Crawl.Act(ctx, in.ID, act.event)
			return api.Answer(toJob(j), err)
		})
	}
}

// forceRunAlias maps the path of force-run in version 2 of the API to the path in version 1.
func forceRunAlias(path string) (to string, ok bool) {
	rest, ok := strings.CutPrefix(path, "/api/v2/jobs/")
	return "/v1/jobs/" + rest, ok && strings.HasSuffix(rest, "/"+string(crawl.ForceRun))
}

// JobPath is the id of a job in a path.
type JobPath struct {
	ID string `path:"id" example:"j_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the job"`
}

// CrawlJob is a one-time or scheduled crawl of a source in the API.
type CrawlJob struct { //nolint:revive // Job is the schema of scheduled jobs; names of schemas are unique
	ID                  string         `json:"id" example:"j_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the job. Ids sort by creation time"`
	SourceID            string         `json:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
	SourceName          string         `json:"source_name" example:"Example" doc:"Name of the source"`
	Name                *string        `json:"name" example:"Example news" doc:"Name. null if it has that of its source"`
	URL                 string         `json:"url" example:"https://example.com/" doc:"URL of the start page"`
	Status              string         `json:"status" enum:"pending,scheduled,running,paused,completed,failed,cancelled" example:"scheduled" doc:"Status. completed is the final status of a one-time job. A failed job has no retries left. With a next_run_at, it runs again then"`
	IntervalMinutes     *int           `json:"interval_minutes" example:"6" doc:"Interval in units of interval_type. null for a one-time job"`
	IntervalType        string         `json:"interval_type" enum:"minutes,hours,days" example:"hours" doc:"Unit of interval_minutes"`
	IntervalSeconds     *int64         `json:"interval_seconds" example:"21600" doc:"Current interval in seconds. Adaptive scheduling increases it up to 24 hours while the start page is unchanged. null for a one-time job"`
	ScheduleEnabled     bool           `json:"schedule_enabled" example:"true" doc:"Whether it runs on a schedule. false for one-time, paused and finished jobs"`
	SourceEnabled       bool           `json:"source_enabled" example:"true" doc:"Whether the source is enabled. Jobs of a disabled source do not run"`
	RetryAt             *time.Time     `json:"retry_at" example:"2025-03-24T14:03:00Z" doc:"Time of the next automatic retry, which is number current_retry_count of max_retries. null if the job does not wait for one"`
	NextRunAt           *time.Time     `json:"next_run_at" example:"2025-03-24T14:03:00Z" doc:"Time of the next run. null if none is scheduled"`
	AdaptiveScheduling  bool           `json:"adaptive_scheduling" example:"true" doc:"Whether the interval adapts to how often the start page changes"`
	IsPaused            bool           `json:"is_paused" example:"false" doc:"Whether it is paused"`
	PausedAt            *time.Time     `json:"paused_at" doc:"Time when it was paused. null if it is not paused"`
	CancelledAt         *time.Time     `json:"cancelled_at" doc:"Time when it was cancelled. null if it was not"`
	LockAcquiredAt      *time.Time     `json:"lock_acquired_at" doc:"Time when an instance locked the job to run it. null if it is not running"`
	MaxRetries          int            `json:"max_retries" example:"3" doc:"Maximum number of retries of a failed run"`
	RetryBackoffSeconds int            `json:"retry_backoff_seconds" example:"60" doc:"Seconds before the first retry. The delay doubles with each retry, up to an hour"`
	CurrentRetryCount   int            `json:"current_retry_count" example:"0" doc:"Number of retries since the last successful run"`
	RetryNextRun        bool           `json:"retry_next_run" example:"false" doc:"Whether a recurring job without retries left runs again at its next planned time"`
	ConsecutiveFailures int            `json:"consecutive_failures" example:"0" doc:"Number of times in a row that it failed with all its retries"`
	LastError           *string        `json:"last_error" example:"start page: status 503" doc:"Error of the last execution. null if it did not fail"`
	Metadata            map[string]any `json:"metadata" nullable:"false" doc:"Custom data"`
	CreatedAt           time.Time      `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"Creation time"`
	UpdatedAt           time.Time      `json:"updated_at" example:"2025-03-24T14:02:00Z" doc:"Time of the last change"`
}

func toJob(j crawl.Job) CrawlJob {
	out := CrawlJob{
		ID: j.ID, SourceID: j.SourceID, SourceName: j.SourceName, Name: api.OrNull(j.Name), URL: j.URL, Status: string(j.Status),
		IntervalMinutes: api.OrNull(j.IntervalCount), IntervalType: string(j.IntervalType), IntervalSeconds: api.OrNull(j.IntervalSeconds),
		SourceEnabled: !j.SourceDisabled, ScheduleEnabled: j.Recurring() && !j.Over() && j.Status != crawl.Paused, NextRunAt: api.Time(j.NextRun()), AdaptiveScheduling: j.AdaptiveScheduling,
		IsPaused: j.Status == crawl.Paused, PausedAt: api.Time(j.PausedAt), CancelledAt: api.Time(j.CancelledAt), LockAcquiredAt: api.Time(j.LockAcquiredAt),
		MaxRetries: j.MaxRetries, RetryBackoffSeconds: j.RetryBackoffSeconds, CurrentRetryCount: j.CurrentRetryCount,
		RetryNextRun: j.RetryNextRun, ConsecutiveFailures: j.ConsecutiveFailures,
		LastError: api.OrNull(j.LastError), Metadata: j.Metadata, CreatedAt: j.CreatedAt.Time, UpdatedAt: j.UpdatedAt.Time,
	}
	if j.WaitsForRetry() {
		out.RetryAt = out.NextRunAt
	}
	if out.Metadata == nil {
		out.Metadata = map[string]any{}
	}
	return out
}

type listJobsInput struct {
	api.SliceParams
	Status   string `query:"status" enum:"pending,scheduled,running,paused,completed,failed,cancelled" example:"failed" doc:"Status"`
	SourceID string `query:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
	Text     string `query:"q" example:"example" doc:"Part of the name or URL, or of the name or URL of the source, ignoring case. At most 512 bytes"`
}

func (a API) listJobs(ctx context.Context, in *listJobsInput) (*api.Output[api.Slice[CrawlJob]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Crawl.Jobs(ctx, crawl.JobFilter{Status: crawl.Status(in.Status), SourceID: in.SourceID, Text: in.Text}, after, limit)
	return api.AnswerSlice(l, toJob, err)
}

// JobSettings are the settings of a job.
type JobSettings struct {
	SourceID api.Member[string] `json:"source_id,omitempty" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source. Default: a source for the host and port of the URL that is shared or yours, which is created if needed"`
	Name     api.Member[string] `json:"name,omitempty" example:"Example news" doc:"Name, at most 200 characters. null uses that of the source"`
	URL      api.Member[string] `json:"url,omitempty" nullable:"false" example:"https://example.com/news" doc:"URL of the start page, http or https, at most 2048 bytes. Default: the URL of the source"`
	IntervalSettings
	ScheduleEnabled     api.Member[bool]           `json:"schedule_enabled,omitempty" nullable:"false" example:"true" doc:"false pauses a job that has an interval, and is ignored for one-time jobs. true requires an interval"`
	AdaptiveScheduling  api.Member[bool]           `json:"adaptive_scheduling,omitempty" nullable:"false" example:"true" doc:"Whether the interval adapts to how often the start page changes. Default: true"`
	MaxRetries          api.Member[int]            `json:"max_retries,omitempty" minimum:"0" maximum:"100" example:"3" doc:"Maximum number of retries of a failed run. Default: 3"`
	RetryBackoffSeconds api.Member[int]            `json:"retry_backoff_seconds,omitempty" minimum:"0" maximum:"3600" example:"60" doc:"Seconds before the first retry. The delay doubles with each retry, up to an hour. Default: 60"`
	RetryNextRun        api.Member[bool]           `json:"retry_next_run,omitempty" nullable:"false" example:"false" doc:"Whether a recurring job without retries left runs again at its next planned time, instead of staying failed. Default: false"`
	Metadata            api.Member[map[string]any] `json:"metadata,omitempty" doc:"Custom data, at most 16 KiB"`
}

// check returns an error if a field is null that must not be.
func (s JobSettings) check() error {
	for name, null := range map[string]bool{
		"url": s.URL.Null, "schedule_enabled": s.ScheduleEnabled.Null, "adaptive_scheduling": s.AdaptiveScheduling.Null,
		"max_retries": s.MaxRetries.Null, "retry_backoff_seconds": s.RetryBackoffSeconds.Null,
		"retry_next_run": s.RetryNextRun.Null,
	} {
		if null {
			return models.Invalid(name, "must not be null. Omit it instead")
		}
	}
	return nil
}

type addJobInput struct {
	Body struct {
		JobSettings
		Private api.Member[bool] `json:"private,omitempty" nullable:"false" example:"false" doc:"true uses your private source for the host and port of the URL, which is created if needed. Must not be set together with source_id"`
	}
}

type addJobOutput struct {
	Location string `header:"Location" doc:"Path of the job in this API"`
	Body     CrawlJob
}

func (a API) addJob(ctx context.Context, in *addJobInput) (*addJobOutput, error) {
	b := in.Body
	every, err := b.interval(crawl.Interval{})
	if err == nil {
		err = b.check()
	}
	if err == nil && b.ScheduleEnabled.Value {
		err = every.CheckScheduled()
	}
	switch {
	case err != nil:
		return nil, err
	case b.Private.Null:
		return nil, models.Invalid("private", "must be true or false")
	case b.Private.Given && b.SourceID.Value != "":
		return nil, models.Invalid("private", "must not be set together with source_id. Set private on the source instead")
	}
	n := crawl.NewJob{
		SourceID: b.SourceID.Value, Name: b.Name.Value, RetryNextRun: b.RetryNextRun.Value, URL: b.URL.Value, Interval: every, AdaptiveScheduling: true,
		MaxRetries: b.MaxRetries.Pointer(), RetryBackoff: b.RetryBackoffSeconds.Pointer(), Metadata: b.Metadata.Value,
		Paused: every.Recurring() && b.ScheduleEnabled.Given && !b.ScheduleEnabled.Value,
		Source: crawl.NewSource{Private: b.Private.Value},
	}
	b.AdaptiveScheduling.Set(&n.AdaptiveScheduling)
	j, err := a.Crawl.AddJob(ctx, n)
	if err != nil {
		return nil, err
	}
	return &addJobOutput{"/v1/jobs/" + j.ID, toJob(j)}, nil
}

type linkPath struct {
	ID string `path:"id" example:"l_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the link"`
}

func (a API) crawlLink(ctx context.Context, in *linkPath) (*addJobOutput, error) {
	l, err := a.Link(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	u, err := models.ParseURL("url", l.URL)
	if err != nil {
		return nil, err
	}
	j, err := a.Crawl.AddJob(ctx, crawl.NewJob{URL: u.Origin() + "/", AdaptiveScheduling: true, Source: crawl.NewSource{Private: l.PrivateTo != ""}})
	if err != nil {
		return nil, err
	}
	return &addJobOutput{"/v1/jobs/" + j.ID, toJob(j)}, nil
}

// JobCounts are numbers of jobs by status.
type JobCounts struct {
	Pending   int `json:"pending" example:"0" doc:"Jobs waiting for their first run or a retry"`
	Scheduled int `json:"scheduled" example:"12" doc:"Jobs waiting for their next run"`
	Running   int `json:"running" example:"1" doc:"Running jobs"`
	Paused    int `json:"paused" example:"0" doc:"Paused jobs"`
	Completed int `json:"completed" example:"3" doc:"One-time jobs that completed"`
	Failed    int `json:"failed" example:"0" doc:"Failed jobs without retries left"`
	Cancelled int `json:"cancelled" example:"0" doc:"Cancelled jobs"`
}

func toCounts(n map[crawl.Status]int) JobCounts {
	return JobCounts{
		Pending: n[crawl.Pending], Scheduled: n[crawl.Scheduled], Running: n[crawl.Running], Paused: n[crawl.Paused],
		Completed: n[crawl.Completed], Failed: n[crawl.Failed], Cancelled: n[crawl.Cancelled],
	}
}

func (a API) countJobs(ctx context.Context, _ *struct{}) (*api.Output[JobCounts], error) {
	n, err := a.Crawl.StatusCounts(ctx)
	return api.Answer(toCounts(n), err)
}

func (a API) getJob(ctx context.Context, in *JobPath) (*api.Output[CrawlJob], error) {
	j, err := a.Crawl.Job(ctx, in.ID)
	return api.Answer(toJob(j), err)
}

type editJobInput struct {
	JobPath
	Body JobSettings
}

func (a API) editJob(ctx context.Context, in *editJobInput) (*api.Output[CrawlJob], error) {
	b := in.Body
	before, err := a.Crawl.Job(ctx, in.ID)
	if err == nil {
		err = b.check()
	}
	if err != nil {
		return nil, err
	}
	e := crawl.JobEdit{
		Name: b.Name.Pointer(), RetryNextRun: b.RetryNextRun.Pointer(), URL: b.URL.Pointer(), AdaptiveScheduling: b.AdaptiveScheduling.Pointer(),
		MaxRetries: b.MaxRetries.Pointer(), RetryBackoff: b.RetryBackoffSeconds.Pointer(),
	}
	if b.SourceID.Given && !b.SourceID.Null {
		e.SourceID = &b.SourceID.Value
	}
	if b.Metadata.Given {
		m := crawl.Metadata(b.Metadata.Value)
		e.Metadata = &m
	}
	if b.given() {
		every, err := b.interval(before.Interval())
		if err != nil {
			return nil, err
		}
		e.Interval = &every
	}
	if b.ScheduleEnabled.Given {
		paused := !b.ScheduleEnabled.Value
		e.Paused = &paused
	}
	j, err := a.Crawl.EditJob(ctx, in.ID, e)
	return api.Answer(toJob(j), err)
}

func (a API) deleteJob(ctx context.Context, in *JobPath) (*struct{}, error) {
	return nil, a.Crawl.DeleteJob(ctx, in.ID)
}

func (a API) runAgain(ctx context.Context, in *JobPath) (*addJobOutput, error) {
	j, err := a.Crawl.RunAgain(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &addJobOutput{"/v1/jobs/" + j.ID, toJob(j)}, nil
}

func (a API) restoreJob(ctx context.Context, in *JobPath) (*api.Output[CrawlJob], error) {
	j, err := a.Crawl.RestoreJob(ctx, in.ID)
	return api.Answer(toJob(j), err)
}
