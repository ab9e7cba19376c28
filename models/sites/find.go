package sites

import (
	"context"
	"fmt"
	"slices"
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

// FindPages returns up to limit pages whose URL contains text, newest first. It searches the newest models.NewestSearched
// pages, and the beginning of the URLs of all pages. It leaves out gone pages. The error is CodeInvalid ("query.q").
func (s *Store) FindPages(ctx context.Context, text string, limit int) (ps []Page, err error) {
	if err := models.CheckFilter("query.q", text); err != nil {
		return nil, err
	}
	tx := s.db.Read(ctx)
	visible, who := models.Visible(tx, "w")
	// seq > 0: SQLite searches by key rather than scans.
	const from = ` FROM pages AS p CROSS JOIN websites AS w
		WHERE w.seq = p.website_seq AND w.deleted_at IS NULL AND p.gone_at IS NULL AND `
	newest := "SELECT seq FROM (SELECT p.seq, p.url" + from + visible + ` AND p.seq > 0 ORDER BY p.seq DESC LIMIT ?) AS newest
		WHERE lower(url) LIKE ? ESCAPE '\' LIMIT ?`
	begins := "SELECT seq FROM (SELECT p.seq" + from + visible + " AND p.url >= ? AND p.url < ? ORDER BY p.url LIMIT ?) AS begins"
	some, args := []string{"SELECT seq FROM (" + newest + ") AS any_part"}, slices.Clone(who)
	args = append(args, models.NewestSearched, "%"+models.EscapeLike(strings.ToLower(text))+"%", limit)
	for _, span := range models.AddressSpans(text) {
		some, args = append(some, begins), append(append(args, who...), span.From, span.Till, limit)
	}
	query := "SELECT * FROM pages WHERE seq IN (" + strings.Join(some, " UNION ") + ") ORDER BY seq DESC LIMIT ?"
	err = tx.Raw(query, append(args, limit)...).Scan(&ps).Error
	if err != nil {
		return nil, fmt.Errorf("find pages: %w", err)
	}
	return ps, nil
}
