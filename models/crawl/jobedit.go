package crawl

import (
	"context"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// EditJob changes the settings of a job. A new interval changes the next run of a scheduled job. A running crawl continues
// with the old settings. Errors are those of AddJob, and CodeNotFound.
func (s *Store) EditJob(ctx context.Context, id string, e JobEdit) (Job, error) {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		j, err := lockJob(tx, id)
		if err != nil {
			return err
		}
		var src Source
		if err := tx.Where("seq = ?", j.SourceSeq).Take(&src).Error; err != nil {
			return err
		}
		j.SourceID = src.ID
		before := j
		if e.SourceID != nil {
			if src, err = s.sourceFor(tx, NewJob{SourceID: *e.SourceID}); err != nil {
				return err
			}
			j.SourceID = src.ID
		}
		j.SourceSeq, j.SourceDisabled, j.UpdatedAt = src.Seq, !src.Enabled, s.clock.Now()
		models.Set(&j.Name, e.Name)
		models.Set(&j.URL, e.URL)
		models.Set(&j.AdaptiveScheduling, e.AdaptiveScheduling)
		models.Set(&j.MaxRetries, e.MaxRetries)
		models.Set(&j.RetryBackoffSeconds, e.RetryBackoff)
		models.Set(&j.RetryNextRun, e.RetryNextRun)
		models.Set(&j.Metadata, e.Metadata)
		if e.Interval != nil {
			j.IntervalCount, j.IntervalType = e.Interval.Count, e.Interval.Type
		}
		if err := j.check(src); err != nil {
			return err
		}
		if e.Paused != nil && !*e.Paused {
			if err := j.Interval().CheckScheduled(); err != nil {
				return err
			}
		}
		if j.URL != before.URL { // the known changes are those of another start page
			j.ContentHash, j.UnchangedCount, j.CrawlSeq = "", 0, nil
			j.adapt()
		}
		if err := s.replan(tx, &j, before, e.Paused); err != nil {
			return err
		}
		if err := audit.Add(tx, j.UpdatedAt, audit.Change{Action: "job.edit", Subject: j.subject(), Before: before.values(), After: j.values()}); err != nil {
			return err
		}
		return saveJob(tx, &j, "source_seq", "source_disabled", "name", "search_text", "url", "status", "adaptive_scheduling", "max_retries", "retry_backoff_seconds", "retry_next_run", "metadata",
			"interval_count", "interval_type", "interval_seconds", "next_run_at", "planned_at", "forced", "paused_at", "content_hash", "unchanged_count", "crawl_seq")
	})
	if err != nil {
		return Job{}, err
	}
	signal(s.jobsChanged)
	return s.Job(ctx, id)
}

// replan updates the schedule of a job after its interval or its paused state (nil: unchanged) was edited.
func (s *Store) replan(tx *gorm.DB, j *Job, before Job, paused *bool) (err error) {
	moved := j.Interval() != before.Interval() || j.IntervalSeconds != before.IntervalSeconds
	if j.Status == Completed && j.Recurring() { // a one-time job becomes recurring
		j.Status, err = Next(j.Status, Reschedule)
	}
	if paused != nil && j.Recurring() && *paused != (j.Status == Paused) {
		e := Resume
		if *paused {
			e = Pause
		}
		j.Status, err = Next(j.Status, e)
	}
	if err != nil {
		return err
	}
	if moved && (before.Status == Paused || j.Status == Paused) {
		j.PlannedAt = models.Time{} // it was planned with the old interval
	}
	switch {
	case j.Status == Paused && before.Status != Paused:
		j.pause(j.UpdatedAt)
	case before.Status == Paused && j.Status != Paused:
		return s.resume(tx, j)
	case j.Status == Failed && j.Recurring() && moved:
		err = s.planFirstRun(tx, j)
		j.NextRunAt = models.Time{}
		return err
	case j.Status == Failed && j.RetryNextRun && !before.RetryNextRun:
		j.planRetry(j.UpdatedAt)
	case moved && (j.Status == Scheduled || j.Status == Pending):
		j.PausedAt = models.Time{}
		if err := s.planFirstRun(tx, j); err != nil {
			return err
		}
		j.Status = Pending
		if j.Recurring() {
			j.Status = Scheduled
		}
	}
	return nil
}
