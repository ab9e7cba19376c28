package links

import (
	"context"
	"fmt"

	"gorm.io/gorm"
)

// Delete deletes links. Undo restores them within a day.
func (s *Store) Delete(ctx context.Context, ids ...string) (Change, error) {
	return s.change(ctx, ActionDelete, ids, func(tx *gorm.DB, ls []Link) ([]undoItem, []Link, error) {
		d, err := deltasOf(tx, ls, removedFrom)
		if err != nil {
			return nil, nil, err
		}
		items, seqs := undoItems(ls), seqRows(seqsOf(ls))
		if err := removeDocs(tx, seqs); err != nil {
			return nil, nil, fmt.Errorf("remove links from the index: %w", err)
		}
		if err := seqs.Exec(tx, "DELETE FROM links WHERE "+bySeq).Error; err != nil { // cascades to link_tags
			return nil, nil, fmt.Errorf("delete links: %w", err)
		}
		if err := updateCounts(tx, d); err != nil {
			return nil, nil, err
		}
		if err := deleteUnused(tx, d.tags()); err != nil {
			return nil, nil, err
		}
		return items, nil, auditLinks(tx, s.clock.Now(), ActionDelete, ls, nil, nil)
	})
}
