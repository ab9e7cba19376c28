package sites

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// MaxBulk is the maximum number of IDs in a bulk change.
const MaxBulk = 500

// pagesByID returns the pages of a website with the given IDs, in queue order. Unknown IDs are ignored. The error is
// CodeInvalid ("id") for more than MaxBulk IDs.
func pagesByID(tx *gorm.DB, w Website, ids []string) (ps []Page, err error) {
	if len(ids) > MaxBulk {
		return nil, models.TooLong("id", MaxBulk, "ids")
	}
	rows := models.NewRows("seq bigint, created_at bigint")
	for _, id := range ids {
		if at, seq, err := models.ParseTimedID(models.KindPage, id); err == nil {
			rows.Add(seq, at)
		}
	}
	err = rows.Raw(tx, `SELECT p.* FROM pages AS p WHERE p.website_seq = ? AND p.seq IN (
		SELECT r.seq FROM {rows} AS r CROSS JOIN pages AS o WHERE o.seq = r.seq AND o.created_at = r.created_at) ORDER BY p.queue_rank, p.seq`, w.Seq).Scan(&ps).Error
	if err != nil {
		return nil, fmt.Errorf("load pages by ID: %w", err)
	}
	for i := range ps {
		ps[i].WebsiteID = w.ID
	}
	return ps, nil
}

// PagesByID returns up to MaxBulk pages of a website by ID, in queue order. Unknown IDs are ignored. The error is
// CodeNotFound if the website does not exist.
func (s *Store) PagesByID(ctx context.Context, websiteID string, ids ...string) ([]Page, error) {
	tx := s.db.Read(ctx)
	w, err := website(tx, websiteID, false)
	if err != nil {
		return nil, err
	}
	return pagesByID(tx, w, ids)
}

// SetPrioritiesByID is SetPriorities for up to MaxBulk pages given by ID.
func (s *Store) SetPrioritiesByID(ctx context.Context, websiteID string, priority *int, ids ...string) (b Boost, err error) {
	if err := checkPriority(priority); err != nil {
		return b, err
	}
	b.At = s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		w, err := website(tx.Clauses(forUpdate), websiteID, false)
		if err != nil {
			return err
		}
		ps, err := pagesByID(tx, w, ids)
		if err != nil {
			return err
		}
		var seqs []int64
		var changed []Page
		for _, p := range ps {
			if (p.ManualPriority == nil) != (priority == nil) || priority != nil && *p.ManualPriority != *priority {
				seqs, changed = append(seqs, p.Seq), append(changed, p)
			}
		}
		if b.N = len(seqs); b.N == 0 {
			return nil // keep the previous change undoable, as SetPriorities does
		}
		if err := s.auditPages(tx, "website.priorities", w, changed, audit.Values{"manual_priority": priority}); err != nil {
			return err
		}
		return b.store(tx, w, seqs, priority)
	})
	return b, err
}

// RequestSubmissions is RequestSubmission for up to MaxBulk pages given by ID. It returns the number of requests.
// Pages that are in no sitemap are ignored.
func (s *Store) RequestSubmissions(ctx context.Context, websiteID string, ids ...string) (n int, err error) {
	return s.requestPages(ctx, websiteID, Submitting, ids, func(tx *gorm.DB, w Website, rows *models.Rows) (int64, error) {
		if !w.UsesGoogle() && !w.UsesIndexNow() {
			return 0, errNoService
		}
		now := s.clock.Now()
		res := rows.Exec(tx, `UPDATE pages SET submit_requested_at = ?, removal = false, queued_for_google = (queued_for_google OR ?), queued_for_indexnow = ?, submit_after = NULL, attempts = 0
			WHERE seq IN (SELECT r.seq FROM {rows} AS r) AND gone_at IS NULL`, now, w.UsesGoogle(), w.UsesIndexNow())
		if res.Error != nil {
			return 0, res.Error
		}
		return res.RowsAffected, tx.Exec("UPDATE websites SET submit_requested_at = ? WHERE seq = ?", now, w.Seq).Error
	})
}

// RequestVerifications is RequestVerification for up to MaxBulk pages given by ID. It returns the number of requests.
func (s *Store) RequestVerifications(ctx context.Context, websiteID string, ids ...string) (n int, err error) {
	return s.requestPages(ctx, websiteID, Verifying, ids, func(tx *gorm.DB, w Website, rows *models.Rows) (int64, error) {
		if !w.UsesGoogle() {
			return 0, errNoCredentials
		}
		now := s.clock.Now()
		res := rows.Exec(tx, "UPDATE pages SET verify_requested_at = ? WHERE seq IN (SELECT r.seq FROM {rows} AS r)", now)
		if res.Error != nil {
			return 0, res.Error
		}
		return res.RowsAffected, tx.Exec("UPDATE websites SET verify_requested_at = ? WHERE seq = ?", now, w.Seq).Error
	})
}

func (s *Store) requestPages(ctx context.Context, websiteID string, a Activity, ids []string, mark func(tx *gorm.DB, w Website, rows *models.Rows) (int64, error)) (n int, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		w, err := website(tx.Clauses(forUpdate), websiteID, false)
		if err != nil {
			return err
		}
		ps, err := pagesByID(tx, w, ids)
		if err != nil {
			return err
		}
		rows := models.NewRows("seq bigint")
		for _, p := range ps {
			rows.Add(p.Seq)
		}
		changed, err := mark(tx, w, rows)
		if n = int(changed); err != nil || n == 0 {
			return err
		}
		return s.auditPages(tx, "website."+a.auditVerb(), w, ps, audit.Values{})
	})
	if err != nil {
		return 0, err
	}
	s.notify(a)
	return n, nil
}
