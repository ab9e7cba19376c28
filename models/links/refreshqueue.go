package links

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/lease"
)

// refreshItem is a row of link_refresh_items: a link that is still to be refreshed.
type refreshItem struct {
	RefreshID string
	LinkSeq   int64
	DueAt     models.Time
}

// RefreshItem is a queued link that an instance has claimed to refresh it. The tags
// of the link are not loaded.
type RefreshItem struct {
	RefreshID string
	Link      Link
	DueAt     models.Time // since when it may be fetched
	ClaimedBy lease.ID
}

// ClaimRefreshes takes up to n queued links that are due for an instance, those
// first whose time came first. Several instances never get the same one. next is
// when the first of the others is due; zero: none is. Errors include lease.ErrLost.
func (s *Store) ClaimRefreshes(ctx context.Context, holder lease.ID, n int) (items []RefreshItem, next models.Time, err error) {
	now := s.clock.Now()
	next, err = lease.Claim(ctx, s.db, holder, now, firstQueued, func(tx *gorm.DB) (err error) {
		items, err = claimItems(tx, s.db.SkipLocked(), holder, now, n)
		return err
	})
	if err != nil {
		return nil, models.Time{}, fmt.Errorf("claiming links to refresh: %w", err)
	}
	return items, next, nil
}

func claimItems(tx *gorm.DB, skipLocked string, holder lease.ID, now models.Time, n int) ([]RefreshItem, error) {
	var rows []refreshItem
	// MATERIALIZED: PostgreSQL must not look for due ones a second time in one statement.
	err := tx.Raw(`WITH due AS MATERIALIZED (
			SELECT refresh_id, link_seq FROM link_refresh_items WHERE due_at <= ? AND claimed_by IS NULL
			ORDER BY due_at, refresh_id, link_seq LIMIT ?`+skipLocked+`)
		UPDATE link_refresh_items SET claimed_by = ? WHERE (refresh_id, link_seq) IN (SELECT refresh_id, link_seq FROM due)
		RETURNING *`, now, n, holder).Scan(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b refreshItem) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt.Time), cmp.Compare(a.RefreshID, b.RefreshID), cmp.Compare(a.LinkSeq, b.LinkSeq))
	})
	seqs := make([]int64, len(rows))
	for i, r := range rows {
		seqs[i] = r.LinkSeq
	}
	var ls []Link
	if err := seqRows(seqs).Raw(tx, "SELECT * FROM links WHERE "+bySeq).Scan(&ls).Error; err != nil {
		return nil, err
	}
	links := make(map[int64]Link, len(ls))
	for _, l := range ls {
		links[l.Seq] = l
	}
	var items []RefreshItem
	for _, r := range rows {
		if l, ok := links[r.LinkSeq]; ok { // or it was deleted just now, and its items with it
			items = append(items, RefreshItem{r.RefreshID, l, r.DueAt, holder})
		}
	}
	return items, nil
}

// firstQueued is when the first free item is due; zero: none is.
func firstQueued(tx *gorm.DB) (next models.Time, err error) {
	if err = tx.Raw("SELECT min(due_at) FROM link_refresh_items WHERE claimed_by IS NULL").Scan(&next).Error; err != nil {
		return next, fmt.Errorf("looking for the next link to refresh: %w", err)
	}
	return next, nil
}

// Refetched is a finished fetch for a claimed item.
type Refetched struct {
	RefreshItem // as ClaimRefreshes gave it
	look
}

// Refetch requests the page of a claimed item, for FinishRefreshes, or for
// ReleaseRefreshes if there is a Wait. It does not use the database. Its errors are
// those of Check.
func (s *Store) Refetch(ctx context.Context, item RefreshItem) (Refetched, error) {
	k, err := refetch(ctx, s.background, item.Link)
	return Refetched{item, k}, err
}

// FinishRefreshes stores, in one transaction, what the fetches for claimed items
// found, as Refresh does, and counts the items. Items that are no longer claimed as
// they were are passed over, as are those of deleted links. However many items there
// are, each table is written by one statement.
func (s *Store) FinishRefreshes(ctx context.Context, done ...Refetched) error {
	rows, looks := models.NewRows("refresh_id text, link_seq bigint, claimed_by text"), make([]look, len(done))
	for i, r := range done {
		rows.Add(r.RefreshID, r.Link.Seq, r.ClaimedBy)
		looks[i] = r.look
	}
	err := s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		var items []refreshItem
		err := rows.Raw(tx, `DELETE FROM link_refresh_items
			WHERE (refresh_id, link_seq, claimed_by) IN (SELECT refresh_id, link_seq, claimed_by FROM {rows} AS r)
			RETURNING refresh_id, link_seq`).Scan(&items).Error
		if err != nil {
			return nil, err
		}
		return s.finish(tx, items, looks)
	})
	if err != nil {
		return fmt.Errorf("recording refreshed links: %w", err)
	}
	return nil
}

// finish stores what was found at the links of items, and counts those that failed.
func (s *Store) finish(tx *gorm.DB, items []refreshItem, looks []look) (changed []Link, err error) {
	seqs := make([]int64, len(items))
	for i, item := range items {
		seqs[i] = item.LinkSeq
	}
	ls, err := lock(tx, seqRows(seqs), bySeq)
	if err != nil {
		return nil, err
	}
	if changed, err = s.learn(tx, ls, looks, false); err != nil {
		return nil, err
	}
	failing := make(map[int64]bool, len(ls))
	for _, l := range ls {
		failing[l.Seq] = l.LastError != ""
	}
	failed := map[string]int{}
	for _, item := range items {
		if failing[item.LinkSeq] {
			failed[item.RefreshID]++
		}
	}
	rows := models.NewRows("id text, n bigint")
	for _, id := range sortedKeys(failed) {
		rows.Add(id, failed[id])
	}
	return changed, rows.Exec(tx, "UPDATE link_refreshes SET failed = failed + r.n FROM {rows} AS r WHERE link_refreshes.id = r.id").Error
}

// ReleaseRefreshes gives claimed items back to the queue, to be claimed again after
// a time. Those that are no longer claimed as they were are passed over.
func (s *Store) ReleaseRefreshes(ctx context.Context, back ...lease.Released[RefreshItem]) error {
	rows := models.NewRows("refresh_id text, link_seq bigint, claimed_by text, due_at bigint")
	now := s.clock.Now()
	for _, b := range back {
		rows.Add(b.Item.RefreshID, b.Item.Link.Seq, b.Item.ClaimedBy, now.Add(b.After))
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return rows.Exec(tx, `UPDATE link_refresh_items SET claimed_by = NULL, due_at = r.due_at FROM {rows} AS r
			WHERE link_refresh_items.refresh_id = r.refresh_id AND link_refresh_items.link_seq = r.link_seq
				AND link_refresh_items.claimed_by = r.claimed_by`).Error
	})
	if err != nil {
		return fmt.Errorf("releasing links to refresh: %w", err)
	}
	return nil
}

// ReleaseOtherRefreshes frees the items that an instance has claimed, but for those
// of keep. It is for after a claim that failed, when it is unknown whether it was
// committed.
func (s *Store) ReleaseOtherRefreshes(ctx context.Context, holder lease.ID, keep ...RefreshItem) error {
	rows := models.NewRows("refresh_id text, link_seq bigint")
	for _, item := range keep {
		rows.Add(item.RefreshID, item.Link.Seq)
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if len(keep) == 0 {
			return tx.Exec("UPDATE link_refresh_items SET claimed_by = NULL WHERE claimed_by = ?", holder).Error
		}
		return rows.Exec(tx, `UPDATE link_refresh_items SET claimed_by = NULL WHERE claimed_by = ?
			AND (refresh_id, link_seq) NOT IN (SELECT refresh_id, link_seq FROM {rows} AS r)`, holder).Error
	})
	if err != nil {
		return fmt.Errorf("releasing forgotten links to refresh: %w", err)
	}
	return nil
}
