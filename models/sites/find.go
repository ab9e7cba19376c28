package sites

import (
	"context"
	"fmt"
	"strings"

	"linkwatch/models"
)

// maxSearched is how many of the newest websites Find looks into.
const maxSearched = 1000

// Find returns up to limit websites for the search over everything, the newest first: of
// the newest 1000 those whose name or URL has a text. CodeInvalid ("query.q").
func (s *Store) Find(ctx context.Context, text string, limit int) (ws []Website, err error) {
	if err := models.CheckFilter("query.q", text); err != nil {
		return nil, err
	}
	tx := s.db.Read(ctx)
	var newest []struct {
		Seq           int64
		Name, SiteURL string
	}
	seen, args := models.Visible(tx, "websites")
	err = tx.Raw("SELECT seq, name, site_url FROM websites WHERE deleted_at IS NULL AND "+seen+" ORDER BY created_at DESC, id DESC LIMIT ?", append(args, maxSearched)...).Scan(&newest).Error
	if err != nil {
		return nil, fmt.Errorf("looking for websites: %w", err)
	}
	wanted, seqs := models.Fold(text), []int64{}
	for _, w := range newest {
		if len(seqs) < limit && strings.Contains(models.Fold(w.Name+" "+w.SiteURL), wanted) {
			seqs = append(seqs, w.Seq)
		}
	}
	if err := tx.Where("seq IN ?", seqs).Order("created_at DESC, id DESC").Find(&ws).Error; err != nil {
		return nil, fmt.Errorf("loading websites: %w", err)
	}
	return ws, nil
}
