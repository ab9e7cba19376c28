package crawl

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// PagesByID returns up to MaxBulk crawled pages, the oldest first. It skips unknown ids.
func (s *Store) PagesByID(ctx context.Context, ids ...string) (found []Page, err error) {
	rows, err := rowsOfIDs(models.KindCrawled, ids)
	if err != nil {
		return nil, err
	}
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "s")
	err = rows.Raw(tx, `SELECT p.seq, p.url, p.title, p.created_at, s.id AS source_id, s.private_to FROM {rows} AS r CROSS JOIN crawled_pages AS p CROSS JOIN sources AS s
		WHERE p.seq = r.seq AND p.created_at = r.created_at AND p.deleted_at IS NULL AND s.seq = p.source_seq AND s.deleted_at IS NULL AND `+visible+` ORDER BY p.seq`, args...).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("load crawled pages: %w", err)
	}
	return found, nil
}

// DeletePages deletes up to MaxBulk crawled pages with their history and skips unknown ids. They can be restored for
// KeepDeleted. A crawl that fetches a page again also restores it.
func (s *Store) DeletePages(ctx context.Context, ids ...string) (Deletion, error) {
	rows, err := rowsOfIDs(models.KindCrawled, ids)
	if err != nil {
		return Deletion{}, err
	}
	d := Deletion{At: s.clock.Now()}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		visible, args := ofVisibleSource(tx, "crawled_pages.source_seq")
		var gone []Page
		err := rows.Raw(tx, `UPDATE crawled_pages SET deleted_at = ?, revision = crawled_pages.revision + 1, unindexed = true, unsent = unsent OR (? AND `+ofSharedSource+`crawled_pages.source_seq)) FROM {rows} AS r
			WHERE crawled_pages.seq = r.seq AND crawled_pages.created_at = r.created_at AND crawled_pages.deleted_at IS NULL AND `+visible+`
			RETURNING crawled_pages.seq, crawled_pages.created_at`, joinArgs([]any{d.At, s.opts.Elasticsearch}, args...)...).Scan(&gone).Error
		if err != nil {
			return err
		}
		deleted := make([]string, len(gone))
		for i, p := range gone {
			deleted[i] = p.ID()
		}
		d.N = len(gone)
		return s.audit(tx, "crawled_page", "delete", deleted)
	})
	if err != nil {
		return Deletion{}, fmt.Errorf("delete crawled pages: %w", err)
	}
	return d, nil
}

// RestorePages restores the pages that were deleted at a time, and returns their number.
func (s *Store) RestorePages(ctx context.Context, at models.Time) (n int, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		visible, args := ofVisibleSource(tx, "crawled_pages.source_seq")
		n, err = s.undelete(tx, "deleted_at = ? AND "+visible, joinArgs([]any{at}, args...)...)
		return errors.Join(err, s.auditRestore(tx, "crawled_page", n))
	})
	if err != nil {
		return 0, fmt.Errorf("restore crawled pages: %w", err)
	}
	return n, nil
}

// undelete restores pages and returns their number. They are indexed again.
func (s *Store) undelete(tx *gorm.DB, where string, args ...any) (int, error) {
	res := tx.Exec("UPDATE crawled_pages SET deleted_at = NULL, revision = revision + 1, unindexed = true, unsent = unsent OR (? AND "+ofSharedSource+"crawled_pages.source_seq)) WHERE "+where,
		joinArgs([]any{s.opts.Elasticsearch}, args...)...)
	return int(res.RowsAffected), res.Error
}

// RestorePage restores a deleted page with its history. The error is CodeNotFound if it was not deleted, or was deleted more
// than KeepDeleted ago.
func (s *Store) RestorePage(ctx context.Context, id string) error {
	at, seq, err := models.ParseTimedID(models.KindCrawled, id)
	if err != nil {
		return models.NotFound("deleted page")
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		visible, args := models.Visible(tx, "s")
		n, err := s.undelete(tx, `seq = ? AND created_at = ? AND deleted_at >= ?
			AND EXISTS (SELECT 1 FROM sources AS s WHERE s.seq = crawled_pages.source_seq AND s.deleted_at IS NULL AND `+visible+`)`,
			joinArgs([]any{seq, at, s.clock.Now().Add(-KeepDeleted)}, args...)...)
		switch {
		case err != nil:
			return fmt.Errorf("restore crawled page: %w", err)
		case n == 0:
			return models.NotFound("deleted page")
		}
		return s.audit(tx, "crawled_page", "restore", []string{id})
	})
	if err == nil {
		signal(s.pages)
	}
	return err
}

// ReapPages deletes up to limit rows of crawled pages that can no longer be restored.
func (s *Store) ReapPages(tx *gorm.DB, limit int) (int64, error) {
	return s.reapPages(tx, limit, "deleted_at < ? ORDER BY deleted_at", s.clock.Now().Add(-KeepDeleted))
}

// reapPages deletes pages with their versions and search index entries, up to limit rows in all.
func (s *Store) reapPages(tx *gorm.DB, limit int, where string, args ...any) (int64, error) {
	if err := s.db.OneAtATime(tx, lockRecord); err != nil { // so that no crawl fetches them now
		return 0, err
	}
	var seqs []int64
	err := tx.Raw("SELECT seq FROM crawled_pages WHERE "+where+" LIMIT ?", append(args, max(1, limit/(KeepVersions+1)))...).Scan(&seqs).Error
	if err != nil || len(seqs) == 0 {
		return 0, err
	}
	copies, err := s.deleteCopies(tx, limit, "", `a.seq IN (SELECT o.seq FROM crawled_pages AS p JOIN archived_pages AS o
		ON o.source_seq = p.source_seq AND o.url_hash = p.url_hash WHERE p.seq IN ?)`, seqs)
	if err != nil || copies > 0 { // there may be more
		return copies, err
	}
	if err := s.text.Remove(tx, seqs); err != nil {
		return 0, err
	}
	n := int64(0)
	for _, sql := range []string{"DELETE FROM page_versions WHERE page_seq IN ?", "DELETE FROM crawled_pages WHERE seq IN ?"} {
		res := tx.Exec(sql, seqs)
		if n += res.RowsAffected; res.Error != nil {
			return n, res.Error
		}
	}
	return n, nil
}
