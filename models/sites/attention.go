package sites

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"linkwatch/models"
)

// Problem is a kind of problem of a website that needs attention.
type Problem string

// The kinds of problems.
const (
	ProblemGoogle    Problem = "google"   // Google refuses the requests of the website
	ProblemIndexNow  Problem = "indexnow" // IndexNow refuses them, or the key file is missing
	ProblemSitemaps  Problem = "sitemaps" // sitemaps could not be read, or only in part
	ProblemPages     Problem = "pages"    // the submission of pages failed
	hasSitemapError          = "m.last_error <> '' AND m.deleted_at IS NULL"
	hasGoogleError           = "(w.indexing_error <> '' OR w.console_error <> '') AND w.deleted_at IS NULL"
	hasIndexNowError         = "w.indexnow_error <> '' AND w.indexnow_key <> '' AND w.deleted_at IS NULL"
)

// Problems returns all kinds, most severe first.
func Problems() []Problem {
	return []Problem{ProblemGoogle, ProblemIndexNow, ProblemSitemaps, ProblemPages}
}

// where is the SQL condition for a website w with the problem. Partial indexes serve all of them.
func (t Problem) where() string {
	switch t {
	case ProblemGoogle:
		return hasGoogleError
	case ProblemIndexNow:
		return hasIndexNowError
	case ProblemPages:
		return "w.deleted_at IS NULL AND w.seq IN (SELECT c.website_seq FROM page_counts AS c WHERE c.status = 'failed' AND c.pages > 0)"
	case ProblemSitemaps:
	}
	return "w.deleted_at IS NULL AND w.seq IN (SELECT m.website_seq FROM sitemaps AS m WHERE " + hasSitemapError + ")"
}

// WithProblem is List for the websites with a problem. The error is CodeInvalid ("query.problem") for an unknown problem.
func (s *Store) WithProblem(ctx context.Context, t Problem, after models.Cursor, limit int) (models.Slice[Website], error) {
	var page models.Slice[Website]
	if err := t.check(); err != nil {
		return page, err
	}
	if after != (models.Cursor{}) && models.CheckID(models.KindWebsite, after.ID) != nil {
		return page, models.ErrPageToken
	}
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "w")
	err := tx.Raw("SELECT w.* FROM websites AS w WHERE "+t.where()+" AND "+visible+" AND (w.created_at, w.id) > (?, ?) ORDER BY w.created_at, w.id LIMIT ?",
		append(args, after.CreatedAt.UnixMicro(), after.ID, limit+1)...).Scan(&page.Items).Error
	if err != nil {
		return page, fmt.Errorf("load websites with a problem: %w", err)
	}
	return models.NewSlice(page.Items, limit, func(w Website) models.Cursor { return models.Cursor{CreatedAt: w.CreatedAt, ID: w.ID} }), nil
}

func (t Problem) check() error {
	if slices.Contains(Problems(), t) {
		return nil
	}
	return models.Invalid("query.problem", "must be google, indexnow, sitemaps or pages")
}

// ProblemCounts returns the number of websites, and the number with each problem.
func (s *Store) ProblemCounts(ctx context.Context) (n int, in map[Problem]int, err error) {
	tx := s.db.Read(ctx)
	visible, who := models.Visible(tx, "w")
	count := func(t Problem, where string) string {
		return fmt.Sprintf("SELECT '%s' AS problem, count(*) AS n FROM websites AS w WHERE %s AND %s", t, where, visible)
	}
	parts := []string{count("", "w.deleted_at IS NULL")}
	for _, t := range Problems() {
		parts = append(parts, count(t, t.where()))
	}
	var counts []struct {
		Problem Problem
		N       int
	}
	if err := tx.Raw(strings.Join(parts, " UNION ALL "), slices.Repeat(who, len(parts))...).Scan(&counts).Error; err != nil {
		return 0, nil, fmt.Errorf("count websites: %w", err)
	}
	in = map[Problem]int{}
	for _, c := range counts {
		in[c.Problem] = c.N
	}
	n = in[""]
	delete(in, "")
	return n, in, nil
}

// SitemapErrors returns the number of sitemaps with errors by Website.Seq. Websites without any are omitted.
func (s *Store) SitemapErrors(ctx context.Context, ws []Website) (map[int64]int, error) {
	rows := models.NewRows("seq bigint")
	for _, w := range ws {
		rows.Add(w.Seq)
	}
	var found []struct {
		WebsiteSeq int64
		N          int
	}
	err := rows.Raw(s.db.Read(ctx), "SELECT m.website_seq, count(*) AS n FROM {rows} AS r CROSS JOIN sitemaps AS m WHERE m.website_seq = r.seq AND "+hasSitemapError+" GROUP BY m.website_seq").
		Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("count sitemaps with errors: %w", err)
	}
	counts := map[int64]int{}
	for _, f := range found {
		counts[f.WebsiteSeq] = f.N
	}
	return counts, nil
}
