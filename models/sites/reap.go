package sites

import (
	"gorm.io/gorm"
)

// ReapSubmissions deletes up to limit submissions older than KeepSubmissions.
func (s *Store) ReapSubmissions(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "submissions", "seq", "created_at < ? ORDER BY created_at", s.clock.Now().Add(-KeepSubmissions))
}

// ReapCoverage deletes up to limit coverage rows older than KeepCoverage.
func (s *Store) ReapCoverage(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "coverage_days", "website_seq, day_at, status", "day_at < ? ORDER BY day_at", s.clock.Now().Add(-KeepCoverage))
}

// ReapPages deletes up to limit pages: those gone for KeepGone, and those of websites that can no longer be restored.
func (s *Store) ReapPages(tx *gorm.DB, limit int) (int64, error) {
	now := s.clock.Now()
	n := int64(0)
	for _, part := range []string{"gone_at IS NULL", "gone_at IS NOT NULL"} { // each has an index that starts with the website
		deleted, err := s.db.DeleteBatch(tx, limit-int(n), "pages", "seq", part+" AND website_seq IN (SELECT seq FROM websites WHERE deleted_at < ?)", now.Add(-KeepDeleted))
		if n += deleted; err != nil || n == int64(limit) {
			return n, err
		}
	}
	var expired []Page
	err := tx.Raw("SELECT seq, website_seq FROM pages WHERE gone_at < ? ORDER BY gone_at LIMIT ?", now.Add(-KeepGone), limit-int(n)).Scan(&expired).Error
	if err != nil {
		return n, err
	}
	byWebsite := map[int64][]int64{}
	for _, p := range expired {
		byWebsite[p.WebsiteSeq] = append(byWebsite[p.WebsiteSeq], p.Seq)
	}
	for website, seqs := range byWebsite {
		b := pagesBySeq(website, seqs)
		err := withCounts(tx, b, func() error {
			res := b.rows.Exec(tx, "DELETE FROM pages WHERE gone_at IS NOT NULL AND seq IN (SELECT seq FROM {rows} AS r)")
			n += res.RowsAffected
			return res.Error
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// ReapWebsites deletes up to limit websites that can no longer be restored and have no pages left.
func (s *Store) ReapWebsites(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "websites", "seq", `deleted_at < ? AND NOT EXISTS (SELECT 1 FROM pages AS p WHERE p.website_seq = websites.seq AND p.gone_at IS NULL)
		AND NOT EXISTS (SELECT 1 FROM pages AS p WHERE p.website_seq = websites.seq AND p.gone_at IS NOT NULL)`, s.clock.Now().Add(-KeepDeleted))
}
