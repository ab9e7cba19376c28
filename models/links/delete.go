package links

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"
)

// Delete deletes links for good, unless it is undone within a day.
func (s *Store) Delete(ctx context.Context, ids ...string) (Change, error) {
	return s.change(ctx, ActionDelete, ids, func(tx *gorm.DB, ls []Link) ([]past, []Link, error) {
		counts, err := tagSeqs(tx, ls)
		if err != nil {
			return nil, nil, err
		}
		before := pastOf(ls)
		if err := s.index.remove(tx, seqsOf(ls)); err != nil {
			return nil, nil, fmt.Errorf("taking links out of the index: %w", err)
		}
		if err := tx.Delete(&Link{}, seqsOf(ls)).Error; err != nil { // link_tags go with them
			return nil, nil, fmt.Errorf("deleting links: %w", err)
		}
		var tags []int64
		for seq, n := range counts {
			tags, counts[seq] = append(tags, seq), -n
		}
		if err := recount(tx, counts); err != nil {
			return nil, nil, err
		}
		slices.Sort(tags)
		return before, nil, dropUnused(tx, tags)
	})
}
