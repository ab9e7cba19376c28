package links

import (
	"context"
	"fmt"
)

// Find returns up to limit active links for the search over everything: the best of the
// newest that List finds. It counts nothing, and no near misses stand in. CodeInvalid
// ("query.q").
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
	seqs, err := s.index.newest(tx, s.selectionOf(tx, Filter{}, q, whole), fewMatches)
	if err == nil {
		err = rank(tx, q.Words, seqs)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for links: %w", err)
	}
	return inOrder(tx, seqs[:min(len(seqs), limit)])
}
