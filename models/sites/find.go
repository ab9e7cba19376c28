package sites

import (
	"context"
	"fmt"
	"strings"

	"linkwatch/models"
)

const maxSearched = 1000 // newest websites that Find searches

// Find returns up to limit websites whose name or URL contains text, newest first. It searches the newest 1,000 websites.
// The error is CodeInvalid ("query.q").
func (s *Store) Find(ctx context.Context, text string, limit int) (ws []Website, err error) {
	if err := models.CheckFilter("query.q", text); err != nil {
		return nil, err
	}
	tx := s.db.Read(ctx)
	var newest []struct {
		Seq           int64
		Name, SiteURL string
	}
	visible, args := models.Visible(tx, "websites")
	err = tx.Raw("SELECT seq, name, site_url FROM websites WHERE deleted_at IS NULL AND "+visible+" ORDER BY created_at DESC, id DESC LIMIT ?", append(args, maxSearched)...).Scan(&newest).Error
	if err != nil {
		return nil, fmt.Errorf("search websites: %w", err)
	}
	folded, seqs := models.Fold(text), []int64{}
	for _, w := range newest {
		if len(seqs) < limit && strings.Contains(models.Fold(w.Name+" "+w.SiteURL), folded) {
			seqs = append(seqs, w.Seq)
		}
	}
	if err := tx.Where("seq IN ?", seqs).Order("created_at DESC, id DESC").Find(&ws).Error; err != nil {
		return nil, fmt.Errorf("load websites: %w", err)
	}
	return ws, nil
}
