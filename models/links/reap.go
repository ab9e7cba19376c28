package links

import (
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// ReapTags deletes up to limit tags that no link carries. Everything that takes a tag
// off its last link drops the tag with it, so there are none unless links were deleted
// past the store.
func (s *Store) ReapTags(tx *gorm.DB, limit int) (int64, error) {
	if err := s.db.OneAtATime(tx, lockChanges); err != nil { // or one could be put on a link meanwhile
		return 0, err
	}
	return s.db.DeleteBatch(tx, limit, "tags", "seq", "NOT EXISTS (SELECT 1 FROM link_tags WHERE tag_seq = tags.seq)")
}

// ReapChanges deletes up to limit changes that can no longer be undone.
func (s *Store) ReapChanges(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "link_changes", "id", "created_at <= ? ORDER BY created_at", s.clock.Now().Add(-keepChanges))
}

// ReapRefreshes deletes up to limit refreshes that finished and are as old as changes
// that can no longer be undone.
func (s *Store) ReapRefreshes(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "link_refreshes", "id", `created_at <= ?
		AND NOT EXISTS (SELECT 1 FROM link_refresh_items WHERE refresh_id = link_refreshes.id) ORDER BY created_at`, s.clock.Now().Add(-keepChanges))
}

// sweepWords is how many words one transaction looks up at most: each takes up to
// some milliseconds, and other writers wait.
const sweepWords = 250

// ReapWords looks up the next words of link_words, in their order and from the first
// after the last, up to limit and sweepWords of them, and deletes those that are in no
// link. It returns 0, which ends a run of the reaper, as soon as all of them are in
// use; the next run continues behind them. Words whose deletion is rolled back come
// again in the next round.
func (s *Store) ReapWords(tx *gorm.DB, limit int) (int64, error) {
	limit = min(limit, sweepWords)
	// Changes of links, which read what the vocabulary remembers, wait from here until
	// the transaction ends. So one that stores a deleted word again finds it forgotten.
	if err := s.db.OneAtATime(tx, lockChanges); err != nil {
		return 0, err
	}
	var words []string
	err := tx.Raw("SELECT word FROM link_words WHERE word > ? ORDER BY word LIMIT ?", s.words.swept(), limit).Scan(&words).Error
	if err != nil {
		return 0, fmt.Errorf("looking for unused words: %w", err)
	}
	s.words.sweep(words, len(words) < limit)
	if len(words) == 0 {
		return 0, nil
	}
	if words, err = s.index.unused(tx, words); err != nil {
		return 0, fmt.Errorf("looking for unused words: %w", err)
	}
	rows := models.RowsOf("word text", words)
	res := rows.Exec(tx, "DELETE FROM link_words WHERE word IN (SELECT word FROM {rows} AS r)")
	return res.RowsAffected, res.Error
}

// swept is the word at which the last sweep ended.
func (v *vocabulary) swept() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sweptTo
}

// sweep forgets words and notes them as swept; last says that no word comes after
// them.
func (v *vocabulary) sweep(words []string, last bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sweeps++
	for _, w := range words {
		delete(v.known, w)
		v.sweptTo = w
	}
	if last {
		v.sweptTo = ""
	}
}
