package sites

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Filter selects pages. The zero value selects all pages in a sitemap.
type Filter struct {
	Status Status // "" = any
	Queued bool   // queued for Google, or for IndexNow if the website has no credentials
	Cause  string // "" = any
	Gone   bool   // only pages in no sitemap
	// Unindexed selects pages that Google has not indexed, that failed, or about which Google gave no clear answer: not_indexed,
	// failed, and verified pages that are pending or submitted. Status is ignored then.
	Unindexed bool
	Match     string // path pattern that starts with / and may contain * ("/blog/*"), or part of the URL; "" = any
}

func (f *Filter) normalize() error {
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

// pageRows returns the SELECT of the pages that the actor of tx can see.
func pageRows(tx *gorm.DB) (sql string, args []any) {
	visible, args := models.Visible(tx, "w")
	return selectPages + visible + " AND ", args
}

const selectPages = "SELECT p.*, w.id AS website_id, w.name AS website_name, w.credentials IS NOT NULL AS uses_google, w.indexnow_key <> '' AS uses_indexnow FROM pages AS p JOIN websites AS w ON w.seq = p.website_seq WHERE w.deleted_at IS NULL AND "

var errNoPage = models.NotFound("website page")

// Page returns a page by ID. The error is CodeNotFound if it does not exist.
func (s *Store) Page(ctx context.Context, id string) (Page, error) { return page(s.db.Read(ctx), id) }

func page(tx *gorm.DB, id string) (p Page, err error) {
	at, seq, err := models.ParseTimedID(models.KindPage, id)
	if err != nil {
		return p, errNoPage
	}
	var found []Page
	sql, args := pageRows(tx)
	if err := tx.Raw(sql+"p.seq = ? AND p.created_at = ?", append(args, seq, at)...).Scan(&found).Error; err != nil {
		return p, fmt.Errorf("load page: %w", err)
	}
	if len(found) == 0 {
		return p, errNoPage
	}
	return found[0], nil
}

// Pages returns pages of a website in queue order: highest priority first, then oldest first. Gone pages are sorted by age.
// The error is CodeNotFound if the website does not exist. limit must come from models.NewLimit. A filter by Match reads
// models.MaxSearched pages.
func (s *Store) Pages(ctx context.Context, websiteID string, f Filter, after models.Cursor, limit int) (models.Slice[Page], error) {
	var list models.Slice[Page]
	if err := errors.Join(f.normalize(), after.OnlyOrder("priority", models.Descending)); err != nil {
		return list, err
	}
	tx := s.db.Read(ctx)
	w, err := website(tx, websiteID, false)
	if err != nil {
		return list, err
	}
	rank, seq := -1, int64(0)
	if after.Started() {
		if _, seq, err = models.ParseTimedID(models.KindPage, after.ID); err != nil {
			return list, models.ErrPageToken
		}
		rank = MaxPriority - after.Priority
	}
	q := f.query(w)
	count, err := q.count(tx, s.db.Engine, f.Match, after)
	if err != nil {
		return list, err
	}
	var end models.Cursor
	if f.Match != "" {
		last, more, err := q.searchEnd(tx, s.db.Engine, rank, seq)
		if err != nil {
			return list, err
		}
		if more {
			end = last.cursor()
			q.addWhere(q.upTo(last))
		}
		q.addWhere(matchCondition(f.Match))
	}
	sql, args := q.sql(rank, seq, limit+1)
	if err := tx.Raw(sql, args...).Scan(&list.Items).Error; err != nil {
		return list, fmt.Errorf("load pages: %w", err)
	}
	for i := range list.Items {
		list.Items[i].WebsiteID, list.Items[i].UsesGoogle, list.Items[i].UsesIndexNow = w.ID, w.UsesGoogle(), w.UsesIndexNow()
	}
	list = models.NewSlice(list.Items, limit, Page.cursor)
	list.Count = count
	return list.SearchedTo(end), nil
}

func (p Page) cursor() models.Cursor {
	return models.Cursor{CreatedAt: p.CreatedAt, ID: p.ID(), Priority: p.Priority()}
}

// query is a list of pages in parts, each read in order from one index.
type query struct {
	parts []string
	args  [][]any
	byAge bool // else in queue order
}

// query returns the list without the filter by Match.
func (f Filter) query(w Website) query {
	where, args := " AND p.gone_at IS NULL", []any(nil)
	if f.Gone {
		where = " AND p.gone_at IS NOT NULL"
	}
	if f.Cause != "" {
		where, args = where+" AND p.cause = ? AND p.cause <> ''", append(args, f.Cause)
	}
	switch {
	case f.Queued && w.UsesGoogle():
		where += " AND p.queued_for_google"
	case f.Queued:
		where += " AND p.queued_for_indexnow"
	}
	all := append([]any{w.Seq}, args...)
	var q query
	switch {
	case f.Gone:
		q = query{[]string{"p.website_seq = ?" + where}, [][]any{all}, true}
	case f.Unindexed && f.Cause == "": // pages with a cause are unindexed
		for _, status := range []string{
			"'not_indexed'", "'failed'", "'pending' AND p.last_verified_at IS NOT NULL", "'submitted' AND p.last_verified_at IS NOT NULL AND NOT p.unverified",
		} {
			q.parts = append(q.parts, "p.website_seq = ?"+where+" AND p.status = "+status)
			q.args = append(q.args, append([]any{}, all...))
		}
	case f.Status != "" && !f.Unindexed:
		q = query{[]string{"p.website_seq = ?" + where + " AND p.status = ?"}, [][]any{append(all, f.Status)}, false}
	case f.Queued && w.UsesGoogle() && f.Cause == "":
		q = queuedForGoogle(where, all)
	case f.Queued, f.Cause != "":
		q = query{[]string{"p.website_seq = ?" + where}, [][]any{all}, false}
	default: // one part per status, the first column of the index
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

func queuedForGoogle(where string, args []any) query {
	return query{
		parts: []string{"p.website_seq = ? AND p.queued_for_google AND p.status = 'pending' AND p.gone_at IS NULL" + where, "p.website_seq = ? AND p.queued_for_google AND p.status <> 'pending'" + where},
		args:  [][]any{slices.Clone(args), slices.Clone(args)},
	}
}

// addWhere adds a condition, which starts with AND, to each part.
func (q query) addWhere(condition string, args []any) {
	for i := range q.parts {
		q.parts[i], q.args[i] = q.parts[i]+condition, append(q.args[i], args...)
	}
}

func (q query) order() string {
	if q.byAge {
		return "seq"
	}
	return "queue_rank, seq"
}

// upTo returns the condition for pages up to p.
func (q query) upTo(p Page) (condition string, args []any) {
	if q.byAge {
		return " AND p.seq <= ?", []any{p.Seq}
	}
	return " AND (p.queue_rank, p.seq) <= (?, ?)", []any{p.QueueRank, p.Seq}
}

// after returns the condition for pages after a position.
func (q query) after(rank int, seq int64) (condition string, args []any) {
	if q.byAge {
		return " AND p.seq > ?", []any{seq}
	}
	return " AND (p.queue_rank, p.seq) > (?, ?)", []any{rank, seq}
}

// sql returns the SELECT of up to limit pages after a position.
func (q query) sql(rank int, seq int64, limit int) (string, []any) {
	after, at := q.after(rank, seq)
	var parts []string
	var args []any
	for i, where := range q.parts {
		parts = append(parts, "SELECT * FROM (SELECT p.* FROM pages AS p WHERE "+where+after+" ORDER BY "+q.order()+" LIMIT ?) AS x")
		args = append(append(append(args, q.args[i]...), at...), limit)
	}
	return "SELECT * FROM (" + strings.Join(parts, " UNION ALL ") + ") AS y ORDER BY " + q.order() + " LIMIT ?", append(args, limit)
}

// searchEnd returns the last page that a search reads after a position. See models.SearchEnd. SQLite merges the parts and
// reads only as many pages of each as it needs. PostgreSQL would sort them, so there each part has a limit.
func (q query) searchEnd(tx *gorm.DB, engine string, rank int, seq int64) (end Page, more bool, err error) {
	after, at := q.after(rank, seq)
	var parts []string
	var args []any
	for i, where := range q.parts {
		part := "SELECT p.queue_rank, p.seq FROM pages AS p WHERE " + where + after
		if engine == models.Postgres && len(q.parts) > 1 {
			part = fmt.Sprintf("(%s ORDER BY %s LIMIT %d)", part, q.order(), models.MaxSearched+1)
		}
		parts, args = append(parts, part), append(append(args, q.args[i]...), at...)
	}
	end, more, err = models.SearchEnd[Page](tx, strings.Join(parts, " UNION ALL ")+" ORDER BY "+q.order(), args...)
	if err == nil && more {
		err = tx.Raw("SELECT seq, queue_rank, created_at FROM pages WHERE seq = ?", end.Seq).Scan(&end).Error
	}
	if err != nil {
		return end, false, fmt.Errorf("search pages: %w", err)
	}
	return end, more, nil
}

// count counts the pages of the list, if a cursor wants that. A filter by Match reads models.MaxSearched pages.
func (q query) count(tx *gorm.DB, engine, match string, after models.Cursor) (n models.Count, err error) {
	if !after.Want.Total {
		return n, nil
	}
	counted, partly := query{slices.Clone(q.parts), slices.Clone(q.args), q.byAge}, false
	for i := range counted.args {
		counted.args[i] = slices.Clip(counted.args[i])
	}
	if match != "" {
		var last Page
		if last, partly, err = counted.searchEnd(tx, engine, -1, 0); err != nil {
			return n, err
		}
		if partly {
			counted.addWhere(counted.upTo(last))
		}
		counted.addWhere(matchCondition(match))
	}
	parts := make([]string, len(counted.parts))
	for i, where := range counted.parts {
		parts[i] = "SELECT 1 AS one FROM pages AS p WHERE " + where
	}
	n, err = models.CountRows(tx, after, strings.Join(parts, " UNION ALL "), slices.Concat(counted.args...)...)
	n.LowerBound = n.LowerBound || partly
	return n, err
}

// matchCondition returns the SQL condition for Filter.Match.
func matchCondition(text string) (sql string, args []any) {
	like := models.EscapeLike(strings.ToLower(text))
	if strings.HasPrefix(text, "/") {
		return ` AND lower(substr(p.url, CAST(p.path_start AS integer))) LIKE ? ESCAPE '\'`, []any{strings.ReplaceAll(like, "*", "%")}
	}
	return ` AND lower(p.url) LIKE ? ESCAPE '\'`, []any{"%" + strings.ReplaceAll(like, "*", "%") + "%"}
}

// PagesByURL returns the pages with canonical URLs, by these URLs. Pages of shared websites come before those of the
// caller's private ones, then pages with the highest priority.
func (s *Store) PagesByURL(ctx context.Context, canonical ...string) (map[string][]Page, error) {
	rows := models.NewRows("canonical text, url text")
	for _, url := range canonical {
		for _, form := range formsOf(url) {
			rows.Add(url, form)
		}
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
		return nil, fmt.Errorf("load pages by URL: %w", err)
	}
	byURL := map[string][]Page{}
	for _, f := range found {
		byURL[f.Canonical] = append(byURL[f.Canonical], f.Page)
	}
	return byURL, nil
}

var upperEscape = regexp.MustCompile("%[0-9A-F]{2}")

// formsOf returns the forms in which sitemaps list a canonical URL: with or without a trailing slash, and with all escapes in
// upper or in lower case.
func formsOf(canonical string) []string {
	forms := []string{canonical, withTrailingSlash(canonical)}
	if lower := upperEscape.ReplaceAllStringFunc(canonical, strings.ToLower); lower != canonical {
		forms = append(forms, lower, withTrailingSlash(lower))
	}
	return forms
}

// withTrailingSlash adds the slash that the canonical form drops from a path.
func withTrailingSlash(canonical string) string {
	path, query, found := strings.Cut(canonical, "?")
	if found {
		query = "?" + query
	}
	return path + "/" + query
}
