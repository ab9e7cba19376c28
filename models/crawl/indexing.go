package crawl

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/crawl/fulltext"
)

// toIndex is a page to add to the search index or to remove from it.
type toIndex struct {
	Seq, Revision, SourceSeq       int64
	URL, Title, Headings, Language string
	ContentHash                    string
	NoIndex                        bool `gorm:"column:noindex"`
	Duplicate                      bool
	Text                           CompressedText
	PublishedAt, CreatedAt, GoneAt models.Time
	DeletedAt                      models.Time
}

// IndexNext updates the search index for up to n pages and returns their number. A page that cannot be indexed is left out
// of the index. Its error is returned with the number.
func (s *Store) IndexNext(ctx context.Context, n int) (int, error) {
	var pages []toIndex
	err := s.db.Read(ctx).Raw(`SELECT due.seq, due.revision, due.source_seq, due.url, due.title, due.headings, due.language, due.content_hash, due.noindex, due.duplicate,
			due.published_at, due.created_at, due.gone_at, due.deleted_at, v.text
		FROM (SELECT * FROM crawled_pages WHERE unindexed ORDER BY fetched_at LIMIT ?) AS due
		LEFT JOIN page_versions AS v ON v.page_seq = due.seq AND v.version = due.text_version`, n).Scan(&pages).Error
	if err != nil {
		return 0, fmt.Errorf("find pages to index: %w", err)
	}
	if err = s.index(ctx, pages); err == nil || len(pages) == 0 || models.DatabaseDown(err) || ctx.Err() != nil {
		return len(pages), err
	}
	var errs []error
	for _, p := range pages {
		if err := s.index(ctx, []toIndex{p}); err != nil {
			p.ContentHash = "" // so that it is removed
			errs = append(errs, err, s.index(ctx, []toIndex{p}))
		}
	}
	return len(pages), errors.Join(errs...)
}

// index stores pages in the search index, or removes those that search must not find. It skips pages that changed meanwhile,
// which are indexed later.
func (s *Store) index(ctx context.Context, pages []toIndex) error {
	rows := models.NewRows("seq bigint, revision bigint")
	entries, remove := map[int64]fulltext.Entry{}, map[int64]bool{}
	for _, p := range pages {
		rows.Add(p.Seq, p.Revision)
		text, err := p.Text.Decompress()
		if err != nil || p.NoIndex || p.Duplicate || p.ContentHash == "" || !p.GoneAt.IsZero() || !p.DeletedAt.IsZero() {
			remove[p.Seq] = true
			continue
		}
		entries[p.Seq] = s.text.Entry(fulltext.Doc{
			Seq: p.Seq, Title: p.Title, Headings: p.Headings, URL: p.URL, Text: text, Source: p.SourceSeq, Language: p.Language,
			Date: dateOf(p.PublishedAt, p.CreatedAt),
		})
	}
	if rows.Len() == 0 {
		return nil
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var seqs []int64
		err := rows.Raw(tx, `UPDATE crawled_pages SET unindexed = false FROM {rows} AS r
			WHERE crawled_pages.seq = r.seq AND crawled_pages.revision = r.revision AND unindexed RETURNING crawled_pages.seq`).Scan(&seqs).Error
		if err != nil {
			return err
		}
		var put []fulltext.Entry
		var gone []int64
		for _, seq := range seqs {
			if remove[seq] {
				gone = append(gone, seq)
			} else {
				put = append(put, entries[seq])
			}
		}
		if err := s.text.Put(tx, put); err != nil {
			return err
		}
		return s.text.Remove(tx, gone)
	})
	if err != nil {
		return fmt.Errorf("index crawled pages: %w", err)
	}
	return nil
}

// dateOf returns the date of a page for searches: its own, or that of its first fetch.
func dateOf(published, first models.Time) models.Time {
	if published.IsZero() {
		return first
	}
	return published
}

// Lag is the backlog of the search index.
type Lag struct {
	Pages  int         // pages to index, counted up to MaxLag
	Oldest models.Time // when the oldest of them was fetched; zero = none
}

// MaxLag is the maximum of Lag.Pages.
const MaxLag = 100_000

// IndexLag returns the current backlog of the search index.
func (s *Store) IndexLag(ctx context.Context) (lag Lag, err error) {
	tx := s.db.Read(ctx)
	visible, args := ofVisibleSource(tx, "crawled_pages.source_seq")
	err = tx.Raw("SELECT count(*) FROM (SELECT 1 FROM crawled_pages WHERE unindexed AND "+visible+" LIMIT ?) AS due", joinArgs(args, MaxLag)...).Scan(&lag.Pages).Error
	if err == nil && lag.Pages > 0 {
		err = tx.Raw("SELECT fetched_at FROM crawled_pages WHERE unindexed AND "+visible+" ORDER BY fetched_at LIMIT 1", args...).Scan(&lag.Oldest).Error
	}
	if err != nil {
		return lag, fmt.Errorf("count pages to index: %w", err)
	}
	return lag, nil
}
