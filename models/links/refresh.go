package links

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Refresh fetches the metadata of a link again. 404 and 410 expire the link. Other failures change only the
// health.
//
// If the site is rate limiting requests, nothing changes and the error is CodeUnresolvable with RetryAfter. If too
// many pages are being fetched, it is CodeUnavailable with RetryAfter.
func (s *Store) Refresh(ctx context.Context, id string) (Link, error) {
	return s.requestNow(ctx, id, func(ctx context.Context, l Link) (result, error) { return refetch(ctx, s.fetch, l) })
}

func refetch(ctx context.Context, fetch Fetcher, l Link) (result, error) {
	page, err := fetch.Fetch(ctx, l.URL)
	return newResult(ctx, l, page, err)
}

type refreshRow struct {
	ID        string
	Total     int
	Failed    int
	CreatedAt models.Time
	CreatedBy string // name of the actor
}

func (refreshRow) TableName() string { return "link_refreshes" }

// StartRefresh queues up to MaxBulk links to be refreshed in the background. Unknown ids are ignored.
func (s *Store) StartRefresh(ctx context.Context, ids ...string) (Refresh, error) {
	return s.startRefresh(ctx, ids, true)
}

// startRefresh is StartRefresh. audited is whether it adds an audit entry.
func (s *Store) startRefresh(ctx context.Context, ids []string, audited bool) (Refresh, error) {
	ids, err := cleanIDs(ids)
	if err != nil {
		return Refresh{}, err
	}
	row := refreshRow{ID: models.NewID(models.KindRefresh), CreatedAt: s.clock.Now(), CreatedBy: models.Owner(ctx)}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		var ls []Link
		visible, args := models.Visible(tx, "links")
		err := idRows(ids).Raw(tx, "SELECT seq, id, url, title FROM links WHERE "+byID+" AND "+visible+" ORDER BY seq", args...).Scan(&ls).Error
		if err != nil {
			return err
		}
		row.Total = len(ls)
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		err = seqRows(seqsOf(ls)).Exec(tx, `INSERT INTO link_refresh_items (refresh_id, link_seq, due_at)
			SELECT CAST(? AS TEXT), seq, CAST(? AS BIGINT) FROM {rows} AS r`, row.ID, row.CreatedAt).Error
		if err != nil || !audited {
			return err
		}
		return auditLinks(tx, row.CreatedAt, ActionRefresh, ls, nil, nil)
	})
	if err != nil {
		return Refresh{}, fmt.Errorf("queue links to refresh: %w", err)
	}
	select {
	case s.refresh <- struct{}{}:
	default: // the channel has a value already
	}
	return Refresh{ID: row.ID, Total: row.Total, CreatedAt: row.CreatedAt}, nil
}

// RefreshQueued receives a value after StartRefresh in this process.
func (s *Store) RefreshQueued() <-chan struct{} { return s.refresh }

// RefreshOf returns the progress of a refresh. CodeNotFound if there is none, or if another account started it and
// the actor is not an admin.
func (s *Store) RefreshOf(ctx context.Context, refreshID string) (Refresh, error) {
	if models.CheckID(models.KindRefresh, refreshID) != nil {
		return Refresh{}, models.NotFound("refresh")
	}
	var rows []struct {
		Row     refreshRow `gorm:"embedded"`
		Waiting int
	}
	tx := s.db.Read(ctx)
	own, args := createdByActor(tx)
	err := tx.Raw(`SELECT r.*,
		(SELECT count(*) FROM link_refresh_items WHERE refresh_id = r.id) AS waiting
		FROM link_refreshes r WHERE id = ? AND `+own, append([]any{refreshID}, args...)...).Scan(&rows).Error
	if err != nil {
		return Refresh{}, fmt.Errorf("load refresh: %w", err)
	}
	if len(rows) == 0 {
		return Refresh{}, models.NotFound("refresh")
	}
	r, waiting := rows[0].Row, rows[0].Waiting
	return Refresh{r.ID, r.Total, r.Total - waiting, r.Failed, r.CreatedAt}, nil
}
