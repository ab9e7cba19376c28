package crawl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// MaxBulk is the maximum number of discovered links, pages or frontier entries in one bulk action.
const MaxBulk = 100

// DiscoveredFilter selects discovered links. The zero value selects all.
type DiscoveredFilter struct {
	SourceID string
	Host     string // host of the URL, exact; without a port it matches any port
	Text     string // part of the URL or of the link's text
}

func (f DiscoveredFilter) check() error {
	return errors.Join(models.CheckFilter("query.source_id", f.SourceID), models.CheckFilter("query.host", f.Host), models.CheckFilter("query.q", f.Text))
}

// hostOf returns a host as URLs contain it: "xn--bcher-kva.example:8080" for "Bücher.example:8080". An invalid host is
// returned unchanged and matches no URL.
func hostOf(typed string) string {
	u, err := models.ParseURL("host", "http://"+typed)
	if err != nil || strings.ContainsAny(typed, `/\?#@`) {
		return typed
	}
	return models.HostPort(u.Canonical)
}

func discovered(tx *gorm.DB) *gorm.DB {
	visible, args := models.Visible(tx, "sources")
	return tx.Model(&DiscoveredLink{}).Select("discovered_links.*, sources.id AS source_id").
		Joins("JOIN sources ON sources.seq = discovered_links.source_seq").Where("sources.deleted_at IS NULL").Where(visible, args...)
}

// DiscoveredLinks returns one page of links to hosts outside the allowed domains, the oldest first. limit comes from
// models.NewLimit. A filter by host or text reads models.MaxSearched links.
func (s *Store) DiscoveredLinks(ctx context.Context, f DiscoveredFilter, after models.Cursor, limit int) (models.Slice[DiscoveredLink], error) {
	var page models.Slice[DiscoveredLink]
	if err := f.check(); err != nil {
		return page, err
	}
	tx := s.db.Read(ctx)
	q := models.ListQuery{Table: "discovered_links", Where: "discovered_links.deleted_at IS NULL", From: "discovered_links JOIN sources ON sources.seq = discovered_links.source_seq AND sources.deleted_at IS NULL"}
	q.Own, q.OwnArgs = ofVisibleSource(tx, "discovered_links.source_seq")
	if f.SourceID != "" {
		if !isID(models.KindSource, f.SourceID) {
			return models.NoItems[DiscoveredLink](after), nil // no such source
		}
		q.And("discovered_links.source_seq = (SELECT seq FROM sources WHERE id = ?)", f.SourceID)
	}
	if f.Host != "" {
		host := models.EscapeLike(hostOf(f.Host))
		q.Search(`(discovered_links.url LIKE ? ESCAPE '\' OR discovered_links.url LIKE ? ESCAPE '\'
			OR discovered_links.url LIKE ? ESCAPE '\' OR discovered_links.url LIKE ? ESCAPE '\')`,
			"https://"+host+"/%", "http://"+host+"/%", "https://"+host+":%", "http://"+host+":%")
	}
	if text := strings.ToLower(f.Text); text != "" {
		like := "%" + models.EscapeLike(text) + "%"
		q.Search(`(lower(discovered_links.url) LIKE ? ESCAPE '\' OR lower(discovered_links.text) LIKE ? ESCAPE '\')`, like, like)
	}
	return DiscoveredOrders.List(tx, q, after, limit, func(p models.ListPart) (found []DiscoveredLink, err error) {
		if err = p.Of(discovered(tx)).Find(&found).Error; err != nil {
			err = fmt.Errorf("load discovered links: %w", err)
		}
		return found, err
	})
}

// rowsOfIDs returns rows of the ids of a kind, to join. It skips invalid ids. The error is CodeInvalid ("id") for more than
// MaxBulk.
func rowsOfIDs(kind models.Kind, ids []string) (*models.Rows, error) {
	if len(ids) > MaxBulk {
		return nil, models.TooLong("id", MaxBulk, "ids")
	}
	rows := models.NewRows("seq bigint, created_at bigint")
	for _, id := range ids {
		if at, seq, err := models.ParseTimedID(kind, id); err == nil {
			rows.Add(seq, at)
		}
	}
	return rows, nil
}

// DiscoveredLinksByID returns up to MaxBulk discovered links, the oldest first. It skips unknown ids.
func (s *Store) DiscoveredLinksByID(ctx context.Context, ids ...string) (found []DiscoveredLink, err error) {
	rows, err := rowsOfIDs(models.KindDiscovered, ids)
	if err != nil {
		return nil, err
	}
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "s")
	err = rows.Raw(tx, `SELECT d.*, s.id AS source_id, s.private_to FROM {rows} AS r CROSS JOIN discovered_links AS d CROSS JOIN sources AS s
		WHERE d.seq = r.seq AND d.created_at = r.created_at AND d.deleted_at IS NULL AND s.seq = d.source_seq AND s.deleted_at IS NULL AND `+visible+` ORDER BY d.seq`, args...).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("load discovered links: %w", err)
	}
	return found, nil
}

// Deletion is the result of one call that deletes rows. Its time identifies the rows when they are restored.
type Deletion struct {
	At models.Time
	N  int // number of links or pages
}

// DeleteDiscoveredLinks deletes up to MaxBulk discovered links and skips unknown ids. They can be restored for KeepDeleted. A
// crawl that finds a link again also restores it. Other instances may still have the link cached, which delays this.
func (s *Store) DeleteDiscoveredLinks(ctx context.Context, ids ...string) (Deletion, error) {
	rows, err := rowsOfIDs(models.KindDiscovered, ids)
	if err != nil {
		return Deletion{}, err
	}
	d := Deletion{At: s.clock.Now()}
	var gone []DiscoveredLink
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		gone = nil
		if err := s.db.OneAtATime(tx, lockRecord); err != nil { // so that a crawl can find them again
			return err
		}
		visible, args := ofVisibleSource(tx, "discovered_links.source_seq")
		err := rows.Raw(tx, `UPDATE discovered_links SET deleted_at = ? FROM {rows} AS r
			WHERE discovered_links.seq = r.seq AND discovered_links.created_at = r.created_at AND discovered_links.deleted_at IS NULL AND `+visible+`
			RETURNING discovered_links.seq, discovered_links.source_seq, discovered_links.url, discovered_links.created_at`, joinArgs([]any{d.At}, args...)...).Scan(&gone).Error
		if err != nil {
			return err
		}
		deleted := make([]string, len(gone))
		for i, g := range gone {
			deleted[i] = g.ID()
		}
		return s.audit(tx, "discovered_link", "delete", deleted)
	})
	if err != nil {
		return Deletion{}, fmt.Errorf("delete discovered links: %w", err)
	}
	for _, g := range gone {
		s.seen.Invalidate(entryKey{-g.SourceSeq, hashOf(g.URL)})
	}
	d.N = len(gone)
	return d, nil
}

// DeletionAt returns the deletion of a time, with the number of links that can still be restored.
func (s *Store) DeletionAt(ctx context.Context, at models.Time) (Deletion, error) {
	d := Deletion{At: at}
	tx := s.db.Read(ctx)
	visible, args := ofVisibleSource(tx, "discovered_links.source_seq")
	err := tx.Raw("SELECT count(*) FROM discovered_links WHERE deleted_at = ? AND "+visible, joinArgs([]any{at}, args...)...).Scan(&d.N).Error
	if err != nil {
		return d, fmt.Errorf("count deleted links: %w", err)
	}
	return d, nil
}

// RestoreDiscoveredLinks restores the links that were deleted at a time, and returns their number.
func (s *Store) RestoreDiscoveredLinks(ctx context.Context, at models.Time) (n int, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockRecord); err != nil { // as in DeleteDiscoveredLinks
			return err
		}
		visible, args := ofVisibleSource(tx, "discovered_links.source_seq")
		res := tx.Exec("UPDATE discovered_links SET deleted_at = NULL WHERE deleted_at = ? AND "+visible, joinArgs([]any{at}, args...)...)
		n = int(res.RowsAffected)
		return errors.Join(res.Error, s.auditRestore(tx, "discovered_link", n))
	})
	if err != nil {
		return 0, fmt.Errorf("restore discovered links: %w", err)
	}
	return n, nil
}

// DiscoveredLink returns a discovered link by id. The error is CodeNotFound if there is none.
func (s *Store) DiscoveredLink(ctx context.Context, id string) (DiscoveredLink, error) {
	found, err := s.DiscoveredLinksByID(ctx, id)
	if err == nil && len(found) == 0 {
		err = models.NotFound("discovered link")
	}
	if err != nil {
		return DiscoveredLink{}, err
	}
	return found[0], nil
}

// RestoreDiscoveredLink restores a deleted link. The error is CodeNotFound if it was not deleted, or was deleted more than
// KeepDeleted ago.
func (s *Store) RestoreDiscoveredLink(ctx context.Context, id string) (DiscoveredLink, error) {
	rows, err := rowsOfIDs(models.KindDiscovered, []string{id})
	if err != nil {
		return DiscoveredLink{}, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockRecord); err != nil { // as in DeleteDiscoveredLinks
			return err
		}
		visible, args := models.Visible(tx, "s")
		res := rows.Exec(tx, `UPDATE discovered_links SET deleted_at = NULL FROM {rows} AS r
			WHERE discovered_links.seq = r.seq AND discovered_links.created_at = r.created_at AND discovered_links.deleted_at >= ?
			AND EXISTS (SELECT 1 FROM sources AS s WHERE s.seq = discovered_links.source_seq AND s.deleted_at IS NULL AND `+visible+`)`, joinArgs([]any{s.clock.Now().Add(-KeepDeleted)}, args...)...)
		if res.Error != nil {
			return fmt.Errorf("restore discovered link: %w", res.Error)
		}
		if res.RowsAffected == 0 {
			return models.NotFound("deleted link")
		}
		return s.audit(tx, "discovered_link", "restore", []string{id})
	})
	if err != nil {
		return DiscoveredLink{}, err
	}
	return s.DiscoveredLink(ctx, id)
}

// ReapDiscoveredLinks deletes up to limit discovered links that can no longer be restored.
func (s *Store) ReapDiscoveredLinks(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "discovered_links", "seq", "deleted_at < ? ORDER BY deleted_at", s.clock.Now().Add(-KeepDeleted))
}
