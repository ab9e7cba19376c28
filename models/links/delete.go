package links

import (
	"context"
	"fmt"

	"gorm.io/gorm"
)

// Delete deletes links. It can be undone within a day.
func (s *Store) Delete(ctx context.Context, ids ...string) (Change, error) {
	return s.change(ctx, ActionDelete, ids, func(tx *gorm.DB, ls []Link) ([]past, []Link, error) {
		d, err := deltasOf(tx, ls, leaves)
		if err != nil {
			return nil, nil, err
		}
		before, seqs := pastOf(ls), seqRows(seqsOf(ls))
		if err := s.index.remove(tx, seqs); err != nil {
			return nil, nil, fmt.Errorf("taking links out of the index: %w", err)
		}
		if err := seqs.Exec(tx, "DELETE FROM links WHERE "+bySeq).Error; err != nil { // link_tags go with them
			return nil, nil, fmt.Errorf("deleting links: %w", err)
		}
		if err := recount(tx, d); err != nil {
			return nil, nil, err
		}
		if err := dropUnused(tx, d.tags()); err != nil {
			return nil, nil, err
		}
		return before, nil, done(tx, s.clock.Now(), ActionDelete, ls, nil, nil)
	})
}
