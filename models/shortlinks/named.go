package shortlinks

import (
	"context"
	"fmt"

	"linkwatch/models"
)

// ByKeys returns those of the short links that exist and that the actor may see, with their destinations.
func (s *Store) ByKeys(ctx context.Context, keys []string) (found []ShortLink, err error) {
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "l")
	err = models.RowsOf("short_key text", keys).Raw(tx, "SELECT l.* FROM {rows} AS r CROSS JOIN short_links AS l WHERE l.short_key = r.short_key AND l.deleted_at IS NULL AND "+visible, args...).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("load short links by key: %w", err)
	}
	return found, nil
}
