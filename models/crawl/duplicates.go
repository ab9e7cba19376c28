package crawl

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// searchable is the condition for pages (c) that search can find. See Page.indexed.
const searchable = `c.status_code = 200 AND c.content_hash <> '' AND NOT c.noindex
	AND c.gone_at IS NULL AND c.deleted_at IS NULL`

// A canonical URL is a hint (RFC 6596). A page is a duplicate of it only if the crawl has also read the canonical URL,
// and search can find the page there: status 200 with a text, without noindex, and without another canonical URL. Any
// other page is listed, for example if its canonical URL redirects, fails, is disallowed, or names the page in turn.
//
// A duplicate is stored like any other page. Lists, searches, changes, events and broken links leave it out.

// duplicates updates Duplicate of pages that the crawl has read and returns those that changed. Pages that the crawl
// has not read, for example because of an error or a temporary redirect, stay as they are.
func (r *Report) duplicates(ctx context.Context, pages []reported) (changed []reported, err error) {
	rows, canonical := models.NewRows("n bigint, url_hash bytes, canonical_hash bytes"), map[int]string{}
	for i, p := range pages {
		if to, ok := p.OtherCanonical(); ok && p.CrawlSeq == r.execution.CrawlSeq { // greater after a later crawl
			own, other := hashOf(p.URL), hashOf(to)
			rows.Add(i, own[:], other[:])
			canonical[i] = to
		}
	}
	if rows.Len() == 0 {
		return nil, nil
	}
	var read []struct {
		N     int
		Names *string // the canonical URL of the page at the canonical URL; nil = search cannot find that page
	}
	err = rows.Raw(r.s.db.Read(ctx), `SELECT r.n, (SELECT c.canonical FROM frontier AS o CROSS JOIN crawled_pages AS c
			WHERE f.last_error = ? AND o.crawl_seq = f.crawl_seq AND o.url_hash = r.canonical_hash
				AND o.status = 'done' AND o.last_error = '' AND c.source_seq = ? AND c.url_hash = o.url_hash AND `+searchable+`) AS names
		FROM {rows} AS r CROSS JOIN frontier AS f
		WHERE f.crawl_seq = ? AND f.url_hash = r.url_hash AND f.status = 'done' AND f.last_error IN ('', ?)`,
		ReasonCanonical, r.source, r.execution.CrawlSeq, ReasonCanonical).Scan(&read).Error
	if err != nil {
		return nil, fmt.Errorf("find duplicate pages: %w", err)
	}
	for _, f := range read {
		duplicate := f.Names != nil && isCanonical(canonical[f.N], *f.Names)
		if p := &pages[f.N]; p.Duplicate != duplicate {
			p.Duplicate = duplicate
			changed = append(changed, *p)
		}
	}
	return changed, nil
}

// isCanonical reports whether the page at a normalized URL is canonical itself. names is the canonical URL that it
// names.
func isCanonical(url, names string) bool {
	_, other := Page{URL: url, Canonical: names}.OtherCanonical()
	return !other
}

// duplicates returns which manually added pages are duplicates of pages that are stored already. Reports do not read
// them.
func (b *batch) duplicates(latest map[pageKey]Result) (map[pageKey]bool, error) {
	rows := models.NewRows("source_seq bigint, url_hash bytes, canonical_hash bytes")
	canonical := map[pageKey]string{}
	for k, r := range latest {
		if r.Entry.CrawlSeq == manualCrawl && r.Reason == ReasonCanonical {
			canonical[k], _ = r.Page.OtherCanonical()
			other := hashOf(canonical[k])
			rows.Add(k.source, k.hash[:], other[:])
		}
	}
	if rows.Len() == 0 {
		return nil, nil
	}
	var found []struct {
		SourceSeq int64
		URLHash   []byte
		Names     string
	}
	err := rows.Raw(b.tx, `SELECT r.source_seq, r.url_hash, c.canonical AS names FROM {rows} AS r CROSS JOIN crawled_pages AS c
		WHERE c.source_seq = r.source_seq AND c.url_hash = r.canonical_hash AND `+searchable).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("find duplicates of stored pages: %w", err)
	}
	duplicates := map[pageKey]bool{}
	for _, f := range found {
		k := pageKey{f.SourceSeq, hash(f.URLHash)}
		duplicates[k] = isCanonical(canonical[k], f.Names)
	}
	return duplicates, nil
}

// storeDuplicates stores Duplicate of pages and returns by how much it changes the numbers of changes of the crawl.
func (r *Report) storeDuplicates(tx *gorm.DB, pages []reported) (map[Change]int, error) {
	if len(pages) == 0 {
		return nil, nil
	}
	rows := models.NewRows("seq bigint, duplicate boolean")
	for _, p := range pages {
		rows.Add(p.Seq, p.Duplicate)
	}
	var stored []Page
	err := rows.Raw(tx, `UPDATE crawled_pages SET duplicate = r.duplicate, revision = revision + 1, unindexed = true,
			unsent = unsent OR (? AND `+ofSharedSource+`crawled_pages.source_seq))
		FROM {rows} AS r
		WHERE crawled_pages.seq = r.seq AND crawled_pages.crawl_seq = ? AND crawled_pages.duplicate <> r.duplicate
		RETURNING crawled_pages.seq, crawled_pages.duplicate`, r.s.opts.Elasticsearch, r.execution.CrawlSeq).Scan(&stored).Error
	if err != nil {
		return nil, fmt.Errorf("mark duplicate pages: %w", err)
	}
	rows = models.NewRows("page_seq bigint, n bigint")
	for _, p := range stored {
		n := 1
		if p.Duplicate {
			n = -1
		}
		rows.Add(p.Seq, n)
	}
	var versions []struct {
		Change Change
		N      int
	}
	err = rows.Raw(tx, `SELECT v.change, r.n FROM {rows} AS r CROSS JOIN page_versions AS v
		WHERE v.page_seq = r.page_seq AND v.crawl_seq = ?`, r.execution.CrawlSeq).Scan(&versions).Error
	if err != nil {
		return nil, fmt.Errorf("count changes of duplicate pages: %w", err)
	}
	counts := map[Change]int{}
	for _, v := range versions {
		counts[v.Change] += v.N
	}
	return counts, nil
}
