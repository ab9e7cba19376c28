package crawl

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// DeleteEntry deletes an entry of the frontier. The error is CodeNotFound if there is none. A fetch that has already started
// is completed.
func (s *Store) DeleteEntry(ctx context.Context, id string) error {
	n, err := s.DeleteEntries(ctx, id)
	if err == nil && n == 0 {
		return models.NotFound("frontier entry")
	}
	return err
}

// DeleteEntries deletes up to MaxBulk entries of the frontier and returns their number. It skips unknown ids. Fetches that
// have already started are completed.
func (s *Store) DeleteEntries(ctx context.Context, ids ...string) (n int, err error) {
	rows, err := rowsOfIDs(models.KindFrontier, ids)
	if err != nil {
		return 0, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockRecord); err != nil { // so that queued stays correct
			return err
		}
		var gone []struct {
			Seq, CrawlSeq int64
			Status        EntryStatus
			CreatedAt     models.Time
		}
		visible, args := models.Visible(tx, "s")
		err := rows.Raw(tx, `DELETE FROM frontier WHERE seq IN (SELECT r.seq FROM {rows} AS r CROSS JOIN frontier AS f CROSS JOIN sources AS s
			WHERE f.seq = r.seq AND f.created_at = r.created_at AND s.seq = f.source_seq AND s.deleted_at IS NULL AND `+visible+`) RETURNING seq, crawl_seq, status, created_at`, args...).Scan(&gone).Error
		if err != nil {
			return err
		}
		n = len(gone)
		open, deleted := map[int64]int{}, make([]string, len(gone))
		for i, g := range gone {
			deleted[i] = FrontierEntry{Seq: g.Seq, CreatedAt: g.CreatedAt}.ID()
			if g.Status == EntryPending || g.Status == EntryFetching {
				open[g.CrawlSeq]++
			}
		}
		if err := s.audit(tx, "frontier_entry", "delete", deleted); err != nil {
			return err
		}
		return perCrawl(open).Exec(tx, `UPDATE job_executions SET queued = queued - r.n FROM {rows} AS r
			WHERE job_executions.crawl_seq = r.crawl_seq AND job_executions.status = 'running'`).Error
	})
	if err != nil {
		return 0, fmt.Errorf("delete frontier entries: %w", err)
	}
	return n, nil
}

// RetryEntries makes up to MaxBulk failed entries of the frontier pending again with no attempts, and returns their number.
// It skips entries that have not failed, and those that would not be fetched because their crawl is not running, or their
// source is disabled or deleted.
func (s *Store) RetryEntries(ctx context.Context, ids ...string) (n int, err error) {
	rows, err := rowsOfIDs(models.KindFrontier, ids)
	if err != nil {
		return 0, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockRecord); err != nil { // so that queued stays correct and no host is reaped
			return err
		}
		n, err = s.retry(tx, rows)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("retry frontier entries: %w", err)
	}
	if n > 0 {
		signal(s.urls)
	}
	return n, nil
}

// RetryEntry is RetryEntries for one entry. Errors are CodeNotFound, and CodeConflict if the entry cannot be retried.
func (s *Store) RetryEntry(ctx context.Context, id string) (FrontierEntry, error) {
	if _, err := s.Entry(ctx, id); err != nil {
		return FrontierEntry{}, err
	}
	n, err := s.RetryEntries(ctx, id)
	if err == nil && n == 0 {
		err = models.Conflict("Only a failed URL can be retried, while its source is enabled and its crawl is running.")
	}
	if err != nil {
		return FrontierEntry{}, err
	}
	return s.Entry(ctx, id)
}

// retry implements RetryEntries in a transaction that holds lockRecord.
func (s *Store) retry(tx *gorm.DB, wanted *models.Rows) (n int, err error) {
	var failed []struct {
		Seq       int64
		URL       string
		CreatedAt models.Time
	}
	visible, args := models.Visible(tx, "s")
	err = wanted.Raw(tx, `SELECT f.seq, f.url, f.created_at FROM {rows} AS r CROSS JOIN frontier AS f CROSS JOIN sources AS s
		WHERE f.seq = r.seq AND f.created_at = r.created_at AND f.status = 'failed' AND s.seq = f.source_seq AND s.enabled AND s.deleted_at IS NULL AND `+visible+`
			AND (f.crawl_seq = 0 OR EXISTS (SELECT 1 FROM job_executions AS e WHERE e.crawl_seq = f.crawl_seq AND e.status = 'running'))`, args...).Scan(&failed).Error
	if err != nil || len(failed) == 0 {
		return 0, err
	}
	// The host may have been reaped since: insert it again.
	hosts, rows, ids := map[string]bool{}, models.NewRows("seq bigint, host text"), make([]string, len(failed))
	for i, f := range failed {
		ids[i] = FrontierEntry{Seq: f.Seq, CreatedAt: f.CreatedAt}.ID()
		host := models.HostPort(f.URL)
		hosts[host] = true
		rows.Add(f.Seq, host)
	}
	if err := s.addHosts(tx, hosts); err != nil {
		return 0, err
	}
	var again []struct{ CrawlSeq, HostSeq int64 }
	err = rows.Raw(tx, `UPDATE frontier SET status = 'pending', attempts = 0, redirects = 0, last_error = '', updated_at = ?, host_seq = h.seq
		FROM {rows} AS r CROSS JOIN crawl_hosts AS h WHERE frontier.seq = r.seq AND h.host = r.host RETURNING frontier.crawl_seq, frontier.host_seq`, s.clock.Now()).Scan(&again).Error
	if err != nil {
		return 0, err
	}
	due, queued := map[int64]bool{}, map[int64]int{}
	for _, a := range again {
		due[a.HostSeq] = true
		queued[a.CrawlSeq]++
	}
	// An entry that failed in an interrupted execution of its crawl is counted in that execution.
	err = perCrawl(queued).Exec(tx, `UPDATE job_executions SET queued = queued + r.n, failed = CASE WHEN failed > r.n THEN failed - r.n ELSE 0 END
		FROM {rows} AS r WHERE job_executions.crawl_seq = r.crawl_seq AND job_executions.status = 'running'`).Error
	if err != nil {
		return 0, err
	}
	if err := s.audit(tx, "frontier_entry", "retry", ids); err != nil {
		return 0, err
	}
	return len(again), s.wakeHosts(tx, due)
}

// audit records one entry about all objects of a kind that were changed.
func (s *Store) audit(tx *gorm.DB, kind, verb string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	c := audit.Change{Action: kind + "." + verb}
	c.Subject, c.After = audit.Several(kind, ids)
	return audit.Add(tx, s.clock.Now(), c)
}

// perCrawl returns rows of a crawl and its number, without entries that were added manually.
func perCrawl(counts map[int64]int) *models.Rows {
	rows := models.NewRows("crawl_seq bigint, n bigint")
	for crawl, n := range counts {
		if crawl != 0 {
			rows.Add(crawl, n)
		}
	}
	return rows
}

// auditRestore records that n objects of a kind were restored.
func (s *Store) auditRestore(tx *gorm.DB, kind string, n int) error {
	if n == 0 {
		return nil
	}
	return audit.Add(tx, s.clock.Now(), audit.Change{Action: kind + ".restore", Subject: audit.Subject{Kind: kind}, After: audit.Values{"count": n}})
}
