package admin

import (
	"context"
	"net/http"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/schedule"
)

func (a API) registerCleanup(r *api.API) {
	api.Register(r, api.Operation(groupCleanup, middleware.Admin, "GET", "/v1/admin/cleanup/stats", "cleanup-stats", "Get cleanup statistics",
		"The figures at the top count short links only; `kinds` has those of all kinds of rows. `is_running`, `next_run_at` and the "+
			"runs are those of the reaper, the job that deletes all kinds. Totals survive restarts. GET /api/admin/cleanup/stats is the same."), a.cleanupStats)
	run := api.Operation(groupCleanup, middleware.Admin, "POST", "/v1/admin/cleanup/run", "run-cleanup", "Run the cleanup now",
		"It deletes all expired data, but short links only if CLEANUP_ENABLED is true. 409 while it is running.", models.CodeConflict)
	run.DefaultStatus = http.StatusAccepted
	api.Register(r, run, a.runCleanup)
	var kinds []any
	for _, k := range a.Cleanup.Kinds() {
		kinds = append(kinds, k.Kind)
	}
	r.Enum("CleanupKind", "kind", kinds...)
}

// CleanupFigures are what the reaper did about one kind of rows.
type CleanupFigures struct {
	LastCleanupTime  *time.Time `json:"last_cleanup_time" example:"2026-01-17T10:30:00Z" doc:"When the last successful run ended. null if never"`
	TotalCleaned     int64      `json:"total_cleaned" example:"15420" doc:"Number of rows deleted since the database was made. At the top level only short links count, also in the members below"`
	LastBatchSize    int64      `json:"last_batch_size" example:"847" doc:"Number of rows in the last batch"`
	SuccessfulRuns   int64      `json:"successful_runs" example:"234" doc:"Number of successful runs, including those that found nothing to delete"`
	FailedRuns       int64      `json:"failed_runs" example:"2" doc:"Number of failed runs"`
	AverageCleanupMS float64    `json:"average_cleanup_ms" example:"156.7" doc:"Average time that a successful run spends deleting, in milliseconds, without its rests"`
}

// CleanupStats are the reaper's statistics: at the top the figures of short
// links, then the state of the reaper, then the figures of every kind.
type CleanupStats struct {
	CleanupFigures
	IsRunning   bool          `json:"is_running" doc:"Whether the reaper is running on any instance, whatever it is deleting"`
	Enabled     bool          `json:"enabled" doc:"CLEANUP_ENABLED: false keeps expired and deleted short links in the database; all other kinds are deleted in any case"`
	NextRunAt   *time.Time    `json:"next_run_at" example:"2026-01-17T10:45:00Z" doc:"When the reaper runs next. null if no run is scheduled"`
	Waiting     int           `json:"waiting" example:"137" maximum:"10000" doc:"Expired and deleted short links that are due for deletion, counted up to 10,000; if enabled is false, those that are kept"`
	WaitingMore bool          `json:"waiting_more" doc:"Whether more than 10,000 are waiting"`
	Kinds       []CleanupKind `json:"kinds" nullable:"false" doc:"Every kind of rows that the reaper deletes, in the order of a run"`
}

// CleanupKind is one kind of rows that the reaper deletes.
type CleanupKind struct {
	Kind string `json:"kind" example:"short_links" doc:"Kind of rows"`
	CleanupFigures
}

func (a API) cleanupStats(ctx context.Context, _ *struct{}) (*api.Output[CleanupStats], error) {
	// The job is looked at first: the figures of a run are written before it is over.
	job, err := a.Jobs.Job(ctx, cleanup.Job)
	if err != nil {
		return nil, err
	}
	totals, err := a.Cleanup.Totals(ctx)
	if err != nil {
		return nil, err
	}
	waiting, err := a.Cleanup.Waiting(ctx)
	return api.Answer(toCleanupStats(job, a.Cleanup.Main(), totals, waiting), err)
}

func (a API) runCleanup(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return nil, a.Jobs.RequestAs(ctx, cleanup.Job, cleanup.ActionRun)
}

func toCleanupStats(job schedule.Job, main cleanup.Kind, totals []cleanup.Totals, waiting int) CleanupStats {
	out := CleanupStats{
		IsRunning: job.Running(), Enabled: main.Kept == "", NextRunAt: api.Time(job.NextRunAt),
		Waiting: min(waiting, cleanup.MaxWaiting), WaitingMore: waiting > cleanup.MaxWaiting,
	}
	for _, t := range totals {
		figures := CleanupFigures{
			LastCleanupTime: api.Time(t.LastRunAt), TotalCleaned: t.Cleaned, LastBatchSize: t.LastBatchSize,
			SuccessfulRuns: t.SuccessfulRuns, FailedRuns: t.FailedRuns,
			AverageCleanupMS: float64(t.Average().Microseconds()) / 1000,
		}
		if t.Kind == main.Kind {
			out.CleanupFigures = figures
		}
		out.Kinds = append(out.Kinds, CleanupKind{t.Kind, figures})
	}
	return out
}
