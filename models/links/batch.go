package links

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// ownScope returns the condition for the links l that are shared or belong to the actor. Pages of other systems
// show only these, to admins too.
func ownScope(tx *gorm.DB) (sql string, args []any) { return models.OwnScope(tx, "l") }

// ByURLs returns the ids of links by canonical URL, including expired links. If several links have a URL, it is
// the shared one, else the one of the actor.
func (s *Store) ByURLs(ctx context.Context, canonicalURLs []string) (ids map[string]string, err error) {
	rows, tx := models.RowsOf("canonical_url text", canonicalURLs), s.db.Read(ctx)
	scope, args := ownScope(tx)
	var found []Link
	err = rows.Raw(tx, "SELECT l.canonical_url, l.id, l.private_to FROM {rows} AS r CROSS JOIN links AS l WHERE l.canonical_url = r.canonical_url AND "+scope, args...).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("find links by URL: %w", err)
	}
	ids = make(map[string]string, len(found))
	for url, l := range preferShared(found) {
		ids[url] = l.ID
	}
	return ids, nil
}

// HealthOf returns the health of the links of ByURLs, by canonical URL. Only ID, CanonicalURL, PrivateTo, Health,
// LastStatusCode, LastCheckedAt, LastError and MovedTo are set. It runs one query.
func (s *Store) HealthOf(ctx context.Context, canonicalURLs []string) (map[string]Link, error) {
	rows, tx := models.RowsOf("canonical_url text", canonicalURLs), s.db.Read(ctx)
	scope, args := ownScope(tx)
	var found []Link
	err := rows.Raw(tx, `SELECT l.id, l.canonical_url, l.private_to, l.health, l.last_status_code, l.last_checked_at, l.last_error, l.moved_to
		FROM {rows} AS r CROSS JOIN links AS l WHERE l.canonical_url = r.canonical_url AND `+scope, args...).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("load health of links by URL: %w", err)
	}
	return preferShared(found), nil
}

// TagNames returns the folded names (models.FoldName) of the tags of active links, by canonical URL. Links without
// tags are missing. If two links have the same URL, the tags are those of the shared link, unless it has none. It
// runs one query.
func (s *Store) TagNames(ctx context.Context, canonicalURLs []string) (map[string][]string, error) {
	rows, tx := models.RowsOf("canonical_url text", canonicalURLs), s.db.Read(ctx)
	scope, args := ownScope(tx)
	var found []struct{ CanonicalURL, PrivateTo, FoldedName string }
	err := rows.Raw(tx, `SELECT DISTINCT l.canonical_url, l.private_to, g.folded_name FROM {rows} AS r CROSS JOIN links AS l
		JOIN link_tags AS t ON t.link_seq = l.seq JOIN tags AS g ON g.seq = t.tag_seq WHERE l.canonical_url = r.canonical_url AND l.expired_at IS NULL
		AND `+scope, args...).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("load tags of links by URL: %w", err)
	}
	scopes := map[string]string{} // PrivateTo of the link whose tags are returned, by URL
	for _, f := range found {
		if scope, ok := scopes[f.CanonicalURL]; !ok || scope != "" {
			scopes[f.CanonicalURL] = f.PrivateTo
		}
	}
	names := map[string][]string{}
	for _, f := range found {
		if scopes[f.CanonicalURL] == f.PrivateTo {
			names[f.CanonicalURL] = append(names[f.CanonicalURL], f.FoldedName)
		}
	}
	return names, nil
}

// AddAll stores up to MaxBulk links without fetching them, and queues a refresh of the new ones. Existing links
// get the new tags. stored is the number of new links. If a URL is invalid, the error is CodeInvalid and nothing
// is stored.
func (s *Store) AddAll(ctx context.Context, ns []New) (stored int, err error) {
	if len(ns) > MaxBulk {
		return 0, models.TooLong("links", MaxBulk, "items")
	}
	var urls []string
	for _, n := range ns {
		u, err := models.ParseURL("url", n.URL)
		if err != nil {
			return 0, err
		}
		urls = append(urls, u.Canonical)
	}
	before, err := s.ByURLs(ctx, urls)
	if err != nil {
		return 0, err
	}
	if stored, err = s.Import(ctx, ns); err != nil || stored == 0 {
		return stored, err
	}
	after, err := s.ByURLs(ctx, urls)
	if err != nil {
		return stored, err
	}
	var newIDs []string
	for url, id := range after {
		if before[url] == "" {
			newIDs = append(newIDs, id)
		}
	}
	_, err = s.startRefresh(ctx, newIDs, false)
	return stored, err
}
