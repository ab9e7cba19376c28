package sites

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// MaxBulk is how many ids one bulk change takes.
const MaxBulk = 500

// pagesByID are the pages of a website by their ids, in the order of the queue. Ids that
// no page of it has are passed over. CodeInvalid ("id") if there are more than MaxBulk.
func pagesByID(tx *gorm.DB, w Website, ids []string) (ps []Page, err error) {
	if len(ids) > MaxBulk {
		return nil, models.Invalid("id", "must be at most %d ids", MaxBulk)
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
		return nil, fmt.Errorf("loading pages by their ids: %w", err)
	}
	for i := range ps {
		ps[i].WebsiteID = w.ID
	}
	return ps, nil
}

// PagesByID are up to MaxBulk pages of a website by their ids, in the order of the
// queue. Ids that no page of it has are passed over. CodeNotFound if there is no such
// website.
func (s *Store) PagesByID(ctx context.Context, websiteID string, ids ...string) ([]Page, error) {
	tx := s.db.Read(ctx)
	w, err := website(tx, websiteID, false)
	if err != nil {
		return nil, err
	}
	return pagesByID(tx, w, ids)
}

// SetPrioritiesOf is SetPriorities for up to MaxBulk pages of a website by their ids.
func (s *Store) SetPrioritiesOf(ctx context.Context, websiteID string, priority *int, ids ...string) (b Boost, err error) {
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
			return nil // as SetPriorities
		}
		if err := s.auditPages(tx, "website.priorities", w, changed, audit.Values{"manual_priority": priority}); err != nil {
			return err
		}
		return b.store(tx, w, seqs, priority)
	})
	return b, err
}

// WantSubmissions is WantSubmission for up to MaxBulk pages of a website by their ids,
// and says how many there were. Those that no sitemap has are passed over.
func (s *Store) WantSubmissions(ctx context.Context, websiteID string, ids ...string) (n int, err error) {
	return s.wantAll(ctx, websiteID, Submitting, ids, func(tx *gorm.DB, w Website, some *models.Rows) (int64, error) {
		if !w.Google() && !w.IndexNow() {
			return 0, errNothing
		}
		now := s.clock.Now()
		res := some.Exec(tx, `UPDATE pages SET submit_wanted_at = ?, removal = false, for_google = (for_google OR ?), for_indexnow = ?, submit_after = NULL, attempts = 0
			WHERE seq IN (SELECT r.seq FROM {rows} AS r) AND gone_at IS NULL`, now, w.Google(), w.IndexNow())
		if res.Error != nil {
			return 0, res.Error
		}
		return res.RowsAffected, tx.Exec("UPDATE websites SET submit_wanted_at = ? WHERE seq = ?", now, w.Seq).Error
	})
}

// WantVerifications is WantVerification for up to MaxBulk pages of a website by their
// ids, and says how many there were.
func (s *Store) WantVerifications(ctx context.Context, websiteID string, ids ...string) (n int, err error) {
	return s.wantAll(ctx, websiteID, Verifying, ids, func(tx *gorm.DB, w Website, some *models.Rows) (int64, error) {
		if !w.Google() {
			return 0, errNotAsked
		}
		now := s.clock.Now()
		res := some.Exec(tx, "UPDATE pages SET verify_wanted_at = ? WHERE seq IN (SELECT r.seq FROM {rows} AS r)", now)
		if res.Error != nil {
			return 0, res.Error
		}
		return res.RowsAffected, tx.Exec("UPDATE websites SET verify_wanted_at = ? WHERE seq = ?", now, w.Seq).Error
	})
}

func (s *Store) wantAll(ctx context.Context, websiteID string, a Activity, ids []string, note func(tx *gorm.DB, w Website, some *models.Rows) (int64, error)) (n int, err error) {
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
		changed, err := note(tx, w, rows)
		if n = int(changed); err != nil || n == 0 {
			return err
		}
		return s.auditPages(tx, "website."+a.verb(), w, ps, audit.Values{})
	})
	if err != nil {
		return 0, err
	}
	s.ring(a)
	return n, nil
}
