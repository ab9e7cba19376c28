package api

import (
	"context"
	"net/http"
	"time"

	"github.com/linkwatch/linkwatch/models"
	"github.com/linkwatch/linkwatch/models/cleanup"
	"github.com/linkwatch/linkwatch/models/schedule"
)

func (a *API) registerCleanup() {
	register(a, operation(tagCleanup, "GET", "/v1/admin/cleanup/stats", "cleanup-stats", "Get cleanup statistics",
		"The figures at the top are those of short links. Totals survive restarts. GET /api/admin/cleanup/stats is the same."), a.cleanupStats)
	run := operation(tagCleanup, "POST", "/v1/admin/cleanup/run", "run-cleanup", "Run the cleanup now",
		"409 while it runs, or if CLEANUP_ENABLED is false.", models.CodeConflict)
	run.DefaultStatus = http.StatusAccepted
	register(a, run, a.runCleanup)
}

// CleanupFigures are what the reaper did about one subject (seed 004).
type CleanupFigures struct {
	LastCleanupTime  *time.Time `json:"last_cleanup_time" example:"2026-01-17T10:30:00Z" doc:"When the last successful run ended. null if never"`
	TotalCleaned     int64      `json:"total_cleaned" example:"15420" doc:"Number of rows deleted"`
	LastBatchSize    int64      `json:"last_batch_size" example:"847" doc:"Number of rows in the last batch"`
	SuccessfulRuns   int64      `json:"successful_runs" example:"234" doc:"Number of successful runs, including those that found nothing to delete"`
	FailedRuns       int64      `json:"failed_runs" example:"2" doc:"Number of failed runs"`
	AverageCleanupMS float64    `json:"average_cleanup_ms" example:"156.7" doc:"Average time that a successful run spends deleting, in milliseconds"`
}

// CleanupStats are the reaper's statistics: those of the short links, what they
// are now, and the figures of everything that it deletes.
type CleanupStats struct {
	CleanupFigures
	IsRunning   bool             `json:"is_running" doc:"Whether a run is under way on any instance"`
	Enabled     bool             `json:"enabled" doc:"Whether CLEANUP_ENABLED is true. Nothing is deleted otherwise"`
	NextRunAt   *time.Time       `json:"next_run_at" example:"2026-01-17T10:45:00Z" doc:"When the next run starts. null if none is scheduled"`
	Waiting     int              `json:"waiting" example:"137" maximum:"10000" doc:"Number of short links that a run would delete now, counted up to 10,000"`
	WaitingMore bool             `json:"waiting_more" doc:"Whether there are more than waiting"`
	Subjects    []CleanupSubject `json:"subjects" nullable:"false" doc:"Figures for each kind of data, in the order of deletion"`
}

// CleanupSubject is one sort of rows that the reaper deletes.
type CleanupSubject struct {
	Subject string `json:"subject" enum:"short_links,visit_days,idempotency_keys,check_results,tags" example:"short_links" doc:"Kind of data"`
	CleanupFigures
}

func (a *API) cleanupStats(ctx context.Context, _ *struct{}) (*output[CleanupStats], error) {
	// The job is looked at first: the figures of a run are written before it is over.
	job, err := a.Jobs.Job(ctx, cleanup.Job)
	enabled := models.CodeOf(err) != models.CodeNotFound
	if err != nil && enabled {
		return nil, err
	}
	totals, err := a.Cleanup.Totals(ctx)
	if err != nil {
		return nil, err
	}
	waiting, err := a.ShortLinks.Waiting(ctx, cleanup.MaxWaiting+1)
	return answer(toCleanupStats(job, enabled, totals, waiting), err)
}

func (a *API) runCleanup(ctx context.Context, _ *struct{}) (*struct{}, error) {
	err := a.Jobs.Request(ctx, cleanup.Job)
	if models.CodeOf(err) == models.CodeNotFound {
		err = cleanup.SwitchedOff()
	}
	return nil, err
}

func toCleanupStats(job schedule.Job, enabled bool, totals []cleanup.Totals, waiting int) CleanupStats {
	out := CleanupStats{
		IsRunning: job.Running, Enabled: enabled, NextRunAt: toTime(job.NextRunAt),
		Waiting: min(waiting, cleanup.MaxWaiting), WaitingMore: waiting > cleanup.MaxWaiting,
	}
	for _, t := range totals {
		figures := CleanupFigures{
			LastCleanupTime: toTime(t.LastRunAt), TotalCleaned: t.Cleaned, LastBatchSize: t.LastBatchSize,
			SuccessfulRuns: t.SuccessfulRuns, FailedRuns: t.FailedRuns,
			AverageCleanupMS: float64(t.Average().Microseconds()) / 1000,
		}
		if t.Subject == cleanup.ShortLinks {
			out.CleanupFigures = figures
		}
		out.Subjects = append(out.Subjects, CleanupSubject{t.Subject, figures})
	}
	return out
}
