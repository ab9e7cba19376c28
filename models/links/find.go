package links

import (
	"context"
	"fmt"
)

// Find returns up to limit active links for the global search: the best of the newest matches of List. It counts
// nothing and does not correct misspellings. CodeInvalid ("query.q").
func (s *Store) Find(ctx context.Context, text string, limit int) ([]Link, error) {
	q, err := ParseQuery(text)
	if err != nil || q.Empty() {
		return nil, err
	}
	tx := s.db.Read(ctx)
	exact, err := exactTags(tx, q)
	if err != nil {
		return nil, err
	}
	seqs, err := newest(tx, s.selectionOf(tx, Filter{}, q, exact), maxRanked)
	if err == nil {
		err = rank(tx, q.Words, seqs)
	}
	if err != nil {
		return nil, fmt.Errorf("find links: %w", err)
	}
	return loadInOrder(tx, seqs[:min(len(seqs), limit)])
}
