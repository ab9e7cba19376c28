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
		"The top-level figures count short links only; `kinds` has the figures of all kinds of rows. `is_running`, `next_run_at` and "+
			"the runs belong to the reaper, the job that deletes all kinds. Totals survive restarts. Also available as GET /api/admin/cleanup/stats."), a.cleanupStats)
	run := api.Operation(groupCleanup, middleware.Admin, "POST", "/v1/admin/cleanup/run", "run-cleanup", "Run the cleanup",
		"Deletes expired data of all kinds. Short links are deleted only if CLEANUP_ENABLED is true. Returns 409 during a run.", models.CodeConflict)
	run.DefaultStatus = http.StatusAccepted
	api.Register(r, run, a.runCleanup)
	var kinds []any
	for _, k := range a.Cleanup.Kinds() {
		kinds = append(kinds, k.Kind)
	}
	r.Enum("CleanupKind", "kind", kinds...)
}

// CleanupFigures are the statistics of one kind of rows.
type CleanupFigures struct {
	LastCleanupTime  *time.Time `json:"last_cleanup_time" example:"2026-01-17T10:30:00Z" doc:"When the last successful run ended. null if never"`
	TotalCleaned     int64      `json:"total_cleaned" example:"15420" doc:"Number of rows deleted since the database was created. Of short links, those moved to the archive count too. At the top level, this and the members below count short links only"`
	LastBatchSize    int64      `json:"last_batch_size" example:"847" doc:"Number of rows in the last batch"`
	SuccessfulRuns   int64      `json:"successful_runs" example:"234" doc:"Number of successful runs, including runs without expired data"`
	FailedRuns       int64      `json:"failed_runs" example:"2" doc:"Number of failed runs"`
	AverageCleanupMS float64    `json:"average_cleanup_ms" example:"156.7" doc:"Average time that a successful run spends deleting, in milliseconds, without pauses between batches"`
}

// CleanupStats are the statistics of the reaper: the figures of short links, the state of the
// reaper, and the figures of every kind.
type CleanupStats struct {
	CleanupFigures
	IsRunning   bool          `json:"is_running" doc:"Whether the reaper is running on any node"`
	Enabled     bool          `json:"enabled" doc:"CLEANUP_ENABLED. If false, expired and deleted short links stay in the database. All other kinds are always deleted"`
	NextRunAt   *time.Time    `json:"next_run_at" example:"2026-01-17T10:45:00Z" doc:"When the next run starts. null if none is scheduled"`
	Waiting     int           `json:"waiting" example:"137" maximum:"10000" doc:"Number of expired and deleted short links that are not yet removed from the database, up to 10,000"`
	WaitingMore bool          `json:"waiting_more" doc:"Whether waiting exceeds 10,000"`
	Kinds       []CleanupKind `json:"kinds" nullable:"false" doc:"Kinds of rows that the reaper deletes, in the order of a run"`
}

// CleanupKind is one kind of rows that the reaper deletes.
type CleanupKind struct {
	Kind string `json:"kind" example:"short_links" doc:"Kind of rows"`
	CleanupFigures
}

func (a API) cleanupStats(ctx context.Context, _ *struct{}) (*api.Output[CleanupStats], error) {
	// The job is read first, because the figures of a run are written before it ends.
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
