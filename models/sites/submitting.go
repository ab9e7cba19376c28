package sites

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Limits of submissions.
const (
	MaxIndexNow = 10_000 // pages per batch (indexnow.org)

	maxAttempts = 5 // per page before it fails
	minBackoff  = time.Minute
	maxBackoff  = 24 * time.Hour
)

// backoff returns the wait after consecutive failures: exponential, but at least what the service asks for.
func backoff(failures int, retryAfter time.Duration) time.Duration {
	return max(retryAfter, min(maxBackoff, minBackoff<<min(max(failures-1, 0), 12)))
}

var (
	errNoService     = models.Conflict("The website has no Google credentials and no IndexNow key. Add one first.")
	errNoCredentials = models.Conflict("Verification needs Google credentials. Add them to the website first.")
)

// RequestSubmission requests the submission of a page, even if automatic submission is off. With removal, search engines are
// notified that the page is gone. Errors are CodeNotFound, and CodeConflict if the website uses no service for it or the page
// is in no sitemap and it is not a removal.
func (s *Store) RequestSubmission(ctx context.Context, id string, removal bool) (Page, error) {
	verb := "submit"
	if removal {
		verb = "remove"
	}
	return s.requestPage(ctx, id, Submitting, verb, func(tx *gorm.DB, w Website, p Page) error {
		switch {
		case !w.UsesGoogle() && !w.UsesIndexNow():
			return errNoService
		case !p.GoneAt.IsZero() && !removal:
			return models.Conflict("This page is in no sitemap any more. Only its removal can be submitted.")
		case removal && !w.CanRemove():
			return models.Conflict("Removals need Google's Indexing API or IndexNow. Enable one of them first.")
		}
		now := s.clock.Now()
		toGoogle := p.QueuedForGoogle || w.UsesGoogle()
		if removal {
			toGoogle = w.UsesGoogle() && w.IndexingEnabled
		}
		err := tx.Exec("UPDATE pages SET submit_requested_at = ?, removal = ?, queued_for_google = ?, queued_for_indexnow = ?, submit_after = NULL, attempts = 0 WHERE seq = ?",
			now, removal, toGoogle, w.UsesIndexNow(), p.Seq).Error
		if err != nil {
			return err
		}
		return tx.Exec("UPDATE websites SET submit_requested_at = ? WHERE seq = ?", now, w.Seq).Error
	})
}

// RequestVerification requests a check with Google whether a page is indexed. Errors are CodeNotFound, and CodeConflict if the
// website has no credentials.
func (s *Store) RequestVerification(ctx context.Context, id string) (Page, error) {
	return s.requestPage(ctx, id, Verifying, "verify", func(tx *gorm.DB, w Website, p Page) error {
		if !w.UsesGoogle() {
			return errNoCredentials
		}
		now := s.clock.Now()
		if err := tx.Exec("UPDATE pages SET verify_requested_at = ? WHERE seq = ?", now, p.Seq).Error; err != nil {
			return err
		}
		return tx.Exec("UPDATE websites SET verify_requested_at = ? WHERE seq = ?", now, w.Seq).Error
	})
}

func (s *Store) requestPage(ctx context.Context, id string, a Activity, verb string, mark func(tx *gorm.DB, w Website, p Page) error) (p Page, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if p, err = page(tx, id); err != nil {
			return err
		}
		w, err := website(tx.Clauses(forUpdate), p.WebsiteID, false)
		if err != nil {
			return err
		}
		if err := mark(tx, w, p); err != nil {
			return err
		}
		if err := audit.Add(tx, s.clock.Now(), audit.Change{Action: "page." + verb, Subject: p.subject()}); err != nil {
			return err
		}
		p, err = page(tx, id)
		return err
	})
	if err == nil {
		s.notify(a)
	}
	return p, err
}

// PagesToPublish returns up to n pages to submit to Google's Indexing API: requested pages first, then, with automatic
// submission, queued pages in queue order.
func (s *Store) PagesToPublish(ctx context.Context, w Website, n int) (ps []Page, err error) {
	now := s.clock.Now()
	defer func() { loadedAt(ps, now) }()
	const due = " AND (p.submit_after IS NULL OR p.submit_after <= ?)"
	tx := s.db.Read(ctx)
	err = tx.Raw("SELECT p.* FROM pages AS p WHERE p.website_seq = ? AND p.submit_requested_at IS NOT NULL AND p.queued_for_google"+due+" ORDER BY p.submit_requested_at, p.seq LIMIT ?", w.Seq, now, n).Scan(&ps).Error
	if err == nil && len(ps) < n && w.AutoSubmit {
		var more []Page
		sql, args := queuedForGoogle(" AND p.submit_requested_at IS NULL"+due, []any{w.Seq, now}).sql(-1, 0, n-len(ps))
		err = tx.Raw(sql, args...).Scan(&more).Error
		ps = append(ps, more...)
	}
	if err != nil {
		return nil, fmt.Errorf("find pages to submit: %w", err)
	}
	return ps, nil
}

// PagesForIndexNow returns up to MaxIndexNow pages of one host to submit through IndexNow, in queue order. Without automatic
// submission it returns requested pages only.
func (s *Store) PagesForIndexNow(ctx context.Context, w Website) (ps []Page, err error) {
	condition, now := "", s.clock.Now()
	if !w.AutoSubmit {
		condition = " AND submit_requested_at IS NOT NULL"
	}
	tx := s.db.Read(ctx)
	err = tx.Raw("SELECT seq, url, path_start, removal FROM pages WHERE website_seq = ? AND queued_for_indexnow"+condition+" ORDER BY queue_rank, seq LIMIT ?", w.Seq, MaxIndexNow).Scan(&ps).Error
	if err != nil {
		return nil, fmt.Errorf("find pages for IndexNow: %w", err)
	}
	var same []Page // a batch has one host; other hosts follow
	for _, p := range ps {
		if p.URL[:p.PathStart-1] == ps[0].URL[:ps[0].PathStart-1] {
			same = append(same, p)
		}
	}
	loadedAt(same, now)
	return same, nil
}

// loadedAt sets LoadedAt, so that requests made later are not treated as done.
func loadedAt(ps []Page, at models.Time) {
	for i := range ps {
		ps[i].LoadedAt = at
	}
}

// SitemapsToSubmit returns the top-level sitemaps to submit to Google: new ones, changed ones, and those of requested pages.
// It is for websites that do not use the Indexing API.
func (s *Store) SitemapsToSubmit(ctx context.Context, w Website) (ms []Sitemap, err error) {
	condition := ""
	if w.AutoSubmit {
		condition = `m.submitted_at IS NULL OR EXISTS (SELECT 1 FROM sitemaps AS c WHERE (c.seq = m.seq OR c.root_seq = m.seq) AND c.changed_at > m.submitted_at) OR `
	}
	err = s.db.Read(ctx).Raw(selectSitemaps+`m.website_seq = ? AND m.root_seq IS NULL AND m.kind <> '' AND (`+condition+`EXISTS (
			SELECT 1 FROM pages AS p JOIN sitemap_pages AS sp ON sp.page_seq = p.seq JOIN sitemaps AS c ON c.seq = sp.sitemap_seq
			WHERE p.website_seq = m.website_seq AND p.submit_requested_at >= COALESCE(m.submitted_at, 0) AND p.queued_for_google AND (c.seq = m.seq OR c.root_seq = m.seq)))
		ORDER BY m.seq`, w.Seq).Scan(&ms).Error
	if err != nil {
		return nil, fmt.Errorf("find sitemaps to submit: %w", err)
	}
	return ms, nil
}

// BeginSubmission stores a submission before it is sent. sub.LoadedAt is when its pages were loaded; zero = now.
func (s *Store) BeginSubmission(ctx context.Context, w Website, sub Submission) (Submission, error) {
	sub.Seq, sub.WebsiteSeq, sub.Status, sub.CreatedAt = 0, w.Seq, Sent, s.clock.Now()
	if sub.LoadedAt.IsZero() {
		sub.LoadedAt = sub.CreatedAt
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		sub.Seq = 0
		return tx.Create(&sub).Error
	})
	if err != nil {
		return sub, fmt.Errorf("store submission: %w", err)
	}
	return sub, nil
}

// Outcome is the result of a submission or another request to a service.
type Outcome struct {
	Status      SubmissionStatus // Sent = no response, but the request may have arrived
	StatusCode  int              // 0 = none
	Error       string           // what happened and how to fix it; "" = accepted
	Summary     string           // what happened, without the fix; for retried failures
	Cause       string           // slug of a Cause
	Sitewide    bool             // the error concerns the whole website: pages stay queued
	RateLimited bool             // rate limit or quota: not a failure of the page
	Daily       bool             // daily limit, reset at midnight Pacific time
	RetryAfter  time.Duration    // requested by the service; 0 = none
}

// RecordOutcome records the outcome of the submission of pages. Accepted pages become submitted, refused ones failed. Others
// stay queued and are retried with exponential backoff, up to maxAttempts times. Unsent deletes the submission and leaves
// the pages unchanged.
func (s *Store) RecordOutcome(ctx context.Context, sub Submission, pages []int64, a Outcome) error {
	if a.Status == Unsent {
		return s.discardSubmission(ctx, sub)
	}
	now := s.clock.Now()
	a.Error = models.Truncate(models.CleanLine(a.Error), maxError)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.storeOutcome(tx, sub, a); err != nil {
			return err
		}
		var w Website
		if err := tx.Where("seq = ?", sub.WebsiteSeq).Take(&w).Error; err != nil {
			return err
		}
		const resetAttempts, refused = ", submit_after = NULL, attempts = 0", "status = 'failed', cause = ?, last_error = ?"
		set, queue, otherQueue, usesOther := setAccepted+resetAttempts, "queued_for_google", "queued_for_indexnow", w.UsesIndexNow()
		failed, failedArgs := refused, []any{a.Cause, a.Error}
		if sub.Method == ByIndexNow {
			queue, otherQueue, usesOther = otherQueue, queue, w.UsesGoogle()
			if w.UsesGoogle() { // the status of the page is about Google
				set, failed, failedArgs = "last_error = CASE WHEN status = 'failed' THEN last_error ELSE '' END", "last_error = ?", failedArgs[1:]
			}
		}
		// A page stays queued if it changed after it was loaded. A request stays open if it was made after that, or if the page is
		// still queued for the other service.
		const requestedLater = "COALESCE(submit_requested_at > ?, false)"
		stillRequested := requestedLater
		if usesOther {
			stillRequested = "(" + otherQueue + " OR " + requestedLater + ")"
		}
		dequeue := queue + " = (" + requestedLater + " OR COALESCE(changed_at > ?, false) AND gone_at IS NULL), submit_requested_at = CASE WHEN " + stillRequested +
			" THEN submit_requested_at END, removal = removal AND " + stillRequested
		dequeueArgs := []any{sub.LoadedAt, sub.LoadedAt, sub.LoadedAt, sub.LoadedAt}
		for seqs := range slices.Chunk(pages, StoreBatch) {
			part := pagesBySeq(sub.WebsiteSeq, seqs)
			err := withCounts(tx, part, func() error {
				const inBatch = " WHERE seq IN (SELECT seq FROM {rows} AS r)"
				switch {
				case a.Status == Accepted:
					return part.rows.Exec(tx, "UPDATE pages SET "+set+", last_submitted_at = ?, "+dequeue+inBatch, append([]any{now}, dequeueArgs...)...).Error
				case a.Sitewide || a.RateLimited:
					return part.rows.Exec(tx, "UPDATE pages SET last_error = ?"+inBatch, a.Error).Error
				case a.Status == Refused:
					return part.rows.Exec(tx, "UPDATE pages SET "+failed+", "+dequeue+inBatch, append(failedArgs, dequeueArgs...)...).Error
				default:
					return s.retryPages(tx, part, queue, a)
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("record outcome of submission: %w", err)
	}
	return nil
}

func (s *Store) discardSubmission(ctx context.Context, sub Submission) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error { return tx.Exec("DELETE FROM submissions WHERE seq = ?", sub.Seq).Error })
	if err != nil {
		return fmt.Errorf("discard submission: %w", err)
	}
	return nil
}

// setAccepted is the SET clause for pages that a search engine accepted.
const setAccepted = `status = CASE WHEN status = 'indexed' THEN 'indexed' ELSE 'submitted' END, cause = CASE WHEN status = 'indexed' THEN cause ELSE '' END,
	last_error = '', unverified = true`

// retryPages schedules the retry of pages, or marks them as failed after maxAttempts. queue is the queue column.
func (s *Store) retryPages(tx *gorm.DB, b pageBatch, queue string, a Outcome) error {
	var tried []Page
	if err := b.rows.Raw(tx, "SELECT seq, attempts FROM pages WHERE seq IN (SELECT seq FROM {rows} AS r)").Scan(&tried).Error; err != nil {
		return err
	}
	finalError := models.Truncate(models.CleanLine(cmp.Or(a.Summary, a.Error)), maxError)
	rows := models.NewRows("seq bigint, attempts bigint, after_at bigint, failed boolean")
	for _, p := range tried {
		n := p.Attempts + 1
		rows.Add(p.Seq, n, s.clock.Now().Add(backoff(n, a.RetryAfter)), n >= maxAttempts)
	}
	return rows.Exec(tx, `UPDATE pages SET attempts = r.attempts, last_error = CASE WHEN r.failed THEN ? ELSE ? END, submit_after = r.after_at, status = CASE WHEN r.failed THEN 'failed' ELSE pages.status END,
			cause = CASE WHEN r.failed THEN ? ELSE pages.cause END, `+queue+` = pages.`+queue+` AND NOT r.failed,
			submit_requested_at = CASE WHEN r.failed THEN NULL ELSE pages.submit_requested_at END, removal = pages.removal AND NOT r.failed
		FROM {rows} AS r WHERE pages.seq = r.seq`, finalError, a.Error, a.Cause).Error
}

func (s *Store) storeOutcome(tx *gorm.DB, sub Submission, a Outcome) error {
	now := s.clock.Now()
	answeredAt := now
	if a.Status == Sent {
		answeredAt = models.Time{}
	}
	err := tx.Exec("UPDATE submissions SET status = ?, status_code = ?, error = ?, answered_at = ? WHERE seq = ?", a.Status, a.StatusCode, a.Error, answeredAt, sub.Seq).Error
	if err != nil {
		return err
	}
	return s.storeServiceState(tx, sub.WebsiteSeq, sub.Method.Service(), a)
}

// storeServiceState stores the state of a service for a website: working, refusing requests, or paused.
func (s *Store) storeServiceState(tx *gorm.DB, website int64, service Service, a Outcome) error {
	prefix := string(service)
	switch {
	case a.Status == Accepted && service != IndexNow:
		return tx.Exec("UPDATE websites SET "+prefix+"_error = '', "+prefix+"_failures = 0, "+prefix+"_retry_at = NULL, google_accepted_at = COALESCE(google_accepted_at, ?) WHERE seq = ? AND ("+prefix+"_failures > 0 OR "+prefix+"_error <> '' OR google_accepted_at IS NULL)",
			s.clock.Now(), website).Error
	case a.Status == Accepted:
		return tx.Exec("UPDATE websites SET "+prefix+"_error = '', "+prefix+"_failures = 0, "+prefix+"_retry_at = NULL WHERE seq = ? AND ("+prefix+"_failures > 0 OR "+prefix+"_error <> '')", website).Error
	case a.Sitewide || a.RateLimited:
		var w Website
		if err := tx.Clauses(forUpdate).Where("seq = ?", website).Take(&w).Error; err != nil {
			return err
		}
		previous, now := *w.State(service), s.clock.Now()
		failures := previous.Failures + 1
		if previous.RetryAt.After(now.Time) { // the request was in flight when the pause began
			failures = max(1, previous.Failures)
		}
		retry := now.Add(backoff(failures, a.RetryAfter))
		if reset := dayEnd(now).Add(resetPause); a.Daily {
			retry = reset
		}
		return tx.Exec("UPDATE websites SET "+prefix+"_error = ?, "+prefix+"_failures = ?, "+prefix+"_retry_at = ? WHERE seq = ?", a.Error, failures, retry, website).Error
	}
	return nil
}

// RecordServiceOutcome stores the state of a service after a request that was not a submission.
func (s *Store) RecordServiceOutcome(ctx context.Context, w Website, service Service, a Outcome) error {
	a.Error = models.Truncate(models.CleanLine(a.Error), maxError)
	err := s.db.Write(ctx, func(tx *gorm.DB) error { return s.storeServiceState(tx, w.Seq, service, a) })
	if err != nil {
		return fmt.Errorf("record state of service: %w", err)
	}
	return nil
}

// RecordSitemapOutcome records the outcome of the submission of a sitemap. Callers first call MarkSubmitted for its pages if
// it was accepted, since an accepted sitemap is not submitted again.
func (s *Store) RecordSitemapOutcome(ctx context.Context, sub Submission, m Sitemap, a Outcome) error {
	if a.Status == Unsent {
		return s.discardSubmission(ctx, sub)
	}
	a.Error = models.Truncate(models.CleanLine(a.Error), maxError)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.storeOutcome(tx, sub, a); err != nil {
			return err
		}
		at := m.SubmittedAt
		if !a.Sitewide && (a.Status == Accepted || a.Status == Refused) { // a refused sitemap is not submitted again until it changes
			at = sub.CreatedAt
		}
		if err := tx.Exec("UPDATE sitemaps SET submitted_at = ?, submit_error = ? WHERE seq = ?", at, a.Error, m.Seq).Error; err != nil || a.Status == Accepted || at == m.SubmittedAt {
			return err
		}
		var w Website
		if err := tx.Where("seq = ?", sub.WebsiteSeq).Take(&w).Error; err != nil {
			return err
		}
		return tx.Exec(`UPDATE pages SET last_error = ?, submit_requested_at = CASE WHEN queued_for_indexnow AND ? THEN submit_requested_at END
			WHERE website_seq = ? AND submit_requested_at IS NOT NULL AND queued_for_google AND NOT removal AND EXISTS (
				SELECT 1 FROM sitemap_pages AS sp JOIN sitemaps AS c ON c.seq = sp.sitemap_seq WHERE sp.page_seq = pages.seq AND (c.seq = ? OR c.root_seq = ?))`,
			a.Error, w.UsesIndexNow(), sub.WebsiteSeq, m.Seq, m.Seq).Error
	})
	if err != nil {
		return fmt.Errorf("record outcome of sitemap submission: %w", err)
	}
	return nil
}

// SitemapGroup returns a sitemap and all sitemaps below it.
func (s *Store) SitemapGroup(ctx context.Context, root Sitemap) (ms []Sitemap, err error) {
	err = s.db.Read(ctx).Raw(selectSitemaps+"m.website_seq = ? AND (m.seq = ? OR m.root_seq = ?) ORDER BY m.seq", root.WebsiteSeq, root.Seq, root.Seq).Scan(&ms).Error
	if err != nil {
		return nil, fmt.Errorf("list sitemaps of index: %w", err)
	}
	return ms, nil
}

// MarkSubmitted marks the queued pages of a sitemap as submitted. It handles StoreBatch pages with seq > after and returns the
// after of the next call; 0 = done.
func (s *Store) MarkSubmitted(ctx context.Context, w Website, m Sitemap, after int64) (next int64, err error) {
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		var pages []Page
		err := tx.Raw(`SELECT p.seq, p.queued_for_google, p.removal FROM sitemap_pages AS sp JOIN pages AS p ON p.seq = sp.page_seq
			WHERE sp.sitemap_seq = ? AND sp.page_seq > ? ORDER BY sp.page_seq LIMIT ?`, m.Seq, after, StoreBatch).Scan(&pages).Error
		next = 0
		if err != nil {
			return err
		}
		if len(pages) == StoreBatch {
			next = pages[len(pages)-1].Seq
		}
		var seqs []int64
		for _, p := range pages {
			if p.QueuedForGoogle && !p.Removal {
				seqs = append(seqs, p.Seq)
			}
		}
		if len(seqs) == 0 {
			return nil
		}
		b := pagesBySeq(w.Seq, seqs)
		return withCounts(tx, b, func() error {
			return b.rows.Exec(tx, "UPDATE pages SET "+setAccepted+`, queued_for_google = false, attempts = 0, last_submitted_at = ?,
				submit_requested_at = CASE WHEN queued_for_indexnow AND ? THEN submit_requested_at END WHERE seq IN (SELECT seq FROM {rows} AS r)`, now, w.UsesIndexNow()).Error
		})
	})
	if err != nil {
		return 0, fmt.Errorf("mark pages as submitted: %w", err)
	}
	return next, nil
}

// KeyChecked records the result of checking the IndexNow key file; problem "" = found. It does nothing if the website has
// another key now.
func (s *Store) KeyChecked(ctx context.Context, w Website, problem string) error {
	var at, retry models.Time
	if problem == "" {
		at = s.clock.Now()
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE websites SET indexnow_verified_at = ?, indexnow_error = ?, indexnow_failures = 0, indexnow_retry_at = ? WHERE seq = ? AND indexnow_key = ?",
			at, models.Truncate(models.CleanLine(problem), maxError), retry, w.Seq, w.IndexNowKey).Error
	})
	if err != nil {
		return fmt.Errorf("record check of IndexNow key: %w", err)
	}
	return nil
}

// SubmissionFilter selects submissions. The zero value selects all.
type SubmissionFilter struct {
	PageID string           // "" = of any page
	Status SubmissionStatus // "" = any
}

func (f SubmissionFilter) check() error {
	switch f.Status {
	case "", Sent, Accepted, Refused, Retried:
	default:
		return models.Invalid("query.status", "must be sent, accepted, refused or failed")
	}
	return models.CheckFilter("query.page_id", f.PageID)
}

// SubmissionOrders are the orders of Submissions.
var SubmissionOrders = models.Orders[Submission]{
	Field: "created_at", Desc: true, Time: "s.created_at", ID: "s.seq", Key: models.ByNumber, Kind: models.KindSubmission,
	At: func(s Submission) models.Cursor { return models.Cursor{CreatedAt: s.CreatedAt, ID: s.ID()} },
}

// Submissions returns submissions of a website, newest first by default. Errors are CodeInvalid ("query.status", "query.page_id"), and
// CodeNotFound if the website or page does not exist. limit must come from models.NewLimit.
func (s *Store) Submissions(ctx context.Context, websiteID string, f SubmissionFilter, after models.Cursor, limit int) (models.Slice[Submission], error) {
	var list models.Slice[Submission]
	if err := f.check(); err != nil {
		return list, err
	}
	tx := s.db.Read(ctx)
	w, err := website(tx, websiteID, false)
	if err != nil {
		return list, err
	}
	q := models.ListQuery{Table: "submissions AS s", Where: "s.website_seq = ?", Args: []any{w.Seq}}
	if f.Status != "" {
		q.And("s.status = ?", f.Status)
	}
	if f.PageID != "" {
		p, err := page(tx, f.PageID)
		if err != nil {
			return list, err
		}
		q.And("s.page_seq = ?", p.Seq)
	}
	return SubmissionOrders.List(tx, q, after, limit, func(p models.ListPart) (found []Submission, err error) {
		err = p.Raw(tx, "SELECT s.*, p.created_at AS page_created FROM submissions AS s LEFT JOIN pages AS p ON p.seq = s.page_seq WHERE").Scan(&found).Error
		if err != nil {
			return nil, fmt.Errorf("load submissions: %w", err)
		}
		for i := range found {
			found[i].WebsiteID = w.ID
		}
		return found, nil
	})
}
