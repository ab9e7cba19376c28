package targets

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"linkwatch/models"
)

// Find returns up to limit targets for the global search, without their Uptime. Exact
// matches of the name come first, then the newest. It searches the names and URLs of the
// newest models.NewestSearched targets, and the beginning of the URLs of all targets.
// CodeInvalid ("query.q").
func (s *Store) Find(ctx context.Context, text string, limit int) ([]Target, error) {
	if err := models.CheckFilter("query.q", text); err != nil {
		return nil, err
	}
	tx := s.db.Read(ctx)
	visible, who := models.Visible(tx, "targets")
	newest := "SELECT seq FROM (SELECT seq, name, search_text, created_at FROM targets WHERE deleted_at IS NULL AND " + visible + " ORDER BY created_at DESC, id DESC LIMIT ?) AS newest WHERE search_text LIKE ? ESCAPE '\\' ORDER BY lower(name) = ? DESC, created_at DESC LIMIT ?"
	begins := "SELECT seq FROM (SELECT seq FROM targets WHERE deleted_at IS NULL AND " + visible + " AND canonical_url >= ? AND canonical_url < ? ORDER BY canonical_url LIMIT ?) AS begins"
	some := []string{"SELECT seq FROM (" + newest + ") AS any_part"}
	args := append(slices.Clone(who), models.NewestSearched, "%"+models.EscapeLike(models.Fold(text))+"%", strings.ToLower(text), limit)
	for _, span := range models.AddressSpans(text) {
		some, args = append(some, begins), append(append(args, who...), span.From, span.Till, limit)
	}
	var ts []Target
	err := tx.Raw("SELECT * FROM targets WHERE seq IN ("+strings.Join(some, " UNION ")+") ORDER BY lower(name) = ? DESC, created_at DESC, id DESC LIMIT ?", append(args, strings.ToLower(text), limit)...).Scan(&ts).Error
	if err != nil {
		return nil, fmt.Errorf("search targets: %w", err)
	}
	return ts, nil
}
