package sites

import (
	"context"
	"fmt"
)

// SitemapTree returns all sitemaps of a website, at most MaxSitemaps: oldest first, with those of an index below it.
func (s *Store) SitemapTree(ctx context.Context, w Website) ([]Sitemap, error) {
	var all []Sitemap
	tx := s.db.Read(ctx)
	sql, args := sitemapRows(tx)
	if err := tx.Raw(sql+"m.website_seq = ? ORDER BY m.seq", append(args, w.Seq)...).Scan(&all).Error; err != nil {
		return nil, fmt.Errorf("load sitemaps: %w", err)
	}
	exists := make(map[int64]bool, len(all))
	for _, m := range all {
		exists[m.Seq] = true
	}
	children := map[int64][]Sitemap{} // 0 = top level
	for _, m := range all {
		parent := int64(0)
		if m.ParentSeq != nil && exists[*m.ParentSeq] {
			parent = *m.ParentSeq
		}
		children[parent] = append(children[parent], m)
	}
	tree := make([]Sitemap, 0, len(all))
	var add func(parent int64)
	add = func(parent int64) {
		for _, m := range children[parent] {
			tree = append(tree, m)
			add(m.Seq)
		}
	}
	add(0)
	return tree, nil
}

// Sitemap returns a sitemap of a website. The error is CodeNotFound if it does not exist.
func (s *Store) Sitemap(ctx context.Context, websiteID, id string) (Sitemap, error) {
	tx := s.db.Read(ctx)
	w, err := website(tx, websiteID, false)
	if err != nil {
		return Sitemap{}, err
	}
	return sitemapOf(tx, w, id)
}
