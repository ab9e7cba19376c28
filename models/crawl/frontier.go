package crawl

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// EntryStatus is the status of a URL in the frontier.
type EntryStatus string

// The statuses of an entry.
const (
	EntryPending  EntryStatus = "pending"
	EntryFetching EntryStatus = "fetching" // loaded by the instance that has claimed its host
	EntryDone     EntryStatus = "done"
	EntryFailed   EntryStatus = "failed"
)

// EntryStatuses lists all statuses of an entry.
var EntryStatuses = []EntryStatus{EntryPending, EntryFetching, EntryDone, EntryFailed}

// hash identifies a URL: the first 16 bytes of its SHA-256.
type hash [16]byte

func hashOf(url string) hash {
	sum := sha256.Sum256([]byte(url))
	return hash(sum[:16])
}

// entryKey identifies a URL of a crawl. With the negative key of a source it identifies a discovered link of that source.
type entryKey struct {
	crawl int64
	hash  hash
}

// patternKey identifies a path pattern of a crawl.
type patternKey struct {
	crawl int64
	hash  hash
}

// FoundURL is a normalized URL to add to the frontier.
type FoundURL struct {
	Crawl, Source int64
	URL           string
	Depth         int
	Reason        string // why it must not be fetched; "" = it will be fetched
}

// Reasons why a URL is not fetched.
const (
	ReasonRedirects = "too_many_redirects"
	ReasonDuplicate = "redirects to a URL of this crawl"
	ReasonPattern   = "too many pages of this kind"
	ReasonOutside   = "redirects out of the allowed domains"
	ReasonEnded     = "the crawl has ended"
	ReasonCanonical = "canonical is another URL"
	ReasonRobots    = "disallowed by robots.txt" // the same text as in outbound.Robots
)

// newEntry is an entry that enqueue inserted.
type newEntry struct {
	CrawlSeq int64
	HostSeq  int64
	URLHash  []byte
	Status   EntryStatus
}

// enqueue adds URLs to the frontier unless their crawl already has them, and makes their hosts due. It returns the new
// entries. No host may be reaped meanwhile.
func (s *Store) enqueue(tx *gorm.DB, found []FoundURL) (all []newEntry, err error) {
	if len(found) == 0 {
		return nil, nil
	}
	if err := s.db.OneAtATime(tx, lockRecord); err != nil {
		return nil, err
	}
	rows := models.NewRows("n bigint, crawl_seq bigint, source_seq bigint, host text, url text, url_hash bytes, depth bigint, last_error text")
	hosts := map[string]bool{}
	for i, f := range found {
		host, h := models.HostPort(f.URL), hashOf(f.URL)
		hosts[host] = true
		rows.Add(i, f.Crawl, f.Source, host, f.URL, h[:], f.Depth, f.Reason)
	}
	if err := s.addHosts(tx, hosts); err != nil {
		return nil, err
	}
	now := s.clock.Now()
	// With CROSS JOIN, SQLite keeps this order and looks up each host.
	err = rows.Raw(tx, `INSERT INTO frontier (crawl_seq, source_seq, scope_seq, host_seq, url, url_hash, depth, status, attempts, redirects, last_error, created_at, updated_at)
		SELECT r.crawl_seq, r.source_seq, CASE WHEN r.crawl_seq = 0 THEN coalesce((SELECT s.seq FROM sources AS s WHERE s.seq = r.source_seq AND s.private_to <> ''), 0) ELSE 0 END, h.seq, r.url, r.url_hash, r.depth, CASE r.last_error WHEN '' THEN 'pending' ELSE 'failed' END, 0, 0, r.last_error, ?, ?
		FROM {rows} AS r CROSS JOIN crawl_hosts AS h WHERE h.host = r.host ORDER BY r.n ON CONFLICT DO NOTHING RETURNING crawl_seq, host_seq, url_hash, status`, now, now).Scan(&all).Error
	if err != nil {
		return nil, fmt.Errorf("store frontier entries: %w", err)
	}
	due := map[int64]bool{}
	for _, e := range all {
		if e.Status == EntryPending {
			due[e.HostSeq] = true
		}
	}
	return all, s.wakeHosts(tx, due)
}

// Enqueue adds URLs to the frontier of an execution.
func (s *Store) Enqueue(ctx context.Context, e Execution, found []FoundURL) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		all, err := s.enqueue(tx, found)
		if err != nil {
			return err
		}
		queued := 0
		for _, a := range all {
			if a.Status == EntryPending {
				queued++
			}
		}
		return tx.Exec("UPDATE job_executions SET queued = queued + ?, failed = failed + ? WHERE seq = ?", queued, len(all)-queued, e.Seq).Error
	})
	if err != nil {
		return fmt.Errorf("add URLs to the frontier: %w", err)
	}
	signal(s.urls)
	return nil
}

// addHosts inserts the hosts that are new.
func (s *Store) addHosts(tx *gorm.DB, hosts map[string]bool) error {
	rows := models.NewRows("host text")
	for host := range hosts {
		rows.Add(host)
	}
	// Without WHERE NOT EXISTS, PostgreSQL would use up sequence numbers for existing hosts.
	err := rows.Exec(tx, `INSERT INTO crawl_hosts (host, claim, delay_ms, failures, slow)
		SELECT r.host, 0, 0, 0, false FROM {rows} AS r WHERE NOT EXISTS (SELECT 1 FROM crawl_hosts AS h WHERE h.host = r.host) ORDER BY r.host
		ON CONFLICT DO NOTHING`).Error
	if err != nil {
		return fmt.Errorf("store hosts: %w", err)
	}
	return nil
}

// wakeHosts makes idle hosts due. It updates all rows, even of due hosts: a concurrent transaction may be making a host idle.
// The update waits for that transaction and then makes the host due again.
func (s *Store) wakeHosts(tx *gorm.DB, due map[int64]bool) error {
	rows := models.NewRows("seq bigint")
	for seq := range due {
		rows.Add(seq)
	}
	err := rows.Exec(tx, `UPDATE crawl_hosts SET next_at = CASE WHEN next_at IS NULL THEN ? ELSE next_at END WHERE seq IN (SELECT seq FROM {rows} AS r)`, s.clock.Now()).Error
	if err != nil {
		return fmt.Errorf("make hosts due: %w", err)
	}
	return nil
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }
