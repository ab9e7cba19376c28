package crawl

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/lease"
)

// Host is a host that an instance has claimed. Until it is released, only that instance sends requests to it, one at a time.
type Host struct {
	Seq           int64
	Host          string // with its port, unless it is the default port of the scheme
	NextAt        models.Time
	ClaimedBy     lease.ID
	Claim         int64 // number of claims so far: distinguishes two claims of an instance
	DelayMS       int64 // pause between two requests, as last used
	Failures      int   // consecutive
	Slow          bool  // the last request was slow
	LastAttemptAt models.Time
}

// silentSince returns the time since when the host of a batch has not responded: the end of the pause after its last response,
// or its last response if requests failed since. The zero time means unknown.
func (t *HostBatch) silentSince(now models.Time) models.Time {
	responded, last := false, t.Failures == 0 // any result is a response, and the last one is
	for _, r := range t.Results {
		last = !r.Unreachable
		responded = responded || last
	}
	switch {
	case last && t.NextAt.After(now.Time):
		return t.NextAt
	case responded:
		return now
	}
	return models.Time{}
}

// MaxClaimTime is the maximum time for which an instance fetches from a claimed host before it stores the results and releases
// it.
const MaxClaimTime = 2 * time.Second

// ClaimHosts claims up to n hosts that are due and have URLs in the frontier, the longest overdue first. An instance that
// already holds hosts gets its share only: all such hosts divided by the number of instances. next is when the next of the
// others is due, or zero if there is none.
func (s *Store) ClaimHosts(ctx context.Context, holder lease.ID, n, claimed int) (hosts []Host, next models.Time, err error) {
	now := s.clock.Now()
	next, err = lease.Claim(ctx, s.db, holder, now, firstHost, func(tx *gorm.DB) error {
		hosts = nil
		share, err := hostShare(tx)
		if err != nil {
			return err
		}
		if n = min(n, share-claimed); n <= 0 {
			return nil
		}
		// If this instance dies, other instances still keep the pause. MATERIALIZED as in other claims.
		return tx.Raw(`WITH due AS MATERIALIZED (
				SELECT seq FROM crawl_hosts WHERE next_at <= ? AND claimed_by IS NULL ORDER BY next_at LIMIT ?`+s.db.SkipLocked()+`)
			UPDATE crawl_hosts SET claimed_by = ?, claim = claim + 1, next_at = ? + delay_ms * 1000
			WHERE seq IN (SELECT seq FROM due) RETURNING *`, now, n, holder, now.Add(MaxClaimTime)).Scan(&hosts).Error
	})
	if err != nil {
		return nil, models.Time{}, fmt.Errorf("claim hosts: %w", err)
	}
	slices.SortFunc(hosts, func(a, b Host) int { return int(a.Seq - b.Seq) })
	return hosts, next, nil
}

// firstHost returns when the first unclaimed host is due, or zero if there is none.
func firstHost(tx *gorm.DB) (next models.Time, err error) {
	err = tx.Raw("SELECT min(next_at) FROM crawl_hosts WHERE next_at IS NOT NULL AND claimed_by IS NULL").Scan(&next).Error
	if err != nil {
		return next, fmt.Errorf("find next host to crawl: %w", err)
	}
	return next, nil
}

// shareThreshold is the number of hosts above which shares are not enforced, because there are enough for all instances.
const shareThreshold = 10_000

// hostShare returns the number of hosts that an instance may hold.
func hostShare(tx *gorm.DB) (int, error) {
	var n struct{ Free, Claimed, Instances int }
	err := tx.Raw(`SELECT (SELECT count(*) FROM (SELECT 1 FROM crawl_hosts WHERE next_at IS NOT NULL AND claimed_by IS NULL LIMIT ?) AS free) AS free,
		(SELECT count(*) FROM crawl_hosts WHERE claimed_by IS NOT NULL) AS claimed, (SELECT count(*) FROM instances) AS instances`, shareThreshold).Scan(&n).Error
	if err != nil {
		return 0, fmt.Errorf("count hosts to crawl: %w", err)
	}
	if n.Free >= shareThreshold || n.Instances == 0 {
		return n.Free, nil
	}
	return (n.Free + n.Claimed + n.Instances - 1) / n.Instances, nil
}

// ReleaseOtherHosts releases all hosts that an instance has claimed, except keep. Call it after a failed claim that may or
// may not have been committed.
func (s *Store) ReleaseOtherHosts(ctx context.Context, holder lease.ID, keep []Host) error {
	rows := models.NewRows("seq bigint")
	for _, h := range keep {
		rows.Add(h.Seq)
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return rows.Raw(tx, "UPDATE crawl_hosts SET claimed_by = NULL WHERE claimed_by = ? AND seq NOT IN (SELECT seq FROM {rows} AS r)", holder).
			Scan(new(int)).Error
	})
	if err != nil {
		return fmt.Errorf("release other hosts: %w", err)
	}
	return nil
}

// wakeCrawl makes hosts due that became idle while a crawl with entries for them was interrupted. The caller holds
// lockRecord.
func (s *Store) wakeCrawl(tx *gorm.DB, crawl int64) error {
	err := tx.Exec(`UPDATE crawl_hosts SET next_at = ? WHERE next_at IS NULL AND EXISTS (
		SELECT 1 FROM frontier AS f WHERE f.host_seq = crawl_hosts.seq AND f.crawl_seq = ? AND f.`+openEntries+`)`, s.clock.Now(), crawl).Error
	if err != nil {
		return fmt.Errorf("make hosts of crawl due: %w", err)
	}
	return nil
}
