package crawl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
)

// AddJob adds a job. A one-time job is due at once; a recurring one runs first in
// the least-loaded slot of its first interval. Errors are CodeInvalid ("source_id",
// "url", "interval_minutes", "interval_type", "max_retries", "retry_backoff_seconds",
// "metadata").
func (s *Store) AddJob(ctx context.Context, n NewJob) (Job, error) {
	var id string
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		src, err := s.sourceFor(tx, n)
		if err != nil {
			return err
		}
		now := s.clock.Now()
		j := Job{
			ID: models.NewID(models.KindJob), SourceSeq: src.Seq, URL: n.URL, Status: Pending,
			IntervalCount: n.Interval.Count, IntervalType: n.Interval.Type, AdaptiveScheduling: n.AdaptiveScheduling, Held: !src.Enabled,
			MaxRetries: DefaultRetries, RetryBackoffSeconds: DefaultRetryBackoff, Metadata: n.Metadata, CreatedAt: now, UpdatedAt: now,
		}
		if j.URL == "" {
			j.URL = src.URL
		}
		models.Set(&j.MaxRetries, n.MaxRetries)
		models.Set(&j.RetryBackoffSeconds, n.RetryBackoff)
		if err := j.check(src); err != nil {
			return err
		}
		if j.Recurring() {
			j.Status = Scheduled
		}
		if n.Paused {
			j.Status, j.PausedAt = Paused, now
		}
		if err := tx.Create(&j).Error; err != nil {
			return fmt.Errorf("storing a job: %w", err)
		}
		id = j.ID
		if n.Paused {
			return nil
		}
		if err := s.place(tx, &j); err != nil {
			return err
		}
		return saveJob(tx, &j, "next_run_at", "planned_at")
	})
	if err != nil {
		return Job{}, err
	}
	ring(s.wanted)
	return s.Job(ctx, id)
}

// sourceFor is the source of a new job.
func (s *Store) sourceFor(tx *gorm.DB, n NewJob) (Source, error) {
	if n.SourceID != "" {
		src, err := source(tx, n.SourceID, false)
		if models.CodeOf(err) == models.CodeNotFound {
			return src, models.Invalid("source_id", "is not the id of a source; leave it out to use the source of the URL's host")
		}
		return src, err
	}
	u, err := models.ParseURL("url", n.URL)
	if err != nil {
		return Source{}, err
	}
	var found []Source
	if err := tx.Where("deleted_at IS NULL AND host = ?", u.Host).Order("created_at").Limit(1).Find(&found).Error; err != nil {
		return Source{}, fmt.Errorf("looking for a source: %w", err)
	}
	if len(found) > 0 {
		return found[0], nil
	}
	made := n.Source
	made.URL, made.Enabled = n.URL, true
	if made.Interval == (Interval{}) {
		made.Interval = n.Interval
	}
	return s.addSource(tx, made)
}

// place plans the next run of a new or resumed job: now if it is a one-time job,
// else a time in the least-loaded slot of its interval.
func (s *Store) place(tx *gorm.DB, j *Job) error {
	now := s.clock.Now()
	j.NextRunAt, j.PlannedAt = now, now
	if !j.Recurring() {
		return nil
	}
	load, err := s.load(tx)
	if err != nil {
		return err
	}
	at := load.Least(j.Every())
	if at.IsZero() {
		at = now.Add(j.Every()).Time
	} else {
		at = Place(at, j.Seq)
	}
	if last := now.Add(j.Every()); at.After(last.Time) { // its place in the last slot comes after the interval
		at = last.Time
	}
	j.NextRunAt, j.PlannedAt = models.At(at), models.At(at)
	return nil
}

// jobs is a query for jobs with what they have of their source.
func jobs(tx *gorm.DB) *gorm.DB {
	return tx.Model(&Job{}).Select("jobs.*, sources.id AS source_id, sources.name AS source_name").
		Joins("JOIN sources ON sources.seq = jobs.source_seq").Where("jobs.deleted_at IS NULL")
}

// Job is the job of an id; CodeNotFound if there is none.
func (s *Store) Job(ctx context.Context, id string) (Job, error) {
	return oneJob(jobs(s.db.Read(ctx)), id)
}

func oneJob(q *gorm.DB, id string) (j Job, err error) {
	if models.CheckID(models.KindJob, id) != nil {
		return j, models.NotFound("job")
	}
	err = q.Where("jobs.id = ?", id).Take(&j).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return j, models.NotFound("job")
	}
	if err != nil {
		return j, fmt.Errorf("loading a job: %w", err)
	}
	return j, nil
}

// lockJob loads a job for a change.
func lockJob(tx *gorm.DB, id string) (Job, error) {
	return oneJob(tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("deleted_at IS NULL"), id)
}

// saveJob stores some columns of a job, and that it has changed.
func saveJob(tx *gorm.DB, j *Job, columns ...string) error {
	if err := tx.Model(j).Select(append(columns, "updated_at")).Updates(j).Error; err != nil {
		return fmt.Errorf("storing a job: %w", err)
	}
	return nil
}

// JobFilter narrows a list of jobs down; the zero value is all.
type JobFilter struct {
	Status   Status
	SourceID string
	Text     string // part of the URL, or of the name or URL of the source
}

// Jobs is a page of jobs, the oldest first. limit is as models.NewLimit made it.
func (s *Store) Jobs(ctx context.Context, f JobFilter, after models.Cursor, limit int) (models.Slice[Job], error) {
	var page models.Slice[Job]
	if err := errors.Join(models.CheckFilter("query.q", f.Text), models.CheckFilter("query.source_id", f.SourceID)); err != nil {
		return page, err
	}
	q := jobs(s.db.Read(ctx))
	if f.Status != "" {
		q = q.Where("jobs.status = ?", f.Status)
	}
	if f.SourceID != "" {
		if !isID(models.KindSource, f.SourceID) {
			return page, nil // there is no such source
		}
		q = q.Where("jobs.source_seq = (SELECT seq FROM sources WHERE id = ?)", f.SourceID)
	}
	if folded := models.Fold(f.Text); folded != "" {
		like := "%" + models.EscapeLike(folded) + "%"
		q = q.Where(`(lower(jobs.url) LIKE ? ESCAPE '\' OR sources.search_text LIKE ? ESCAPE '\')`, like, like)
	}
	if after != (models.Cursor{}) {
		if models.CheckID(models.KindJob, after.ID) != nil {
			return page, models.ErrPageToken
		}
		q = q.Where("(jobs.created_at, jobs.id) > (?, ?)", after.CreatedAt, after.ID)
	}
	if err := q.Order("jobs.created_at, jobs.id").Limit(limit + 1).Find(&page.Items).Error; err != nil {
		return page, fmt.Errorf("loading jobs: %w", err)
	}
	return models.NewSlice(page.Items, limit, func(j Job) models.Cursor { return models.Cursor{CreatedAt: j.CreatedAt, ID: j.ID} }), nil
}

// StatusCounts are how many jobs there are by status, with zeros.
func (s *Store) StatusCounts(ctx context.Context) (map[Status]int, error) {
	var rows []struct {
		Status Status
		N      int
	}
	err := s.db.Read(ctx).Raw("SELECT status, count(*) AS n FROM jobs WHERE deleted_at IS NULL GROUP BY status").Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("counting jobs: %w", err)
	}
	counts := make(map[Status]int, len(Statuses))
	for _, status := range Statuses {
		counts[status] = 0
	}
	for _, r := range rows {
		counts[r.Status] = r.N
	}
	return counts, nil
}

// EditJob changes what the owner of a job set. A new interval gives a waiting job a
// new time; a running crawl goes on as it began. Errors are those of AddJob, and
// CodeNotFound.
func (s *Store) EditJob(ctx context.Context, id string, e JobEdit) (Job, error) {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		j, err := lockJob(tx, id)
		if err != nil {
			return err
		}
		before := j
		var src Source
		if e.SourceID != nil {
			src, err = s.sourceFor(tx, NewJob{SourceID: *e.SourceID})
		} else {
			err = tx.Where("seq = ?", j.SourceSeq).Take(&src).Error
		}
		if err != nil {
			return err
		}
		j.SourceSeq, j.Held, j.UpdatedAt = src.Seq, !src.Enabled, s.clock.Now()
		models.Set(&j.URL, e.URL)
		models.Set(&j.AdaptiveScheduling, e.AdaptiveScheduling)
		models.Set(&j.MaxRetries, e.MaxRetries)
		models.Set(&j.RetryBackoffSeconds, e.RetryBackoff)
		models.Set(&j.Metadata, e.Metadata)
		if e.Interval != nil {
			j.IntervalCount, j.IntervalType = e.Interval.Count, e.Interval.Type
		}
		if err := j.check(src); err != nil {
			return err
		}
		if j.URL != before.URL { // what is known of the start page is about another one
			j.ContentHash, j.UnchangedCount, j.CrawlSeq = "", 0, nil
			j.adapt()
		}
		if err := s.replan(tx, &j, before, e.Paused); err != nil {
			return err
		}
		return saveJob(tx, &j, "source_seq", "held", "url", "status", "adaptive_scheduling", "max_retries", "retry_backoff_seconds", "metadata",
			"interval_count", "interval_type", "interval_seconds", "next_run_at", "planned_at", "paused_at", "content_hash", "unchanged_count", "crawl_seq")
	})
	if err != nil {
		return Job{}, err
	}
	ring(s.wanted)
	return s.Job(ctx, id)
}

// replan brings the schedule of a job up to what was changed: its interval, and
// whether it is paused (nil: as before).
func (s *Store) replan(tx *gorm.DB, j *Job, before Job, paused *bool) (err error) {
	moved := j.Interval() != before.Interval() || j.IntervalSeconds != before.IntervalSeconds
	if j.Status == Completed && j.Recurring() { // a one-time job gets a schedule
		j.Status, err = Next(j.Status, Reschedule)
	}
	if paused != nil && j.Recurring() && *paused != (j.Status == Paused) {
		e := Resume
		if *paused {
			e = Pause
		}
		moved = true
		j.Status, err = Next(j.Status, e)
	}
	if err != nil {
		return err
	}
	switch {
	case j.Status == Paused && before.Status != Paused:
		j.PausedAt, j.NextRunAt, j.PlannedAt = j.UpdatedAt, models.Time{}, models.Time{}
	case moved && (j.Status == Scheduled || j.Status == Pending):
		j.PausedAt = models.Time{}
		if err := s.place(tx, j); err != nil {
			return err
		}
		j.Status = Pending
		if j.Recurring() {
			j.Status = Scheduled
		}
	}
	return nil
}

// Act does what a user asks of a job: Pause, Resume, Cancel, Retry or ForceRun. To
// cancel a running job ends its crawl, on whichever instances it runs. CodeConflict
// from a state that does not allow it, CodeNotFound if there is no such job.
func (s *Store) Act(ctx context.Context, id string, e Event) (Job, error) {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		j, err := lockJob(tx, id)
		if err != nil {
			return err
		}
		running := j.Status == Running
		if j.Status, err = Next(j.Status, e); err != nil {
			return err
		}
		now := s.clock.Now()
		j.UpdatedAt = now
		switch e {
		case Pause:
			j.PausedAt, j.NextRunAt, j.PlannedAt = now, models.Time{}, models.Time{}
		case Resume:
			j.PausedAt = models.Time{}
			err = s.place(tx, &j)
		case Retry:
			j.CurrentRetryCount, j.NextRunAt, j.PlannedAt = 0, now, now
		case ForceRun:
			j.NextRunAt, j.PlannedAt = now, now
		case Cancel:
			j.CancelledAt, j.NextRunAt, j.PlannedAt, j.CrawlSeq = now, models.Time{}, models.Time{}, nil
			if running {
				err = s.endExecution(tx, &j, ExecutionCancelled, "cancelled by a user")
			}
		case Start, Succeed, Fail, Release, Reschedule:
			return fmt.Errorf("crawl: %s is not an action of users", e)
		}
		if err != nil {
			return err
		}
		return saveJob(tx, &j, "status", "next_run_at", "planned_at", "paused_at", "cancelled_at", "current_retry_count",
			"crawl_seq", "lock_token", "lock_acquired_at", "claimed_by")
	})
	if err != nil {
		return Job{}, err
	}
	ring(s.wanted)
	return s.Job(ctx, id)
}

// DeleteJob deletes a job and ends its crawl. It can be restored for KeepDeleted.
// CodeNotFound if there is none.
func (s *Store) DeleteJob(ctx context.Context, id string) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		j, err := lockJob(tx, id)
		if err != nil {
			return err
		}
		j.DeletedAt = s.clock.Now() // its crawl ends as soon as its holder sees it
		j.UpdatedAt = j.DeletedAt
		return saveJob(tx, &j, "deleted_at")
	})
	if err == nil {
		ring(s.wanted)
	}
	return err
}

// RestoreJob restores a deleted job: CodeNotFound if it was not deleted, or too long
// ago, or with its source, which is to be restored then.
func (s *Store) RestoreJob(ctx context.Context, id string) (Job, error) {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		j, err := oneJob(tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where(
			"deleted_at > ? AND EXISTS (SELECT 1 FROM sources WHERE sources.seq = jobs.source_seq AND sources.deleted_at IS NULL)",
			s.clock.Now().Add(-KeepDeleted)), id)
		if err != nil {
			return err
		}
		j.DeletedAt, j.UpdatedAt = models.Time{}, s.clock.Now()
		if err := saveJob(tx, &j, "deleted_at"); err != nil {
			return err
		}
		return catchUp(tx, j.UpdatedAt, "seq = ?", j.Seq)
	})
	if err != nil {
		return Job{}, err
	}
	ring(s.wanted)
	return s.Job(ctx, id)
}

// ms is a duration in whole milliseconds, as columns have it.
func ms(d time.Duration) int64 { return max(0, d.Milliseconds()) }
