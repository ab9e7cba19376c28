package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/crawl/fulltext"
)

// PageFilter selects crawled pages. The zero value selects all.
type PageFilter struct {
	Query       string // syntax of fulltext.Parse; "" = no search
	SourceID    string
	Language    string    // language code, as stored with pages
	Since, Till time.Time // whole days in UTC of publication, or of the first fetch; zero = no limit
}

// searches reports whether the filter needs the search index.
func (f PageFilter) searches() bool {
	return f.Query != "" || f.Language != "" || !f.Since.IsZero() || !f.Till.IsZero()
}

// FoundPage is a page in a list.
type FoundPage struct {
	Page
	MarkedTitle []fulltext.Piece `gorm:"-"` // its title with matches marked; nil without a search or a title
	Snippet     []fulltext.Piece `gorm:"-"` // part of its text with matches marked; nil without a search
}

// PageList is one page of a list of crawled pages.
type PageList struct {
	models.Slice[FoundPage]
	Total       int  // matching pages of a search, counted up to MaxFound
	TotalCapped bool // more pages match than were counted
}

// MaxFound is the maximum number of pages that a search finds.
const MaxFound = 1000

// maxRanked is the number of first matches that are ranked by their texts.
const maxRanked = 100

// Pages returns one page of the crawled pages: the best match first in a search, otherwise the oldest first. It omits
// duplicates. limit comes from models.NewLimit. Errors are CodeInvalid ("query.q", "query.source_id", "query.language", "query.page_token").
func (s *Store) Pages(ctx context.Context, f PageFilter, after models.Cursor, limit int) (list PageList, err error) {
	err = errors.Join(models.CheckFilter("query.source_id", f.SourceID), models.CheckFilter("query.language", f.Language))
	if err != nil {
		return list, err
	}
	var last int64
	if f.searches() {
		if err = after.OnlyOrder("relevance", models.Descending); err != nil {
			return list, err
		}
	}
	if after.Started() {
		if _, last, err = models.ParseTimedID(models.KindCrawled, after.ID); err != nil {
			return list, models.ErrPageToken
		}
	}
	tx := s.db.Read(ctx)
	var source int64
	if f.SourceID != "" {
		if isID(models.KindSource, f.SourceID) {
			visible, args := models.Visible(tx, "sources")
			err = tx.Raw("SELECT seq FROM sources WHERE id = ? AND deleted_at IS NULL AND "+visible, joinArgs([]any{f.SourceID}, args...)...).Scan(&source).Error
		}
		if err != nil || source == 0 { // no such source
			list.Slice = models.NoItems[FoundPage](after)
			return list, err
		}
	}
	if f.searches() {
		list, err = s.search(tx, f, source, last, limit)
		list.Count = models.Count{Known: after.Want.Total, N: list.Total, LowerBound: list.TotalCapped}
		return list, err
	}
	q := models.ListQuery{
		Table: "crawled_pages", From: "crawled_pages JOIN sources ON sources.seq = crawled_pages.source_seq AND sources.deleted_at IS NULL",
		Where: "crawled_pages.seq > 0 AND crawled_pages.deleted_at IS NULL AND NOT crawled_pages.duplicate", // seq: read by key
	}
	q.Own, q.OwnArgs = ofVisibleSource(tx, "crawled_pages.source_seq")
	if source != 0 {
		q.And("crawled_pages.source_seq = ?", source)
	}
	list.Slice, err = PageOrders.List(tx, q, after, limit, func(p models.ListPart) (found []FoundPage, err error) {
		if err = p.Of(pageListQuery(tx)).Find(&found).Error; err != nil {
			err = fmt.Errorf("load crawled pages: %w", err)
		}
		return found, err
	})
	return list, err
}

func cursorOf(p FoundPage) models.Cursor { return models.Cursor{CreatedAt: p.CreatedAt, ID: p.ID()} }

// pageListQuery selects pages without the columns that only the page of a single one needs.
func pageListQuery(tx *gorm.DB) *gorm.DB {
	visible, args := models.Visible(tx, "sources")
	return tx.Model(&Page{}).Omit("links", "json_ld").Joins("JOIN sources ON sources.seq = crawled_pages.source_seq").Where("sources.deleted_at IS NULL AND crawled_pages.deleted_at IS NULL AND NOT crawled_pages.duplicate").Where(visible, args...).
		Select(`crawled_pages.seq, source_seq, crawl_seq, crawled_pages.url, status_code, content_type, title, description, language, content_hash, noindex,
			crawled_pages.created_at, fetched_at, changed_at, author, published_at, modified_at, word_count, versions, text_version, gone_at, sources.id AS source_id`)
}

// search returns one page of matches. last is the seq of the last match on the previous page.
func (s *Store) search(tx *gorm.DB, f PageFilter, source, last int64, limit int) (list PageList, err error) {
	var q fulltext.Query
	if f.Query != "" {
		if q, err = fulltext.Parse("query.q", f.Query); err != nil {
			return list, err
		}
	}
	seqs, more, err := fulltext.Find(tx, s.text, q, fulltext.Filter{Source: source, Language: f.Language, Since: f.Since, Till: f.Till}, MaxFound)
	if err != nil {
		return list, err
	}
	list.Total, list.TotalCapped = len(seqs), more
	if err := s.rank(tx, q, seqs[:min(len(seqs), maxRanked)]); err != nil {
		return list, err
	}
	if last != 0 {
		i := slices.Index(seqs, last)
		if i < 0 { // it no longer matches
			return list, nil
		}
		seqs = seqs[i+1:]
	}
	next := len(seqs) > limit
	seqs = seqs[:min(len(seqs), limit)]
	var found []FoundPage
	if err := pageListQuery(tx).Where("crawled_pages.seq IN ?", seqs).Find(&found).Error; err != nil {
		return list, fmt.Errorf("load search results: %w", err)
	}
	at := make(map[int64]int, len(seqs))
	for i, seq := range seqs {
		at[seq] = i
	}
	slices.SortFunc(found, func(a, b FoundPage) int { return cmp.Compare(at[a.Seq], at[b.Seq]) })
	texts, err := s.texts(tx, seqs)
	if err != nil {
		return list, err
	}
	for i := range found {
		found[i].MarkedTitle, found[i].Snippet = q.Mark(found[i].Title), q.Snippet(texts[found[i].Seq])
	}
	list.Slice = models.Slice[FoundPage]{Items: found}
	if next && len(found) > 0 {
		list.Next = cursorOf(found[len(found)-1])
	}
	return list, nil
}

// rank sorts matching pages by how well they match.
func (s *Store) rank(tx *gorm.DB, q fulltext.Query, seqs []int64) error {
	if len(seqs) < 2 || len(q.All) == 0 {
		return nil
	}
	texts, err := s.texts(tx, seqs)
	if err != nil {
		return err
	}
	var heads []struct {
		Seq             int64
		Title, Headings string
	}
	if err := tx.Raw("SELECT seq, title, headings FROM crawled_pages WHERE seq IN ?", seqs).Scan(&heads).Error; err != nil {
		return fmt.Errorf("rank search results: %w", err)
	}
	score := make(map[int64]float64, len(heads))
	for _, h := range heads {
		score[h.Seq] = q.Score(h.Title, h.Headings, texts[h.Seq])
	}
	slices.SortStableFunc(seqs, func(a, b int64) int { return cmp.Compare(score[b], score[a]) })
	return nil
}

// texts returns the texts of pages, by seq.
func (s *Store) texts(tx *gorm.DB, seqs []int64) (map[int64]string, error) {
	var found []struct {
		PageSeq int64
		Text    CompressedText
	}
	err := tx.Raw(`SELECT v.page_seq, v.text FROM crawled_pages AS p JOIN page_versions AS v ON v.page_seq = p.seq AND v.version = p.text_version
		WHERE p.seq IN ?`, seqs).Scan(&found).Error
	texts := make(map[int64]string, len(found))
	for _, f := range found {
		var unpackErr error
		texts[f.PageSeq], unpackErr = f.Text.Decompress()
		err = errors.Join(err, unpackErr)
	}
	if err != nil {
		return nil, fmt.Errorf("load texts of crawled pages: %w", err)
	}
	return texts, nil
}

// CrawledPage returns a page with its text by id. The error is CodeNotFound if there is none.
func (s *Store) CrawledPage(ctx context.Context, id string) (p Page, err error) {
	at, seq, err := models.ParseTimedID(models.KindCrawled, id)
	if err != nil {
		return p, models.NotFound("crawled page")
	}
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "sources")
	err = tx.Model(&Page{}).Select("crawled_pages.*, sources.id AS source_id, page_versions.text").
		Joins("JOIN sources ON sources.seq = crawled_pages.source_seq").
		Joins("LEFT JOIN page_versions ON page_versions.page_seq = crawled_pages.seq AND page_versions.version = crawled_pages.text_version").
		Where("crawled_pages.seq = ? AND crawled_pages.created_at = ? AND sources.deleted_at IS NULL AND crawled_pages.deleted_at IS NULL", seq, at).Where(visible, args...).Take(&p).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return p, models.NotFound("crawled page")
	}
	if err != nil {
		return p, fmt.Errorf("load crawled page: %w", err)
	}
	return p, nil
}
