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
	MaxIndexNow = 10_000 // pages of one batch (indexnow.org)

	maxAttempts = 5 // of a page, before it has failed
	firstPause  = time.Minute
	longPause   = 24 * time.Hour
)

// pause is how long to wait after a number of failures in a row, or longer if the
// service asks for it.
func pause(failures int, asked time.Duration) time.Duration {
	return max(asked, min(longPause, firstPause<<min(max(failures-1, 0), 12)))
}

var (
	errNothing  = models.Conflict("There is nothing to submit with. Add Google credentials or an IndexNow key to the website first.")
	errNotAsked = models.Conflict("Only Google can say whether a page is indexed. Add Google credentials to the website first.")
)

// WantSubmission has a page submitted within moments, also if the website submits
// nothing by itself. With removal Google is told that the page is gone. CodeNotFound if
// there is no such page; CodeConflict if no sitemap has it and it is not a removal, or if
// the website has neither credentials nor an IndexNow key.
func (s *Store) WantSubmission(ctx context.Context, id string, removal bool) (Page, error) {
	verb := "submit"
	if removal {
		verb = "remove"
	}
	return s.want(ctx, id, Submitting, verb, func(tx *gorm.DB, w Website, p Page) error {
		switch {
		case !w.Google() && !w.IndexNow():
			return errNothing
		case !p.GoneAt.IsZero() && !removal:
			return models.Conflict("No sitemap has this page any more. Only its removal can be submitted.")
		case removal && !w.Removes():
			return models.Conflict("A removal can be submitted only by Google's Indexing API or IndexNow.")
		}
		now := s.clock.Now()
		toGoogle := p.ForGoogle || w.Google()
		if removal {
			toGoogle = w.Google() && w.IndexingEnabled
		}
		err := tx.Exec("UPDATE pages SET submit_wanted_at = ?, removal = ?, for_google = ?, for_indexnow = ?, submit_after = NULL, attempts = 0 WHERE seq = ?",
			now, removal, toGoogle, w.IndexNow(), p.Seq).Error
		if err != nil {
			return err
		}
		return tx.Exec("UPDATE websites SET submit_wanted_at = ? WHERE seq = ?", now, w.Seq).Error
	})
}

// WantVerification has Google asked within moments whether a page is indexed.
// CodeNotFound if there is no such page, CodeConflict if the website has no credentials.
func (s *Store) WantVerification(ctx context.Context, id string) (Page, error) {
	return s.want(ctx, id, Verifying, "verify", func(tx *gorm.DB, w Website, p Page) error {
		if !w.Google() {
			return errNotAsked
		}
		now := s.clock.Now()
		if err := tx.Exec("UPDATE pages SET verify_wanted_at = ? WHERE seq = ?", now, p.Seq).Error; err != nil {
			return err
		}
		return tx.Exec("UPDATE websites SET verify_wanted_at = ? WHERE seq = ?", now, w.Seq).Error
	})
}

func (s *Store) want(ctx context.Context, id string, a Activity, verb string, note func(tx *gorm.DB, w Website, p Page) error) (p Page, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if p, err = page(tx, id); err != nil {
			return err
		}
		w, err := website(tx.Clauses(forUpdate), p.WebsiteID, false)
		if err != nil {
			return err
		}
		if err := note(tx, w, p); err != nil {
			return err
		}
		if err := audit.Add(tx, s.clock.Now(), audit.Change{Action: "page." + verb, Subject: p.subject()}); err != nil {
			return err
		}
		p, err = page(tx, id)
		return err
	})
	if err == nil {
		s.ring(a)
	}
	return p, err
}

// ToPublish are up to n pages of a website to submit to Google's Indexing API: those
// that somebody waits for, then, if the website submits by itself, those that wait, in
// the order of the queue.
func (s *Store) ToPublish(ctx context.Context, w Website, n int) (ps []Page, err error) {
	now := s.clock.Now()
	defer func() { loadedAt(ps, now) }()
	const free = " AND (p.submit_after IS NULL OR p.submit_after <= ?)"
	tx := s.db.Read(ctx)
	err = tx.Raw("SELECT p.* FROM pages AS p WHERE p.website_seq = ? AND p.submit_wanted_at IS NOT NULL AND p.for_google"+free+" ORDER BY p.submit_wanted_at, p.seq LIMIT ?", w.Seq, now, n).Scan(&ps).Error
	if err == nil && len(ps) < n && w.AutoSubmit {
		var more []Page
		sql, args := forGoogle(" AND p.submit_wanted_at IS NULL"+free, []any{w.Seq, now}).sql(-1, 0, n-len(ps))
		err = tx.Raw(sql, args...).Scan(&more).Error
		ps = append(ps, more...)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for pages to submit: %w", err)
	}
	return ps, nil
}

// ToIndexNow are up to MaxIndexNow pages of one host to submit by IndexNow in the order
// of the queue, those that somebody waits for included.
func (s *Store) ToIndexNow(ctx context.Context, w Website) (ps []Page, err error) {
	only, now := "", s.clock.Now()
	if !w.AutoSubmit {
		only = " AND submit_wanted_at IS NOT NULL"
	}
	tx := s.db.Read(ctx)
	err = tx.Raw("SELECT seq, url, path_at, removal FROM pages WHERE website_seq = ? AND for_indexnow"+only+" ORDER BY queue_rank, seq LIMIT ?", w.Seq, MaxIndexNow).Scan(&ps).Error
	if err != nil {
		return nil, fmt.Errorf("looking for pages to submit by IndexNow: %w", err)
	}
	var same []Page // one host at a time: the others are next
	for _, p := range ps {
		if p.URL[:p.PathAt-1] == ps[0].URL[:ps[0].PathAt-1] {
			same = append(same, p)
		}
	}
	loadedAt(same, now)
	return same, nil
}

// loadedAt notes when pages were loaded: what is asked for later is not done with them.
func loadedAt(ps []Page, at models.Time) {
	for i := range ps {
		ps[i].LoadedAt = at
	}
}

// ToSubmit are the sitemaps that users or robots.txt named and that Google has to be
// told of: for the first time, because they changed, or because somebody waits for one of
// their pages to be submitted. It is for websites that do not use the Indexing API.
func (s *Store) ToSubmit(ctx context.Context, w Website) (ms []Sitemap, err error) {
	only := ""
	if w.AutoSubmit {
		only = `m.submitted_at IS NULL OR EXISTS (SELECT 1 FROM sitemaps AS c WHERE (c.seq = m.seq OR c.root_seq = m.seq) AND c.changed_at > m.submitted_at) OR `
	}
	err = s.db.Read(ctx).Raw(selectSitemaps+`m.website_seq = ? AND m.root_seq IS NULL AND m.kind <> '' AND (`+only+`EXISTS (
			SELECT 1 FROM pages AS p JOIN sitemap_pages AS sp ON sp.page_seq = p.seq JOIN sitemaps AS c ON c.seq = sp.sitemap_seq
			WHERE p.website_seq = m.website_seq AND p.submit_wanted_at >= COALESCE(m.submitted_at, 0) AND p.for_google AND (c.seq = m.seq OR c.root_seq = m.seq)))
		ORDER BY m.seq`, w.Seq).Scan(&ms).Error
	if err != nil {
		return nil, fmt.Errorf("looking for sitemaps to submit: %w", err)
	}
	return ms, nil
}

// Begin stores a submission before it is sent, of pages that were loaded at sub.LoadedAt;
// zero = now.
func (s *Store) Begin(ctx context.Context, w Website, sub Submission) (Submission, error) {
	sub.Seq, sub.WebsiteSeq, sub.Status, sub.CreatedAt = 0, w.Seq, Sent, s.clock.Now()
	if sub.LoadedAt.IsZero() {
		sub.LoadedAt = sub.CreatedAt
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		sub.Seq = 0
		return tx.Create(&sub).Error
	})
	if err != nil {
		return sub, fmt.Errorf("storing a submission: %w", err)
	}
	return sub, nil
}

// Answer is what became of a submission.
type Answer struct {
	Status     SubmissionStatus // Sent: no answer came, and the request may have arrived
	StatusCode int              // 0 = none
	Error      string           // what happened and what to do; "" = accepted
	What       string           // what happened alone, of a failure that is tried again
	Cause      string           // by which failures are grouped
	Sitewide   bool             // the error is of the website, not of the page: pages wait on
	Limited    bool             // a rate limit or quota: no failure of the page
	Daily      bool             // the limit is that of a day, which ends at midnight in California
	RetryAfter time.Duration    // that the service asks for; 0 = none
}

// Answered records what became of the submission of pages, of all of which it is true.
// Pages that were accepted are submitted; refused ones have failed; others wait and are
// tried again after a pause that doubles, maxAttempts times. Unsent forgets the submission
// and leaves the pages as they are.
func (s *Store) Answered(ctx context.Context, sub Submission, pages []int64, a Answer) error {
	if a.Status == Unsent {
		return s.forgetSubmission(ctx, sub)
	}
	now := s.clock.Now()
	a.Error = models.Truncate(models.CleanLine(a.Error), maxError)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.answer(tx, sub, a); err != nil {
			return err
		}
		var w Website
		if err := tx.Where("seq = ?", sub.WebsiteSeq).Take(&w).Error; err != nil {
			return err
		}
		const tried, refused = ", submit_after = NULL, attempts = 0", "status = 'failed', cause = ?, last_error = ?"
		set, waits, other, more := accepted+tried, "for_google", "for_indexnow", w.IndexNow()
		failed, why := refused, []any{a.Cause, a.Error}
		if sub.Method == ByIndexNow {
			waits, other, more = other, waits, w.Google()
			if w.Google() { // Google knows nothing of it
				set, failed, why = "last_error = CASE WHEN status = 'failed' THEN last_error ELSE '' END", "last_error = ?", why[1:]
			}
		}
		// A page that has changed since it was loaded waits on. So does who asked since then, and who asked for a page that is to be
		// submitted by the other way, too.
		const later = "COALESCE(submit_wanted_at > ?, false)"
		on := later
		if more {
			on = "(" + other + " OR " + later + ")"
		}
		ended := waits + " = (" + later + " OR COALESCE(changed_at > ?, false) AND gone_at IS NULL), submit_wanted_at = CASE WHEN " + on + " THEN submit_wanted_at END, removal = removal AND " + on
		asked := []any{sub.LoadedAt, sub.LoadedAt, sub.LoadedAt, sub.LoadedAt}
		for some := range slices.Chunk(pages, StoreBatch) {
			part := pagesBySeq(sub.WebsiteSeq, some)
			err := counted(tx, part, func() error {
				const of = " WHERE seq IN (SELECT seq FROM {rows} AS r)"
				switch {
				case a.Status == Accepted:
					return part.rows.Exec(tx, "UPDATE pages SET "+set+", last_submitted_at = ?, "+ended+of, append([]any{now}, asked...)...).Error
				case a.Sitewide || a.Limited:
					return part.rows.Exec(tx, "UPDATE pages SET last_error = ?"+of, a.Error).Error
				case a.Status == Refused:
					return part.rows.Exec(tx, "UPDATE pages SET "+failed+", "+ended+of, append(why, asked...)...).Error
				default:
					return s.again(tx, part, waits, a)
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("recording the answer to a submission: %w", err)
	}
	return nil
}

// forgetSubmission deletes a submission that was not sent.
func (s *Store) forgetSubmission(ctx context.Context, sub Submission) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error { return tx.Exec("DELETE FROM submissions WHERE seq = ?", sub.Seq).Error })
	if err != nil {
		return fmt.Errorf("deleting a submission that was not sent: %w", err)
	}
	return nil
}

// accepted is what changes about a page that a search engine was told of.
const accepted = `status = CASE WHEN status = 'indexed' THEN 'indexed' ELSE 'submitted' END, cause = CASE WHEN status = 'indexed' THEN cause ELSE '' END,
	last_error = '', unverified = true`

// again puts off pages whose submission failed, or gives them up.
func (s *Store) again(tx *gorm.DB, b batch, waits string, a Answer) error {
	var tried []Page
	if err := b.rows.Raw(tx, "SELECT seq, attempts FROM pages WHERE seq IN (SELECT seq FROM {rows} AS r)").Scan(&tried).Error; err != nil {
		return err
	}
	gaveUp := models.Truncate(models.CleanLine(cmp.Or(a.What, a.Error)), maxError)
	rows := models.NewRows("seq bigint, attempts bigint, after_at bigint, given_up boolean")
	for _, p := range tried {
		n := p.Attempts + 1
		rows.Add(p.Seq, n, s.clock.Now().Add(pause(n, a.RetryAfter)), n >= maxAttempts)
	}
	return rows.Exec(tx, `UPDATE pages SET attempts = r.attempts, last_error = CASE WHEN r.given_up THEN ? ELSE ? END, submit_after = r.after_at, status = CASE WHEN r.given_up THEN 'failed' ELSE pages.status END,
			cause = CASE WHEN r.given_up THEN ? ELSE pages.cause END, `+waits+` = pages.`+waits+` AND NOT r.given_up,
			submit_wanted_at = CASE WHEN r.given_up THEN NULL ELSE pages.submit_wanted_at END, removal = pages.removal AND NOT r.given_up
		FROM {rows} AS r WHERE pages.seq = r.seq`, gaveUp, a.Error, a.Cause).Error
}

// answer stores the answer to a submission, and what it says of the website.
func (s *Store) answer(tx *gorm.DB, sub Submission, a Answer) error {
	now := s.clock.Now()
	answered := now
	if a.Status == Sent {
		answered = models.Time{}
	}
	err := tx.Exec("UPDATE submissions SET status = ?, status_code = ?, error = ?, answered_at = ? WHERE seq = ?", a.Status, a.StatusCode, a.Error, answered, sub.Seq).Error
	if err != nil {
		return err
	}
	return s.noteWebsite(tx, sub.WebsiteSeq, sub.Method.Service(), a)
}

// noteWebsite stores what an answer says of all calls for a website: nothing works until
// somebody acts, or there is a pause, or all is well.
func (s *Store) noteWebsite(tx *gorm.DB, website int64, service Service, a Answer) error {
	of := string(service)
	switch {
	case a.Status == Accepted:
		return tx.Exec("UPDATE websites SET "+of+"_error = '', "+of+"_failures = 0, "+of+"_retry_at = NULL WHERE seq = ? AND ("+of+"_failures > 0 OR "+of+"_error <> '')", website).Error
	case a.Sitewide || a.Limited:
		var w Website
		if err := tx.Clauses(forUpdate).Where("seq = ?", website).Take(&w).Error; err != nil {
			return err
		}
		was, now := *w.State(service), s.clock.Now()
		failures := was.Failures + 1
		if was.RetryAt.After(now.Time) { // of a request that was under way when the pause began
			failures = max(1, was.Failures)
		}
		retry := now.Add(pause(failures, a.RetryAfter))
		if reset := dayEnd(now).Add(resetPause); a.Daily {
			retry = reset
		}
		return tx.Exec("UPDATE websites SET "+of+"_error = ?, "+of+"_failures = ?, "+of+"_retry_at = ? WHERE seq = ?", a.Error, failures, retry, website).Error
	}
	return nil
}

// Note stores what an answer of a service that was no submission says of the website.
func (s *Store) Note(ctx context.Context, w Website, service Service, a Answer) error {
	a.Error = models.Truncate(models.CleanLine(a.Error), maxError)
	err := s.db.Write(ctx, func(tx *gorm.DB) error { return s.noteWebsite(tx, w.Seq, service, a) })
	if err != nil {
		return fmt.Errorf("recording the state of a service: %w", err)
	}
	return nil
}

// SitemapAnswered records what became of the submission of a sitemap. If it was
// accepted, the pages that it has are submitted: MarkSubmitted marks them before, since
// an accepted sitemap is not submitted again.
func (s *Store) SitemapAnswered(ctx context.Context, sub Submission, m Sitemap, a Answer) error {
	if a.Status == Unsent {
		return s.forgetSubmission(ctx, sub)
	}
	a.Error = models.Truncate(models.CleanLine(a.Error), maxError)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.answer(tx, sub, a); err != nil {
			return err
		}
		at := m.SubmittedAt
		if !a.Sitewide && (a.Status == Accepted || a.Status == Refused) { // a refused one is not sent again before it changes
			at = sub.CreatedAt
		}
		if err := tx.Exec("UPDATE sitemaps SET submitted_at = ?, submit_error = ? WHERE seq = ?", at, a.Error, m.Seq).Error; err != nil || a.Status == Accepted || at == m.SubmittedAt {
			return err
		}
		var w Website
		if err := tx.Where("seq = ?", sub.WebsiteSeq).Take(&w).Error; err != nil {
			return err
		}
		return tx.Exec(`UPDATE pages SET last_error = ?, submit_wanted_at = CASE WHEN for_indexnow AND ? THEN submit_wanted_at END
			WHERE website_seq = ? AND submit_wanted_at IS NOT NULL AND for_google AND NOT removal AND EXISTS (
				SELECT 1 FROM sitemap_pages AS sp JOIN sitemaps AS c ON c.seq = sp.sitemap_seq WHERE sp.page_seq = pages.seq AND (c.seq = ? OR c.root_seq = ?))`,
			a.Error, w.IndexNow(), sub.WebsiteSeq, m.Seq, m.Seq).Error
	})
	if err != nil {
		return fmt.Errorf("recording the answer to a submission: %w", err)
	}
	return nil
}

// Group is a sitemap and those that it names, also by other indexes.
func (s *Store) Group(ctx context.Context, root Sitemap) (ms []Sitemap, err error) {
	err = s.db.Read(ctx).Raw(selectSitemaps+"m.website_seq = ? AND (m.seq = ? OR m.root_seq = ?) ORDER BY m.seq", root.WebsiteSeq, root.Seq, root.Seq).Scan(&ms).Error
	if err != nil {
		return nil, fmt.Errorf("listing the sitemaps of an index: %w", err)
	}
	return ms, nil
}

// MarkSubmitted looks at up to StoreBatch pages of a sitemap, and marks those as
// submitted that wait for Google. after is the seq of the last one that it looked at. It
// returns the next after, and 0 if there are no more.
func (s *Store) MarkSubmitted(ctx context.Context, w Website, m Sitemap, after int64) (next int64, err error) {
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		var some []Page
		err := tx.Raw(`SELECT p.seq, p.for_google, p.removal FROM sitemap_pages AS sp JOIN pages AS p ON p.seq = sp.page_seq
			WHERE sp.sitemap_seq = ? AND sp.page_seq > ? ORDER BY sp.page_seq LIMIT ?`, m.Seq, after, StoreBatch).Scan(&some).Error
		next = 0
		if err != nil {
			return err
		}
		if len(some) == StoreBatch {
			next = some[len(some)-1].Seq
		}
		var seqs []int64
		for _, p := range some {
			if p.ForGoogle && !p.Removal {
				seqs = append(seqs, p.Seq)
			}
		}
		if len(seqs) == 0 {
			return nil
		}
		b := pagesBySeq(w.Seq, seqs)
		return counted(tx, b, func() error {
			return b.rows.Exec(tx, "UPDATE pages SET "+accepted+`, for_google = false, attempts = 0, last_submitted_at = ?,
				submit_wanted_at = CASE WHEN for_indexnow AND ? THEN submit_wanted_at END WHERE seq IN (SELECT seq FROM {rows} AS r)`, now, w.IndexNow()).Error
		})
	})
	if err != nil {
		return 0, fmt.Errorf("marking pages as submitted: %w", err)
	}
	return next, nil
}

// KeyChecked records whether the IndexNow key was found at its place; problem is what is
// wrong, "" = nothing. It does nothing if the website has another key meanwhile.
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
		return fmt.Errorf("recording the check of an IndexNow key: %w", err)
	}
	return nil
}

// Submissions is a page of what search engines were told of a website, the newest first:
// CodeNotFound if there is no such website or page. pageID "" = of any page. limit is as
// models.NewLimit made it.
func (s *Store) Submissions(ctx context.Context, websiteID, pageID string, after models.Cursor, limit int) (models.Slice[Submission], error) {
	var list models.Slice[Submission]
	if err := models.CheckFilter("query.page_id", pageID); err != nil {
		return list, err
	}
	tx := s.db.Read(ctx)
	w, err := website(tx, websiteID, false)
	if err != nil {
		return list, err
	}
	where, args := "s.website_seq = ?", []any{w.Seq}
	if pageID != "" {
		p, err := page(tx, pageID)
		if err != nil {
			return list, err
		}
		where, args = where+" AND s.page_seq = ?", append(args, p.Seq)
	}
	if after != (models.Cursor{}) {
		_, seq, err := models.ParseTimedID(models.KindSubmission, after.ID)
		if err != nil {
			return list, models.ErrPageToken
		}
		where, args = where+" AND s.seq < ?", append(args, seq)
	}
	err = tx.Raw("SELECT s.*, p.created_at AS page_created FROM submissions AS s LEFT JOIN pages AS p ON p.seq = s.page_seq WHERE "+where+" ORDER BY s.seq DESC LIMIT ?", append(args, limit+1)...).
		Scan(&list.Items).Error
	if err != nil {
		return list, fmt.Errorf("loading submissions: %w", err)
	}
	for i := range list.Items {
		list.Items[i].WebsiteID = w.ID
	}
	return models.NewSlice(list.Items, limit, func(s Submission) models.Cursor { return models.Cursor{CreatedAt: s.CreatedAt, ID: s.ID()} }), nil
}
