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
	api.Register(r, api.Operation(groupScheduler, middleware.Viewer, "GET", "/v1/scheduler/metrics", "get-scheduler-metrics", "Get the figures of the scheduler",
		"On all instances together. They are collected every 30 seconds. Without access to all private sources, jobs and executions of others are not counted."), a.schedulerMetrics)
	api.Register(r, api.Operation(groupScheduler, middleware.Viewer, "GET", "/v1/scheduler/distribution", "get-distribution", "Get how jobs are spread over time",
		"By slots of 15 minutes over the next 24 hours."), a.distribution)
	api.Register(r, api.Operation(groupScheduler, middleware.Viewer, "POST", "/v1/scheduler/rebalance/preview", "preview-rebalance", "Preview a rebalance",
		"What POST /v1/scheduler/rebalance would do now. Nothing changes."), a.previewRebalance)
	api.Register(r, api.Operation(groupScheduler, middleware.Editor, "POST", "/v1/scheduler/rebalance", "rebalance", "Move jobs out of crowded slots",
		"No job is moved that runs within 30 minutes or was moved in the last hour. Jobs of private sources of others stay as they are and do not count."), a.rebalance)
	api.Register(r, api.Operation(groupScheduler, middleware.Admin, "POST", "/v1/admin/sync-enabled-sources", "sync-enabled-sources", "Sync enabled sources to jobs",
		"Every enabled source gets a job with its interval, once a day if it has none. With CRAWLER_SOURCES_API_URL the sources are read from there first.", models.CodeUnavailable), a.sync)
}

// SchedulerMetrics are the figures of the scheduler on the wire.
type SchedulerMetrics struct {
	Jobs              JobCounts        `json:"jobs" doc:"Jobs by status"`
	Executions        ExecutionMetrics `json:"executions" doc:"Executions that ended"`
	StaleLocksCleared int64            `json:"stale_locks_cleared" example:"0" doc:"Locks of jobs that were cleared because their instance died or made no progress"`
	DistributionScore float64          `json:"distribution_score" example:"0.96" doc:"How evenly jobs are spread over slots, from 0 to 1"`
	LastPollAt        *time.Time       `json:"last_poll_at" example:"2025-03-24T12:00:00Z" doc:"When due jobs were last looked for. null if never"`
	LastMetricsUpdate time.Time        `json:"last_metrics_update" example:"2025-03-24T12:00:00Z" doc:"When these figures were collected"`
}

// ExecutionMetrics are figures of all executions that ended.
type ExecutionMetrics struct {
	Total             int      `json:"total" example:"150" doc:"Executions that completed or failed, without those that were interrupted or cancelled"`
	Completed         int      `json:"completed" example:"143" doc:"Executions that completed"`
	Failed            int      `json:"failed" example:"7" doc:"Executions that failed"`
	SuccessRate       *float64 `json:"success_rate" example:"0.9533" doc:"Completed by total, from 0 to 1. null if there is none"`
	AverageDurationMS int64    `json:"average_duration_ms" example:"45230" doc:"Average duration of those that completed"`
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

// metrics are those that were collected last. A program that has just started has none.
func (d *Deps) metrics(ctx context.Context) (m crawl.Metrics, err error) {
	if m = d.Metrics(); m.At.IsZero() {
		m, err = d.Crawl.Collect(ctx)
	}
	if err != nil {
		return m, err
	}
	return d.Crawl.FiguresOf(ctx, m)
}

func (a API) schedulerMetrics(ctx context.Context, _ *struct{}) (*api.Output[SchedulerMetrics], error) {
	m, err := a.metrics(ctx)
	return api.Answer(toMetrics(m), err)
}

// Distribution is how jobs are spread over slots on the wire.
type Distribution struct {
	Slots []Slot  `json:"slots" nullable:"false" doc:"Slots of 15 minutes over the next 24 hours"`
	Score float64 `json:"distribution_score" example:"0.96" doc:"How even that is: 1 is as even as whole jobs allow, 0 is all in one slot"`
}

// Slot is 15 minutes of the schedule.
type Slot struct {
	Start time.Time `json:"start" example:"2025-03-24T12:00:00Z" doc:"Start of the slot"`
	Jobs  int       `json:"jobs" example:"2" doc:"Jobs that run in it"`
}

func (a API) distribution(ctx context.Context, _ *struct{}) (*api.Output[Distribution], error) {
	slots, score, err := a.Crawl.Distribution(ctx)
	return api.Answer(Distribution{api.All(slots, func(s crawl.Slot) Slot { return Slot{s.Start, s.Jobs} }), score}, err)
}

// Rebalance is what a rebalance does on the wire.
type Rebalance struct {
	Moves       []Move  `json:"moves" nullable:"false" doc:"Jobs that get another time"`
	ScoreBefore float64 `json:"score_before" example:"0.61" doc:"distribution_score before"`
	ScoreAfter  float64 `json:"score_after" example:"0.97" doc:"distribution_score after"`
}

// Move gives a job another time.
type Move struct {
	JobID string    `json:"job_id" example:"j_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the job"`
	From  time.Time `json:"from" example:"2025-03-24T14:03:00Z" doc:"Its next run before"`
	To    time.Time `json:"to" example:"2025-03-24T16:18:00Z" doc:"Its next run after"`
}

func toRebalance(p crawl.Plan) Rebalance {
	return Rebalance{api.All(p.Moves, func(m crawl.Move) Move { return Move{m.ID, m.From.UTC(), m.To.UTC()} }), p.Before, p.After}
}

func (a API) previewRebalance(ctx context.Context, _ *struct{}) (*api.Output[Rebalance], error) {
	p, err := a.Crawl.Preview(ctx)
	return api.Answer(toRebalance(p), err)
}

func (a API) rebalance(ctx context.Context, _ *struct{}) (*api.Output[Rebalance], error) {
	p, err := a.Crawl.Rebalance(ctx)
	return api.Answer(toRebalance(p), err)
}

// SyncReport is what a sync did on the wire.
type SyncReport struct {
	Created int `json:"created" example:"2" doc:"Jobs that were added"`
	Updated int `json:"updated" example:"1" doc:"Jobs that got the interval of their source, and sources that changed"`
	Skipped int `json:"skipped" example:"9" doc:"Sources that had nothing to change"`
}

func (a API) sync(ctx context.Context, _ *struct{}) (*api.Output[SyncReport], error) {
	r, err := a.Sync(ctx)
	return api.Answer(SyncReport(r), err)
}
