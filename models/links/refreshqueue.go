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

// refreshItem is a row of link_refresh_items: a queued link.
type refreshItem struct {
	RefreshID string
	LinkSeq   int64
	DueAt     models.Time
}

// RefreshItem is a queued link that an instance has claimed. The tags of the link are not loaded.
type RefreshItem struct {
	RefreshID string
	Link      Link
	DueAt     models.Time // earliest time of the fetch
	ClaimedBy lease.ID
}

// ClaimRefreshes claims up to n due items for an instance, longest due first. Two instances never claim the same
// item. next is when the next item is due, zero if there is none. Errors include lease.ErrLost.
func (s *Store) ClaimRefreshes(ctx context.Context, holder lease.ID, n int) (items []RefreshItem, next models.Time, err error) {
	now := s.clock.Now()
	next, err = lease.Claim(ctx, s.db, holder, now, firstQueued, func(tx *gorm.DB) (err error) {
		items, err = claimItems(tx, s.db.SkipLocked(), holder, now, n)
		return err
	})
	if err != nil {
		return nil, models.Time{}, fmt.Errorf("claim links to refresh: %w", err)
	}
	return items, next, nil
}

func claimItems(tx *gorm.DB, skipLocked string, holder lease.ID, now models.Time, n int) ([]RefreshItem, error) {
	var rows []refreshItem
	// MATERIALIZED: PostgreSQL must not evaluate the query twice.
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
		if l, ok := links[r.LinkSeq]; ok { // else the link and its items were just deleted
			items = append(items, RefreshItem{r.RefreshID, l, r.DueAt, holder})
		}
	}
	return items, nil
}

// firstQueued returns when the first unclaimed item is due, zero if there is none.
func firstQueued(tx *gorm.DB) (next models.Time, err error) {
	if err = tx.Raw("SELECT min(due_at) FROM link_refresh_items WHERE claimed_by IS NULL").Scan(&next).Error; err != nil {
		return next, fmt.Errorf("find next link to refresh: %w", err)
	}
	return next, nil
}

// Refetched is a finished fetch of a claimed item.
type Refetched struct {
	RefreshItem // as returned by ClaimRefreshes
	result
}

// Refetch requests the page of a claimed item. Pass the result to FinishRefreshes, or to ReleaseRefreshes if Wait
// is set. It does not use the database. Errors are those of Check.
func (s *Store) Refetch(ctx context.Context, item RefreshItem) (Refetched, error) {
	r, err := refetch(ctx, s.background, item.Link)
	return Refetched{item, r}, err
}

// FinishRefreshes stores results as Refresh does, and removes the items from the queue, in one transaction. It
// ignores items that are claimed by another lease and those of deleted links. It runs a fixed number of
// statements.
func (s *Store) FinishRefreshes(ctx context.Context, done ...Refetched) error {
	rows, results := models.NewRows("refresh_id text, link_seq bigint, claimed_by text"), make([]result, len(done))
	for i, r := range done {
		rows.Add(r.RefreshID, r.Link.Seq, r.ClaimedBy)
		results[i] = r.result
	}
	err := s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		var items []refreshItem
		err := rows.Raw(tx, `DELETE FROM link_refresh_items
			WHERE (refresh_id, link_seq, claimed_by) IN (SELECT refresh_id, link_seq, claimed_by FROM {rows} AS r)
			RETURNING refresh_id, link_seq`).Scan(&items).Error
		if err != nil {
			return nil, err
		}
		return s.finish(tx, items, results)
	})
	if err != nil {
		return fmt.Errorf("record refreshed links: %w", err)
	}
	return nil
}

// finish applies results to the links of items, and counts failures.
func (s *Store) finish(tx *gorm.DB, items []refreshItem, results []result) (changed []Link, err error) {
	seqs := make([]int64, len(items))
	for i, item := range items {
		seqs[i] = item.LinkSeq
	}
	ls, err := lock(tx, seqRows(seqs), bySeq)
	if err != nil {
		return nil, err
	}
	if changed, err = s.apply(tx, ls, results, false); err != nil {
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

// ReleaseRefreshes releases claimed items, to be claimed again after a delay. It ignores items that are claimed by
// another lease.
func (s *Store) ReleaseRefreshes(ctx context.Context, items ...lease.Released[RefreshItem]) error {
	rows := models.NewRows("refresh_id text, link_seq bigint, claimed_by text, due_at bigint")
	now := s.clock.Now()
	for _, i := range items {
		rows.Add(i.Item.RefreshID, i.Item.Link.Seq, i.Item.ClaimedBy, now.Add(i.After))
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return rows.Exec(tx, `UPDATE link_refresh_items SET claimed_by = NULL, due_at = r.due_at FROM {rows} AS r
			WHERE link_refresh_items.refresh_id = r.refresh_id AND link_refresh_items.link_seq = r.link_seq
				AND link_refresh_items.claimed_by = r.claimed_by`).Error
	})
	if err != nil {
		return fmt.Errorf("release links to refresh: %w", err)
	}
	return nil
}

// ReleaseOtherRefreshes releases the items that an instance has claimed, except those in keep. It is for use after
// a failed claim, which may have been committed.
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
		return fmt.Errorf("release other links to refresh: %w", err)
	}
	return nil
}
