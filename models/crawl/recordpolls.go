package crawl

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// PollOutcome is the outcome of a poll of a feed.
type PollOutcome string

// The outcomes of polls.
const (
	PollRead      PollOutcome = "read"
	PollUnchanged PollOutcome = "unchanged" // since it was last read
	PollFailed    PollOutcome = "failed"
	PollGone      PollOutcome = "gone" // permanently: it is no longer polled
)

// Poll is the result of a poll of a feed.
type Poll struct {
	Feed       ClaimedFeed
	Hosts      []Host // claimed for it, with their new NextAt, DelayMS, Slow and LastAttemptAt
	Outcome    PollOutcome
	Reason     string        // why it failed or is gone
	RetryAfter time.Duration // requested by the server
	MovedTo    string        // normalized URL to which it moved permanently; "" = none

	// Only with PollRead.
	Title, ETag, LastModified string
	Entries                   []string // absolute URLs, in the order of the feed
	Truncated                 bool     // the feed has more than was read
}

// maxPollPause is the maximum time between two polls of a failing feed.
const maxPollPause = 24 * time.Hour

// reasonDuplicate is the error of a feed that has moved to the URL of another feed of its source.
const reasonDuplicate = "moved to another feed of this source"

// next returns when the feed is next polled; zero: never.
func (p *Poll) next(now models.Time, every time.Duration) (at models.Time, failures int) {
	switch p.Outcome {
	case PollGone:
		return models.Time{}, p.Feed.Failures
	case PollFailed:
		failures = p.Feed.Failures + 1
		pause := maxPollPause
		if failures < 16 { // avoids overflow of the shift
			pause = min(every<<failures, maxPollPause)
		}
		return now.Add(max(pause, p.RetryAfter)), failures
	case PollRead, PollUnchanged:
	}
	return now.Add(every), 0
}

// RecordPolls stores the results of polls, adds new entries to the frontier and releases the feeds and their hosts in one
// transaction, with one statement per table. It skips polls whose claim was lost, and entries outside the allowed domains.
// If the source is disabled now, it skips all entries. It returns the number of entries that were added to the frontier.
func (s *Store) RecordPolls(ctx context.Context, polls ...*Poll) (entries int, err error) {
	var batches []*HostBatch
	for _, p := range polls {
		batches = append(batches, emptyBatches(p.Hosts)...)
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockRecord); err != nil {
			return err
		}
		b := pollBatch{s: s, tx: tx, now: s.clock.Now(), fresh: map[int64]int{}, duplicates: map[int64]bool{}}
		hostBatch := batch{s: s, tx: tx, now: b.now}
		hosts, err := hostBatch.freeHosts(batches)
		if err != nil {
			return err
		}
		for _, step := range []func() error{
			func() error { return b.keepClaimed(polls) }, b.move, b.entries, b.forget, b.feeds, func() error { return hostBatch.restHosts(hosts) },
		} {
			if err := step(); err != nil {
				return err
			}
		}
		entries = b.queued
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("record feed polls: %w", err)
	}
	signal(s.urls)
	return entries, nil
}

type pollBatch struct {
	s          *Store
	tx         *gorm.DB
	now        models.Time
	polls      []ownPoll
	fresh      map[int64]int  // new entries by feed
	duplicates map[int64]bool // feeds that moved to the URL of another feed of their source
	queued     int            // entries added to the frontier
}

// ownPoll is a poll whose claim is still valid, with the current settings of its source.
type ownPoll struct {
	*Poll
	source Source
}

// keepClaimed selects the polls whose feeds are still claimed.
func (b *pollBatch) keepClaimed(polls []*Poll) error {
	rows, byFeed := models.NewRows("seq bigint, claimed_by text"), map[int64]*Poll{}
	for _, p := range polls {
		rows.Add(p.Feed.Seq, p.Feed.ClaimedBy)
		byFeed[p.Feed.Seq] = p
	}
	var found []struct {
		FeedSeq int64
		Source
	}
	err := rows.Raw(b.tx, `SELECT f.seq AS feed_seq, s.* FROM {rows} AS r CROSS JOIN feeds AS f JOIN sources AS s ON s.seq = f.source_seq
		WHERE f.seq = r.seq AND f.claimed_by = r.claimed_by ORDER BY f.seq`).Scan(&found).Error
	for _, f := range found {
		b.polls = append(b.polls, ownPoll{byFeed[f.FeedSeq], f.Source})
	}
	return err
}

// move updates the URLs of feeds that moved permanently. If two feeds of a source now have the same URL, only one is polled.
func (b *pollBatch) move() error {
	rows, to := models.NewRows("seq bigint, source_seq bigint, url text, url_hash bytes"), map[pageKey]bool{}
	for _, p := range b.polls {
		if p.MovedTo == "" || p.MovedTo == p.Feed.URL {
			continue
		}
		k := pageKey{p.source.Seq, hashOf(p.MovedTo)}
		b.duplicates[p.Feed.Seq] = true
		if !to[k] {
			to[k] = true
			rows.Add(p.Feed.Seq, k.source, p.MovedTo, k.hash[:])
		}
	}
	if rows.Len() == 0 {
		return nil
	}
	var moved []int64
	err := rows.Raw(b.tx, `UPDATE feeds SET url = r.url, url_hash = r.url_hash FROM {rows} AS r WHERE feeds.seq = r.seq
		AND NOT EXISTS (SELECT 1 FROM feeds AS f WHERE f.source_seq = r.source_seq AND f.url_hash = r.url_hash) RETURNING feeds.seq`).Scan(&moved).Error
	for _, seq := range moved {
		delete(b.duplicates, seq)
	}
	return err
}

type feedEntryKey struct {
	feed int64
	hash hash
}

// entries stores the entries of the feeds and adds new ones to the frontier.
func (b *pollBatch) entries() error {
	rows, urls := models.NewRows("feed_seq bigint, url_hash bytes"), map[feedEntryKey]FoundURL{}
	var order []feedEntryKey
	for _, p := range b.polls {
		if p.Outcome != PollRead || !p.source.Enabled || !p.source.DeletedAt.IsZero() {
			continue
		}
		for _, url := range p.Entries[:min(len(p.Entries), MaxFeedEntries)] {
			normal, ok := Normalize(url)
			if !ok {
				continue
			}
			_, err := models.ParseURL("url", normal)
			k := feedEntryKey{p.Feed.Seq, hashOf(normal)}
			if _, known := urls[k]; known || err != nil || !p.source.Allows(normal) {
				continue
			}
			urls[k] = FoundURL{Source: p.source.Seq, URL: normal, Reason: TrapOf(normal, b.now.Time)}
			order = append(order, k)
			rows.Add(k.feed, k.hash[:])
		}
	}
	if len(order) == 0 {
		return nil
	}
	var known []struct {
		FeedSeq int64
		URLHash []byte
	}
	err := rows.Raw(b.tx, `UPDATE feed_entries SET seen_at = ? FROM {rows} AS r
		WHERE feed_entries.feed_seq = r.feed_seq AND feed_entries.url_hash = r.url_hash RETURNING feed_entries.feed_seq, feed_entries.url_hash`, b.now).Scan(&known).Error
	if err != nil {
		return err
	}
	for _, e := range known {
		delete(urls, feedEntryKey{e.FeedSeq, hash(e.URLHash)})
	}
	rows = models.NewRows("feed_seq bigint, url_hash bytes, seen_at bigint")
	var found []FoundURL
	for _, k := range order {
		if f, fresh := urls[k]; fresh {
			rows.Add(k.feed, k.hash[:], b.now)
			found = append(found, f)
			b.fresh[k.feed]++
		}
	}
	if err := rows.Exec(b.tx, "INSERT INTO feed_entries (feed_seq, url_hash, seen_at) SELECT feed_seq, url_hash, seen_at FROM {rows} AS r").Error; err != nil {
		return err
	}
	return b.enqueue(found)
}

// enqueue adds entries to the frontier, each to be fetched once. It skips entries that the frontier already has from another
// feed or a user.
func (b *pollBatch) enqueue(found []FoundURL) error {
	rows := models.NewRows("url_hash bytes, source_seq bigint")
	for _, f := range found {
		h := hashOf(f.URL)
		rows.Add(h[:], f.Source)
	}
	// Entries that are no longer fetched are replaced.
	err := rows.Exec(b.tx, `DELETE FROM frontier WHERE crawl_seq = 0
		AND (url_hash, scope_seq) IN (SELECT r.url_hash, CASE t.private_to WHEN '' THEN 0 ELSE t.seq END FROM {rows} AS r CROSS JOIN sources AS t WHERE t.seq = r.source_seq) AND `+openEntries+`
		AND NOT EXISTS (SELECT 1 FROM sources AS s WHERE s.seq = frontier.source_seq AND s.enabled AND s.deleted_at IS NULL)`).Error
	if err != nil {
		return err
	}
	all, err := b.s.enqueue(b.tx, found)
	b.queued = len(all)
	return err
}

// forget deletes the oldest entries of feeds that have more than the limit.
func (b *pollBatch) forget() error {
	rows := models.NewRows("seq bigint")
	for seq := range b.fresh {
		rows.Add(seq)
	}
	return rows.Exec(b.tx, `DELETE FROM feed_entries WHERE (feed_seq, url_hash) IN (SELECT feed_seq, url_hash FROM (
			SELECT e.feed_seq, e.url_hash, row_number() OVER (PARTITION BY e.feed_seq ORDER BY e.seen_at DESC, e.url_hash) AS place
			FROM {rows} AS r CROSS JOIN feed_entries AS e WHERE e.feed_seq = r.seq) AS placed WHERE place > ?)`, maxSeenEntries).Error
}

func (b *pollBatch) feeds() error {
	rows := models.NewRows(`seq bigint, is_read boolean, title text, etag text, last_modified text, next_poll_at bigint, failures bigint, last_error text, found bigint, truncated boolean`)
	for _, p := range b.polls {
		reason := models.Truncate(p.Reason, 200)
		if b.duplicates[p.Feed.Seq] {
			p.Outcome, reason = PollGone, reasonDuplicate
		}
		next, failures := p.next(b.now, b.s.opts.FeedInterval)
		// If the source is disabled now, its entries were skipped. The next poll reads the feed in full again.
		read := p.Outcome == PollRead && p.source.Enabled && p.source.DeletedAt.IsZero()
		rows.Add(p.Feed.Seq, read, models.Truncate(models.CleanLine(p.Title), feedTitle), p.ETag, p.LastModified, next, failures, reason, b.fresh[p.Feed.Seq], p.Truncated)
	}
	return rows.Exec(b.tx, `UPDATE feeds SET claimed_by = NULL, last_polled_at = ?, next_poll_at = r.next_poll_at, failures = r.failures, last_error = r.last_error,
			read_at = CASE WHEN r.is_read THEN ? ELSE feeds.read_at END,
			etag = CASE WHEN r.is_read THEN r.etag ELSE feeds.etag END,
			last_modified = CASE WHEN r.is_read THEN r.last_modified ELSE feeds.last_modified END,
			truncated = CASE WHEN r.is_read THEN r.truncated ELSE feeds.truncated END,
			title = CASE WHEN r.title <> '' THEN r.title ELSE feeds.title END, entries_found = feeds.entries_found + r.found
		FROM {rows} AS r WHERE feeds.seq = r.seq`, b.now, b.now).Error
}
