package links

import (
	"context"
	"fmt"

	"linkwatch/models"
)

// Named is a link or tag with its name.
type Named struct{ ID, Name string }

// NamedItems returns those of the links and tags that exist and that the actor may see. The number of statements is constant.
func (s *Store) NamedItems(ctx context.Context, ids []string) (all []Named, err error) {
	tx, rows := s.db.Read(ctx), models.RowsOf("id text", ids)
	visible, args := models.Visible(tx, "l")
	for _, sql := range []string{
		"SELECT l.id, CASE WHEN l.title <> '' THEN l.title ELSE l.url END AS name FROM {rows} AS r CROSS JOIN links AS l WHERE l.id = r.id AND " + visible,
		`SELECT g.id, g.name FROM {rows} AS r CROSS JOIN tags AS g WHERE g.id = r.id AND EXISTS (SELECT 1 FROM link_tags AS t JOIN links AS l ON l.seq = t.link_seq
			WHERE t.tag_seq = g.seq AND ` + visible + ")",
	} {
		var found []Named
		if err := rows.Raw(tx, sql, args...).Scan(&found).Error; err != nil {
			return nil, fmt.Errorf("load named links and tags: %w", err)
		}
		all = append(all, found...)
	}
	return all, nil
}
