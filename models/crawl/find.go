package crawl

import (
	"context"
	"fmt"
	"strings"

	"linkwatch/models"
)

// Find returns up to limit jobs for the global search, the newest first. It searches the newest models.NewestSearched jobs
// by their name and URL and the name and URL of their source. It searches all jobs by the beginning of the host of their source. The
// error is CodeInvalid ("query.q").
func (s *Store) Find(ctx context.Context, text string, limit int) (found []Job, err error) {
	if err := models.CheckFilter("query.q", text); err != nil {
		return nil, err
	}
	tx := s.db.Read(ctx)
	ofSource, who := ofVisibleSource(tx, "jobs.source_seq")
	visible, whose := models.Visible(tx, "sources")
	newest := `SELECT seq FROM (SELECT seq, url, search_text, source_seq FROM jobs WHERE deleted_at IS NULL AND ` + ofSource + ` ORDER BY created_at DESC, id DESC LIMIT ?) AS newest
		WHERE lower(url) LIKE ? ESCAPE '\' OR search_text LIKE ? ESCAPE '\' OR (SELECT search_text FROM sources WHERE sources.seq = source_seq) LIKE ? ESCAPE '\' LIMIT ?`
	hosts := `SELECT j.seq FROM (SELECT seq FROM sources WHERE deleted_at IS NULL AND ` + visible + ` AND host >= ? AND host < ? ORDER BY host LIMIT ?) AS s
		CROSS JOIN jobs AS j WHERE j.source_seq = s.seq AND j.deleted_at IS NULL LIMIT ?`
	like := "%" + models.EscapeLike(models.Fold(text)) + "%"
	some, args := []string{"SELECT seq FROM (" + newest + ") AS any_part"}, joinArgs(who, models.NewestSearched, like, like, like, limit)
	for _, span := range models.HostSpans(text) {
		some, args = append(some, "SELECT seq FROM ("+hosts+") AS of_hosts"), append(args, joinArgs(whose, span.From, span.Till, limit, limit)...)
	}
	err = jobs(tx).Where("jobs.seq IN ("+strings.Join(some, " UNION ")+")", args...).
		Order("jobs.created_at DESC, jobs.id DESC").Limit(limit).Find(&found).Error
	if err != nil {
		return nil, fmt.Errorf("find jobs: %w", err)
	}
	return found, nil
}
