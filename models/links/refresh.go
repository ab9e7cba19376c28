package links

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"github.com/linkwatch/linkwatch/models"
)

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
		return tx.CreateInBatches(items, insertBatch).Error
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

// RefreshNext refreshes one queued link and counts it; false when none waits.
// A claim ends by itself after ten minutes, so that a killed worker loses nothing.
func (s *Store) RefreshNext(ctx context.Context) (bool, error) {
	item, id, err := s.claimRefresh(ctx)
	if err != nil || id == "" {
		return false, err
	}
	started := s.clock.Now()
	l, err := s.Refresh(ctx, id)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil && models.CodeOf(err) != models.CodeNotFound { // a link that was deleted meanwhile is done
		return false, fmt.Errorf("refreshing a link: %w", err)
	}
	failed := 0
	if err != nil || l.LastError != "" || l.LastCheckedAt.Before(started.Time) { // the last: the site asked for a pause
		failed = 1
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		err := tx.Exec("DELETE FROM link_refresh_items WHERE refresh_id = ? AND link_seq = ?", item.RefreshID, item.LinkSeq).Error
		if err != nil {
			return err
		}
		return tx.Exec("UPDATE link_refreshes SET failed = failed + ? WHERE id = ?", failed, item.RefreshID).Error
	})
	if err != nil {
		return false, fmt.Errorf("counting a refreshed link: %w", err)
	}
	return true, nil
}

// claimRefresh leases the next waiting item and names its link; "" if none waits.
func (s *Store) claimRefresh(ctx context.Context) (item refreshItem, id string, err error) {
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		id = ""
		var items []refreshItem
		err := tx.Raw(`SELECT * FROM link_refresh_items WHERE claimed_until <= ?
			ORDER BY claimed_until, refresh_id, link_seq LIMIT 1`+s.db.SkipLocked(), now).Scan(&items).Error
		if err != nil || len(items) == 0 {
			return err
		}
		item = items[0]
		err = tx.Exec("UPDATE link_refresh_items SET claimed_until = ? WHERE refresh_id = ? AND link_seq = ?",
			now.Add(claimFor), item.RefreshID, item.LinkSeq).Error
		if err != nil {
			return err
		}
		return tx.Model(&Link{}).Where("seq = ?", item.LinkSeq).Pluck("id", &id).Error
	})
	if err != nil {
		return item, "", fmt.Errorf("claiming a link to refresh: %w", err)
	}
	return item, id, nil
}
