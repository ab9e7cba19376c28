package crawl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// PageVersions returns the stored versions of a page, the newest first, without their texts.
func (s *Store) PageVersions(ctx context.Context, p Page) (all []Version, err error) {
	err = s.db.Read(ctx).Omit("text").Where("page_seq = ?", p.Seq).Order("version DESC").Limit(KeepVersions).Find(&all).Error
	if err != nil {
		return nil, fmt.Errorf("load page versions: %w", err)
	}
	return all, nil
}

// PageVersion returns a version of a page with its text. The error is CodeNotFound if it is not stored.
func (s *Store) PageVersion(ctx context.Context, p Page, number int) (v Version, err error) {
	err = s.db.Read(ctx).Where("page_seq = ? AND version = ?", p.Seq, number).Take(&v).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return v, models.NotFound("version")
	}
	if err != nil {
		return v, fmt.Errorf("load page version: %w", err)
	}
	return v, nil
}

// PageChange is a change of a page that an execution found.
type PageChange struct {
	Seq           int64 // of the version
	Version       int
	Change        Change
	StatusCode    int
	CreatedAt     models.Time
	PageSeq       int64
	URL, Title    string
	PageCreatedAt models.Time
	SourceID      string
}

// PageID returns the id of the page.
func (c PageChange) PageID() string {
	return models.TimedID(models.KindCrawled, c.PageCreatedAt, c.PageSeq)
}

// PageChanges returns one page of the changes that the crawl of an execution found, in the order of discovery. An empty kind
// selects all. PageNew includes PageBack. Duplicates are omitted. limit comes from models.NewLimit.
func (s *Store) PageChanges(ctx context.Context, e Execution, kind Change, after models.Cursor, limit int) (page models.Slice[PageChange], err error) {
	kinds := []Change{kind}
	switch kind {
	case "", PageChanged, PageGone, PageBack:
	case PageNew:
		kinds = []Change{PageNew, PageBack}
	default:
		return page, models.Invalid("query.change", "must be new, changed, gone or back")
	}
	var last int64
	if err := after.OnlyOrder("created_at", models.Ascending); err != nil {
		return page, err
	}
	if after.Started() {
		if _, last, err = models.ParseTimedID(models.KindVersion, after.ID); err != nil {
			return page, models.ErrPageToken
		}
	}
	tx := s.db.Read(ctx)
	visible, who := models.Visible(tx, "s")
	var parts []string // one per kind, each read in order from an index
	var args []any
	for _, k := range kinds {
		part := `SELECT v.seq, v.version, v.change, v.status_code, v.created_at, p.seq AS page_seq, p.url, p.title, p.created_at AS page_created_at, s.id AS source_id
			FROM page_versions AS v JOIN crawled_pages AS p ON p.seq = v.page_seq JOIN sources AS s ON s.seq = p.source_seq
			WHERE v.crawl_seq = ? AND s.deleted_at IS NULL AND p.deleted_at IS NULL AND NOT p.duplicate AND ` + visible
		args = joinArgs(append(args, e.CrawlSeq), who...)
		switch {
		case k == "":
			part, args = part+" AND v.seq > ? ORDER BY v.seq", append(args, last)
		case s.db.Engine == models.Postgres:
			// With change = ?, it may read all changes of the crawl, because it assumes that each crawl has as many of a kind.
			part, args = part+" AND (v.change, v.seq) > (?, ?) AND v.change <= ? ORDER BY v.change, v.seq", append(args, k, last, k)
		default: // SQLite would use only the first column of the pair, and read the changes of earlier parts again
			part, args = part+" AND v.change = ? AND v.seq > ? ORDER BY v.seq", append(args, k, last)
		}
		parts, args = append(parts, part+" LIMIT ?"), append(args, limit+1)
	}
	sql := parts[0]
	if len(parts) > 1 {
		sql = "SELECT * FROM (SELECT * FROM (" + strings.Join(parts, ") AS of_kind UNION ALL SELECT * FROM (") + ") AS of_kind) AS changes ORDER BY seq LIMIT ?"
		args = append(args, limit+1)
	}
	var found []PageChange
	if err := tx.Raw(sql, args...).Scan(&found).Error; err != nil {
		return page, fmt.Errorf("load page changes: %w", err)
	}
	page = models.NewSlice(found, limit, func(c PageChange) models.Cursor {
		return models.Cursor{CreatedAt: c.CreatedAt, ID: models.TimedID(models.KindVersion, c.CreatedAt, c.Seq)}
	})
	counted, args := "", joinArgs([]any{e.CrawlSeq}, who...)
	if kind != "" {
		counted, args = " AND v.change IN ?", append(args, kinds)
	}
	page.Count, err = models.CountRows(tx, after, `SELECT 1 AS one FROM page_versions AS v JOIN crawled_pages AS p ON p.seq = v.page_seq JOIN sources AS s ON s.seq = p.source_seq
		WHERE v.crawl_seq = ? AND s.deleted_at IS NULL AND p.deleted_at IS NULL AND NOT p.duplicate AND `+visible+counted, args...)
	return page, err
}
