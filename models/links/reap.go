package links

import (
	"context"
	"fmt"

	"gorm.io/gorm"
)

// ReapTags deletes up to limit tags that no link carries. Everything that takes
// a tag off its last link drops the tag with it, so there are none unless links
// were deleted past the store. It is the reaper's part (models/cleanup.Remove).
func (s *Store) ReapTags(tx *gorm.DB, limit int) (int64, error) {
	if err := s.db.OneAtATime(tx, lockChanges); err != nil { // or one could be put on a link meanwhile
		return 0, err
	}
	res := tx.Exec(`DELETE FROM tags WHERE seq IN (
		SELECT seq FROM tags WHERE NOT EXISTS (SELECT 1 FROM link_tags WHERE tag_seq = tags.seq) LIMIT ?)`, limit)
	if res.Error != nil {
		return 0, fmt.Errorf("dropping unused tags: %w", res.Error)
	}
	return res.RowsAffected, nil
}

// Purge deletes what is kept only for a while: changes that can no longer be
// undone, refreshes that are finished, and, some at each call, words that are in
// no link any more. It also finishes renames that were interrupted. Each call
// deletes little, so it does not ask whether taking has ended, and summary is "".
func (s *Store) Purge(_, working context.Context) (summary string, err error) {
	old := s.clock.Now().Add(-keepChanges)
	err = s.db.Write(working, func(tx *gorm.DB) error {
		if err := tx.Exec("DELETE FROM link_changes WHERE created_at <= ?", old).Error; err != nil {
			return err
		}
		return tx.Exec(`DELETE FROM link_refreshes WHERE created_at <= ?
			AND NOT EXISTS (SELECT 1 FROM link_refresh_items WHERE refresh_id = link_refreshes.id)`, old).Error
	})
	if err != nil {
		return "", fmt.Errorf("dropping old changes of links: %w", err)
	}
	if err := s.reindex(working); err != nil {
		return "", err
	}
	return "", s.sweep(working)
}
