package crawl

import (
	"fmt"
	"net/http"

	"linkwatch/models"
)

// pageKey tells pages apart.
type pageKey struct {
	source int64
	hash   hash
}

// pages stores the pages, and counts each once per crawl.
func (b *batch) pages() error {
	latest := map[pageKey]Result{}
	keys := models.NewRows("source_seq bigint, url_hash bytes, crawl_seq bigint")
	for _, r := range b.results {
		if r.Page == nil {
			continue
		}
		k := pageKey{r.Page.SourceSeq, hashOf(r.Page.URL)}
		if _, twice := latest[k]; !twice {
			keys.Add(k.source, k.hash[:], r.Entry.CrawlSeq)
		}
		latest[k] = r
	}
	if len(latest) == 0 {
		return nil
	}
	var counted []struct {
		SourceSeq int64
		URLHash   []byte
	}
	err := keys.Raw(b.tx, `SELECT p.source_seq, p.url_hash FROM {rows} AS r CROSS JOIN crawled_pages AS p
		WHERE p.source_seq = r.source_seq AND p.url_hash = r.url_hash AND p.crawl_seq = r.crawl_seq`).Scan(&counted).Error
	if err != nil {
		return fmt.Errorf("looking for pages of this crawl: %w", err)
	}
	known := make(map[pageKey]bool, len(counted))
	for _, c := range counted {
		known[pageKey{c.SourceSeq, hash(c.URLHash)}] = true
	}
	fetched, broken := newPageRows(), newPageRows()
	for k, r := range latest {
		p := r.Page
		if !known[k] && r.Entry.Crawl.Execution != 0 {
			sum := b.sum(r.Entry)
			sum.crawled++
			if p.indexed() {
				sum.indexed++
			}
		}
		if r.Unchanged {
			continue
		}
		rows := fetched
		if p.StatusCode >= http.StatusBadRequest {
			rows = broken
		}
		rows.Add(k.source, p.CrawlSeq, p.URL, k.hash[:], p.StatusCode, p.ContentType, p.Title, p.Description, p.Language,
			p.OpenGraph.Title, p.OpenGraph.Description, p.OpenGraph.Image, p.OpenGraph.SiteName, p.OpenGraph.Type, p.ContentHash, p.LinksFound, p.NoIndex,
			p.ETag, p.LastModified, p.Outlinks, p.FetchedAt)
	}
	err = fetched.Exec(b.tx, insertPages+` crawl_seq = excluded.crawl_seq, status_code = excluded.status_code, content_type = excluded.content_type,
			title = excluded.title, description = excluded.description, language = excluded.language,
			og_title = excluded.og_title, og_description = excluded.og_description, og_image = excluded.og_image,
			og_site_name = excluded.og_site_name, og_type = excluded.og_type,
			changed_at = CASE WHEN crawled_pages.content_hash = excluded.content_hash THEN crawled_pages.changed_at ELSE excluded.fetched_at END,
			content_hash = excluded.content_hash, links_found = excluded.links_found, noindex = excluded.noindex,
			etag = excluded.etag, last_modified = excluded.last_modified, outlinks = excluded.outlinks, fetched_at = excluded.fetched_at`).Error
	if err == nil { // what a broken page said before is kept
		err = broken.Exec(b.tx, insertPages+" crawl_seq = excluded.crawl_seq, status_code = excluded.status_code, fetched_at = excluded.fetched_at").Error
	}
	if err != nil {
		return fmt.Errorf("storing pages: %w", err)
	}
	return nil
}

const pageColumns = `source_seq, crawl_seq, url, url_hash, status_code, content_type, title, description, language,
	og_title, og_description, og_image, og_site_name, og_type, content_hash, links_found, noindex, etag, last_modified, outlinks`

// insertPages stores new pages. What follows says what changes of those that are known.
const insertPages = "INSERT INTO crawled_pages (" + pageColumns + ", created_at, fetched_at, changed_at) SELECT " + pageColumns + `, at, at, at FROM {rows} AS r WHERE true
	ON CONFLICT (source_seq, url_hash) DO UPDATE SET`

func newPageRows() *models.Rows {
	return models.NewRows(`source_seq bigint, crawl_seq bigint, url text, url_hash bytes, status_code bigint, content_type text, title text, description text, language text,
		og_title text, og_description text, og_image text, og_site_name text, og_type text, content_hash text, links_found bigint, noindex boolean,
		etag text, last_modified text, outlinks text, at bigint`)
}

// unchanged notes when pages were fetched that are as they were.
func (b *batch) unchanged() error {
	rows := models.NewRows("source_seq bigint, url_hash bytes, crawl_seq bigint, at bigint")
	for _, r := range b.results {
		if r.Unchanged {
			h := hashOf(r.Page.URL)
			rows.Add(r.Page.SourceSeq, h[:], r.Page.CrawlSeq, r.Page.FetchedAt)
		}
	}
	return rows.Exec(b.tx, `UPDATE crawled_pages SET crawl_seq = r.crawl_seq, fetched_at = r.at FROM {rows} AS r
		WHERE crawled_pages.source_seq = r.source_seq AND crawled_pages.url_hash = r.url_hash`).Error
}

// discovered stores the links that lead out of the allowed domains.
func (b *batch) discovered() error {
	rows := models.NewRows("source_seq bigint, url text, url_hash bytes, text text, found_on text, created_at bigint")
	for _, r := range b.results {
		for _, d := range r.Discovered {
			k := entryKey{-d.SourceSeq, hashOf(d.URL)}
			if _, known := b.s.seen.GetIfPresent(k); known {
				continue
			}
			b.learned = append(b.learned, k)
			rows.Add(d.SourceSeq, d.URL, k.hash[:], d.Text, d.FoundOn, b.now)
		}
	}
	err := rows.Exec(b.tx, `INSERT INTO discovered_links (source_seq, url, url_hash, text, found_on, created_at)
		SELECT source_seq, url, url_hash, text, found_on, created_at FROM {rows} AS r WHERE true ON CONFLICT DO NOTHING`).Error
	if err != nil {
		return fmt.Errorf("storing discovered links: %w", err)
	}
	return nil
}
