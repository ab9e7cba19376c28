package shortlinks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Find returns up to limit short links for the global search: an exact key first, then
// the newest. It matches any part of key, title and URL of the newest
// models.NewestSearched short links, in the archive too, and prefixes of key and URL of all. The error is
// CodeInvalid ("query.q").
func (s *Store) Find(ctx context.Context, text string, limit int) ([]ShortLink, error) {
	if err := models.CheckFilter("query.q", text); err != nil {
		return nil, err
	}
	tx := s.db.Read(ctx)
	var parts []string
	var args []any
	for _, t := range []tables{live, archive} {
		part, of := t.find(tx, text, limit)
		parts, args = append(parts, part), append(args, of...)
	}
	var ls []ShortLink
	err := tx.Raw("SELECT * FROM ("+strings.Join(parts, " UNION ALL ")+") AS found ORDER BY lower(short_key) = ? DESC, created_at DESC, short_key DESC LIMIT ?",
		append(args, strings.ToLower(text), limit)...).Scan(&ls).Error
	if err != nil {
		return nil, fmt.Errorf("find short links: %w", err)
	}
	return ls, nil
}

// find returns the query of Find for one table. It returns limit rows of each kind of match at most.
func (t tables) find(tx *gorm.DB, text string, limit int) (sql string, args []any) {
	visible, who := models.Visible(tx, "short_links")
	from := " FROM " + t.asLinks() + " WHERE "
	newest := "SELECT seq FROM (SELECT seq, search_text" + from + "deleted_at IS NULL AND " + visible + " ORDER BY created_at DESC, short_key DESC LIMIT ?) AS newest WHERE search_text LIKE ? ESCAPE '\\' LIMIT ?"
	key := "SELECT seq FROM (SELECT seq" + from + visible + " AND short_key >= ? AND short_key < ? ORDER BY short_key LIMIT ?) AS keys"
	address := "SELECT seq FROM (SELECT seq" + from + visible + " AND canonical_url >= ? AND canonical_url < ? ORDER BY canonical_url LIMIT ?) AS addresses"
	begins := models.Beginning(text)
	some := []string{"SELECT seq FROM (" + newest + ") AS any_part", key}
	args = append(slices.Clone(who), models.NewestSearched, "%"+models.EscapeLike(models.Fold(text))+"%", limit)
	args = append(append(args, who...), begins.From, begins.Till, limit)
	for _, span := range models.AddressSpans(text) {
		some, args = append(some, address), append(append(args, who...), span.From, span.Till, limit)
	}
	return "SELECT " + linkColumns + from + "deleted_at IS NULL AND seq IN (" + strings.Join(some, " UNION ") + ")", args
}
