package sites

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Filter narrows a list of pages down. The zero value is all pages that a sitemap has.
type Filter struct {
	Status Status // "" = any
	Queued bool   // those that wait to be submitted: to Google, or by IndexNow if the website has no credentials
	Cause  string // "" = any
	Gone   bool   // those that no sitemap has, and only these
	// Unindexed are those that Google was asked of and has not indexed, or that were refused: not_indexed, failed, and pending ones to which
	// it gave no clear answer. Status is not looked at then.
	Unindexed bool
	Match     string // a pattern of the path that begins with / and may have * ("/blog/*"), or a part of the URL; "" = any
}

// check bounds the filter, and tidies its texts.
func (f *Filter) check() error {
	switch f.Status {
	case "", Pending, Submitted, Indexed, NotIndexed, Failed:
	default:
		return models.Invalid("query.status", "must be pending, submitted, indexed, not_indexed or failed")
	}
	if err := errors.Join(models.CheckFilter("query.cause", f.Cause), models.CheckFilter("query.q", f.Match)); err != nil {
		return err
	}
	f.Cause, f.Match = models.CleanLine(f.Cause), models.CleanLine(f.Match)
	return nil
}

// pageRows reads the pages that the actor of tx sees.
func pageRows(tx *gorm.DB) (sql string, args []any) {
	seen, args := models.Visible(tx, "w")
	return selectPages + seen + " AND ", args
}

const selectPages = "SELECT p.*, w.id AS website_id, w.name AS website_name, w.credentials IS NOT NULL AS uses_google, w.indexnow_key <> '' AS uses_indexnow FROM pages AS p JOIN websites AS w ON w.seq = p.website_seq WHERE w.deleted_at IS NULL AND "

var errNoPage = models.NotFound("page")

// Page is the page of an id; CodeNotFound if there is none.
func (s *Store) Page(ctx context.Context, id string) (Page, error) { return page(s.db.Read(ctx), id) }

func page(tx *gorm.DB, id string) (p Page, err error) {
	at, seq, err := models.ParseTimedID(models.KindPage, id)
	if err != nil {
		return p, errNoPage
	}
	var found []Page
	sql, args := pageRows(tx)
	if err := tx.Raw(sql+"p.seq = ? AND p.created_at = ?", append(args, seq, at)...).Scan(&found).Error; err != nil {
		return p, fmt.Errorf("loading a page: %w", err)
	}
	if len(found) == 0 {
		return p, errNoPage
	}
	return found[0], nil
}

// Pages is a page of a website's pages in the order of the queue: the highest priority
// first, then the oldest. Those that are gone are listed by age. CodeNotFound if there is
// no such website. limit is as models.NewLimit made it. A Match is compared with each
// page, so a search that finds little reads all of them.
func (s *Store) Pages(ctx context.Context, websiteID string, f Filter, after models.Cursor, limit int) (models.Slice[Page], error) {
	var list models.Slice[Page]
	if err := f.check(); err != nil {
		return list, err
	}
	tx := s.db.Read(ctx)
	w, err := website(tx, websiteID, false)
	if err != nil {
		return list, err
	}
	rank, seq := -1, int64(0)
	if after != (models.Cursor{}) {
		if _, seq, err = models.ParseTimedID(models.KindPage, after.ID); err != nil {
			return list, models.ErrPageToken
		}
		rank = MaxPriority - after.Priority
	}
	q := f.query(w)
	sql, args := q.sql(rank, seq, limit+1)
	if err := tx.Raw(sql, args...).Scan(&list.Items).Error; err != nil {
		return list, fmt.Errorf("loading pages: %w", err)
	}
	for i := range list.Items {
		list.Items[i].WebsiteID, list.Items[i].UsesGoogle, list.Items[i].UsesIndexNow = w.ID, w.Google(), w.IndexNow()
	}
	return models.NewSlice(list.Items, limit, func(p Page) models.Cursor {
		return models.Cursor{CreatedAt: p.CreatedAt, ID: p.ID(), Priority: p.Priority()}
	}), nil
}

// query is a list of pages in parts, each of which one index gives in its order.
type query struct {
	parts []string
	args  [][]any
	byAge bool // else in the order of the queue
}

// query is the query of a filter.
func (f Filter) query(w Website) query {
	where, args := " AND p.gone_at IS NULL", []any(nil)
	if f.Gone {
		where = " AND p.gone_at IS NOT NULL"
	}
	if f.Cause != "" {
		where, args = where+" AND p.cause = ? AND p.cause <> ''", append(args, f.Cause)
	}
	if f.Match != "" {
		sql, like := match(f.Match)
		where, args = where+sql, append(args, like)
	}
	switch {
	case f.Queued && w.Google():
		where += " AND p.for_google"
	case f.Queued:
		where += " AND p.for_indexnow"
	}
	all := append([]any{w.Seq}, args...)
	var q query
	switch {
	case f.Gone:
		q = query{[]string{"p.website_seq = ?" + where}, [][]any{all}, true}
	case f.Unindexed && f.Cause == "": // what has a cause is one of them
		for _, status := range []string{"'not_indexed'", "'failed'", "'pending' AND p.last_verified_at IS NOT NULL"} {
			q.parts = append(q.parts, "p.website_seq = ?"+where+" AND p.status = "+status)
			q.args = append(q.args, append([]any{}, all...))
		}
	case f.Status != "" && !f.Unindexed:
		q = query{[]string{"p.website_seq = ?" + where + " AND p.status = ?"}, [][]any{append(all, f.Status)}, false}
	case f.Queued && w.Google() && f.Cause == "":
		q = forGoogle(where, all)
	case f.Queued, f.Cause != "":
		q = query{[]string{"p.website_seq = ?" + where}, [][]any{all}, false}
	default: // the index begins with the status
		for _, status := range Statuses() {
			q.parts = append(q.parts, "p.website_seq = ?"+where+" AND p.status = ?")
			q.args = append(q.args, append(append([]any{}, all...), status))
		}
	}
	if f.Gone && f.Status != "" {
		q.parts[0], q.args[0] = q.parts[0]+" AND p.status = ?", append(q.args[0], f.Status)
	}
	return q
}

// forGoogle is the query of pages that wait for Google.
func forGoogle(where string, args []any) query {
	return query{
		parts: []string{"p.website_seq = ? AND p.for_google AND p.status = 'pending' AND p.gone_at IS NULL" + where, "p.website_seq = ? AND p.for_google AND p.status <> 'pending'" + where},
		args:  [][]any{slices.Clone(args), slices.Clone(args)},
	}
}

// sql reads up to limit pages after a place.
func (q query) sql(rank int, seq int64, limit int) (string, []any) {
	order, place := "queue_rank, seq", " AND (p.queue_rank, p.seq) > (?, ?)"
	at := []any{rank, seq}
	if q.byAge {
		order, place, at = "seq", " AND p.seq > ?", []any{seq}
	}
	var parts []string
	var args []any
	for i, where := range q.parts {
		parts = append(parts, "SELECT * FROM (SELECT p.* FROM pages AS p WHERE "+where+place+" ORDER BY "+order+" LIMIT ?) AS x")
		args = append(append(append(args, q.args[i]...), at...), limit)
	}
	return "SELECT * FROM (" + strings.Join(parts, " UNION ALL ") + ") AS y ORDER BY " + order + " LIMIT ?", append(args, limit)
}

// match is the condition of a pattern or a part of a URL, and its argument.
func match(text string) (sql, like string) {
	like = models.EscapeLike(strings.ToLower(text))
	if strings.HasPrefix(text, "/") {
		return ` AND lower(substr(p.url, CAST(p.path_at AS integer))) LIKE ? ESCAPE '\'`, strings.ReplaceAll(like, "*", "%")
	}
	return ` AND lower(p.url) LIKE ? ESCAPE '\'`, "%" + strings.ReplaceAll(like, "*", "%") + "%"
}

// ByURLs are the pages of websites that are at canonical URLs, by these: at most a few
// of each, those of shared websites before the caller's own, and then those with the
// highest priority.
func (s *Store) ByURLs(ctx context.Context, canonical ...string) (map[string][]Page, error) {
	rows := models.NewRows("canonical text, url text")
	for _, url := range canonical {
		rows.Add(url, url)
		rows.Add(url, withSlash(url))
	}
	var found []struct {
		Page
		Canonical string
	}
	tx := s.db.Read(ctx)
	own, args := models.OwnScope(tx, "w")
	err := rows.Raw(tx, `SELECT p.*, w.id AS website_id, w.name AS website_name, w.credentials IS NOT NULL AS uses_google, w.indexnow_key <> '' AS uses_indexnow, r.canonical FROM {rows} AS r CROSS JOIN pages AS p CROSS JOIN websites AS w
		WHERE p.url = r.url AND w.seq = p.website_seq AND w.deleted_at IS NULL AND p.gone_at IS NULL AND `+own+`
		ORDER BY r.canonical, w.private_to <> '', p.queue_rank, p.seq`, args...).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("loading pages by their URLs: %w", err)
	}
	of := map[string][]Page{}
	for _, f := range found {
		of[f.Canonical] = append(of[f.Canonical], f.Page)
	}
	return of, nil
}

// withSlash is a canonical URL with a slash at the end of its path, as most pages are
// requested whose path ends in one.
func withSlash(canonical string) string {
	path, query, found := strings.Cut(canonical, "?")
	if found {
		query = "?" + query
	}
	return path + "/" + query
}
