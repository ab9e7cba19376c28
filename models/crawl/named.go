package crawl

import (
	"context"
	"fmt"

	"linkwatch/models"
)

// Named is a source, job or page with its name, its URL and the source that it belongs to. The name of a page is its URL.
type Named struct{ ID, Name, URL, SourceID string }

// NamedItems returns those of the sources, jobs and pages that exist and that the actor may see. The number of statements is constant.
func (s *Store) NamedItems(ctx context.Context, ids []string) (all []Named, err error) {
	sources, jobs := models.NewRows("id text"), models.NewRows("id text")
	pages := models.NewRows("id text, seq bigint, created_at bigint")
	for _, id := range ids {
		switch {
		case models.CheckID(models.KindSource, id) == nil:
			sources.Add(id)
		case models.CheckID(models.KindJob, id) == nil:
			jobs.Add(id)
		default:
			if at, seq, err := models.ParseTimedID(models.KindCrawled, id); err == nil {
				pages.Add(id, seq, at)
			}
		}
	}
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "s")
	for _, q := range []struct {
		rows *models.Rows
		sql  string
	}{
		{sources, "SELECT s.id, s.name, s.url, s.id AS source_id FROM {rows} AS r CROSS JOIN sources AS s WHERE s.id = r.id AND "},
		{jobs, `SELECT j.id, CASE WHEN j.name <> '' THEN j.name ELSE s.name END AS name, j.url, s.id AS source_id
			FROM {rows} AS r CROSS JOIN jobs AS j CROSS JOIN sources AS s
			WHERE j.id = r.id AND j.deleted_at IS NULL AND s.seq = j.source_seq AND `},
		{pages, `SELECT r.id, p.url AS name, p.url, s.id AS source_id FROM {rows} AS r CROSS JOIN crawled_pages AS p CROSS JOIN sources AS s
			WHERE p.seq = r.seq AND p.created_at = r.created_at AND p.deleted_at IS NULL AND s.seq = p.source_seq AND `},
	} {
		var found []Named
		if err := q.rows.Raw(tx, q.sql+"s.deleted_at IS NULL AND "+visible, args...).Scan(&found).Error; err != nil {
			return nil, fmt.Errorf("load named items of crawls: %w", err)
		}
		all = append(all, found...)
	}
	return all, nil
}
