package crawl

import (
	"fmt"
	"net/http"

	"linkwatch/models"
)

type pageKey struct {
	source int64
	hash   hash
}

// pages stores the pages, counts each one once per crawl, and records changes.
func (b *batch) pages() error {
	latest := map[pageKey]Result{}
	keys := models.NewRows("source_seq bigint, url_hash bytes")
	for _, r := range b.results {
		if r.Page == nil {
			continue
		}
		k := pageKey{r.Page.SourceSeq, hashOf(r.Page.URL)}
		if _, twice := latest[k]; !twice {
			keys.Add(k.source, k.hash[:])
		}
		latest[k] = r
	}
	if len(latest) == 0 {
		return nil
	}
	before, err := b.storedStates(keys)
	if err != nil {
		return err
	}
	duplicates, err := b.duplicates(latest)
	if err != nil {
		return err
	}
	fetched, broken := newPageRows(), newPageRows()
	news := map[pageKey]newVersion{}
	for k, r := range latest {
		// The report of the crawl decides again.
		r.Page.Duplicate = before[k].Duplicate && (r.Page.broken() || r.Page.Canonical == before[k].Canonical)
		if r.Entry.CrawlSeq == manualCrawl && !r.Page.broken() {
			r.Page.Duplicate = duplicates[k]
		}
		p := *r.Page
		b.count(r, before[k])
		if r.Unchanged {
			continue
		}
		if c := p.change(before[k]); c != "" {
			news[k] = newVersion{p, c}
			if r.Entry.Crawl.Execution != 0 && !p.Duplicate {
				b.sum(r.Entry).changes[c]++
			}
		}
		rows := fetched
		if p.broken() {
			rows = broken
		}
		rows.Add(k.source, p.CrawlSeq, p.URL, k.hash[:], p.StatusCode, p.ContentType, p.Title, p.Description, p.Language,
			p.OpenGraph.Title, p.OpenGraph.Description, p.OpenGraph.Image, p.OpenGraph.SiteName, p.OpenGraph.Type, p.ContentHash, p.LinksFound, p.NoIndex, p.Canonical,
			p.ETag, p.LastModified, p.Author, p.PublishedAt, p.ModifiedAt, p.Headings, p.JSONLD, p.WordCount, []byte(p.Links), p.Versions, p.TextVersion,
			p.Revision, p.GoneAt, p.Duplicate, p.Unindexed, p.Unindexed && b.s.opts.Elasticsearch, p.FetchedAt)
	}
	seqs, pages := map[pageKey]int64{}, map[pageKey]Page{}
	for _, upsert := range []struct {
		rows *models.Rows
		set  string
	}{{fetched, setFetched}, {broken, setBroken}} {
		var stored []struct {
			Seq, SourceSeq int64
			URLHash        []byte
			CreatedAt      models.Time
		}
		if upsert.rows.Len() == 0 {
			continue
		}
		if err := upsert.rows.Raw(b.tx, insertPages+upsert.set+" RETURNING seq, source_seq, url_hash, created_at").Scan(&stored).Error; err != nil {
			return fmt.Errorf("store pages: %w", err)
		}
		for _, s := range stored {
			k := pageKey{s.SourceSeq, hash(s.URLHash)}
			seqs[k], pages[k] = s.Seq, Page{Seq: s.Seq, CreatedAt: s.CreatedAt}
		}
	}
	if err := b.changes(news, pages); err != nil {
		return err
	}
	return b.versions(news, seqs)
}

// count adds a page to the sum of its execution, unless its crawl has already stored it.
func (b *batch) count(r Result, old storedState) {
	if r.Entry.Crawl.Execution == 0 || old.Seq != 0 && old.CrawlSeq == r.Entry.CrawlSeq {
		return
	}
	sum := b.sum(r.Entry)
	sum.crawled++
	if r.Page.StatusCode == http.StatusOK && r.Page.indexed() {
		sum.indexed++
	}
}

const pageColumns = `source_seq, crawl_seq, url, url_hash, status_code, content_type, title, description, language,
	og_title, og_description, og_image, og_site_name, og_type, content_hash, links_found, noindex, canonical, etag, last_modified, author, published_at, modified_at,
	headings, json_ld, word_count, links, versions, text_version, revision, gone_at, duplicate, unindexed, unsent`

// insertPages inserts new pages. A clause for existing pages follows. The last column is unsent.
const insertPages = "INSERT INTO crawled_pages (" + pageColumns + ", created_at, fetched_at, changed_at) SELECT " + pageColumns + " AND " + ofSharedSource + "r.source_seq)" + `, at, at, at FROM {rows} AS r WHERE true
	ON CONFLICT (source_seq, url_hash) DO UPDATE SET`

const (
	setFetched = ` crawl_seq = excluded.crawl_seq, status_code = excluded.status_code, content_type = excluded.content_type,
		title = excluded.title, description = excluded.description, language = excluded.language,
		og_title = excluded.og_title, og_description = excluded.og_description, og_image = excluded.og_image,
		og_site_name = excluded.og_site_name, og_type = excluded.og_type,
		changed_at = CASE WHEN crawled_pages.content_hash = excluded.content_hash THEN crawled_pages.changed_at ELSE excluded.fetched_at END,
		content_hash = excluded.content_hash, links_found = excluded.links_found, noindex = excluded.noindex, canonical = excluded.canonical, etag = excluded.etag, last_modified = excluded.last_modified,
		author = excluded.author, published_at = excluded.published_at, modified_at = excluded.modified_at, headings = excluded.headings, json_ld = excluded.json_ld,
		word_count = excluded.word_count, links = excluded.links, versions = excluded.versions, text_version = excluded.text_version, revision = excluded.revision,
		gone_at = NULL, deleted_at = NULL, duplicate = excluded.duplicate, unindexed = crawled_pages.unindexed OR excluded.unindexed, unsent = crawled_pages.unsent OR excluded.unsent, fetched_at = excluded.fetched_at`
	// A broken page keeps its earlier content.
	setBroken = ` crawl_seq = excluded.crawl_seq, status_code = excluded.status_code, versions = excluded.versions, revision = excluded.revision,
		gone_at = coalesce(crawled_pages.gone_at, excluded.gone_at), unindexed = crawled_pages.unindexed OR excluded.unindexed,
		unsent = crawled_pages.unsent OR excluded.unsent, fetched_at = excluded.fetched_at, etag = '', last_modified = ''`
)

func newPageRows() *models.Rows {
	return models.NewRows(`source_seq bigint, crawl_seq bigint, url text, url_hash bytes, status_code bigint, content_type text, title text, description text, language text,
		og_title text, og_description text, og_image text, og_site_name text, og_type text, content_hash text, links_found bigint, noindex boolean, canonical text,
		etag text, last_modified text, author text, published_at bigint, modified_at bigint, headings text, json_ld text, word_count bigint, links bytes,
		versions bigint, text_version bigint, revision bigint, gone_at bigint, duplicate boolean, unindexed boolean, unsent boolean, at bigint`)
}

// changesSearch is the condition for unchanged pages that search shows or hides because they were fetched again.
const changesSearch = "gone_at IS NOT NULL OR deleted_at IS NOT NULL OR crawled_pages.duplicate <> r.duplicate"

// unchanged updates the fetch time of pages that have not changed.
func (b *batch) unchanged() error {
	rows := models.NewRows("source_seq bigint, url_hash bytes, crawl_seq bigint, duplicate boolean, at bigint")
	for _, r := range b.results {
		if r.Unchanged {
			h := hashOf(r.Page.URL)
			rows.Add(r.Page.SourceSeq, h[:], r.Page.CrawlSeq, r.Page.Duplicate, r.Page.FetchedAt)
		}
	}
	// Only the copy of the current content is updated, not an older one.
	err := rows.Exec(b.tx, `UPDATE archived_pages SET fetched_at = r.at FROM {rows} AS r CROSS JOIN crawled_pages AS p
		WHERE p.source_seq = r.source_seq AND p.url_hash = r.url_hash AND archived_pages.fetched_at >= p.fetched_at AND archived_pages.seq = (
			SELECT a.seq FROM archived_pages AS a WHERE a.source_seq = r.source_seq AND a.url_hash = r.url_hash ORDER BY a.fetched_at DESC LIMIT 1)`).Error
	if err != nil {
		return err
	}
	return rows.Exec(b.tx, `UPDATE crawled_pages SET crawl_seq = r.crawl_seq, fetched_at = r.at, gone_at = NULL, deleted_at = NULL, duplicate = r.duplicate,
			unindexed = unindexed OR `+changesSearch+`, unsent = unsent OR (? AND (`+changesSearch+`) AND `+ofSharedSource+`r.source_seq)),
			revision = revision + CASE WHEN `+changesSearch+` THEN 1 ELSE 0 END
		FROM {rows} AS r WHERE crawled_pages.source_seq = r.source_seq AND crawled_pages.url_hash = r.url_hash`, b.s.opts.Elasticsearch).Error
}

// discovered stores links to hosts outside the allowed domains. It restores deleted ones.
func (b *batch) discovered() error {
	rows := models.NewRows("source_seq bigint, url text, url_hash bytes, text text, found_on text, created_at bigint")
	found := map[entryKey]bool{} // one statement cannot update the same link twice
	for _, r := range b.results {
		for _, d := range r.Discovered {
			k := entryKey{-d.SourceSeq, hashOf(d.URL)}
			if _, known := b.s.seen.GetIfPresent(k); known || found[k] {
				continue
			}
			found[k] = true
			b.learned = append(b.learned, k)
			rows.Add(d.SourceSeq, d.URL, k.hash[:], d.Text, d.FoundOn, b.now)
		}
	}
	err := rows.Exec(b.tx, `INSERT INTO discovered_links (source_seq, url, url_hash, text, found_on, created_at)
		SELECT source_seq, url, url_hash, text, found_on, created_at FROM {rows} AS r WHERE true
		ON CONFLICT (source_seq, url_hash) DO UPDATE SET deleted_at = NULL WHERE discovered_links.deleted_at IS NOT NULL`).Error
	if err != nil {
		return fmt.Errorf("store discovered links: %w", err)
	}
	return nil
}
