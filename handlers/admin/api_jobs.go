package admin

import (
	"context"
	"net/http"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/schedule"
)

func (a API) registerJobs(r *api.API) {
	api.Register(r, api.Operation(groupJobs, middleware.Admin, "GET", "/v1/admin/jobs", "list-scheduled-jobs", "List scheduled jobs", "Returns all jobs with their statistics."), a.listJobs)
	api.Register(r, api.Item(api.Operation(groupJobs, middleware.Admin, "GET", "/v1/admin/jobs/{id}", "get-scheduled-job", "Get a scheduled job", "Returns the job with its statistics.", models.CodeNotFound),
		"id", "schedule"), a.getJob)
	run := api.Operation(groupJobs, middleware.Admin, "POST", "/v1/admin/jobs/{id}/run", "run-scheduled-job", "Run a scheduled job", "Starts a run as soon as possible. Returns 409 during a run.", models.CodeNotFound, models.CodeConflict)
	run.DefaultStatus = http.StatusAccepted
	api.Register(r, run, a.runJob)
	api.Register(r, api.Sorts(api.Operation(groupJobs, middleware.Admin, "GET", "/v1/admin/jobs/{id}/runs", "list-job-runs", "List the runs of a scheduled job", "Newest first.", models.CodeNotFound), "started_at"), a.listRuns)
}

// Job is a scheduled job.
type Job struct {
	ID             string     `json:"id" example:"revalidation" doc:"ID of the job"`
	Schedule       string     `json:"schedule" example:"@every 1m" doc:"Cron expression, or @every with a Go duration"`
	Running        bool       `json:"running" doc:"Whether the job is running on any node"`
	Runs           int64      `json:"runs" example:"120" doc:"Number of runs started, including the current one and those that the program or its end interrupted"`
	Successes      int64      `json:"successes" example:"119" doc:"Number of runs that succeeded"`
	Failures       int64      `json:"failures" example:"1" doc:"Number of runs that failed"`
	OverlapSkips   int64      `json:"overlap_skips" example:"0" doc:"Number of runs skipped because the previous run had not ended"`
	LastStartedAt  *time.Time `json:"last_started_at" example:"2025-03-24T12:00:00Z" doc:"When the last run started. null if never"`
	LastDurationMS *int64     `json:"last_duration_ms" example:"412" doc:"Duration of the last run in milliseconds. null if no run has ended"`
	LastError      *string    `json:"last_error" example:"database is locked" doc:"Error of the last run. null if it succeeded"`
	NextRunAt      *time.Time `json:"next_run_at" example:"2025-03-24T12:01:00Z" doc:"When the next run starts. null if none is scheduled"`
}

// Run is one run of a scheduled job.
type Run struct {
	ID         string    `json:"id" example:"r_01HZ8QK3V5W7X9YABCDEFG" doc:"ID of the run"`
	JobID      string    `json:"job_id" example:"revalidation" doc:"ID of the job"`
	StartedAt  time.Time `json:"started_at" example:"2025-03-24T12:00:00Z" doc:"When the run started"`
	DurationMS int64     `json:"duration_ms" example:"412" doc:"Duration in milliseconds"`
	Trigger    string    `json:"trigger" enum:"schedule,manual,start" doc:"What started the run. start: the job was overdue when the program started"`
	Summary    string    `json:"summary" example:"120 checked, 3 dead" doc:"Short result of the run"`
	Error      *string   `json:"error" example:"database is locked" doc:"Why the run failed. null if it succeeded"`
}

func (a API) listJobs(ctx context.Context, in *api.TotalParams) (*api.Output[api.Slice[Job]], error) {
	jobs, err := a.Jobs.Jobs(ctx)
	return api.AnswerAll(*in, jobs, toJob, err)
}

// JobPath is the path parameter of a scheduled job.
type JobPath struct {
	ID string `path:"id" example:"revalidation" doc:"ID of the job"`
}

func (a API) getJob(ctx context.Context, in *JobPath) (*api.Output[Job], error) {
	j, err := a.Jobs.Job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return api.Answer(toJob(j), nil)
}

func (a API) runJob(ctx context.Context, in *JobPath) (*struct{}, error) {
	return nil, a.Jobs.Request(ctx, in.ID)
}

type listRunsInput struct {
	JobPath
	api.SliceParams
}

func (a API) listRuns(ctx context.Context, in *listRunsInput) (*api.Output[api.Slice[Run]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	runs, err := a.Jobs.Runs(ctx, in.ID, after, limit)
	return api.AnswerSlice(runs, toRun, err)
}

func toJob(j schedule.Job) Job {
	out := Job{
		ID: j.ID, Schedule: j.Schedule, Running: j.Running(),
		Runs: j.Runs, Successes: j.Successes, Failures: j.Failures, OverlapSkips: j.OverlapSkips,
		LastStartedAt: api.Time(j.LastStartedAt), LastError: api.OrNull(j.LastError), NextRunAt: api.Time(j.NextRunAt),
	}
	if j.Successes+j.Failures > 0 {
		ms := j.LastDuration.Milliseconds()
		out.LastDurationMS = &ms
	}
	return out
}

func toRun(r schedule.Run) Run {
	return Run{
		ID: r.ID, JobID: r.JobID, StartedAt: r.StartedAt.Time, DurationMS: r.Duration.Milliseconds(),
		Trigger: r.Trigger, Summary: r.Summary, Error: api.OrNull(r.Error),
	}
}
