package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// AddJob adds a job. A one-time job is due at once. A recurring job first runs in the least loaded slot of its first
// interval. Errors are CodeInvalid ("source_id", "name", "url", "interval_minutes", "interval_type", "max_retries",
// "retry_backoff_seconds", "metadata"), and CodeConflict with n.OnlyNew.
func (s *Store) AddJob(ctx context.Context, n NewJob) (Job, error) {
	var id string
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if n.OnlyNew || n.Distinct { // so that concurrent calls add only one job
			if err := s.db.OneAtATime(tx, lockSources); err != nil {
				return err
			}
		}
		src, err := s.sourceFor(tx, n)
		if err != nil {
			return err
		}
		if n.Distinct {
			if err := checkDistinct(tx, src, n); err != nil {
				return err
			}
		}
		id, err = s.addJob(tx, src, n)
		return err
	})
	if err != nil {
		return Job{}, err
	}
	signal(s.jobsChanged)
	return s.Job(ctx, id)
}

func (s *Store) addJob(tx *gorm.DB, src Source, n NewJob) (id string, err error) {
	now := s.clock.Now()
	j := Job{
		ID: models.NewID(models.KindJob), SourceSeq: src.Seq, Name: n.Name, URL: n.URL, Status: Pending, RetryNextRun: n.RetryNextRun,
		IntervalCount: n.Interval.Count, IntervalType: n.Interval.Type, AdaptiveScheduling: n.AdaptiveScheduling, SourceDisabled: !src.Enabled,
		MaxRetries: DefaultRetries, RetryBackoffSeconds: DefaultRetryBackoff, Metadata: n.Metadata, CreatedAt: now, UpdatedAt: now,
	}
	if j.URL == "" {
		j.URL = src.URL
	}
	models.Set(&j.MaxRetries, n.MaxRetries)
	models.Set(&j.RetryBackoffSeconds, n.RetryBackoff)
	if err := j.check(src); err != nil {
		return "", err
	}
	if j.Recurring() {
		j.Status = Scheduled
	}
	if n.Paused {
		j.Status, j.PausedAt = Paused, now
	}
	if err := tx.Create(&j).Error; err != nil {
		return "", fmt.Errorf("store job: %w", err)
	}
	j.SourceID = src.ID
	if err := audit.Add(tx, now, audit.Change{Action: "job.add", Subject: j.subject(), After: j.values()}); err != nil {
		return "", err
	}
	if n.Paused {
		return j.ID, nil
	}
	if err := s.planFirstRun(tx, &j); err != nil {
		return "", err
	}
	if n.RunNow && j.Recurring() {
		j.NextRunAt, j.Forced = now, true
	}
	return j.ID, saveJob(tx, &j, "next_run_at", "planned_at", "forced")
}

// checkDistinct returns CodeInvalid ("interval_minutes") if a source has an unfinished job with the start page and interval of a new one.
func checkDistinct(tx *gorm.DB, src Source, n NewJob) error {
	start, err := models.ParseURL("url", cmp.Or(n.URL, src.URL))
	if err != nil {
		return err
	}
	known, err := jobsOfPage(tx, src, start)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(known, func(j Job) bool { return j.Interval().Duration() == n.Interval.Duration() && !j.Over() }) {
		return models.Invalid("interval_minutes", "must differ: a job of this source has the same start page and schedule")
	}
	return nil
}

// jobsOfPage returns the jobs of a source that start at a page, the newest first.
func jobsOfPage(tx *gorm.DB, src Source, start models.URL) (found []Job, err error) {
	var all []Job
	err = tx.Where("source_seq = ? AND deleted_at IS NULL", src.Seq).Order("created_at DESC, id DESC").Limit(maxSourceJobs).Find(&all).Error
	if err != nil {
		return nil, fmt.Errorf("find jobs of source: %w", err)
	}
	for _, j := range all {
		if u, err := models.ParseURL("url", j.URL); err == nil && u.Canonical == start.Canonical {
			j.SourceID, j.SourceName, j.PrivateTo = src.ID, src.Name, src.PrivateTo
			found = append(found, j)
		}
	}
	return found, nil
}

// maxSourceJobs is the maximum number of jobs of a source, the newest, that jobsOfPage reads.
const maxSourceJobs = 1000

// Existing returns the source that AddJob uses for a URL, with its jobs that start at the URL, the newest first. ok is false if
// AddJob would add a source. The error is CodeInvalid ("url").
func (s *Store) Existing(ctx context.Context, url string, private bool) (src Source, jobs []Job, ok bool, err error) {
	u, err := models.ParseURL("url", url)
	if err != nil {
		return src, nil, false, err
	}
	tx := s.db.Read(ctx)
	found, err := sourcesOf(tx, u, private)
	if err != nil || len(found) == 0 {
		return src, nil, false, err
	}
	jobs, err = jobsOfPage(tx, found[0], u)
	return found[0], jobs, true, err
}

// sourcesOf returns the source for jobs that start at a URL, or none.
func sourcesOf(tx *gorm.DB, u models.URL, private bool) (found []Source, err error) {
	err = ofSite(tx, u, private).Order("private_to <> '', created_at").Limit(1).Find(&found).Error
	if err != nil {
		return nil, fmt.Errorf("find source: %w", err)
	}
	return found, nil
}

// sourceFor returns the source for a new job. It creates one if necessary.
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
	found, err := sourcesOf(tx, u, n.Source.Private)
	if err == nil && len(found) == 0 { // so that concurrent calls add only one source
		if err = s.db.OneAtATime(tx, lockSources); err == nil {
			found, err = sourcesOf(tx, u, n.Source.Private)
		}
	}
	if err != nil {
		return Source{}, err
	}
	if len(found) > 0 {
		if n.OnlyNew {
			return Source{}, models.Conflict("This site has a source already.")
		}
		return found[0], nil
	}
	made := n.Source
	made.URL, made.Enabled = n.URL, true
	if made.Interval == (Interval{}) {
		made.Interval = n.Interval
	}
	return s.addSource(tx, made)
}

func (j Job) subject() audit.Subject { return audit.Subject{Kind: "job", ID: j.ID, Name: j.URL} }

// values returns the settings of the job for the audit log. SourceID must be set.
func (j Job) values() audit.Values {
	v := audit.Values{
		"source_id": j.SourceID, "name": j.Name, "url": j.URL, "interval_minutes": j.IntervalCount, "interval_type": string(j.IntervalType), "is_paused": j.Status == Paused,
		"adaptive_scheduling": j.AdaptiveScheduling, "max_retries": j.MaxRetries, "retry_backoff_seconds": j.RetryBackoffSeconds, "retry_next_run": j.RetryNextRun,
	}
	if text, err := j.Metadata.Value(); err == nil {
		v["metadata"] = text
	}
	return v
}

// planFirstRun plans the next run of a new or resumed job: now for a one-time job, otherwise a time in the least loaded slot of its
// interval.
func (s *Store) planFirstRun(tx *gorm.DB, j *Job) error {
	now := s.clock.Now()
	j.NextRunAt, j.PlannedAt, j.Forced = now, now, false
	if !j.Recurring() {
		return nil
	}
	load, err := s.slotLoad(tx, "TRUE") // includes jobs that the caller cannot see
	if err != nil {
		return err
	}
	at := load.Least(j.EffectiveInterval())
	if at.IsZero() {
		at = now.Add(j.EffectiveInterval()).Time
	} else {
		at = TimeInSlot(at, j.Seq)
	}
	if last := now.Add(j.EffectiveInterval()); at.After(last.Time) { // its time in the last slot is after the end of the interval
		at = last.Time
	}
	j.NextRunAt, j.PlannedAt = models.At(at), models.At(at)
	return nil
}

// jobs selects jobs with the columns of their source.
func jobs(tx *gorm.DB) *gorm.DB {
	visible, args := models.Visible(tx, "sources")
	return tx.Model(&Job{}).Select("jobs.*, sources.id AS source_id, sources.name AS source_name, sources.private_to AS private_to").
		Joins("JOIN sources ON sources.seq = jobs.source_seq").Where("jobs.deleted_at IS NULL").Where(visible, args...)
}

// Job returns a job by id. The error is CodeNotFound if there is none.
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
		return j, fmt.Errorf("load job: %w", err)
	}
	return j, nil
}

// lockJob loads a job and locks its row.
func lockJob(tx *gorm.DB, id string) (Job, error) {
	visible, args := ofVisibleSource(tx, "jobs.source_seq")
	return oneJob(tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("deleted_at IS NULL").Where(visible, args...), id)
}

// saveJob updates columns of a job and its updated_at.
func saveJob(tx *gorm.DB, j *Job, columns ...string) error {
	if err := tx.Model(j).Select(append(columns, "updated_at")).Updates(j).Error; err != nil {
		return fmt.Errorf("store job: %w", err)
	}
	return nil
}

// JobFilter selects jobs. The zero value selects all.
type JobFilter struct {
	Status   Status
	SourceID string
	Text     string // part of the name or URL, or of the name or URL of the source
}

// Jobs returns one page of jobs, the oldest first. limit comes from models.NewLimit. A search for a text reads
// models.MaxSearched jobs.
func (s *Store) Jobs(ctx context.Context, f JobFilter, after models.Cursor, limit int) (models.Slice[Job], error) {
	var page models.Slice[Job]
	if err := errors.Join(models.CheckFilter("query.q", f.Text), models.CheckFilter("query.source_id", f.SourceID)); err != nil {
		return page, err
	}
	tx := s.db.Read(ctx)
	q := models.ListQuery{Table: "jobs", Where: "jobs.deleted_at IS NULL", From: "jobs JOIN sources ON sources.seq = jobs.source_seq"}
	q.Own, q.OwnArgs = ofVisibleSource(tx, "jobs.source_seq")
	if f.Status != "" {
		q.And("jobs.status = ?", f.Status)
		q.Filter = "status"
	}
	if f.SourceID != "" {
		if !isID(models.KindSource, f.SourceID) {
			return models.NoItems[Job](after), nil // no such source
		}
		q.And("jobs.source_seq = (SELECT seq FROM sources WHERE id = ?)", f.SourceID)
		q.Filter = "source_id"
	}
	if folded := models.Fold(f.Text); folded != "" {
		like := "%" + models.EscapeLike(folded) + "%"
		q.Search(`(lower(jobs.url) LIKE ? ESCAPE '\' OR jobs.search_text LIKE ? ESCAPE '\' OR sources.search_text LIKE ? ESCAPE '\')`, like, like, like)
	}
	return JobOrders.List(tx, q, after, limit, func(p models.ListPart) (found []Job, err error) {
		if err = p.Of(jobs(tx)).Find(&found).Error; err != nil {
			err = fmt.Errorf("load jobs: %w", err)
		}
		return found, err
	})
}

// StatusCounts returns the number of jobs for each status, including zeros. The states of row_counts are these, and deleted.
func (s *Store) StatusCounts(ctx context.Context) (map[Status]int, error) {
	n, err := models.RowCounts(s.db.Read(ctx), "jobs")
	if err != nil {
		return nil, err
	}
	counts := make(map[Status]int, len(Statuses))
	for _, status := range Statuses {
		counts[status] = max(0, n[string(status)])
	}
	return counts, nil
}
