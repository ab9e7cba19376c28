package sites

import (
	"context"
	"fmt"
	"slices"

	"linkwatch/models"
)

// Trouble is a problem that keeps websites, or pages of theirs, from being submitted or read.
type Trouble string

// The troubles.
const (
	GoogleRefuses   Trouble = "google"   // Google refuses all calls of the website
	SitemapsUnread  Trouble = "sitemaps" // sitemaps cannot be read, or not in full
	PagesFailed     Trouble = "pages"    // pages failed to be submitted
	brokenSitemaps          = "m.last_error <> '' AND m.deleted_at IS NULL"
	refusedWebsites         = "(w.indexing_error <> '' OR w.console_error <> '') AND w.deleted_at IS NULL"
)

// Troubles are all of them, the most severe first.
func Troubles() []Trouble { return []Trouble{GoogleRefuses, SitemapsUnread, PagesFailed} }

// where is the condition of a website w in trouble. An index has those that are; of
// page_counts each website has few rows.
func (t Trouble) where() string {
	switch t {
	case GoogleRefuses:
		return refusedWebsites
	case PagesFailed:
		return "w.deleted_at IS NULL AND EXISTS (SELECT 1 FROM page_counts AS c WHERE c.website_seq = w.seq AND c.status = 'failed' AND c.pages > 0)"
	case SitemapsUnread:
	}
	return "w.deleted_at IS NULL AND w.seq IN (SELECT m.website_seq FROM sitemaps AS m WHERE " + brokenSitemaps + ")"
}

// InTrouble is List for the websites that are in trouble. The error is CodeInvalid
// ("query.problem") for a trouble that there is not.
func (s *Store) InTrouble(ctx context.Context, t Trouble, after models.Cursor, limit int) (models.Slice[Website], error) {
	var page models.Slice[Website]
	if err := t.check(); err != nil {
		return page, err
	}
	if after != (models.Cursor{}) && models.CheckID(models.KindWebsite, after.ID) != nil {
		return page, models.ErrPageToken
	}
	tx := s.db.Read(ctx)
	seen, args := models.Visible(tx, "w")
	err := tx.Raw("SELECT w.* FROM websites AS w WHERE "+t.where()+" AND "+seen+" AND (w.created_at, w.id) > (?, ?) ORDER BY w.created_at, w.id LIMIT ?",
		append(args, after.CreatedAt.UnixMicro(), after.ID, limit+1)...).Scan(&page.Items).Error
	if err != nil {
		return page, fmt.Errorf("loading websites in trouble: %w", err)
	}
	return models.NewSlice(page.Items, limit, func(w Website) models.Cursor { return models.Cursor{CreatedAt: w.CreatedAt, ID: w.ID} }), nil
}

func (t Trouble) check() error {
	switch t {
	case GoogleRefuses, SitemapsUnread, PagesFailed:
		return nil
	}
	return models.Invalid("query.problem", "must be google, sitemaps or pages")
}

// Total is how many websites there are, and how many of them are in each trouble.
func (s *Store) Total(ctx context.Context) (n int, in map[Trouble]int, err error) {
	var counts struct{ N, Refused, Unread, Failed int }
	tx := s.db.Read(ctx)
	seen, who := models.Visible(tx, "w")
	count := func(where string) string {
		return "(SELECT count(*) FROM websites AS w WHERE " + where + " AND " + seen + ")"
	}
	err = tx.Raw("SELECT "+count("w.deleted_at IS NULL")+" AS n, "+count(GoogleRefuses.where())+" AS refused, "+count(SitemapsUnread.where())+" AS unread, "+count(PagesFailed.where())+" AS failed",
		slices.Repeat(who, 4)...).Scan(&counts).Error
	if err != nil {
		return 0, nil, fmt.Errorf("counting websites: %w", err)
	}
	return counts.N, map[Trouble]int{GoogleRefuses: counts.Refused, SitemapsUnread: counts.Unread, PagesFailed: counts.Failed}, nil
}

// BrokenSitemaps are how many sitemaps of each website cannot be read, or not in full, by
// the seq of the website. Those without any are missing.
func (s *Store) BrokenSitemaps(ctx context.Context, ws []Website) (map[int64]int, error) {
	rows := models.NewRows("seq bigint")
	for _, w := range ws {
		rows.Add(w.Seq)
	}
	var found []struct {
		WebsiteSeq int64
		N          int
	}
	err := rows.Raw(s.db.Read(ctx), "SELECT m.website_seq, count(*) AS n FROM {rows} AS r CROSS JOIN sitemaps AS m WHERE m.website_seq = r.seq AND "+brokenSitemaps+" GROUP BY m.website_seq").
		Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("counting sitemaps that cannot be read: %w", err)
	}
	of := map[int64]int{}
	for _, f := range found {
		of[f.WebsiteSeq] = f.N
	}
	return of, nil
}
