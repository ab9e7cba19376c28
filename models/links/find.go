package links

import (
	"context"
	"fmt"

	"linkwatch/models"
)

// Find returns up to limit active links for the search over everything: those that List
// finds first. It counts nothing, and no near misses stand in. CodeInvalid ("query.q").
func (s *Store) Find(ctx context.Context, text string, limit int) ([]Link, error) {
	q, err := ParseQuery(text)
	if err != nil || q.Empty() {
		return nil, err
	}
	tx := s.db.Read(ctx)
	whole, err := wholeTags(tx, q)
	if err != nil {
		return nil, err
	}
	sel := s.selectionOf(Filter{}, q, whole)
	sel.limit = limit
	seqs, _, err := s.index.find(tx, sel, models.Page{Number: 1, Size: limit})
	if err != nil {
		return nil, fmt.Errorf("looking for links: %w", err)
	}
	return inOrder(tx, seqs)
}
