package links

import (
	"context"
	"fmt"

	"linkwatch/models"
)

// ByURLs returns the ids of the links that have some canonical URLs, expired ones too.
func (s *Store) ByURLs(ctx context.Context, canonicalURLs []string) (ids map[string]string, err error) {
	rows := models.RowsOf("canonical_url text", canonicalURLs)
	var found []struct{ CanonicalURL, ID string }
	err = rows.Raw(s.db.Read(ctx), "SELECT l.canonical_url, l.id FROM {rows} AS r CROSS JOIN links AS l WHERE l.canonical_url = r.canonical_url").Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("looking up links by their URLs: %w", err)
	}
	ids = make(map[string]string, len(found))
	for _, l := range found {
		ids[l.CanonicalURL] = l.ID
	}
	return ids, nil
}

// HealthOf returns what checks last found of the links that have some canonical URLs, by these, expired ones too: ID,
// Health, LastStatusCode, LastCheckedAt, LastError and MovedTo. Their other members are zero. It takes one query.
func (s *Store) HealthOf(ctx context.Context, canonicalURLs []string) (map[string]Link, error) {
	rows := models.RowsOf("canonical_url text", canonicalURLs)
	var found []Link
	err := rows.Raw(s.db.Read(ctx), `SELECT l.id, l.canonical_url, l.health, l.last_status_code, l.last_checked_at, l.last_error, l.moved_to
		FROM {rows} AS r CROSS JOIN links AS l WHERE l.canonical_url = r.canonical_url`).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("looking up the health of links by their URLs: %w", err)
	}
	by := make(map[string]Link, len(found))
	for _, l := range found {
		by[l.CanonicalURL] = l
	}
	return by, nil
}

// TagNames returns the names of the tags of the links that have some canonical URLs, by these, each as models.FoldName has it. Links
// that are expired, and those without tags, are missing. It takes one query.
func (s *Store) TagNames(ctx context.Context, canonicalURLs []string) (map[string][]string, error) {
	rows := models.RowsOf("canonical_url text", canonicalURLs)
	var found []struct{ CanonicalURL, FoldedName string }
	err := rows.Raw(s.db.Read(ctx), `SELECT DISTINCT l.canonical_url, g.folded_name FROM {rows} AS r CROSS JOIN links AS l
		JOIN link_tags AS t ON t.link_seq = l.seq JOIN tags AS g ON g.seq = t.tag_seq WHERE l.canonical_url = r.canonical_url AND l.expired_at IS NULL`).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("looking up the tags of links by their URLs: %w", err)
	}
	names := map[string][]string{}
	for _, f := range found {
		names[f.CanonicalURL] = append(names[f.CanonicalURL], f.FoldedName)
	}
	return names, nil
}

// AddAll stores up to MaxBulk links without fetching them, and queues a refresh of the
// new ones, so that their titles and health are known soon. URLs that are saved already
// only get the new tags. stored counts the new links. An invalid URL is CodeInvalid,
// before anything is stored.
func (s *Store) AddAll(ctx context.Context, ns []New) (stored int, err error) {
	if len(ns) > MaxBulk {
		return 0, models.Invalid("links", "must be at most %d links", MaxBulk)
	}
	var addresses []string
	for _, n := range ns {
		u, err := models.ParseURL("url", n.URL)
		if err != nil {
			return 0, err
		}
		addresses = append(addresses, u.Canonical)
	}
	before, err := s.ByURLs(ctx, addresses)
	if err != nil {
		return 0, err
	}
	if stored, err = s.Import(ctx, ns); err != nil || stored == 0 {
		return stored, err
	}
	after, err := s.ByURLs(ctx, addresses)
	if err != nil {
		return stored, err
	}
	var fresh []string
	for address, id := range after {
		if before[address] == "" {
			fresh = append(fresh, id)
		}
	}
	_, err = s.StartRefresh(ctx, fresh...)
	return stored, err
}
