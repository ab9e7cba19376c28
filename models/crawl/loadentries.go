package crawl

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Crawl is the part of a crawl that a fetch needs to know.
type Crawl struct {
	Seq       int64 // 0: the URL was added manually
	Execution int64 // key of the running execution; 0 = none
	Source    int64
	MaxDepth  int // links are followed from pages above this depth
	Domains   Domains
	Start     authority // of the source's URL, for Domains
	RateLimit time.Duration
}

// Allows reports whether the crawl may fetch a normalized URL.
func (c *Crawl) Allows(url string) bool { return c.Domains.allow(authorityOf(url), c.Start) }

// Entry is a URL of the frontier that is loaded to be fetched.
type Entry struct {
	Seq          int64
	CrawlSeq     int64
	SourceSeq    int64
	URL          string
	Depth        int
	Attempts     int    // failed attempts
	Redirects    int    // redirects followed to this URL
	ETag         string `gorm:"column:etag"` // of the last fetch; "" = none
	LastModified string
	Cookies      string // that the redirects to this URL have set; "" = none
	Crawl        *Crawl `gorm:"-"`
}

// InFrontier reports whether a crawl is known to have a URL. false means unknown. With the negative key of a source it is
// about discovered links.
func (s *Store) InFrontier(crawl int64, url string) bool {
	_, known := s.seen.GetIfPresent(entryKey{crawl, hashOf(url)})
	return known
}

// IsStartPage reports whether the entry is the start page of an execution.
func (e Entry) IsStartPage() bool { return e.Depth == 0 && e.CrawlSeq != 0 }

// Maximum entries of a batch and bytes of their URLs. They are in memory for each host that an instance holds.
const (
	MaxBatchEntries = 64
	maxURLBytes     = 16 << 10
	maxClosed       = 256 // entries to close per call, of crawls that have ended
)

const openEntries = "status IN ('pending', 'fetching')"

// fetchableEntries are the entries of a host to fetch: those of running crawls, and manual ones whose source is enabled.
const fetchableEntries = openEntries + ` AND (crawl_seq <> 0 AND EXISTS (SELECT 1 FROM job_executions AS e WHERE e.crawl_seq = frontier.crawl_seq AND e.status = 'running')
	OR crawl_seq = 0 AND EXISTS (SELECT 1 FROM sources AS s WHERE s.seq = frontier.source_seq AND s.enabled AND s.deleted_at IS NULL))`

// missingCopy is the condition for pages (p) without the archived copy that they should have. They are fetched in full.
const missingCopy = `? AND NOT EXISTS (SELECT 1 FROM archived_pages AS a JOIN archived_bodies AS b ON b.hash = a.hash AND b.pack_seq IS NOT NULL
	WHERE a.source_seq = p.source_seq AND a.url_hash = p.url_hash AND a.fetched_at >= p.fetched_at)`

// LoadEntries returns up to n entries to fetch next from a host that the caller has claimed, and marks them as fetching. It skips
// entries of interrupted crawls and closes some of crawls that have ended. The caller requests the host immediately.
func (s *Store) LoadEntries(ctx context.Context, h Host, n int) ([]Entry, error) {
	tx := s.db.Read(ctx)
	var all, live []Entry
	err := tx.Raw(`SELECT f.seq, f.crawl_seq, f.source_seq, f.url, f.depth, f.attempts, f.redirects, f.cookies,
			coalesce(CASE WHEN `+missingCopy+` THEN '' ELSE p.etag END, '') AS etag,
			coalesce(CASE WHEN `+missingCopy+` THEN '' ELSE p.last_modified END, '') AS last_modified
		FROM (SELECT * FROM frontier WHERE host_seq = ? AND `+fetchableEntries+` ORDER BY attempts, depth, seq LIMIT ?) AS f
		LEFT JOIN crawled_pages AS p ON p.source_seq = f.source_seq AND p.url_hash = f.url_hash
		ORDER BY f.attempts, f.depth, f.seq`, s.opts.Archive, s.opts.Archive, h.Seq, min(n, MaxBatchEntries)).Scan(&all).Error
	if err != nil {
		return nil, fmt.Errorf("load frontier entries to fetch: %w", err)
	}
	crawls, err := s.crawls(tx, all)
	if err != nil {
		return nil, err
	}
	rows, bytes, delay := models.NewRows("seq bigint"), 0, time.Duration(0)
	for _, e := range all {
		if e.Crawl = crawls[crawlOf(e)]; e.Crawl == nil { // it has just ended
			continue
		}
		if bytes += len(e.URL); bytes > maxURLBytes && len(live) > 0 {
			break
		}
		live = append(live, e)
		rows.Add(e.Seq)
		delay = max(delay, e.Crawl.RateLimit)
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		now := s.clock.Now()
		if err := s.closeEnded(tx, h, now); err != nil {
			return err
		}
		if ms(delay) > h.DelayMS { // the pause that other instances keep if this one dies
			err := tx.Exec("UPDATE crawl_hosts SET delay_ms = ?, next_at = ? WHERE seq = ? AND claimed_by = ? AND claim = ?",
				ms(delay), now.Add(MaxClaimTime+delay), h.Seq, h.ClaimedBy, h.Claim).Error
			if err != nil {
				return err
			}
		}
		if now.Sub(h.LastAttemptAt.Time) > s.opts.StaleAfter { // it did not hang: it had nothing to do, or waited for a worker
			if err := tx.Exec("UPDATE crawl_hosts SET silent_since = ? WHERE seq = ? AND claimed_by = ? AND claim = ?", now, h.Seq, h.ClaimedBy, h.Claim).Error; err != nil {
				return err
			}
		}
		return rows.Exec(tx, "UPDATE frontier SET status = 'fetching', updated_at = ? WHERE seq IN (SELECT seq FROM {rows} AS r) AND status = 'pending'", now).Error
	})
	if err != nil {
		return nil, fmt.Errorf("mark frontier entries as fetching: %w", err)
	}
	return live, nil
}

// crawlKey identifies a crawl, or the source of manual entries.
type crawlKey struct{ crawl, source int64 }

func crawlOf(e Entry) crawlKey {
	if e.CrawlSeq != 0 {
		return crawlKey{crawl: e.CrawlSeq}
	}
	return crawlKey{source: e.SourceSeq}
}

// crawls returns the running crawls of entries, and the sources of manual entries.
func (s *Store) crawls(tx *gorm.DB, entries []Entry) (map[crawlKey]*Crawl, error) {
	rows, seen := models.NewRows("crawl_seq bigint, source_seq bigint"), map[crawlKey]bool{}
	for _, e := range entries {
		if k := crawlOf(e); !seen[k] {
			seen[k] = true
			rows.Add(k.crawl, k.source)
		}
	}
	if rows.Len() == 0 {
		return nil, nil
	}
	var found []struct {
		Crawl, Execution, Source int64
		Host                     string
		Port                     int
		MaxDepth, RateLimitMS    int
		AllowedDomains           Domains
	}
	err := rows.Raw(tx, `SELECT r.crawl_seq AS crawl, coalesce(e.seq, 0) AS execution, s.seq AS source, s.host, s.port, s.max_depth,
			s.rate_limit_ms, s.allowed_domains
		FROM {rows} AS r LEFT JOIN job_executions AS e ON e.crawl_seq = r.crawl_seq AND e.status = 'running' LEFT JOIN jobs AS j ON j.seq = e.job_seq
		JOIN sources AS s ON s.seq = CASE r.crawl_seq WHEN 0 THEN r.source_seq ELSE j.source_seq END
		WHERE s.enabled AND s.deleted_at IS NULL`).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("load crawls of URLs: %w", err)
	}
	crawls := map[crawlKey]*Crawl{}
	for _, f := range found {
		if f.Crawl != 0 && f.Execution == 0 { // it has just ended
			continue
		}
		c := &Crawl{
			Seq: f.Crawl, Execution: f.Execution, Source: f.Source, MaxDepth: depthOf(f.MaxDepth),
			Domains: f.AllowedDomains, Start: authority{f.Host, f.Port}, RateLimit: time.Duration(f.RateLimitMS) * time.Millisecond,
		}
		if c.Seq == 0 {
			c.MaxDepth = 0 // links of manually added URLs are not followed
			crawls[crawlKey{source: f.Source}] = c
		} else {
			crawls[crawlKey{crawl: f.Crawl}] = c
		}
	}
	return crawls, nil
}

// closeEnded closes some of the first entries of a host whose crawls have ended, so that later reads do not have to skip
// them. An interrupted crawl that will be continued has not ended. Manual entries of a disabled or deleted source wait.
func (s *Store) closeEnded(tx *gorm.DB, h Host, now models.Time) error {
	return tx.Exec(`UPDATE frontier SET status = 'failed', last_error = ?, updated_at = ? WHERE seq IN (
			SELECT f.seq FROM (SELECT seq, crawl_seq FROM frontier WHERE host_seq = ? AND `+openEntries+` ORDER BY attempts, depth, seq LIMIT ?) AS f
			WHERE f.crawl_seq <> 0 AND NOT EXISTS (
				SELECT 1 FROM job_executions AS e JOIN jobs AS j ON j.seq = e.job_seq
				WHERE e.crawl_seq = f.crawl_seq AND (e.status = 'running' OR j.crawl_seq = f.crawl_seq)))`,
		ReasonEnded, now, h.Seq, maxClosed).Error
}

// StillRunning returns which of the executions are running.
func (s *Store) StillRunning(ctx context.Context, executions map[int64]bool) (map[int64]bool, error) {
	rows := models.NewRows("seq bigint")
	for seq := range executions {
		rows.Add(seq)
	}
	var found []int64
	err := rows.Raw(s.db.Read(ctx), "SELECT e.seq FROM {rows} AS r CROSS JOIN job_executions AS e WHERE e.seq = r.seq AND e.status = 'running'").Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("find running executions: %w", err)
	}
	running := make(map[int64]bool, len(found))
	for _, seq := range found {
		running[seq] = true
	}
	return running, nil
}

// activeExecutions returns the newest execution of each crawl that has not ended: it is running, or was interrupted and will be
// continued.
func (s *Store) activeExecutions(tx *gorm.DB, crawls map[int64]bool) (map[int64]activeExecution, error) {
	rows := models.NewRows("crawl_seq bigint")
	for crawl := range crawls {
		rows.Add(crawl)
	}
	var found []activeExecution
	err := rows.Raw(tx, `SELECT r.crawl_seq, e.seq FROM {rows} AS r
		JOIN job_executions AS e ON e.seq = (SELECT max(n.seq) FROM job_executions AS n WHERE n.crawl_seq = r.crawl_seq) JOIN jobs AS j ON j.seq = e.job_seq
		WHERE e.status = 'running' OR j.crawl_seq = r.crawl_seq`).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("find running crawls: %w", err)
	}
	going := make(map[int64]activeExecution, len(found))
	for _, e := range found {
		going[e.CrawlSeq] = e
	}
	return going, nil
}

// activeExecution is an execution of a crawl that has not ended.
type activeExecution struct{ CrawlSeq, Seq int64 }

// StoredPage returns the stored page of a URL of a source. ok is false if there is none.
func (s *Store) StoredPage(ctx context.Context, source int64, url string) (p Page, ok bool, err error) {
	h := hashOf(url)
	var found []Page
	err = s.db.Read(ctx).Where("source_seq = ? AND url_hash = ?", source, h[:]).Find(&found).Error
	if err != nil || len(found) == 0 {
		return Page{}, false, err
	}
	return found[0], true, nil
}
