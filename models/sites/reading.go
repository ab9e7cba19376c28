package sites

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/lease"
)

// StoreBatch is the maximum number of sitemap entries that one transaction stores.
const StoreBatch = 2000

// BeginReading starts generation m.Generation+1 of a sitemap, which the entries stored next belong to. If the reading is
// interrupted, the next one reads the sitemap in full and detaches pages of the interrupted one.
func (s *Store) BeginReading(ctx context.Context, m Sitemap) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE sitemaps SET generation = ?, complete = false WHERE seq = ?", m.Generation+1, m.Seq).Error
	})
	if err != nil {
		return fmt.Errorf("begin reading sitemap: %w", err)
	}
	return nil
}

// SitemapsToRead returns the sitemaps of a website at a depth.
func (s *Store) SitemapsToRead(ctx context.Context, w Website, depth int) (ms []Sitemap, err error) {
	err = s.db.Read(ctx).Raw(selectSitemaps+"m.website_seq = ? AND m.depth = ? ORDER BY m.seq", w.Seq, depth).Scan(&ms).Error
	if err != nil {
		return nil, fmt.Errorf("list sitemaps to read: %w", err)
	}
	return ms, nil
}

// StoreEntries stores up to StoreBatch entries of a sitemap in generation m.Generation+1. It returns the number of pages that
// this generation did not have yet. Pages that are new, back, or have a later lastmod are queued. If a sitemap lists a page
// twice, the latest lastmod counts. Unchanged pages are not written. The error is lease.ErrLost if another reading has begun.
func (s *Store) StoreEntries(ctx context.Context, w Website, m Sitemap, entries []Entry) (n int, err error) {
	entries = dedupeEntries(entries)
	urls := models.NewRows("url text")
	for _, e := range entries {
		urls.Add(e.URL.Requested)
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := lockWebsite(tx, w.Seq); err != nil {
			return err
		}
		if err := checkGeneration(tx, m); err != nil {
			return err
		}
		known, err := s.knownPages(tx, w, m, urls)
		if err != nil {
			return err
		}
		n = 0
		found := models.NewRows("seq bigint")
		var added []Entry
		changed := map[int64]Entry{}
		var earlier []int64
		for _, e := range entries {
			p, ok := known[e.URL.Requested]
			again := ok && p.Generation != nil && *p.Generation == m.Generation+1 // already in this generation
			if !again {
				n++
			}
			switch {
			case !ok:
				added = append(added, e)
				continue
			case again && !e.Lastmod.After(p.Lastmod.Time):
				continue
			case !p.GoneAt.IsZero() || !e.Lastmod.IsZero() && e.Lastmod != p.Lastmod:
				changed[p.Seq] = e
				if p.GoneAt.IsZero() && e.Lastmod.Before(p.Lastmod.Time) {
					earlier = append(earlier, p.Seq)
				}
			}
			found.Add(p.Seq)
		}
		listedTwice, err := inOtherSitemaps(tx, m, earlier)
		if err != nil {
			return err
		}
		for _, seq := range listedTwice { // another sitemap has a later lastmod
			delete(changed, seq)
		}
		if err := s.addPages(tx, w, m, added); err != nil {
			return err
		}
		if err := s.changePages(tx, w, changed); err != nil {
			return err
		}
		return found.Exec(tx, `INSERT INTO sitemap_pages (sitemap_seq, page_seq, generation) SELECT ?, r.seq, ? FROM {rows} AS r WHERE true
			ON CONFLICT (sitemap_seq, page_seq) DO UPDATE SET generation = excluded.generation`, m.Seq, m.Generation+1).Error
	})
	if err != nil {
		return 0, fmt.Errorf("store sitemap entries: %w", err)
	}
	return n, nil
}

// dedupeEntries removes duplicate entries of a page and keeps the latest lastmod.
func dedupeEntries(entries []Entry) []Entry {
	index := make(map[string]int, len(entries))
	unique := make([]Entry, 0, len(entries))
	for _, e := range entries {
		switch i, ok := index[e.URL.Requested]; {
		case !ok:
			index[e.URL.Requested] = len(unique)
			unique = append(unique, e)
		case e.Lastmod.After(unique[i].Lastmod.Time):
			unique[i] = e
		}
	}
	return unique
}

// checkGeneration returns lease.ErrLost if another reading of the sitemap has begun.
func checkGeneration(tx *gorm.DB, m Sitemap) error {
	var generation int64
	if err := tx.Raw("SELECT generation FROM sitemaps WHERE seq = ?", m.Seq).Scan(&generation).Error; err != nil {
		return err
	}
	if generation != m.Generation+1 {
		return lease.ErrLost
	}
	return nil
}

// knownPage is a page with the last generation of a sitemap that listed it; nil = none.
type knownPage struct {
	Page
	Generation *int64
}

func (s *Store) knownPages(tx *gorm.DB, w Website, m Sitemap, urls *models.Rows) (map[string]knownPage, error) {
	var pages []knownPage
	err := s.db.FreshPlan(tx, func() error {
		return urls.Raw(tx, `SELECT p.seq, p.url, p.lastmod, p.gone_at, (SELECT sp.generation FROM sitemap_pages AS sp WHERE sp.sitemap_seq = ? AND sp.page_seq = p.seq) AS generation
			FROM {rows} AS r CROSS JOIN pages AS p WHERE p.url = r.url AND p.website_seq = ?`, m.Seq, w.Seq).Scan(&pages).Error
	})
	known := make(map[string]knownPage, len(pages))
	for _, p := range pages {
		known[p.URL] = p
	}
	return known, err
}

func inOtherSitemaps(tx *gorm.DB, m Sitemap, seqs []int64) (others []int64, err error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	err = models.RowsOf("seq bigint", seqs).Raw(tx, "SELECT DISTINCT r.seq FROM {rows} AS r CROSS JOIN sitemap_pages AS o WHERE o.page_seq = r.seq AND o.sitemap_seq <> ?", m.Seq).Scan(&others).Error
	return others, err
}

// addPages adds pages of a sitemap. The website is locked, so its pages with a higher seq than before are the added ones.
func (s *Store) addPages(tx *gorm.DB, w Website, m Sitemap, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var last int64
	if err := tx.Raw("SELECT COALESCE(max(seq), 0) FROM pages").Scan(&last).Error; err != nil {
		return err
	}
	now := s.clock.Now()
	rows := models.NewRows("url text, path_start bigint, lastmod bigint, priority bigint, reprioritize_at bigint")
	for _, e := range entries {
		url := e.URL.Requested
		rows.Add(url, pathStart(url), e.Lastmod, AutoPriority(e.Lastmod, now), nextPriority(e.Lastmod, now))
	}
	err := rows.Exec(tx, `INSERT INTO pages (website_seq, url, path_start, lastmod, auto_priority, queue_rank, reprioritize_at, status, cause, queued_for_google, queued_for_indexnow,
			attempts, removal, unverified, created_at, last_error, verdict, coverage_state, robots_state, indexing_state, fetch_state, google_canonical, user_canonical)
		SELECT ?, r.url, r.path_start, r.lastmod, r.priority, 100 - r.priority, r.reprioritize_at, 'pending', '', true, ?, 0, false, false, ?, '', '', '', '', '', '', '', ''
		FROM {rows} AS r`, w.Seq, w.UsesIndexNow(), now).Error
	if err != nil {
		return err
	}
	// With both bounds, PostgreSQL expects few rows even without current statistics.
	err = tx.Exec("INSERT INTO sitemap_pages (sitemap_seq, page_seq, generation) SELECT ?, seq, ? FROM pages WHERE seq > ? AND seq <= (SELECT max(seq) FROM pages) AND website_seq = ?",
		m.Seq, m.Generation+1, last, w.Seq).Error
	if err != nil {
		return err
	}
	return addCounts(tx, w.Seq, map[countKey]int{{Pending, ""}: len(entries)})
}

// changePages updates existing pages, by seq: they are not gone, and have the lastmod of the sitemap unless it is zero.
func (s *Store) changePages(tx *gorm.DB, w Website, entries map[int64]Entry) error {
	if len(entries) == 0 {
		return nil
	}
	now := s.clock.Now()
	seqs := slices.Sorted(maps.Keys(entries))
	rows := models.NewRows("seq bigint, lastmod bigint, priority bigint, reprioritize_at bigint")
	for _, seq := range seqs {
		lastmod := entries[seq].Lastmod
		rows.Add(seq, lastmod, AutoPriority(lastmod, now), nextPriority(lastmod, now))
	}
	// A page that is back or has a later lastmod is queued again.
	const isNew = "(pages.gone_at IS NOT NULL OR COALESCE(r.lastmod > COALESCE(pages.lastmod, r.lastmod - 1), false))"
	return withCounts(tx, pagesBySeq(w.Seq, seqs), func() error {
		return rows.Exec(tx, `UPDATE pages SET
				lastmod = COALESCE(r.lastmod, pages.lastmod),
				auto_priority = CASE WHEN r.lastmod IS NULL THEN pages.auto_priority ELSE r.priority END,
				queue_rank = CASE WHEN r.lastmod IS NULL OR pages.manual_priority IS NOT NULL THEN pages.queue_rank ELSE 100 - r.priority END,
				reprioritize_at = CASE WHEN r.lastmod IS NULL THEN pages.reprioritize_at ELSE r.reprioritize_at END,
				queued_for_google = pages.queued_for_google OR `+isNew+`, queued_for_indexnow = pages.queued_for_indexnow OR ? AND `+isNew+`,
				submit_after = CASE WHEN `+isNew+` THEN NULL ELSE pages.submit_after END,
				attempts = CASE WHEN `+isNew+` THEN 0 ELSE pages.attempts END,
				status = CASE WHEN pages.status = 'failed' AND `+isNew+` THEN 'pending' ELSE pages.status END,
				cause = CASE WHEN pages.status = 'failed' AND `+isNew+` THEN '' ELSE pages.cause END,
				removal = pages.removal AND NOT `+isNew+`,
				changed_at = CASE WHEN `+isNew+` THEN ? ELSE pages.changed_at END,
				gone_at = NULL
			FROM {rows} AS r WHERE pages.seq = r.seq`, w.UsesIndexNow(), now).Error
	})
}

// pathStart returns the position of the path in a URL, counted from 1.
func pathStart(url string) int {
	host := strings.Index(url, "://") + 3
	if i := strings.IndexAny(url[host:], "/?"); i >= 0 {
		return host + i + 1
	}
	return len(url) + 1
}

// DetachPages removes up to StoreBatch pages from a sitemap: those not in generation m.Generation+1, or any if all is set.
// Pages in no other sitemap are marked as gone. It returns the number of removed pages; fewer than StoreBatch means that
// none is left.
func (s *Store) DetachPages(ctx context.Context, w Website, m Sitemap, all bool) (n int, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := lockWebsite(tx, w.Seq); err != nil {
			return err
		}
		q := tx.Table("sitemap_pages").Where("sitemap_seq = ?", m.Seq).Limit(StoreBatch)
		if !all {
			if err := checkGeneration(tx, m); err != nil {
				return err
			}
			q = q.Where("generation <> ?", m.Generation+1)
		}
		var seqs []int64
		if err := q.Pluck("page_seq", &seqs).Error; err != nil {
			return err
		}
		if n = len(seqs); n == 0 {
			return nil
		}
		b := pagesBySeq(w.Seq, seqs)
		return withCounts(tx, b, func() error {
			if err := b.rows.Exec(tx, "DELETE FROM sitemap_pages WHERE sitemap_seq = ? AND page_seq IN (SELECT seq FROM {rows} AS r)", m.Seq).Error; err != nil {
				return err
			}
			return b.rows.Exec(tx, `UPDATE pages SET gone_at = ?, queued_for_google = false, queued_for_indexnow = false, submit_requested_at = NULL, removal = false, verify_requested_at = NULL
				WHERE seq IN (SELECT r.seq FROM {rows} AS r WHERE NOT EXISTS (SELECT 1 FROM sitemap_pages AS o WHERE o.page_seq = r.seq)) AND gone_at IS NULL`, s.clock.Now()).Error
		})
	})
	if err != nil {
		return 0, fmt.Errorf("detach pages from sitemap: %w", err)
	}
	return n, nil
}

// ReadResult is the result of reading a sitemap.
type ReadResult struct {
	Stored       bool // entries were stored in the next generation
	Unchanged    bool // not changed since the last read
	Kind         Kind
	Pages        int
	Skipped      int
	Reasons      []string // reasons for skipped entries
	ETag         string
	LastModified string
	ContentHash  []byte // SHA-256 of the body; nil = incomplete
	Complete     bool   // all entries are stored
	Error        string // why the read failed or is incomplete; "" = it succeeded
}

// RecordRead stores the result of reading a sitemap.
func (s *Store) RecordRead(ctx context.Context, m Sitemap, r ReadResult) error {
	now := s.clock.Now()
	set := map[string]any{"last_read_at": now, "last_error": models.Truncate(models.CleanLine(r.Error), maxError)}
	switch {
	case r.Unchanged:
	case r.Kind != KindUnread:
		set["kind"], set["pages"], set["skipped"] = r.Kind, r.Pages, r.Skipped
		set["skipped_reasons"] = strings.Join(r.Reasons[:min(len(r.Reasons), maxReasons)], "\n")
		set["etag"], set["last_modified"], set["complete"] = r.ETag, r.LastModified, r.Complete
		if r.Stored {
			set["generation"] = m.Generation + 1
		}
		if r.ContentHash != nil && !bytes.Equal(r.ContentHash, m.ContentHash) {
			set["content_hash"], set["changed_at"] = r.ContentHash, now
		}
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Model(&Sitemap{}).Where("seq = ?", m.Seq).Updates(set).Error
	})
	if err != nil {
		return fmt.Errorf("record sitemap read: %w", err)
	}
	return nil
}

const maxError = 500 // runes of a stored error

// FinishReading records that all sitemaps of a website were read. robots is the error of robots.txt; "" = none.
func (s *Store) FinishReading(ctx context.Context, w Website, robots string) error {
	now := s.clock.Now()
	at := now
	if robots != "" {
		at = w.RobotsReadAt
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE websites SET sitemaps_read_at = ?, robots_read_at = ?, robots_error = ? WHERE seq = ?",
			now, at, models.Truncate(models.CleanLine(robots), maxError), w.Seq).Error
	})
	if err != nil {
		return fmt.Errorf("record end of reading: %w", err)
	}
	return nil
}

// DeletedSitemaps returns the deleted sitemaps of a website whose pages are still to be detached, deepest first.
func (s *Store) DeletedSitemaps(ctx context.Context, w Website) (ms []Sitemap, err error) {
	err = s.db.Read(ctx).Raw("SELECT * FROM sitemaps WHERE website_seq = ? AND deleted_at IS NOT NULL ORDER BY depth DESC, seq", w.Seq).Scan(&ms).Error
	if err != nil {
		return nil, fmt.Errorf("list deleted sitemaps: %w", err)
	}
	return ms, nil
}

// PurgeSitemap deletes the row of a deleted sitemap without pages, unless it was added again.
func (s *Store) PurgeSitemap(ctx context.Context, m Sitemap) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("DELETE FROM sitemaps WHERE seq = ? AND deleted_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sitemap_pages WHERE sitemap_seq = sitemaps.seq)", m.Seq).Error
	})
	if err != nil {
		return fmt.Errorf("purge sitemap: %w", err)
	}
	return nil
}
