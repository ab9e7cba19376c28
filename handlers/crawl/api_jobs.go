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
	api.Register(r, api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/jobs", "list-jobs", "List jobs", "Oldest first."), a.listJobs)
	add := api.Operation(groupJobs, middleware.Editor, "POST", "/v1/jobs", "add-job", "Add a job",
		"Without interval_minutes it runs once, as soon as possible. Otherwise it runs first in the least-loaded slot of its first interval.")
	add.DefaultStatus = http.StatusCreated
	api.Register(r, add, a.addJob)
	api.Register(r, api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/jobs/status-counts", "count-jobs", "Count jobs by status", "All seven statuses, also those that no job has."), a.countJobs)
	api.Register(r, api.Operation(groupJobs, middleware.Viewer, "GET", "/v1/jobs/{id}", "get-job", "Get a job", "With its settings and status.", models.CodeNotFound), a.getJob)
	api.Register(r, api.Operation(groupJobs, middleware.Editor, "PUT", "/v1/jobs/{id}", "edit-job", "Change a job",
		"A member that is left out stays as it is. A new interval gives a waiting job a new time. A running crawl goes on as it began.",
		models.CodeNotFound, models.CodeConflict), a.editJob)
	api.Register(r, api.Operation(groupJobs, middleware.Editor, "DELETE", "/v1/jobs/{id}", "delete-job", "Delete a job",
		"Its running crawl ends. POST /v1/jobs/{id}/restore restores it within a day.", models.CodeNotFound), a.deleteJob)
	api.Register(r, api.Operation(groupJobs, middleware.Editor, "POST", "/v1/jobs/{id}/restore", "restore-job", "Restore a deleted job",
		"404 if it was not deleted, or more than a day ago, or with its source.", models.CodeNotFound), a.restoreJob)
	for _, act := range []struct {
		event             crawl.Event
		id, name, details string
	}{
		{crawl.Pause, "pause-job", "Pause a job", "A scheduled job waits until it is resumed."},
		{crawl.Resume, "resume-job", "Resume a paused job", "It runs in the least-loaded slot of its interval."},
		{crawl.Cancel, "cancel-job", "Cancel a job", "It does not run any more. A running crawl ends within 2 seconds."},
		{crawl.Retry, "retry-job", "Retry a failed job", "It runs as soon as possible, and its retries are counted from 0."},
		{crawl.ForceRun, "force-run-job", "Run a scheduled job now", "Its schedule goes on from this run."},
	} {
		op := api.Operation(groupJobs, middleware.Editor, "POST", "/v1/jobs/{id}/"+string(act.event), act.id, act.name,
			act.details+" 409 from a status that does not allow it.", models.CodeNotFound, models.CodeConflict)
		api.Register(r, op, func(ctx context.Context, in *JobPath) (*api.Output[CrawlJob], error) {
			j, err := a.Crawl.Act(ctx, in.ID, act.event)
			return api.Answer(toJob(j), err)
		})
	}
}

// forceRunAlias is the path of force-run under another version of the API.
func forceRunAlias(path string) (to string, ok bool) {
	rest, ok := strings.CutPrefix(path, "/api/v2/jobs/")
	return "/v1/jobs/" + rest, ok && strings.HasSuffix(rest, "/"+string(crawl.ForceRun))
}

// JobPath names a job.
type JobPath struct {
	ID string `path:"id" example:"j_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the job"`
}

// CrawlJob is a crawl of a source, once or on a schedule, on the wire.
type CrawlJob struct { //nolint:revive // Job is the schema of scheduled jobs; names of schemas are unique
	ID                  string         `json:"id" example:"j_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the job. Ids sort by creation time"`
	SourceID            string         `json:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of its source"`
	SourceName          string         `json:"source_name" example:"Example" doc:"Name of its source"`
	URL                 string         `json:"url" example:"https://example.com/" doc:"URL of the start page"`
	Status              string         `json:"status" enum:"pending,scheduled,running,paused,completed,failed,cancelled" example:"scheduled" doc:"Status. completed is the end of a one-time job, failed of one that has no retries left"`
	IntervalMinutes     *int           `json:"interval_minutes" example:"6" doc:"Interval in units of interval_type. null for a one-time job"`
	IntervalType        string         `json:"interval_type" enum:"minutes,hours,days" example:"hours" doc:"Unit of interval_minutes"`
	IntervalSeconds     *int64         `json:"interval_seconds" example:"21600" doc:"Interval in force, which adaptive scheduling lengthens up to 24 hours while the start page stays unchanged. null for a one-time job"`
	ScheduleEnabled     bool           `json:"schedule_enabled" example:"true" doc:"Whether it runs on a schedule: false for a one-time job, and for one that is paused or has ended"`
	SourceEnabled       bool           `json:"source_enabled" example:"true" doc:"Whether its source is enabled. If not, no run starts"`
	NextRunAt           *time.Time     `json:"next_run_at" example:"2025-03-24T14:03:00Z" doc:"When it runs next. null if it does not wait for a run"`
	AdaptiveScheduling  bool           `json:"adaptive_scheduling" example:"true" doc:"Whether the interval follows how often the start page changes"`
	IsPaused            bool           `json:"is_paused" example:"false" doc:"Whether it is paused"`
	PausedAt            *time.Time     `json:"paused_at" doc:"When it was paused. null if it is not"`
	CancelledAt         *time.Time     `json:"cancelled_at" doc:"When it was cancelled. null if it was not"`
	LockAcquiredAt      *time.Time     `json:"lock_acquired_at" doc:"When an instance locked it to run it. null if it is not running"`
	MaxRetries          int            `json:"max_retries" example:"3" doc:"How often a failed run is tried again"`
	RetryBackoffSeconds int            `json:"retry_backoff_seconds" example:"60" doc:"Pause before the first retry. It doubles with each one, up to an hour"`
	CurrentRetryCount   int            `json:"current_retry_count" example:"0" doc:"Retries since it last succeeded"`
	LastError           *string        `json:"last_error" example:"start page: status 503" doc:"Why its last execution failed. null if it did not"`
	Metadata            map[string]any `json:"metadata" nullable:"false" doc:"Data of the owner"`
	CreatedAt           time.Time      `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the job was added"`
	UpdatedAt           time.Time      `json:"updated_at" example:"2025-03-24T14:02:00Z" doc:"When it last changed"`
}

func toJob(j crawl.Job) CrawlJob {
	out := CrawlJob{
		ID: j.ID, SourceID: j.SourceID, SourceName: j.SourceName, URL: j.URL, Status: string(j.Status),
		IntervalMinutes: api.OrNull(j.IntervalCount), IntervalType: string(j.IntervalType), IntervalSeconds: api.OrNull(j.IntervalSeconds),
		SourceEnabled: !j.Held, ScheduleEnabled: j.Recurring() && (j.Status == crawl.Pending || j.Status == crawl.Scheduled || j.Status == crawl.Running), NextRunAt: api.Time(j.NextRunAt), AdaptiveScheduling: j.AdaptiveScheduling,
		IsPaused: j.Status == crawl.Paused, PausedAt: api.Time(j.PausedAt), CancelledAt: api.Time(j.CancelledAt), LockAcquiredAt: api.Time(j.LockAcquiredAt),
		MaxRetries: j.MaxRetries, RetryBackoffSeconds: j.RetryBackoffSeconds, CurrentRetryCount: j.CurrentRetryCount,
		LastError: api.OrNull(j.LastError), Metadata: j.Metadata, CreatedAt: j.CreatedAt.Time, UpdatedAt: j.UpdatedAt.Time,
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
	Text     string `query:"q" example:"example" doc:"Part of the URL, or of the name or URL of the source, ignoring case. At most 512 bytes"`
}

func (a API) listJobs(ctx context.Context, in *listJobsInput) (*api.Output[api.Slice[CrawlJob]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Crawl.Jobs(ctx, crawl.JobFilter{Status: crawl.Status(in.Status), SourceID: in.SourceID, Text: in.Text}, after, limit)
	return api.AnswerSlice(l, toJob, err)
}

// JobSettings are what the owner of a job sets.
type JobSettings struct {
	SourceID api.Member[string] `json:"source_id,omitempty" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source. If left out, a source of the URL's host that is shared or yours, which is made if there is none"`
	URL      api.Member[string] `json:"url,omitempty" nullable:"false" example:"https://example.com/news" doc:"URL of the start page, http or https, at most 2048 bytes. That of the source if left out"`
	IntervalSettings
	ScheduleEnabled     api.Member[bool]           `json:"schedule_enabled,omitempty" nullable:"false" example:"true" doc:"false with an interval pauses the job. It says nothing about one-time jobs"`
	AdaptiveScheduling  api.Member[bool]           `json:"adaptive_scheduling,omitempty" nullable:"false" example:"true" doc:"Whether the interval follows how often the start page changes. true if left out at first"`
	MaxRetries          api.Member[int]            `json:"max_retries,omitempty" minimum:"0" maximum:"100" example:"3" doc:"How often a failed run is tried again. 3 if left out at first"`
	RetryBackoffSeconds api.Member[int]            `json:"retry_backoff_seconds,omitempty" minimum:"0" maximum:"3600" example:"60" doc:"Pause before the first retry, which doubles with each one. 60 if left out at first"`
	Metadata            api.Member[map[string]any] `json:"metadata,omitempty" doc:"Data of the owner, at most 16 KiB"`
}

// check refuses null where a member has no empty value.
func (s JobSettings) check() error {
	for name, null := range map[string]bool{
		"url": s.URL.Null, "schedule_enabled": s.ScheduleEnabled.Null, "adaptive_scheduling": s.AdaptiveScheduling.Null,
		"max_retries": s.MaxRetries.Null, "retry_backoff_seconds": s.RetryBackoffSeconds.Null,
	} {
		if null {
			return models.Invalid(name, "must not be null; leave it out instead")
		}
	}
	return nil
}

type addJobInput struct {
	Body struct {
		JobSettings
		Private api.Member[bool] `json:"private,omitempty" nullable:"false" example:"false" doc:"true uses a private source of yours for the host of the URL, which is made if there is none. Must not be given with source_id"`
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
	switch {
	case err != nil:
		return nil, err
	case b.Private.Null:
		return nil, models.Invalid("private", "must be true or false")
	case b.Private.Given && b.SourceID.Value != "":
		return nil, models.Invalid("private", "must not be given with source_id: a job is as private as its source")
	}
	n := crawl.NewJob{
		SourceID: b.SourceID.Value, URL: b.URL.Value, Interval: every, AdaptiveScheduling: true,
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

// JobCounts are how many jobs there are by status.
type JobCounts struct {
	Pending   int `json:"pending" example:"0" doc:"Jobs that wait for their first run or for a retry"`
	Scheduled int `json:"scheduled" example:"12" doc:"Jobs that wait for their next run"`
	Running   int `json:"running" example:"1" doc:"Jobs that run"`
	Paused    int `json:"paused" example:"0" doc:"Paused jobs"`
	Completed int `json:"completed" example:"3" doc:"One-time jobs that completed"`
	Failed    int `json:"failed" example:"0" doc:"Jobs that failed and have no retries left"`
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
		URL: b.URL.Pointer(), AdaptiveScheduling: b.AdaptiveScheduling.Pointer(),
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

func (a API) restoreJob(ctx context.Context, in *JobPath) (*api.Output[CrawlJob], error) {
	j, err := a.Crawl.RestoreJob(ctx, in.ID)
	return api.Answer(toJob(j), err)
}
