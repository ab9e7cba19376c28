package sites

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Count is the number of pages with a status and cause.
type Count struct {
	Status Status // or gone
	Cause  string
	Pages  int
}

// Counts are the numbers of pages of a website.
type Counts struct {
	ByStatus map[Status]int
	ByCause  []Count // with a cause, most frequent first
	Total    int     // without Gone
	Gone     int     // pages in no sitemap
}

// Counts returns the page counts of a website.
func (s *Store) Counts(ctx context.Context, w Website) (Counts, error) {
	all, err := s.CountsOf(ctx, []Website{w})
	return all[w.Seq], err
}

// CountsOf is Counts for several websites, by Website.Seq.
func (s *Store) CountsOf(ctx context.Context, ws []Website) (map[int64]Counts, error) {
	rows := models.NewRows("seq bigint")
	all := map[int64]Counts{}
	for _, w := range ws {
		rows.Add(w.Seq)
		all[w.Seq] = Counts{ByStatus: map[Status]int{}}
	}
	var found []struct {
		WebsiteSeq int64
		Count
	}
	err := rows.Raw(s.db.Read(ctx), `SELECT c.* FROM {rows} AS r CROSS JOIN page_counts AS c WHERE c.website_seq = r.seq AND c.pages > 0
		ORDER BY c.website_seq, c.pages DESC, c.cause`).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("load page counts: %w", err)
	}
	for _, f := range found {
		c := all[f.WebsiteSeq]
		switch f.Status {
		case gone:
			c.Gone += f.Pages
		default:
			c.ByStatus[f.Status] += f.Pages
			c.Total += f.Pages
			if f.Cause != "" {
				c.ByCause = append(c.ByCause, f.Count)
			}
		}
		all[f.WebsiteSeq] = c
	}
	return all, nil
}

// countKey identifies a row of page_counts of a website.
type countKey struct {
	Status Status // or gone
	Cause  string
}

// pageBatch is a set of pages of one website.
type pageBatch struct {
	website int64
	rows    *models.Rows // column seq
}

func pagesBySeq(website int64, seqs []int64) pageBatch {
	return pageBatch{website, models.RowsOf("seq bigint", seqs)}
}

// lockWebsite locks a website until the end of the transaction, so that no other transaction changes its pages.
func lockWebsite(tx *gorm.DB, seq int64) error {
	if err := tx.Clauses(forUpdate).Where("seq = ?", seq).Select("seq").Take(new(Website)).Error; err != nil {
		return fmt.Errorf("lock website: %w", err)
	}
	return nil
}

// withCounts runs change, which changes the pages of b, and updates page_counts. It locks the website.
func withCounts(tx *gorm.DB, b pageBatch, change func() error) error {
	if err := lockWebsite(tx, b.website); err != nil {
		return err
	}
	before, err := b.count(tx)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, err := b.count(tx)
	if err != nil {
		return err
	}
	delta := map[countKey]int{}
	for _, c := range after {
		delta[countKey{c.Status, c.Cause}] += c.Pages
	}
	for _, c := range before {
		delta[countKey{c.Status, c.Cause}] -= c.Pages
	}
	return addCounts(tx, b.website, delta)
}

// addCounts adds to the page counts of a locked website.
func addCounts(tx *gorm.DB, website int64, delta map[countKey]int) error {
	rows := models.NewRows("status text, cause text, pages bigint")
	for s, n := range delta {
		if n != 0 {
			rows.Add(s.Status, s.Cause, n)
		}
	}
	err := rows.Exec(tx, `INSERT INTO page_counts (website_seq, status, cause, pages) SELECT ?, r.status, r.cause, r.pages FROM {rows} AS r WHERE true
		ON CONFLICT (website_seq, status, cause) DO UPDATE SET pages = page_counts.pages + excluded.pages`, website).Error
	if err != nil {
		return fmt.Errorf("update page counts: %w", err)
	}
	return nil
}

func (b pageBatch) count(tx *gorm.DB) (counts []Count, err error) {
	err = b.rows.Raw(tx, `SELECT CASE WHEN p.gone_at IS NULL THEN p.status ELSE 'gone' END AS status, CASE WHEN p.gone_at IS NULL THEN p.cause ELSE '' END AS cause,
			count(*) AS pages
		FROM {rows} AS r CROSS JOIN pages AS p WHERE p.seq = r.seq GROUP BY 1, 2`).Scan(&counts).Error
	if err != nil {
		return nil, fmt.Errorf("count pages: %w", err)
	}
	return counts, nil
}
