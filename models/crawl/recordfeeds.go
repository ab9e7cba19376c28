package crawl

import (
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// FoundFeed is a feed that a start page names.
type FoundFeed struct {
	Source int64
	URL    string // normalized
	Title  string
}

// feeds stores the feeds that start pages name.
func (b *batch) feeds() error {
	var found []FoundFeed
	for _, r := range b.results {
		found = append(found, r.Feeds...)
	}
	return b.s.insertFeeds(b.tx, found, MaxFoundFeeds)
}

// insertFeeds stores new feeds, which are due at once, while their source has fewer than most. The caller holds lockRecord.
func (s *Store) insertFeeds(tx *gorm.DB, found []FoundFeed, most int) error {
	rows, seen := models.NewRows("n bigint, source_seq bigint, url text, url_hash bytes, title text"), map[pageKey]bool{}
	for i, f := range found {
		k := pageKey{f.Source, hashOf(f.URL)}
		if !seen[k] {
			seen[k] = true
			rows.Add(i, f.Source, f.URL, k.hash[:], models.Truncate(models.CleanLine(f.Title), feedTitle))
		}
	}
	now := s.clock.Now()
	err := rows.Exec(tx, `INSERT INTO feeds (source_seq, url, url_hash, title, etag, last_modified, created_at, next_poll_at, failures, last_error, entries_found)
		SELECT source_seq, url, url_hash, title, '', '', ?, ?, 0, '', 0
		FROM (SELECT r.*, row_number() OVER (PARTITION BY r.source_seq ORDER BY r.n) AS place FROM {rows} AS r
			WHERE NOT EXISTS (SELECT 1 FROM feeds AS f WHERE f.source_seq = r.source_seq AND f.url_hash = r.url_hash)) AS fresh
		WHERE place + (SELECT count(*) FROM feeds AS f WHERE f.source_seq = fresh.source_seq) <= ?
		ORDER BY n ON CONFLICT DO NOTHING`, now, now, most).Error
	if err != nil {
		return fmt.Errorf("store feeds: %w", err)
	}
	return nil
}
