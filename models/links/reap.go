package links

import (
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// ReapTags deletes up to limit tags without links. The store deletes a tag with its last link, so it finds only
// tags of links that were deleted by other programs.
func (s *Store) ReapTags(tx *gorm.DB, limit int) (int64, error) {
	if err := s.db.OneAtATime(tx, lockChanges); err != nil { // no tag may get a link in the meantime
		return 0, err
	}
	return s.db.DeleteBatch(tx, limit, "tags", "seq", "NOT EXISTS (SELECT 1 FROM link_tags WHERE tag_seq = tags.seq)")
}

// ReapChanges deletes up to limit changes that can no longer be undone.
func (s *Store) ReapChanges(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "link_changes", "id", "created_at <= ? ORDER BY created_at", s.clock.Now().Add(-keepChanges))
}

// ReapRefreshes deletes up to limit finished refreshes that are older than a day.
func (s *Store) ReapRefreshes(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "link_refreshes", "id", `created_at <= ?
		AND NOT EXISTS (SELECT 1 FROM link_refresh_items WHERE refresh_id = link_refreshes.id) ORDER BY created_at`, s.clock.Now().Add(-keepChanges))
}

// sweepWords is the maximum number of words that one transaction looks up. Looking up a word that few links have takes up
// to some milliseconds, and other writers wait.
const sweepWords = 100

// ReapWords looks up the next min(limit, sweepWords) words of link_words and deletes those that no link has. It
// continues after the last word of the previous call, and starts again at the end. It returns the number of
// deleted words. 0 ends a run of the reaper, and the next run continues.
func (s *Store) ReapWords(tx *gorm.DB, limit int) (int64, error) {
	limit = min(limit, sweepWords)
	// Changes of links read the cache of the vocabulary. They wait until this transaction ends, so that they store
	// words that it deletes.
	if err := s.db.OneAtATime(tx, lockChanges); err != nil {
		return 0, err
	}
	var words []string
	err := tx.Raw("SELECT word FROM link_words WHERE word > ? ORDER BY word LIMIT ?", s.words.swept(), limit).Scan(&words).Error
	if err != nil {
		return 0, fmt.Errorf("find unused words: %w", err)
	}
	s.words.sweep(words, len(words) < limit)
	if len(words) == 0 {
		return 0, nil
	}
	used, err := usedForms(tx, selection{}, words, anywhere)
	if err != nil {
		return 0, fmt.Errorf("find unused words: %w", err)
	}
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(used, w) })
	rows := models.RowsOf("word text", words)
	res := rows.Exec(tx, "DELETE FROM link_words WHERE word IN (SELECT word FROM {rows} AS r)")
	return res.RowsAffected, res.Error
}

// swept returns the last word of the last sweep.
func (v *vocabulary) swept() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sweptTo
}

// sweep removes words from the cache. last is whether there are no words after them.
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
