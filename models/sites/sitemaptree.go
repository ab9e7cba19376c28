package sites

import (
	"context"
	"fmt"
)

// SitemapTree are all sitemaps of a website, MaxSitemaps at most: the oldest first, and
// below each index those that it names.
func (s *Store) SitemapTree(ctx context.Context, w Website) ([]Sitemap, error) {
	var all []Sitemap
	tx := s.db.Read(ctx)
	sql, args := sitemapRows(tx)
	if err := tx.Raw(sql+"m.website_seq = ? ORDER BY m.seq", append(args, w.Seq)...).Scan(&all).Error; err != nil {
		return nil, fmt.Errorf("loading sitemaps: %w", err)
	}
	here := make(map[int64]bool, len(all))
	for _, m := range all {
		here[m.Seq] = true
	}
	below := map[int64][]Sitemap{} // 0: below none
	for _, m := range all {
		parent := int64(0)
		if m.ParentSeq != nil && here[*m.ParentSeq] {
			parent = *m.ParentSeq
		}
		below[parent] = append(below[parent], m)
	}
	tree := make([]Sitemap, 0, len(all))
	var add func(parent int64)
	add = func(parent int64) {
		for _, m := range below[parent] {
			tree = append(tree, m)
			add(m.Seq)
		}
	}
	add(0)
	return tree, nil
}

// Sitemap is a sitemap of a website; CodeNotFound if there is none.
func (s *Store) Sitemap(ctx context.Context, websiteID, id string) (Sitemap, error) {
	tx := s.db.Read(ctx)
	w, err := website(tx, websiteID, false)
	if err != nil {
		return Sitemap{}, err
	}
	return sitemapOf(tx, w, id)
}
