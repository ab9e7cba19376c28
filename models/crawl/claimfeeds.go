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

// ClaimedFeed is a feed that an instance has claimed for a poll.
type ClaimedFeed struct {
	Seq          int64
	URL          string
	ETag         string `gorm:"column:etag"` // of the last full read; "" = none
	LastModified string
	LastPolledAt models.Time
	ReadAt       models.Time // when it was last read in full
	NextPollAt   models.Time
	Failures     int
	LastError    string
	RateLimitMS  int // of its source
	ClaimedBy    lease.ID
}

// fullReadInterval is the maximum time between two full reads of a feed, even if it is unchanged. It keeps the reaper from deleting
// its entries.
const fullReadInterval = keepFeedEntry / 2

// Validators returns the validators of a conditional request for the feed, or "" if the feed must be read in full.
func (f ClaimedFeed) Validators(now models.Time) (etag, lastModified string) {
	if f.ReadAt.Before(now.Add(-fullReadInterval).Time) {
		return "", ""
	}
	return f.ETag, f.LastModified
}

// claimableFeeds is the condition for feeds that can be claimed.
const claimableFeeds = "claimed_by IS NULL AND EXISTS (SELECT 1 FROM sources AS s WHERE s.seq = feeds.source_seq AND s.enabled AND s.deleted_at IS NULL)"

// ClaimFeeds claims up to n due feeds of enabled sources, the longest overdue first. next is when the next of the other
// feeds is due, or zero if there is none. Errors include lease.ErrLost.
func (s *Store) ClaimFeeds(ctx context.Context, holder lease.ID, n int) (feeds []ClaimedFeed, next models.Time, err error) {
	now := s.clock.Now()
	next, err = lease.Claim(ctx, s.db, holder, now, firstFeed, func(tx *gorm.DB) error {
		feeds = nil
		// MATERIALIZED as in other claims.
		return tx.Raw(`WITH due AS MATERIALIZED (
				SELECT seq FROM feeds WHERE next_poll_at <= ? AND `+claimableFeeds+` ORDER BY next_poll_at LIMIT ?`+s.db.SkipLocked()+`)
			UPDATE feeds SET claimed_by = ? WHERE seq IN (SELECT seq FROM due)
			RETURNING *, (SELECT rate_limit_ms FROM sources AS s WHERE s.seq = source_seq) AS rate_limit_ms`, now, n, holder).Scan(&feeds).Error
	})
	if err != nil {
		return nil, models.Time{}, fmt.Errorf("claim feeds: %w", err)
	}
	slices.SortFunc(feeds, func(a, b ClaimedFeed) int { return a.NextPollAt.Compare(b.NextPollAt.Time) })
	return feeds, next, nil
}

func firstFeed(tx *gorm.DB) (next models.Time, err error) {
	err = tx.Raw("SELECT next_poll_at FROM feeds WHERE next_poll_at IS NOT NULL AND " + claimableFeeds + " ORDER BY next_poll_at LIMIT 1").Scan(&next).Error
	if err != nil {
		return next, fmt.Errorf("find next feed to poll: %w", err)
	}
	return next, nil
}

// ReleaseOtherFeeds releases all feeds that an instance has claimed, except keep. Call it after a claim that may or may not
// have been committed.
func (s *Store) ReleaseOtherFeeds(ctx context.Context, holder lease.ID, keep []ClaimedFeed) error {
	rows := models.NewRows("seq bigint")
	for _, f := range keep {
		rows.Add(f.Seq)
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return rows.Raw(tx, "UPDATE feeds SET claimed_by = NULL WHERE claimed_by = ? AND seq NOT IN (SELECT seq FROM {rows} AS r)", holder).
			Scan(new(int)).Error
	})
	if err != nil {
		return fmt.Errorf("release other feeds: %w", err)
	}
	return nil
}

// ClaimHost claims the host of a URL, so that only the holder sends requests to it until RecordPolls or ReleaseFeeds. ok is
// false if another instance has claimed it. wait is the rest of the host's pause. If wait is longer than most, the host is
// not claimed. Errors include lease.ErrLost.
func (s *Store) ClaimHost(ctx context.Context, holder lease.ID, url string, most time.Duration) (h Host, wait time.Duration, ok bool, err error) {
	host := models.HostPort(url)
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		h, wait, ok = Host{}, 0, false
		if err := lease.Hold(tx, holder); err != nil {
			return err
		}
		if err := s.addHosts(tx, map[string]bool{host: true}); err != nil {
			return err
		}
		var free []Host
		if err := tx.Raw("SELECT * FROM crawl_hosts WHERE host = ? AND claimed_by IS NULL"+s.db.SkipLocked(), host).Scan(&free).Error; err != nil || len(free) == 0 {
			return err
		}
		now := s.clock.Now()
		at := now
		if next := free[0].NextAt; next.After(now.Time) {
			wait, at = next.Sub(now.Time), next
		}
		if wait > most {
			return nil
		}
		ok = true
		// If this instance dies, other instances still keep the pause.
		return tx.Raw("UPDATE crawl_hosts SET claimed_by = ?, claim = claim + 1, next_at = ? WHERE seq = ? RETURNING *",
			holder, at.Add(MaxClaimTime), free[0].Seq).Scan(&h).Error
	})
	if err != nil {
		return Host{}, 0, false, fmt.Errorf("claim host of feed: %w", err)
	}
	return h, wait, ok, nil
}

// ReleasedFeed is a feed that was not polled, with the hosts that were claimed for it.
type ReleasedFeed struct {
	ClaimedFeed
	Hosts []Host // with their new NextAt
	Delay time.Duration
}

// ReleaseFeeds releases feeds and their hosts. Each feed can be claimed again after its delay. It skips feeds whose claim
// was lost.
func (s *Store) ReleaseFeeds(ctx context.Context, back []ReleasedFeed) error {
	var batches []*HostBatch
	rows := models.NewRows("seq bigint, claimed_by text, next_poll_at bigint")
	now := s.clock.Now()
	for _, f := range back {
		batches = append(batches, emptyBatches(f.Hosts)...)
		rows.Add(f.Seq, f.ClaimedBy, now.Add(f.Delay))
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockRecord); err != nil {
			return err
		}
		b := batch{s: s, tx: tx, now: now}
		owned, err := b.freeHosts(batches)
		if err == nil {
			err = b.restHosts(owned)
		}
		if err != nil {
			return err
		}
		return rows.Exec(tx, `UPDATE feeds SET claimed_by = NULL, next_poll_at = r.next_poll_at FROM {rows} AS r
			WHERE feeds.seq = r.seq AND feeds.claimed_by = r.claimed_by`).Error
	})
	if err != nil {
		return fmt.Errorf("release claimed feeds: %w", err)
	}
	signal(s.urls) // for the hosts that were released
	return nil
}

// emptyBatches returns batches without results, to release the hosts.
func emptyBatches(hosts []Host) []*HostBatch {
	batches := make([]*HostBatch, len(hosts))
	for i, h := range hosts {
		batches[i] = &HostBatch{Host: h}
	}
	return batches
}
