package shortlinks

import (
	"context"
	"fmt"
	"strings"

	"linkwatch/models"
)

// Find returns up to limit short links for the search over everything: the one of which a text is the key first, then the
// newest. They are of the newest models.NewestSearched those whose key, title or address has a text, and of
// all those whose key or address begins with it. CodeInvalid ("query.q").
func (s *Store) Find(ctx context.Context, text string, limit int) ([]ShortLink, error) {
	if err := models.CheckFilter("query.q", text); err != nil {
		return nil, err
	}
	const newest = "SELECT seq FROM (SELECT seq, search_text FROM short_links WHERE deleted_at IS NULL ORDER BY created_at DESC, short_key DESC LIMIT ?) AS newest WHERE search_text LIKE ? ESCAPE '\\' LIMIT ?"
	const key = "SELECT seq FROM (SELECT seq FROM short_links WHERE short_key >= ? AND short_key < ? ORDER BY short_key LIMIT ?) AS keys"
	const address = "SELECT seq FROM (SELECT seq FROM short_links WHERE canonical_url >= ? AND canonical_url < ? ORDER BY canonical_url LIMIT ?) AS addresses"
	begins := models.Beginning(text)
	some := []string{"SELECT seq FROM (" + newest + ") AS any_part", key}
	args := []any{models.NewestSearched, "%" + models.EscapeLike(models.Fold(text)) + "%", limit, begins.From, begins.Till, limit}
	for _, span := range models.AddressSpans(text) {
		some, args = append(some, address), append(args, span.From, span.Till, limit)
	}
	var ls []ShortLink
	err := s.db.Read(ctx).Raw("SELECT * FROM short_links WHERE deleted_at IS NULL AND seq IN ("+strings.Join(some, " UNION ")+") ORDER BY lower(short_key) = ? DESC, created_at DESC, short_key DESC LIMIT ?",
		append(args, strings.ToLower(text), limit)...).Scan(&ls).Error
	if err != nil {
		return nil, fmt.Errorf("looking for short links: %w", err)
	}
	return ls, nil
}
