package crawl

import (
	"fmt"
	"net/http"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Change is a kind of change of a page.
type Change string

// The changes of a page.
const (
	PageNew     Change = "new"     // it has a text for the first time
	PageChanged Change = "changed" // its text changed
	PageGone    Change = "gone"    // status 404 or 410, moved permanently, or no longer linked from any page of the crawl
	PageBack    Change = "back"    // it had been gone
)

// Version is the content of a page from a time on.
type Version struct {
	Seq         int64 `gorm:"primaryKey"`
	PageSeq     int64
	Version     int // from 1, may have gaps
	Change      Change
	CrawlSeq    int64 // of the crawl that found it; 0 = the URL was added manually
	StatusCode  int   // 0 = no page of the crawl linked to it
	Title       string
	ContentHash string
	WordCount   int
	Text        CompressedText // nil if the page is gone
	CreatedAt   models.Time
}

// TableName implements schema.Tabler.
func (Version) TableName() string { return "page_versions" }

// KeepVersions is the number of newest versions that are kept per page.
const KeepVersions = 20

// isRemovedStatus reports whether a status means that the page was removed.
func isRemovedStatus(status int) bool {
	return status == http.StatusNotFound || status == http.StatusGone
}

// change compares a page with its stored state and sets the numbers of p. It returns "" if the text is the same.
func (p *Page) change(old storedState) (c Change) {
	p.Versions, p.TextVersion, p.Revision = old.Versions, old.TextVersion, old.Revision
	switch {
	case p.broken():
		if isRemovedStatus(p.StatusCode) && old.TextVersion > 0 && !old.Gone {
			c = PageGone
			p.GoneAt = p.FetchedAt
		}
	case old.TextVersion == 0:
		if p.ContentHash != "" {
			c = PageNew
		}
	case old.Gone:
		c = PageBack
	case p.ContentHash != old.ContentHash:
		c = PageChanged
	}
	if c != "" {
		p.Versions++
	}
	if c != "" && c != PageGone {
		p.TextVersion = p.Versions
	}
	if c != "" || !p.broken() && (old.Deleted || old.searchChanged(p)) {
		p.Revision++
		p.Unindexed = true
	}
	return c
}

// broken reports whether the response is an error. The stored content is then kept.
func (p Page) broken() bool { return p.StatusCode >= http.StatusBadRequest }

type storedState struct {
	Seq, SourceSeq, CrawlSeq, Revision   int64
	URLHash                              []byte
	ContentHash                          string
	Title, Description, Author, Language string
	Canonical                            string
	NoIndex                              bool `gorm:"column:noindex"`
	PublishedAt                          models.Time
	Versions, TextVersion                int
	Gone, Deleted, Duplicate             bool
}

// searchChanged reports whether data that search shows, other than the text, has changed.
func (k storedState) searchChanged(p *Page) bool {
	return k.Seq != 0 && k.TextVersion > 0 && (k.Title != p.Title || k.Description != p.Description || k.Author != p.Author ||
		k.Language != p.Language || k.NoIndex != p.NoIndex || k.Duplicate != p.Duplicate || k.PublishedAt != p.PublishedAt)
}

// storedStates loads the stored state of pages (source_seq, url_hash).
func (b *batch) storedStates(keys *models.Rows) (map[pageKey]storedState, error) {
	var found []storedState
	err := keys.Raw(b.tx, `SELECT p.seq, p.source_seq, p.url_hash, p.crawl_seq, p.revision, p.content_hash, p.title, p.description, p.author, p.language,
			p.canonical, p.noindex, p.duplicate, p.published_at, p.versions, p.text_version, p.gone_at IS NOT NULL AS gone, p.deleted_at IS NOT NULL AS deleted
		FROM {rows} AS r CROSS JOIN crawled_pages AS p WHERE p.source_seq = r.source_seq AND p.url_hash = r.url_hash`).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("find known pages: %w", err)
	}
	pages := make(map[pageKey]storedState, len(found))
	for _, k := range found {
		pages[pageKey{k.SourceSeq, hash(k.URLHash)}] = k
	}
	return pages, nil
}

// gonePage is a page that a crawl found to be gone.
type gonePage struct {
	pageKey
	crawl  int64
	status int   // 0 = no page links to it
	seen   int64 // the last crawl that stored it; 0 = any
}

// markGone marks pages as gone and returns those that it changed, without duplicates. It skips pages that are already gone or
// have no text. The next request for them is unconditional. and is an additional condition. The caller holds lockRecord.
func (s *Store) markGone(tx *gorm.DB, all []gonePage, and string, args ...any) (noted []gonePage, err error) {
	rows, byPage, now := models.NewRows("source_seq bigint, url_hash bytes, seen bigint"), map[pageKey]gonePage{}, s.clock.Now()
	for _, d := range all {
		if _, twice := byPage[d.pageKey]; !twice {
			rows.Add(d.source, d.hash[:], d.seen)
		}
		byPage[d.pageKey] = d
	}
	if len(all) == 0 {
		return nil, nil
	}
	var gone []struct {
		Seq, SourceSeq int64
		URLHash        []byte
		Versions       int
		Title          string
		Duplicate      bool
	}
	err = rows.Raw(tx, `UPDATE crawled_pages SET gone_at = ?, versions = versions + 1, revision = revision + 1, etag = '', last_modified = '',
			unindexed = true, unsent = unsent OR (? AND `+ofSharedSource+`r.source_seq))
		FROM {rows} AS r WHERE crawled_pages.source_seq = r.source_seq AND crawled_pages.url_hash = r.url_hash AND gone_at IS NULL AND text_version > 0`+and+`
		RETURNING crawled_pages.seq, crawled_pages.source_seq, crawled_pages.url_hash, versions, title, duplicate`, append([]any{now, s.opts.Elasticsearch}, args...)...).Scan(&gone).Error
	if err != nil {
		return nil, fmt.Errorf("mark pages as gone: %w", err)
	}
	versions := make([]Version, len(gone))
	for i, g := range gone {
		d := byPage[pageKey{g.SourceSeq, hash(g.URLHash)}]
		if !g.Duplicate {
			noted = append(noted, d)
		}
		versions[i] = Version{PageSeq: g.Seq, Version: g.Versions, Change: PageGone, CrawlSeq: d.crawl, StatusCode: d.status, Title: g.Title, CreatedAt: now}
	}
	return noted, models.Insert(tx, versions)
}

// temporaryRedirects records that the crawl has seen pages that redirect temporarily, so that they do not count as unlinked.
func (b *batch) temporaryRedirects() error {
	rows := models.NewRows("source_seq bigint, url_hash bytes, crawl_seq bigint")
	for _, r := range b.results {
		if r.TemporaryRedirect {
			h := hashOf(r.Entry.URL)
			rows.Add(r.Entry.SourceSeq, h[:], r.Entry.CrawlSeq)
		}
	}
	err := rows.Exec(b.tx, `UPDATE crawled_pages SET crawl_seq = r.crawl_seq FROM {rows} AS r
		WHERE crawled_pages.source_seq = r.source_seq AND crawled_pages.url_hash = r.url_hash AND crawled_pages.crawl_seq < r.crawl_seq`).Error
	if err != nil {
		return fmt.Errorf("record temporary redirects: %w", err)
	}
	return nil
}

// permanentRedirects marks pages as gone whose URL moved permanently.
func (b *batch) permanentRedirects() error {
	var all []gonePage
	entries := map[pageKey]Entry{}
	for _, r := range b.results {
		if r.MovedStatus != 0 {
			k := pageKey{r.Entry.SourceSeq, hashOf(r.Entry.URL)}
			entries[k] = r.Entry
			all = append(all, gonePage{pageKey: k, crawl: r.Entry.CrawlSeq, status: r.MovedStatus})
		}
	}
	noted, err := b.s.markGone(b.tx, all, "")
	for _, d := range noted {
		if e := entries[d.pageKey]; e.Crawl.Execution != 0 {
			b.sum(e).changes[PageGone]++
		}
	}
	return err
}

type newVersion struct {
	Page
	change Change
}

// versions stores new versions of pages and deletes those beyond KeepVersions. seqs are the seqs of the pages.
func (b *batch) versions(all map[pageKey]newVersion, seqs map[pageKey]int64) error {
	rows := models.NewRows("page_seq bigint, version bigint, change text, crawl_seq bigint, status_code bigint, title text, content_hash text, word_count bigint, text bytes, at bigint")
	old := models.NewRows("page_seq bigint, version bigint")
	for k, v := range all {
		var text any
		if v.change != PageGone {
			text = []byte(v.Text)
		}
		rows.Add(seqs[k], v.Versions, v.change, v.CrawlSeq, v.StatusCode, v.Title, v.ContentHash, v.WordCount, text, v.FetchedAt)
		if v.Versions > KeepVersions {
			old.Add(seqs[k], v.Versions-KeepVersions)
		}
	}
	err := rows.Exec(b.tx, `INSERT INTO page_versions (page_seq, version, change, crawl_seq, status_code, title, content_hash, word_count, text, created_at)
		SELECT page_seq, version, change, crawl_seq, status_code, title, content_hash, word_count, text, at FROM {rows} AS r`).Error
	if err != nil {
		return fmt.Errorf("store page versions: %w", err)
	}
	err = old.Exec(b.tx, "DELETE FROM page_versions WHERE seq IN (SELECT v.seq FROM {rows} AS r CROSS JOIN page_versions AS v WHERE v.page_seq = r.page_seq AND v.version <= r.version)").Error
	if err != nil {
		return fmt.Errorf("delete old page versions: %w", err)
	}
	return nil
}
