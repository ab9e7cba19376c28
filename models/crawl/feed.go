package crawl

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Limits of feeds.
const (
	MaxFeeds       = 100  // per source
	MaxFoundFeeds  = 20   // per source; above it crawls add none
	MaxFeedEntries = 500  // read from a feed at a time, starting with the first
	maxSeenEntries = 2000 // remembered per feed
	feedTitle      = 200  // runes
)

// Feed is an RSS, Atom or JSON feed of a source.
type Feed struct {
	Seq          int64 `gorm:"primaryKey"`
	SourceSeq    int64
	URL          string
	Title        string // "" = unknown
	CreatedAt    models.Time
	LastPolledAt models.Time // zero: never
	NextPollAt   models.Time // zero: not polled, because its server reported it as gone
	Failures     int         // consecutive failed polls
	LastError    string      // of the last poll; "" = none
	EntriesFound int         // new entries
	Truncated    bool        // the last read stopped at the limit of bytes or of entries

	SourceID      string `gorm:"->"`
	SourceName    string `gorm:"->"`
	SourceEnabled bool   `gorm:"->"` // if not, the feed is not polled
}

// ID returns the public id of the feed.
func (f Feed) ID() string { return models.TimedID(models.KindFeed, f.CreatedAt, f.Seq) }

// feedRows selects the feeds that the actor of tx can see.
func feedRows(tx *gorm.DB) (sql string, args []any) {
	visible, args := models.Visible(tx, "s")
	return selectFeeds + visible, args
}

const selectFeeds = `SELECT f.seq, f.source_seq, f.url, f.title, f.created_at, f.last_polled_at, f.next_poll_at, f.failures, f.last_error, f.entries_found, f.truncated,
		s.id AS source_id, s.name AS source_name, s.enabled AS source_enabled
	FROM feeds AS f JOIN sources AS s ON s.seq = f.source_seq WHERE s.deleted_at IS NULL AND `

func (f Feed) subject() audit.Subject { return audit.Subject{Kind: "feed", ID: f.ID(), Name: f.URL} }

// Feeds returns one page of feeds, the oldest first. An empty sourceID selects all sources. limit comes from
// models.NewLimit.
func (s *Store) Feeds(ctx context.Context, sourceID string, after models.Cursor, limit int) (models.Slice[Feed], error) {
	var page models.Slice[Feed]
	if err := models.CheckFilter("query.source_id", sourceID); err != nil {
		return page, err
	}
	tx := s.db.Read(ctx)
	q := models.ListQuery{Table: "feeds AS f", From: "feeds AS f JOIN sources AS s ON s.seq = f.source_seq AND s.deleted_at IS NULL"}
	q.Own, q.OwnArgs = ofVisibleSource(tx, "f.source_seq")
	if sourceID != "" {
		if !isID(models.KindSource, sourceID) {
			return models.NoItems[Feed](after), nil // no such source
		}
		q.And("f.source_seq = (SELECT seq FROM sources WHERE id = ?)", sourceID)
	}
	return FeedOrders.List(tx, q, after, limit, func(p models.ListPart) (found []Feed, err error) {
		sql, args := feedRows(tx)
		if err = p.Raw(tx, sql+" AND", args...).Scan(&found).Error; err != nil {
			err = fmt.Errorf("load feeds: %w", err)
		}
		return found, err
	})
}

// Feed returns a feed by id. The error is CodeNotFound if there is none.
func (s *Store) Feed(ctx context.Context, id string) (Feed, error) { return feed(s.db.Read(ctx), id) }

func feed(tx *gorm.DB, id string) (f Feed, err error) {
	at, seq, err := models.ParseTimedID(models.KindFeed, id)
	if err != nil {
		return f, models.NotFound("feed")
	}
	var found []Feed
	sql, args := feedRows(tx)
	if err := tx.Raw(sql+" AND f.seq = ? AND f.created_at = ?", append(args, seq, at)...).Scan(&found).Error; err != nil {
		return f, fmt.Errorf("load feed: %w", err)
	}
	if len(found) == 0 {
		return f, models.NotFound("feed")
	}
	return found[0], nil
}

// AddFeed adds a feed, which is polled within moments. It may be on any host. If sourceID is "", the source is one of the
// URL's host, and is created if there is none. If the source already has the feed, that one is returned and created is
// false. Errors are CodeInvalid ("url", "source_id"), and CodeConflict if the source has MaxFeeds.
func (s *Store) AddFeed(ctx context.Context, url, sourceID string) (f Feed, created bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if _, err := models.ParseURL("url", url); err != nil {
			return err
		}
		normal, ok := Normalize(url)
		if !ok {
			return models.Invalid("url", "cannot be polled; check it for stray characters")
		}
		src, err := s.sourceFor(tx, NewJob{SourceID: sourceID, URL: url})
		if err != nil {
			return err
		}
		if err := s.db.OneAtATime(tx, lockRecord); err != nil { // so that the number of feeds stays within the limit
			return err
		}
		h := hashOf(normal)
		known := func() (found []Feed, err error) {
			sql, args := feedRows(tx)
			err = tx.Raw(sql+" AND f.source_seq = ? AND f.url_hash = ?", append(args, src.Seq, h[:])...).Scan(&found).Error
			return found, err
		}
		found, err := known()
		if err != nil {
			return err
		}
		if created = len(found) == 0; created {
			var n int
			if err := tx.Raw("SELECT count(*) FROM feeds WHERE source_seq = ?", src.Seq).Scan(&n).Error; err != nil {
				return err
			}
			if n >= MaxFeeds {
				return models.Conflict(fmt.Sprintf("The source has %d feeds. Delete one first.", MaxFeeds))
			}
			if err := s.insertFeeds(tx, []FoundFeed{{Source: src.Seq, URL: normal}}, MaxFeeds); err != nil {
				return err
			}
			if found, err = known(); err != nil {
				return err
			}
		}
		if len(found) == 0 {
			return errors.New("added feed not found")
		}
		if f = found[0]; !created {
			return nil
		}
		return audit.Add(tx, s.clock.Now(), audit.Change{Action: "feed.add", Subject: f.subject(), After: audit.Values{"url": f.URL, "source_id": f.SourceID}})
	})
	return f, created, err
}

// DeleteFeed deletes a feed and the records of its entries. The error is CodeNotFound if there is none. A crawl may find the
// feed again.
func (s *Store) DeleteFeed(ctx context.Context, id string) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockRecord); err != nil { // so that no poll is recorded meanwhile
			return err
		}
		f, err := feed(tx, id)
		if err != nil {
			return err
		}
		if err := tx.Exec("DELETE FROM feeds WHERE seq = ?", f.Seq).Error; err != nil {
			return fmt.Errorf("delete feed: %w", err)
		}
		return audit.Add(tx, s.clock.Now(), audit.Change{Action: "feed.delete", Subject: f.subject()})
	})
}

// PollFeed makes a feed due now, even one that was reported as gone. The error is CodeNotFound if there is none, and
// CodeConflict if its source is disabled.
func (s *Store) PollFeed(ctx context.Context, id string) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		f, err := feed(tx, id)
		if err != nil {
			return err
		}
		if !f.SourceEnabled {
			return models.Conflict("The source is disabled. Enable it first.")
		}
		if err := tx.Exec("UPDATE feeds SET next_poll_at = ? WHERE seq = ?", s.clock.Now(), f.Seq).Error; err != nil {
			return fmt.Errorf("make feed due: %w", err)
		}
		return audit.Add(tx, s.clock.Now(), audit.Change{Action: "feed.poll", Subject: f.subject()})
	})
}
