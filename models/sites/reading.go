package sites

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// StoreBatch is how many entries of a sitemap one transaction stores.
const StoreBatch = 2000

// ToRead are the sitemaps of a website that are to be read: all of a depth.
func (s *Store) ToRead(ctx context.Context, w Website, depth int) (ms []Sitemap, err error) {
	err = s.db.Read(ctx).Raw(sitemapRows+"m.website_seq = ? AND m.depth = ? ORDER BY m.seq", w.Seq, depth).Scan(&ms).Error
	if err != nil {
		return nil, fmt.Errorf("listing sitemaps to read: %w", err)
	}
	return ms, nil
}

// StoreEntries stores up to StoreBatch pages of a sitemap that is being read for the
// time m.Reading+1. Pages that are new, back, or have a later lastmod wait to be
// submitted.
func (s *Store) StoreEntries(ctx context.Context, w Website, m Sitemap, entries []Entry) error {
	now := s.clock.Now()
	rows := models.NewRows("n bigint, url text, url_hash bytes, path_at bigint, lastmod bigint, priority bigint, reprioritize_at bigint")
	seen := make(map[string]bool, len(entries))
	for i, e := range entries {
		url := e.URL.Requested
		if seen[url] {
			continue
		}
		seen[url] = true
		rows.Add(i, url, hashOf(url), pathAt(url), e.Lastmod, AutoPriority(e.Lastmod, now), nextPriority(e.Lastmod, now))
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		b := batch{w.Seq, rows, "p.url_hash = r.url_hash"}
		err := counted(tx, b, func() error {
			// What is unchanged is not written.
			return rows.Exec(tx, `INSERT INTO pages (website_seq, url, url_hash, path_at, lastmod, auto_priority, queue_rank, reprioritize_at, status, cause, for_google, for_indexnow,
					attempts, removal, unverified, created_at, last_error, verdict, coverage_state, robots_state, indexing_state, fetch_state, google_canonical, user_canonical)
				SELECT ?, r.url, r.url_hash, r.path_at, r.lastmod, r.priority, 100 - r.priority, r.reprioritize_at, 'pending', '', true, ?, 0, false, false, ?, '', '', '', '', '', '', '', ''
				FROM {rows} AS r WHERE true ORDER BY r.n
				ON CONFLICT (url_hash, website_seq) DO UPDATE SET
					lastmod = COALESCE(excluded.lastmod, pages.lastmod),
					auto_priority = CASE WHEN excluded.lastmod IS NULL THEN pages.auto_priority ELSE excluded.auto_priority END,
					queue_rank = CASE WHEN excluded.lastmod IS NULL OR pages.manual_priority IS NOT NULL THEN pages.queue_rank ELSE excluded.queue_rank END,
					reprioritize_at = CASE WHEN excluded.lastmod IS NULL THEN pages.reprioritize_at ELSE excluded.reprioritize_at END,
					for_google = pages.for_google OR `+isNew+`, for_indexnow = pages.for_indexnow OR excluded.for_indexnow AND `+isNew+`,
					submit_after = CASE WHEN `+isNew+` THEN NULL ELSE pages.submit_after END,
					attempts = CASE WHEN `+isNew+` THEN 0 ELSE pages.attempts END,
					status = CASE WHEN pages.status = 'failed' AND `+isNew+` THEN 'pending' ELSE pages.status END,
					cause = CASE WHEN pages.status = 'failed' AND `+isNew+` THEN '' ELSE pages.cause END,
					gone_at = NULL
				WHERE pages.gone_at IS NOT NULL OR excluded.lastmod IS NOT NULL AND excluded.lastmod IS DISTINCT FROM pages.lastmod`,
				w.Seq, w.IndexNow(), now).Error
		})
		if err != nil {
			return err
		}
		return rows.Exec(tx, `INSERT INTO sitemap_pages (sitemap_seq, page_seq, reading)
			SELECT ?, p.seq, ? FROM {rows} AS r CROSS JOIN pages AS p WHERE p.url_hash = r.url_hash AND p.website_seq = ?
			ON CONFLICT (sitemap_seq, page_seq) DO UPDATE SET reading = excluded.reading`, m.Seq, m.Reading+1, w.Seq).Error
	})
	if err != nil {
		return fmt.Errorf("storing pages of a sitemap: %w", err)
	}
	return nil
}

// isNew is the condition under which a page that is known is to be submitted again.
const isNew = "(pages.gone_at IS NOT NULL OR COALESCE(excluded.lastmod > COALESCE(pages.lastmod, excluded.lastmod - 1), false))"

// pathAt is where the path of a URL begins, counted from 1.
func pathAt(url string) int {
	host := strings.Index(url, "://") + 3
	if i := strings.IndexAny(url[host:], "/?"); i >= 0 {
		return host + i + 1
	}
	return len(url) + 1
}

// Detach takes up to StoreBatch pages from a sitemap that no longer has them: all that
// were not stored for its reading, or all if every is set. Pages that no other sitemap
// has are gone. It says how many it took; fewer than StoreBatch were the last ones.
func (s *Store) Detach(ctx context.Context, w Website, m Sitemap, reading int64, every bool) (n int, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		q := tx.Table("sitemap_pages").Where("sitemap_seq = ?", m.Seq).Limit(StoreBatch)
		if !every {
			q = q.Where("reading <> ?", reading)
		}
		var seqs []int64
		if err := q.Pluck("page_seq", &seqs).Error; err != nil {
			return err
		}
		if n = len(seqs); n == 0 {
			return nil
		}
		b := pagesBySeq(w.Seq, seqs)
		return counted(tx, b, func() error {
			if err := b.rows.Exec(tx, "DELETE FROM sitemap_pages WHERE sitemap_seq = ? AND page_seq IN (SELECT seq FROM {rows} AS r)", m.Seq).Error; err != nil {
				return err
			}
			return b.rows.Exec(tx, `UPDATE pages SET gone_at = ?, for_google = false, for_indexnow = false, submit_wanted_at = NULL, removal = false, verify_wanted_at = NULL
				WHERE seq IN (SELECT r.seq FROM {rows} AS r WHERE NOT EXISTS (SELECT 1 FROM sitemap_pages AS o WHERE o.page_seq = r.seq)) AND gone_at IS NULL`, s.clock.Now()).Error
		})
	})
	if err != nil {
		return 0, fmt.Errorf("taking pages from a sitemap: %w", err)
	}
	return n, nil
}

// Read is what became of reading a sitemap.
type Read struct {
	Stored       bool // its entries were stored for the next reading
	Unchanged    bool // it is as it was when it was last read
	Kind         Kind
	Pages        int
	Skipped      int
	Reasons      []string // why entries were skipped
	ETag         string
	LastModified string
	ContentHash  []byte
	Error        string // why it could not be read, or not in full; "" = it could
}

// RecordRead records that a sitemap was read, or could not be.
func (s *Store) RecordRead(ctx context.Context, m Sitemap, r Read) error {
	now := s.clock.Now()
	set := map[string]any{"last_read_at": now, "last_error": models.Truncate(models.CleanLine(r.Error), maxError)}
	switch {
	case r.Unchanged:
	case r.Kind != KindUnread:
		set["kind"], set["pages"], set["skipped"] = r.Kind, r.Pages, r.Skipped
		set["skipped_why"] = strings.Join(r.Reasons[:min(len(r.Reasons), maxReasons)], "\n")
		set["etag"], set["last_modified"], set["content_hash"] = r.ETag, r.LastModified, r.ContentHash
		if r.Stored {
			set["reading"], set["changed_at"] = m.Reading+1, now
		}
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Model(&Sitemap{}).Where("seq = ?", m.Seq).Updates(set).Error
	})
	if err != nil {
		return fmt.Errorf("recording that a sitemap was read: %w", err)
	}
	return nil
}

const maxError = 500 // runes of an error that is stored

// ReadEnded records that the sitemaps of a website were read, and robots.txt asked for
// them if robots is set.
func (s *Store) ReadEnded(ctx context.Context, w Website, robots bool) error {
	now := s.clock.Now()
	at := w.RobotsReadAt
	if robots {
		at = now
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE websites SET sitemaps_read_at = ?, robots_read_at = ? WHERE seq = ?", now, at, w.Seq).Error
	})
	if err != nil {
		return fmt.Errorf("recording that sitemaps were read: %w", err)
	}
	return nil
}

// DeletedSitemaps are the sitemaps of a website whose pages are to be detached, those
// furthest from their root first.
func (s *Store) DeletedSitemaps(ctx context.Context, w Website) (ms []Sitemap, err error) {
	err = s.db.Read(ctx).Raw("SELECT * FROM sitemaps WHERE website_seq = ? AND deleted_at IS NOT NULL ORDER BY depth DESC, seq", w.Seq).Scan(&ms).Error
	if err != nil {
		return nil, fmt.Errorf("listing deleted sitemaps: %w", err)
	}
	return ms, nil
}

// Forget deletes the row of a deleted sitemap that has no pages any more, unless it
// has come back.
func (s *Store) Forget(ctx context.Context, m Sitemap) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("DELETE FROM sitemaps WHERE seq = ? AND deleted_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sitemap_pages WHERE sitemap_seq = sitemaps.seq)", m.Seq).Error
	})
	if err != nil {
		return fmt.Errorf("deleting a sitemap: %w", err)
	}
	return nil
}
