package crawl

import (
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// How long the data of crawls is kept.
const (
	KeepExecutions   = 100             // the newest of each job
	KeepExecutionFor = 30 * models.Day // or KeepExecutions, if that is fewer
	KeepFrontier     = models.Day      // the entries of a crawl, after its end
	keepIdleHost     = 7 * 24 * time.Hour
	keepFeedEntry    = 60 * models.Day // after it was last in the feed
)

// excessExecutions selects executions (e) that are older than the newest KeepExecutions of their job (j). The number is written
// out because the partial index jobs_many uses it.
const excessExecutions = `jobs AS j JOIN job_executions AS e ON e.job_seq = j.seq AND e.execution_number <= j.executions - 100 WHERE j.executions > 100`

// ReapFrontier deletes up to limit entries of the frontier. It deletes entries of crawls that ended more than KeepFrontier
// ago or are not among the newest KeepExecutions of their job. It also deletes manual entries that were fetched more than
// KeepFrontier ago.
func (s *Store) ReapFrontier(tx *gorm.DB, limit int) (int64, error) {
	old := s.clock.Now().Add(-KeepFrontier)
	n, err := s.db.DeleteBatch(tx, limit, "frontier", "seq", "crawl_seq = 0 AND status IN ('done', 'failed') AND updated_at < ?", old)
	if err != nil || n == int64(limit) {
		return n, err
	}
	for n < int64(limit) {
		var e ended
		err := tx.Raw(`SELECT e.seq, e.crawl_seq FROM job_executions AS e JOIN jobs AS j ON j.seq = e.job_seq
			WHERE e.has_frontier AND e.status <> 'running' AND e.completed_at < ? AND (coalesce(j.crawl_seq, 0) <> e.crawl_seq OR j.deleted_at < ?)
			ORDER BY e.completed_at LIMIT 1`, old, s.clock.Now().Add(-KeepDeleted)).Scan(&e).Error
		if err != nil {
			return n, err
		}
		if e.Seq == 0 {
			break
		}
		deleted, err := s.reapFrontierOf(tx, limit-int(n), e)
		if n += deleted; err != nil {
			return n, err
		}
	}
	if n == int64(limit) {
		return n, nil
	}
	var beyond []ended
	err = tx.Raw("SELECT e.seq, e.crawl_seq FROM "+excessExecutions+" AND e.has_frontier AND e.status <> 'running' LIMIT ?", limit).Scan(&beyond).Error
	for _, e := range beyond {
		if err != nil || n == int64(limit) {
			break
		}
		var deleted int64
		deleted, err = s.reapFrontierOf(tx, limit-int(n), e)
		n += deleted
	}
	return n, err
}

type ended struct{ Seq, CrawlSeq int64 }

// reapFrontierOf deletes up to limit entries of the crawl of an execution. When none are left, it clears the execution's
// has_frontier.
func (s *Store) reapFrontierOf(tx *gorm.DB, limit int, e ended) (int64, error) {
	n, err := s.db.DeleteBatch(tx, limit, "frontier", "seq", "crawl_seq = ?", e.CrawlSeq)
	if err == nil && n < int64(limit) {
		err = tx.Exec("UPDATE job_executions SET has_frontier = false WHERE seq = ?", e.Seq).Error
	}
	return n, err
}

// ReapExecutions deletes up to limit executions with their logs. It deletes executions that ended more than
// KeepExecutionFor ago or are not among the newest KeepExecutions of their job. It skips executions that still have entries
// in the frontier.
func (s *Store) ReapExecutions(tx *gorm.DB, limit int) (int64, error) {
	limit = max(limit/16, 1) // each has a log of up to MaxLog bytes
	const gone = "status <> 'running' AND NOT has_frontier AND "
	n, err := s.db.DeleteBatch(tx, limit, "job_executions", "seq", gone+"completed_at < ? ORDER BY completed_at", s.clock.Now().Add(-KeepExecutionFor))
	if err != nil || n == int64(limit) {
		return n, err
	}
	more, err := s.db.DeleteBatch(tx, limit-int(n), "job_executions", "seq", gone+"seq IN (SELECT e.seq FROM "+excessExecutions+")")
	return n + more, err
}

// ReapHosts deletes up to limit hosts without a request for a week.
func (s *Store) ReapHosts(tx *gorm.DB, limit int) (int64, error) {
	if err := s.db.OneAtATime(tx, lockRecord); err != nil { // so that no URLs of these hosts are added
		return 0, err
	}
	return s.db.DeleteBatch(tx, limit, "crawl_hosts", "seq", `next_at IS NULL AND claimed_by IS NULL AND last_attempt_at < ?
		AND NOT EXISTS (SELECT 1 FROM frontier WHERE host_seq = crawl_hosts.seq AND `+openEntries+`) ORDER BY last_attempt_at`, s.clock.Now().Add(-keepIdleHost))
}

// ReapSources deletes up to limit rows of sources and jobs that can no longer be restored. It deletes the data of a source
// first, then the source with its jobs.
func (s *Store) ReapSources(tx *gorm.DB, limit int) (int64, error) {
	old := s.clock.Now().Add(-KeepDeleted)
	n, err := s.db.DeleteBatch(tx, limit, "jobs", "seq", `deleted_at < ? AND lock_token IS NULL
		AND NOT EXISTS (SELECT 1 FROM job_executions WHERE job_seq = jobs.seq) ORDER BY deleted_at`, old)
	if err != nil || n == int64(limit) {
		return n, err
	}
	var job int64
	const ended = "status <> 'running' AND NOT has_frontier"
	err = tx.Raw(`SELECT seq FROM jobs WHERE deleted_at < ? AND lock_token IS NULL AND EXISTS (
		SELECT 1 FROM job_executions WHERE job_seq = jobs.seq AND `+ended+`) ORDER BY deleted_at LIMIT 1`, old).Scan(&job).Error
	if err == nil && job != 0 {
		deleted, err := s.db.DeleteBatch(tx, limit-int(n), "job_executions", "seq", "job_seq = ? AND "+ended, job)
		return n + deleted, err
	}
	if err != nil {
		return n, err
	}
	var source int64
	err = tx.Raw("SELECT seq FROM sources WHERE deleted_at < ? AND NOT EXISTS (SELECT 1 FROM jobs WHERE source_seq = sources.seq) ORDER BY deleted_at LIMIT 1", old).
		Scan(&source).Error
	if err != nil || source == 0 {
		return n, err
	}
	deleted, err := s.reapPages(tx, limit-int(n), "source_seq = ? ORDER BY seq", source)
	if n += deleted; err != nil || deleted > 0 { // there may be more
		return n, err
	}
	for _, table := range []string{"frontier", "discovered_links"} {
		deleted, err := s.db.DeleteBatch(tx, limit-int(n), table, "seq", "source_seq = ?", source)
		if n += deleted; err != nil || n == int64(limit) {
			return n, err
		}
	}
	if n, err = s.reapFeeds(tx, limit, n, source); err != nil || n == int64(limit) {
		return n, err
	}
	deleted, err = s.db.DeleteBatch(tx, limit-int(n), "sources", "seq", "seq = ?", source)
	return n + deleted, err
}

// reapFeeds deletes the feeds of a source with their entries. n rows of limit are already used. It returns the new number.
func (s *Store) reapFeeds(tx *gorm.DB, limit int, n, source int64) (int64, error) {
	deleted, err := s.db.DeleteBatch(tx, limit-int(n), "feed_entries", "feed_seq, url_hash", "feed_seq IN (SELECT seq FROM feeds WHERE source_seq = ?)", source)
	if n += deleted; err != nil || n == int64(limit) {
		return n, err
	}
	deleted, err = s.db.DeleteBatch(tx, limit-int(n), "feeds", "seq", "source_seq = ?", source)
	return n + deleted, err
}

// ReapFeedEntries deletes up to limit entries that have not been in their feed for keepFeedEntry. Active feeds are read in
// full more often than that.
func (s *Store) ReapFeedEntries(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "feed_entries", "feed_seq, url_hash", "seen_at < ? ORDER BY seen_at", s.clock.Now().Add(-keepFeedEntry))
}
