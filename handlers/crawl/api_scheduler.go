package crawl

import (
	"context"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/crawl"
)

func (a API) registerScheduler(r *api.API) {
	api.Register(r, api.Operation(groupScheduler, middleware.Viewer, "GET", "/v1/scheduler/metrics", "get-scheduler-metrics", "Get scheduler metrics",
		"Covers all instances. Metrics are collected every 30 seconds. Jobs of private sources that you cannot see are not counted."), a.schedulerMetrics)
	api.Register(r, api.Operation(groupScheduler, middleware.Viewer, "GET", "/v1/scheduler/distribution", "get-distribution", "Get the distribution of jobs",
		"Returns the number of jobs in each slot of 15 minutes in the next 24 hours."), a.distribution)
	api.Register(r, api.Operation(groupScheduler, middleware.Viewer, "POST", "/v1/scheduler/rebalance/preview", "preview-rebalance", "Preview a rebalance",
		"Returns what POST /v1/scheduler/rebalance would do. Changes nothing."), a.previewRebalance)
	api.Register(r, api.Operation(groupScheduler, middleware.Editor, "POST", "/v1/scheduler/rebalance", "rebalance", "Move jobs out of crowded slots",
		"Does not move jobs that run within 30 minutes or were moved in the last hour. Jobs of private sources that you cannot see are ignored."), a.rebalance)
	api.Register(r, api.Operation(groupScheduler, middleware.Admin, "POST", "/v1/admin/sync-enabled-sources", "sync-enabled-sources", "Sync sources and jobs",
		"Creates a job for every enabled source, with the interval of the source or once a day. If CRAWLER_SOURCES_API_URL is set, reads the sources from there first.", models.CodeUnavailable), a.sync)
}

// SchedulerMetrics are the metrics of the scheduler in the API.
type SchedulerMetrics struct {
	Jobs              JobCounts        `json:"jobs" doc:"Jobs by status"`
	Executions        ExecutionMetrics `json:"executions" doc:"Executions that have ended"`
	StaleLocksCleared int64            `json:"stale_locks_cleared" example:"0" doc:"Total number of job locks cleared because the instance crashed or made no progress"`
	DistributionScore float64          `json:"distribution_score" example:"0.96" doc:"How evenly jobs are distributed over slots, from 0 to 1"`
	LastPollAt        *time.Time       `json:"last_poll_at" example:"2025-03-24T12:00:00Z" doc:"Time of the last search for due jobs. null if there was none"`
	LastMetricsUpdate time.Time        `json:"last_metrics_update" example:"2025-03-24T12:00:00Z" doc:"Time when these metrics were collected"`
}

// ExecutionMetrics are statistics of all executions that have ended.
type ExecutionMetrics struct {
	Total             int      `json:"total" example:"150" doc:"Executions that completed or failed, without interrupted and cancelled ones"`
	Completed         int      `json:"completed" example:"143" doc:"Executions that completed"`
	Failed            int      `json:"failed" example:"7" doc:"Executions that failed"`
	SuccessRate       *float64 `json:"success_rate" example:"0.9533" doc:"Share of completed executions, from 0 to 1. null if there are none"`
	AverageDurationMS int64    `json:"average_duration_ms" example:"45230" doc:"Average duration of completed executions, in milliseconds"`
}

func toMetrics(m crawl.Metrics) SchedulerMetrics {
	return SchedulerMetrics{
		Jobs: toCounts(m.Jobs),
		Executions: ExecutionMetrics{
			Total: m.Executions.Total, Completed: m.Executions.Completed, Failed: m.Executions.Failed,
			SuccessRate: toRate(m.Executions), AverageDurationMS: m.Executions.AverageDuration.Milliseconds(),
		},
		StaleLocksCleared: m.StaleLocksCleared, DistributionScore: m.Score, LastPollAt: api.Time(m.LastPollAt), LastMetricsUpdate: m.At.Time,
	}
}

// metrics returns the metrics that were collected last, or collects them if the program has just started.
func (d *Deps) metrics(ctx context.Context) (m crawl.Metrics, err error) {
	if m = d.Metrics(); m.At.IsZero() {
		m, err = d.Crawl.CollectMetrics(ctx)
	}
	if err != nil {
		return m, err
	}
	return d.Crawl.VisibleMetrics(ctx, m)
}

func (a API) schedulerMetrics(ctx context.Context, _ *struct{}) (*api.Output[SchedulerMetrics], error) {
	m, err := a.metrics(ctx)
	return api.Answer(toMetrics(m), err)
}

// Distribution is the distribution of jobs over slots in the API.
type Distribution struct {
	Slots []Slot  `json:"slots" nullable:"false" doc:"Slots of 15 minutes in the next 24 hours"`
	Score float64 `json:"distribution_score" example:"0.96" doc:"How even the distribution is: 1 is as even as possible, 0 is all jobs in one slot"`
}

// Slot is 15 minutes of the schedule.
type Slot struct {
	Start time.Time `json:"start" example:"2025-03-24T12:00:00Z" doc:"Start of the slot"`
	Jobs  int       `json:"jobs" example:"2" doc:"Number of jobs that run in it"`
}

func (a API) distribution(ctx context.Context, _ *struct{}) (*api.Output[Distribution], error) {
	slots, score, err := a.Crawl.Distribution(ctx)
	return api.Answer(Distribution{api.All(slots, func(s crawl.Slot) Slot { return Slot{s.Start, s.Jobs} }), score}, err)
}

// Rebalance is the result of a rebalance in the API.
type Rebalance struct {
	Moves       []Move  `json:"moves" nullable:"false" doc:"Jobs whose next run changes"`
	ScoreBefore float64 `json:"score_before" example:"0.61" doc:"distribution_score before"`
	ScoreAfter  float64 `json:"score_after" example:"0.97" doc:"distribution_score after"`
}

// Move is a new time for a job.
type Move struct {
	JobID string    `json:"job_id" example:"j_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the job"`
	From  time.Time `json:"from" example:"2025-03-24T14:03:00Z" doc:"Next run before the move"`
	To    time.Time `json:"to" example:"2025-03-24T16:18:00Z" doc:"Next run after the move"`
}

func toRebalance(p crawl.RebalancePlan) Rebalance {
	return Rebalance{api.All(p.Moves, func(m crawl.Move) Move { return Move{m.ID, m.From.UTC(), m.To.UTC()} }), p.Before, p.After}
}

func (a API) previewRebalance(ctx context.Context, _ *struct{}) (*api.Output[Rebalance], error) {
	p, err := a.Crawl.PreviewRebalance(ctx)
	return api.Answer(toRebalance(p), err)
}

func (a API) rebalance(ctx context.Context, _ *struct{}) (*api.Output[Rebalance], error) {
	p, err := a.Crawl.Rebalance(ctx)
	return api.Answer(toRebalance(p), err)
}

// SyncReport is the result of a sync in the API.
type SyncReport struct {
	Created int `json:"created" example:"2" doc:"Number of added jobs"`
	Updated int `json:"updated" example:"1" doc:"Number of jobs with a new interval plus number of changed sources"`
	Skipped int `json:"skipped" example:"9" doc:"Number of unchanged sources"`
}

func (a API) sync(ctx context.Context, _ *struct{}) (*api.Output[SyncReport], error) {
	r, err := a.Sync(ctx)
	return api.Answer(SyncReport(r), err)
}
