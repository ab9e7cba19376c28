package shortlinks

import (
	"context"
	"fmt"
)

// ByKeys returns those of the short links that exist, archived or not, and that the actor may see, with their destinations.
func (s *Store) ByKeys(ctx context.Context, keys []string) (found []ShortLink, err error) {
	err = notDeleted(s.db.Read(ctx).Table(allLinks)).Where("short_key IN ?", keys).Find(&found).Error
	if err != nil {
		return nil, fmt.Errorf("load short links by key: %w", err)
	}
	return found, nil
}
