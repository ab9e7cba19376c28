package targets

import (
	"context"
	"fmt"

	"linkwatch/models"
)

// Newest returns id, canonical URL and visibility of up to n targets that the actor may see, newest first.
func (s *Store) Newest(ctx context.Context, n int) (ts []Target, err error) {
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "targets")
	query := "SELECT id, canonical_url, private_to FROM targets WHERE deleted_at IS NULL AND " + visible +
		" ORDER BY created_at DESC, id DESC LIMIT ?"
	err = tx.Raw(query, append(args, n)...).Scan(&ts).Error
	if err != nil {
		return nil, fmt.Errorf("load newest targets: %w", err)
	}
	return ts, nil
}
