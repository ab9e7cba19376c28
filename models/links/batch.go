package links

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// ownScope is the condition for the links l that are shared or the actor's own. What other
// systems show of a link is that of one of these, for admins too.
func ownScope(tx *gorm.DB) (sql string, args []any) { return models.OwnScope(tx, "l") }

// ByURLs returns the ids of the links that have some canonical URLs, expired ones too: of the
// shared link, else of the actor's own.
func (s *Store) ByURLs(ctx context.Context, canonicalURLs []string) (ids map[string]string, err error) {
	rows, tx := models.RowsOf("canonical_url text", canonicalURLs), s.db.Read(ctx)
	scope, args := ownScope(tx)
	var found []Link
	err = rows.Raw(tx, "SELECT l.canonical_url, l.id, l.private_to FROM {rows} AS r CROSS JOIN links AS l WHERE l.canonical_url = r.canonical_url AND "+scope, args...).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("looking up links by their URLs: %w", err)
	}
	ids = make(map[string]string, len(found))
	for address, l := range firsts(found) {
		ids[address] = l.ID
	}
	return ids, nil
}

// HealthOf returns what checks last found of the links of ByURLs, by their canonical URLs: ID, PrivateTo,
// Health, LastStatusCode, LastCheckedAt, LastError and MovedTo. Their other members are zero. It takes one query.
func (s *Store) HealthOf(ctx context.Context, canonicalURLs []string) (map[string]Link, error) {
	rows, tx := models.RowsOf("canonical_url text", canonicalURLs), s.db.Read(ctx)
	scope, args := ownScope(tx)
	var found []Link
	err := rows.Raw(tx, `SELECT l.id, l.canonical_url, l.private_to, l.health, l.last_status_code, l.last_checked_at, l.last_error, l.moved_to
		FROM {rows} AS r CROSS JOIN links AS l WHERE l.canonical_url = r.canonical_url AND `+scope, args...).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("looking up the health of links by their URLs: %w", err)
	}
	return firsts(found), nil
}

// TagNames returns the names of the tags of the links that have some canonical URLs, by these, each as models.FoldName has it. Links
// that are expired, and those without tags, are missing. Of two links that have one URL, the tags are those of the shared one, unless that
// has none. It takes one query.
func (s *Store) TagNames(ctx context.Context, canonicalURLs []string) (map[string][]string, error) {
	rows, tx := models.RowsOf("canonical_url text", canonicalURLs), s.db.Read(ctx)
	scope, args := ownScope(tx)
	var found []struct{ CanonicalURL, PrivateTo, FoldedName string }
	err := rows.Raw(tx, `SELECT DISTINCT l.canonical_url, l.private_to, g.folded_name FROM {rows} AS r CROSS JOIN links AS l
		JOIN link_tags AS t ON t.link_seq = l.seq JOIN tags AS g ON g.seq = t.tag_seq WHERE l.canonical_url = r.canonical_url AND l.expired_at IS NULL
		AND `+scope, args...).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("looking up the tags of links by their URLs: %w", err)
	}
	of := map[string]string{} // whose tags count
	for _, f := range found {
		if is, ok := of[f.CanonicalURL]; !ok || is != "" {
			of[f.CanonicalURL] = f.PrivateTo
		}
	}
	names := map[string][]string{}
	for _, f := range found {
		if of[f.CanonicalURL] == f.PrivateTo {
			names[f.CanonicalURL] = append(names[f.CanonicalURL], f.FoldedName)
		}
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
	_, err = s.startRefresh(ctx, fresh, false)
	return stored, err
}
