package sites

import (
	"context"
	"fmt"

	"linkwatch/models"
)

// Named is a website or page with its name and the website that it belongs to.
type Named struct{ ID, Name, WebsiteID string }

// NamedItems returns those of the websites and pages that exist and that the actor may see. The number of statements is constant.
func (s *Store) NamedItems(ctx context.Context, ids []string) (all []Named, err error) {
	websites, pages := models.NewRows("id text"), models.NewRows("id text, seq bigint, created_at bigint")
	for _, id := range ids {
		if at, seq, err := models.ParseTimedID(models.KindPage, id); err == nil {
			pages.Add(id, seq, at)
		} else if models.CheckID(models.KindWebsite, id) == nil {
			websites.Add(id)
		}
	}
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "w")
	for _, q := range []struct {
		rows *models.Rows
		sql  string
	}{
		{websites, "SELECT w.id, w.name, w.id AS website_id FROM {rows} AS r CROSS JOIN websites AS w WHERE w.id = r.id AND "},
		{pages, `SELECT r.id, p.url AS name, w.id AS website_id FROM {rows} AS r CROSS JOIN pages AS p CROSS JOIN websites AS w
			WHERE p.seq = r.seq AND p.created_at = r.created_at AND w.seq = p.website_seq AND `},
	} {
		var found []Named
		if err := q.rows.Raw(tx, q.sql+"w.deleted_at IS NULL AND "+visible, args...).Scan(&found).Error; err != nil {
			return nil, fmt.Errorf("load named items of websites: %w", err)
		}
		all = append(all, found...)
	}
	return all, nil
}
