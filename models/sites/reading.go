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

// StoreBatch is how many entries of a sitemap one transaction stores.
const StoreBatch = 2000

// BeginReading gives the pages that are stored next a reading of their own: m.Reading+1.
// After a reading that was cut off, the sitemap is read in full, and pages that only it
// had are taken from it.
func (s *Store) BeginReading(ctx context.Context, m Sitemap) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE sitemaps SET reading = ?, complete = false WHERE seq = ?", m.Reading+1, m.Seq).Error
	})
	if err != nil {
		return fmt.Errorf("beginning to read a sitemap: %w", err)
	}
	return nil
}

// ToRead are the sitemaps of a website that are to be read: all of a depth.
func (s *Store) ToRead(ctx context.Context, w Website, depth int) (ms []Sitemap, err error) {
	err = s.db.Read(ctx).Raw(selectSitemaps+"m.website_seq = ? AND m.depth = ? ORDER BY m.seq", w.Seq, depth).Scan(&ms).Error
	if err != nil {
		return nil, fmt.Errorf("listing sitemaps to read: %w", err)
	}
	return ms, nil
}

// StoreEntries stores up to StoreBatch pages of a sitemap that is being read for the
// time m.Reading+1, and says how many of them it did not have in this reading yet. Pages
// that are new, back, or have a later lastmod wait to be submitted; of one that a sitemap
// has twice the latest lastmod counts. What is unchanged is not written. lease.ErrLost if
// somebody else has begun to read the sitemap.
func (s *Store) StoreEntries(ctx context.Context, w Website, m Sitemap, entries []Entry) (n int, err error) {
	entries = different(entries)
	urls := models.NewRows("url text")
	for _, e := range entries {
		urls.Add(e.URL.Requested)
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := lockWebsite(tx, w.Seq); err != nil {
			return err
		}
		if err := isReading(tx, m); err != nil {
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
			again := ok && p.Reading != nil && *p.Reading == m.Reading+1 // this reading had it before
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
		elsewhere, err := inOthers(tx, m, earlier)
		if err != nil {
			return err
		}
		for _, seq := range elsewhere { // the other sitemap knows of a later change
			delete(changed, seq)
		}
		if err := s.addPages(tx, w, m, added); err != nil {
			return err
		}
		if err := s.changePages(tx, w, changed); err != nil {
			return err
		}
		return found.Exec(tx, `INSERT INTO sitemap_pages (sitemap_seq, page_seq, reading) SELECT ?, r.seq, ? FROM {rows} AS r WHERE true
			ON CONFLICT (sitemap_seq, page_seq) DO UPDATE SET reading = excluded.reading`, m.Seq, m.Reading+1).Error
	})
	if err != nil {
		return 0, fmt.Errorf("storing pages of a sitemap: %w", err)
	}
	return n, nil
}

// different are entries of different pages: of those of one page the latest lastmod.
func different(entries []Entry) []Entry {
	at := make(map[string]int, len(entries))
	some := make([]Entry, 0, len(entries))
	for _, e := range entries {
		switch i, ok := at[e.URL.Requested]; {
		case !ok:
			at[e.URL.Requested] = len(some)
			some = append(some, e)
		case e.Lastmod.After(some[i].Lastmod.Time):
			some[i] = e
		}
	}
	return some
}

// isReading is lease.ErrLost unless the reading of a sitemap that was begun last is ours.
func isReading(tx *gorm.DB, m Sitemap) error {
	var reading int64
	if err := tx.Raw("SELECT reading FROM sitemaps WHERE seq = ?", m.Seq).Scan(&reading).Error; err != nil {
		return err
	}
	if reading != m.Reading+1 {
		return lease.ErrLost
	}
	return nil
}

// knownPage is a page and the last reading of a sitemap that had it; nil = none.
type knownPage struct {
	Page
	Reading *int64
}

// knownPages are those pages of a website that have one of some URLs, by these.
func (s *Store) knownPages(tx *gorm.DB, w Website, m Sitemap, urls *models.Rows) (map[string]knownPage, error) {
	var pages []knownPage
	err := s.db.FreshPlan(tx, func() error {
		return urls.Raw(tx, `SELECT p.seq, p.url, p.lastmod, p.gone_at, (SELECT sp.reading FROM sitemap_pages AS sp WHERE sp.sitemap_seq = ? AND sp.page_seq = p.seq) AS reading
			FROM {rows} AS r CROSS JOIN pages AS p WHERE p.url = r.url AND p.website_seq = ?`, m.Seq, w.Seq).Scan(&pages).Error
	})
	known := make(map[string]knownPage, len(pages))
	for _, p := range pages {
		known[p.URL] = p
	}
	return known, err
}

// inOthers are those of some pages that another sitemap has, too.
func inOthers(tx *gorm.DB, m Sitemap, seqs []int64) (others []int64, err error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	err = models.RowsOf("seq bigint", seqs).Raw(tx, "SELECT DISTINCT r.seq FROM {rows} AS r CROSS JOIN sitemap_pages AS o WHERE o.page_seq = r.seq AND o.sitemap_seq <> ?", m.Seq).Scan(&others).Error
	return others, err
}

// addPages adds pages of a sitemap. The website is locked, so its pages after the last
// one are those that were added.
func (s *Store) addPages(tx *gorm.DB, w Website, m Sitemap, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var last int64
	if err := tx.Raw("SELECT COALESCE(max(seq), 0) FROM pages").Scan(&last).Error; err != nil {
		return err
	}
	now := s.clock.Now()
	rows := models.NewRows("url text, path_at bigint, lastmod bigint, priority bigint, reprioritize_at bigint")
	for _, e := range entries {
		url := e.URL.Requested
		rows.Add(url, pathAt(url), e.Lastmod, AutoPriority(e.Lastmod, now), nextPriority(e.Lastmod, now))
	}
	err := rows.Exec(tx, `INSERT INTO pages (website_seq, url, path_at, lastmod, auto_priority, queue_rank, reprioritize_at, status, cause, for_google, for_indexnow,
			attempts, removal, unverified, created_at, last_error, verdict, coverage_state, robots_state, indexing_state, fetch_state, google_canonical, user_canonical)
		SELECT ?, r.url, r.path_at, r.lastmod, r.priority, 100 - r.priority, r.reprioritize_at, 'pending', '', true, ?, 0, false, false, ?, '', '', '', '', '', '', '', ''
		FROM {rows} AS r`, w.Seq, w.IndexNow(), now).Error
	if err != nil {
		return err
	}
	// By both bounds PostgreSQL knows that these are few, also before it has counted the rows.
	err = tx.Exec("INSERT INTO sitemap_pages (sitemap_seq, page_seq, reading) SELECT ?, seq, ? FROM pages WHERE seq > ? AND seq <= (SELECT max(seq) FROM pages) AND website_seq = ?",
		m.Seq, m.Reading+1, last, w.Seq).Error
	if err != nil {
		return err
	}
	return addCounts(tx, w.Seq, map[state]int{{Pending, ""}: len(entries)})
}

// changePages stores what sitemaps say of pages, by their seqs: that they are there, and
// when they were modified, unless that is not known any more.
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
	// A page that is back, or was modified later than was known, is to be submitted.
	const isNew = "(pages.gone_at IS NOT NULL OR COALESCE(r.lastmod > COALESCE(pages.lastmod, r.lastmod - 1), false))"
	return counted(tx, pagesBySeq(w.Seq, seqs), func() error {
		return rows.Exec(tx, `UPDATE pages SET
				lastmod = COALESCE(r.lastmod, pages.lastmod),
				auto_priority = CASE WHEN r.lastmod IS NULL THEN pages.auto_priority ELSE r.priority END,
				queue_rank = CASE WHEN r.lastmod IS NULL OR pages.manual_priority IS NOT NULL THEN pages.queue_rank ELSE 100 - r.priority END,
				reprioritize_at = CASE WHEN r.lastmod IS NULL THEN pages.reprioritize_at ELSE r.reprioritize_at END,
				for_google = pages.for_google OR `+isNew+`, for_indexnow = pages.for_indexnow OR ? AND `+isNew+`,
				submit_after = CASE WHEN `+isNew+` THEN NULL ELSE pages.submit_after END,
				attempts = CASE WHEN `+isNew+` THEN 0 ELSE pages.attempts END,
				status = CASE WHEN pages.status = 'failed' AND `+isNew+` THEN 'pending' ELSE pages.status END,
				cause = CASE WHEN pages.status = 'failed' AND `+isNew+` THEN '' ELSE pages.cause END,
				removal = pages.removal AND NOT `+isNew+`,
				changed_at = CASE WHEN `+isNew+` THEN ? ELSE pages.changed_at END,
				gone_at = NULL
			FROM {rows} AS r WHERE pages.seq = r.seq`, w.IndexNow(), now).Error
	})
}

// pathAt is where the path of a URL begins, counted from 1.
func pathAt(url string) int {
	host := strings.Index(url, "://") + 3
	if i := strings.IndexAny(url[host:], "/?"); i >= 0 {
		return host + i + 1
	}
	return len(url) + 1
}

// Detach takes up to StoreBatch pages from a sitemap that no longer has them: all that
// were not stored for its reading m.Reading+1, or all if every is set. Pages that no other sitemap
// has are gone. It says how many it took; fewer than StoreBatch were the last ones.
func (s *Store) Detach(ctx context.Context, w Website, m Sitemap, every bool) (n int, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := lockWebsite(tx, w.Seq); err != nil {
			return err
		}
		q := tx.Table("sitemap_pages").Where("sitemap_seq = ?", m.Seq).Limit(StoreBatch)
		if !every {
			if err := isReading(tx, m); err != nil {
				return err
			}
			q = q.Where("reading <> ?", m.Reading+1)
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
	ContentHash  []byte // SHA-256 of what was received; nil = it broke off
	Complete     bool   // all of it is stored
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
		set["etag"], set["last_modified"], set["complete"] = r.ETag, r.LastModified, r.Complete
		if r.Stored {
			set["reading"] = m.Reading + 1
		}
		if r.ContentHash != nil && !bytes.Equal(r.ContentHash, m.ContentHash) {
			set["content_hash"], set["changed_at"] = r.ContentHash, now
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

// ReadEnded records that the sitemaps of a website were read. robots is why robots.txt
// could not be; "" = it could.
func (s *Store) ReadEnded(ctx context.Context, w Website, robots string) error {
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
