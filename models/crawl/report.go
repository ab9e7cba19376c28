package crawl

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Limits of a report.
const (
	MaxBrokenLinks = 10_000 // rows stored; all are counted
	maxBroken      = 50_000 // URLs
	reportPages    = 500    // pages per batch
)

// Report runs after a crawl has completed. It finds duplicates of canonical URLs, pages that link to URLs that could not be
// fetched, and pages of earlier crawls that no page links to any more. It reads the pages of the source in batches. Another
// instance can continue it.
type Report struct {
	s         *Store
	execution Execution
	source    int64
	crawls    map[int64]bool // of its job
	broken    map[hash]string
	sole      bool // the source has no other job
	complete  bool // the crawl saw the whole site: no known page failed except by being removed
}

// NextReport returns the report of the first execution without one, or nil if all have one.
func (s *Store) NextReport(ctx context.Context) (*Report, error) {
	tx := s.db.Read(ctx)
	r := &Report{s: s, crawls: map[int64]bool{}, broken: map[hash]string{}}
	err := tx.Where("reported_page IS NOT NULL").Order("seq").Take(&r.execution).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil
	}
	if err == nil {
		err = tx.Raw("SELECT source_seq FROM jobs WHERE seq = ?", r.execution.JobSeq).Scan(&r.source).Error
	}
	var crawls []int64
	if err == nil {
		err = tx.Raw("SELECT DISTINCT crawl_seq FROM job_executions WHERE job_seq = ?", r.execution.JobSeq).Scan(&crawls).Error
	}
	var broken []struct{ URL, LinkedAs, LastError string }
	if err == nil {
		err = tx.Raw("SELECT url, linked_as, last_error FROM frontier WHERE crawl_seq = ? AND broken ORDER BY seq LIMIT ?", r.execution.CrawlSeq, maxBroken).Scan(&broken).Error
	}
	var failed, jobs int64
	if err == nil {
		// A page that cannot be read now may link to others.
		err = tx.Raw(`SELECT count(*) FROM (SELECT 1 FROM frontier AS f JOIN crawled_pages AS p ON p.source_seq = f.source_seq AND p.url_hash = f.url_hash
			WHERE f.crawl_seq = ? AND f.status = 'failed' AND f.last_error NOT IN ('status 404', 'status 410') AND p.text_version > 0 LIMIT 1) AS found`,
			r.execution.CrawlSeq).Scan(&failed).Error
	}
	if err == nil {
		err = tx.Raw("SELECT count(*) FROM jobs WHERE source_seq = ?", r.source).Scan(&jobs).Error
	}
	if err != nil {
		return nil, fmt.Errorf("start crawl report: %w", err)
	}
	r.sole = jobs == 1
	r.complete = failed == 0 && r.execution.HasFrontier // otherwise the reaper was faster
	for _, seq := range crawls {
		r.crawls[seq] = true
	}
	for _, b := range broken {
		r.broken[hashOf(b.URL)] = b.LastError
		if b.LinkedAs != "" {
			r.broken[hashOf(b.LinkedAs)] = b.LastError
		}
	}
	return r, nil
}

type reported struct {
	Page
	Linked []PageLink `gorm:"-"` // broken links
}

// Next processes the next batch of pages. done reports that there are no more, or that another instance is processing them.
func (r *Report) Next(ctx context.Context) (done bool, err error) {
	links := "NULL AS links"
	if len(r.broken) > 0 {
		links = "links"
	}
	var pages []reported
	err = r.s.db.Read(ctx).Raw("SELECT seq, url, crawl_seq, status_code, text_version, gone_at, canonical, duplicate, "+links+` FROM crawled_pages
		WHERE source_seq = ? AND seq > ? ORDER BY seq LIMIT ?`, r.source, *r.execution.ReportedPage, reportPages).Scan(&pages).Error
	if err != nil {
		return false, fmt.Errorf("read pages for crawl report: %w", err)
	}
	duplicates, err := r.duplicates(ctx, pages)
	if err != nil {
		return false, err
	}
	var gone []gonePage
	for i, p := range pages {
		switch {
		case p.CrawlSeq >= r.execution.CrawlSeq: // greater if a later crawl was faster than the report
			if !p.broken() && !p.Duplicate {
				pages[i].Linked = r.linked(p.Page)
			}
		case r.complete && (r.sole || r.crawls[p.CrawlSeq]) && p.TextVersion > 0 && p.GoneAt.IsZero():
			gone = append(gone, gonePage{pageKey: pageKey{r.source, hashOf(p.URL)}, crawl: r.execution.CrawlSeq, seen: p.CrawlSeq})
		}
	}
	var next *int64
	if len(pages) == reportPages {
		next = &pages[len(pages)-1].Seq
	}
	err = r.s.db.Write(ctx, func(tx *gorm.DB) error { return r.store(tx, pages, duplicates, gone, next) })
	if errors.Is(err, errReported) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("store crawl report: %w", err)
	}
	r.execution.ReportedPage = next
	signal(r.s.pages)
	return next == nil, nil
}

func (r *Report) linked(p Page) (out []PageLink) {
	for l, err := range p.EachLink() {
		if err == nil && r.broken[hashOf(l.URL)] != "" {
			out = append(out, l)
		}
	}
	return out
}

// errReported rolls back a batch that another instance has already stored.
var errReported = errors.New("another instance has stored this batch")

func (r *Report) store(tx *gorm.DB, pages, duplicates []reported, gone []gonePage, next *int64) error {
	if err := r.s.db.OneAtATime(tx, lockRecord); err != nil { // it updates pages
		return err
	}
	now := r.s.clock.Now()
	counts, err := r.storeDuplicates(tx, duplicates)
	if err != nil {
		return err
	}
	// Pages that the crawl tried to fetch, or that were fetched meanwhile, are not gone.
	unlinked, err := r.s.markGone(tx, gone, ` AND crawled_pages.crawl_seq = r.seen
		AND NOT EXISTS (SELECT 1 FROM frontier AS f WHERE f.crawl_seq = ? AND f.url_hash = crawled_pages.url_hash)`, r.execution.CrawlSeq)
	if err != nil {
		return err
	}
	found, kept := 0, models.NewRows("page_seq bigint, found_on text, url text, text text, error text")
	for _, p := range pages {
		for _, l := range p.Linked {
			if found++; r.execution.BrokenLinks+found <= MaxBrokenLinks {
				kept.Add(p.Seq, p.URL, l.URL, l.Text, r.broken[hashOf(l.URL)])
			}
		}
	}
	res := tx.Exec(`UPDATE job_executions SET reported_page = ?, broken_links = broken_links + ?, pages_new = pages_new + ?,
			pages_changed = pages_changed + ?, pages_gone = pages_gone + ? WHERE seq = ? AND reported_page = ?`,
		next, found, counts[PageNew]+counts[PageBack], counts[PageChanged], len(unlinked), r.execution.Seq, *r.execution.ReportedPage)
	if res.Error != nil {
		return res.Error
	}
	if res.RowsAffected == 0 {
		return errReported
	}
	r.execution.BrokenLinks += found
	return kept.Exec(tx, `INSERT INTO broken_links (execution_seq, page_seq, found_on, url, text, error, created_at)
		SELECT ?, page_seq, found_on, url, text, error, ? FROM {rows} AS r`, r.execution.Seq, now).Error
}

// BrokenLink is a link of a page to a URL that its crawl could not fetch.
type BrokenLink struct {
	Seq           int64 `gorm:"primaryKey"`
	PageSeq       int64
	FoundOn       string // URL of the page
	URL           string
	Text          string // of the link; "" = none
	Error         string
	CreatedAt     models.Time
	PageCreatedAt models.Time `gorm:"->"`
}

// PageID returns the id of the page that has the link.
func (b BrokenLink) PageID() string {
	return models.TimedID(models.KindCrawled, b.PageCreatedAt, b.PageSeq)
}

// BrokenLinks returns one page of the broken links that the report of an execution has found so far. limit comes from
// models.NewLimit.
func (s *Store) BrokenLinks(ctx context.Context, e Execution, after models.Cursor, limit int) (page models.Slice[BrokenLink], err error) {
	tx := s.db.Read(ctx)
	visible, args := ofVisibleSource(tx, "p.source_seq")
	q := models.ListQuery{Table: "broken_links AS b", From: "broken_links AS b JOIN crawled_pages AS p ON p.seq = b.page_seq", Where: visible, Args: args}
	q.And("b.execution_seq = ?", e.Seq)
	return BrokenOrders.List(tx, q, after, limit, func(p models.ListPart) (found []BrokenLink, err error) {
		err = p.Raw(tx, "SELECT b.*, p.created_at AS page_created_at FROM "+q.From+" WHERE").Scan(&found).Error
		if err != nil {
			err = fmt.Errorf("load broken links: %w", err)
		}
		return found, err
	})
}
