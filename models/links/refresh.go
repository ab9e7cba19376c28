package links

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Refresh refetches a link's metadata. 404 and 410 expire it; other failures
// leave the metadata as it was and show in the health. If the site asks for a
// pause, nothing changes and the error is CodeUnresolvable with RetryAfter. If
// too many pages are being fetched, nothing changes and it is CodeUnavailable
// with RetryAfter.
func (s *Store) Refresh(ctx context.Context, id string) (Link, error) {
	return s.refreshWith(ctx, s.fetch, id)
}

func (s *Store) refreshWith(ctx context.Context, fetch Fetcher, id string) (Link, error) {
	l, err := s.Get(ctx, id)
	if err != nil {
		return Link{}, err
	}
	page, err := fetch.Fetch(ctx, l.URL)
	if ctx.Err() != nil {
		return Link{}, ctx.Err()
	}
	if pauseOf(err) > 0 {
		return Link{}, unresolvable(err)
	}
	return s.record(ctx, l, page, err, page.Status == http.StatusOK)
}

// refreshRow is a row of link_refreshes.
type refreshRow struct {
	ID        string
	Total     int
	Failed    int
	CreatedAt models.Time
}

func (refreshRow) TableName() string { return "link_refreshes" }

// refreshItem is a row of link_refresh_items: a link that is still to be refreshed.
type refreshItem struct {
	RefreshID    string
	LinkSeq      int64
	ClaimedUntil int64 // microseconds since 1970; 0 = free
}

func (refreshItem) TableName() string { return "link_refresh_items" }

// StartRefresh queues links to be refreshed in the background, up to MaxBulk
// of them. Unknown ids are passed over.
func (s *Store) StartRefresh(ctx context.Context, ids ...string) (Refresh, error) {
	ids, err := cleanIDs(ids)
	if err != nil {
		return Refresh{}, err
	}
	row := refreshRow{ID: models.NewID(models.KindRefresh), CreatedAt: s.clock.Now()}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		var seqs []int64
		if err := tx.Model(&Link{}).Where("id IN ?", ids).Order("seq").Pluck("seq", &seqs).Error; err != nil {
			return err
		}
		row.Total = len(seqs)
		if err := tx.Create(&row).Error; err != nil || len(seqs) == 0 {
			return err
		}
		items := make([]refreshItem, len(seqs))
		for i, seq := range seqs {
			items[i] = refreshItem{RefreshID: row.ID, LinkSeq: seq}
		}
		return models.Insert(tx, items)
	})
	if err != nil {
		return Refresh{}, fmt.Errorf("queueing links to refresh: %w", err)
	}
	select {
	case s.refresh <- struct{}{}:
	default: // the worker is awake already
	}
	return Refresh{ID: row.ID, Total: row.Total, CreatedAt: row.CreatedAt}, nil
}

// RefreshWanted gets a value after StartRefresh in this process.
func (s *Store) RefreshWanted() <-chan struct{} { return s.refresh }

// RefreshOf is how far a batch has come; CodeNotFound if there is none.
func (s *Store) RefreshOf(ctx context.Context, refreshID string) (Refresh, error) {
	if models.CheckID(models.KindRefresh, refreshID) != nil {
		return Refresh{}, models.NotFound("refresh")
	}
	var rows []struct {
		Row     refreshRow `gorm:"embedded"`
		Waiting int
	}
	err := s.db.Read(ctx).Raw(`SELECT r.*,
		(SELECT count(*) FROM link_refresh_items WHERE refresh_id = r.id) AS waiting
		FROM link_refreshes r WHERE id = ?`, refreshID).Scan(&rows).Error
	if err != nil {
		return Refresh{}, fmt.Errorf("loading a refresh: %w", err)
	}
	if len(rows) == 0 {
		return Refresh{}, models.NotFound("refresh")
	}
	r, waiting := rows[0].Row, rows[0].Waiting
	return Refresh{r.ID, r.Total, r.Total - waiting, r.Failed, r.CreatedAt}, nil
}

// RefreshItem is a queued link that a worker has claimed.
type RefreshItem struct {
	RefreshID string
	Link      Link
}

// ClaimRefreshes leases up to n queued links to the caller for ten minutes, so
// that a killed worker loses nothing. Several instances never get the same one.
func (s *Store) ClaimRefreshes(ctx context.Context, n int) ([]RefreshItem, error) {
	now := s.clock.Now()
	var out []RefreshItem
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		out = nil
		var items []refreshItem
		err := tx.Raw(`SELECT * FROM link_refresh_items WHERE claimed_until <= ?
			ORDER BY claimed_until, refresh_id, link_seq LIMIT ?`+s.db.SkipLocked(), now, n).Scan(&items).Error
		if err != nil || len(items) == 0 {
			return err
		}
		seqs := make([]int64, len(items))
		for i, item := range items {
			seqs[i] = item.LinkSeq
			if err := lease(tx, item, now.Add(claimFor)); err != nil {
				return err
			}
		}
		ls, err := load(tx, tx.Model(&Link{}).Where("seq IN ?", seqs))
		bySeq := make(map[int64]Link, len(ls))
		for _, l := range ls {
			bySeq[l.Seq] = l
		}
		for _, item := range items {
			out = append(out, RefreshItem{item.RefreshID, bySeq[item.LinkSeq]})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claiming links to refresh: %w", err)
	}
	return out, nil
}

// lease sets until when an item is claimed.
func lease(tx *gorm.DB, item refreshItem, until models.Time) error {
	return tx.Exec("UPDATE link_refresh_items SET claimed_until = ? WHERE refresh_id = ? AND link_seq = ?",
		until, item.RefreshID, item.LinkSeq).Error
}

// FinishRefresh refreshes a claimed link and counts it. If the site asks for a
// pause, or too many pages are being fetched, the link stays queued until that
// is over.
func (s *Store) FinishRefresh(ctx context.Context, item RefreshItem) error {
	l, err := s.refreshWith(ctx, s.background, item.Link.ID)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e, _ := errors.AsType[*models.Error](err)
	switch {
	case e != nil && e.RetryAfter > 0:
		return s.leaseUntil(ctx, s.clock.Now().Add(min(e.RetryAfter, maxPause)), item)
	case e == nil && err != nil:
		return fmt.Errorf("refreshing a link: %w", err)
	}
	failed := 0
	if e != nil || l.LastError != "" { // e: it was deleted meanwhile
		failed = 1
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		err := tx.Exec("DELETE FROM link_refresh_items WHERE refresh_id = ? AND link_seq = ?", item.RefreshID, item.Link.Seq).Error
		if err != nil {
			return err
		}
		return tx.Exec("UPDATE link_refreshes SET failed = failed + ? WHERE id = ?", failed, item.RefreshID).Error
	})
	if err != nil {
		return fmt.Errorf("counting a refreshed link: %w", err)
	}
	return nil
}

// ReleaseRefreshes gives claimed links back to the queue.
func (s *Store) ReleaseRefreshes(ctx context.Context, items ...RefreshItem) error {
	return s.leaseUntil(ctx, s.clock.Now(), items...)
}

func (s *Store) leaseUntil(ctx context.Context, until models.Time, items ...RefreshItem) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		for _, item := range items {
			if err := lease(tx, refreshItem{RefreshID: item.RefreshID, LinkSeq: item.Link.Seq}, until); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("giving links to refresh back: %w", err)
	}
	return nil
}
