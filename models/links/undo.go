package links

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// keepChanges is how long a change can be undone.
const keepChanges = models.Day

type changeRow struct {
	ID        string
	Action    string
	Links     int
	Before    string // JSON of []undoItem
	CreatedAt models.Time
	CreatedBy string // name of the actor
}

func (changeRow) TableName() string { return "link_changes" }

func (c changeRow) change() Change { return Change{c.ID, c.Action, c.Links, c.CreatedAt} }

// undoItem is the data to undo a change of one link: the whole link if it was deleted, its expiry if that changed,
// or the added tags.
type undoItem struct {
	Link Link     `json:"link"`
	Tags []string `json:"tags,omitempty"` // for ActionTag: the added tags
}

// change runs fn on links and stores the data for Undo. fn returns that data, and the links whose search index
// entry has changed.
func (s *Store) change(ctx context.Context, action string, ids []string,
	fn func(tx *gorm.DB, ls []Link) ([]undoItem, []Link, error),
) (Change, error) {
	ids, err := cleanIDs(ids)
	if err != nil {
		return Change{}, err
	}
	c := Change{Action: action, CreatedAt: s.clock.Now()}
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		c.ID, c.Links = "", 0
		ls, err := lockIDs(tx, ids)
		if err != nil || len(ls) == 0 {
			return nil, err
		}
		items, changed, err := fn(tx, ls)
		if err != nil || len(items) == 0 {
			return changed, err
		}
		js, err := json.Marshal(items)
		if err != nil {
			return nil, fmt.Errorf("store undo data: %w", err)
		}
		c.ID, c.Links = models.NewID(models.KindChange), len(items)
		row := changeRow{c.ID, c.Action, c.Links, string(js), c.CreatedAt, models.Owner(ctx)}
		if err := tx.Create(&row).Error; err != nil {
			return nil, fmt.Errorf("store undo data: %w", err)
		}
		return changed, nil
	})
	return c, err
}

// ChangeOf returns a change that the actor can still undo: one of its own, or any for an admin. CodeNotFound if
// there is none.
func (s *Store) ChangeOf(ctx context.Context, changeID string) (Change, error) {
	row, err := s.changeRow(s.db.Read(ctx), changeID)
	return row.change(), err
}

func (s *Store) changeRow(tx *gorm.DB, changeID string) (changeRow, error) {
	if models.CheckID(models.KindChange, changeID) != nil {
		return changeRow{}, models.NotFound("change to undo")
	}
	var rows []changeRow
	own, args := createdByActor(tx)
	err := tx.Where("id = ? AND created_at > ?", changeID, s.clock.Now().Add(-keepChanges)).Where(own, args...).Find(&rows).Error
	if err != nil {
		return changeRow{}, fmt.Errorf("load change: %w", err)
	}
	if len(rows) == 0 {
		return changeRow{}, models.NotFound("change to undo")
	}
	return rows[0], nil
}

// Undo reverts a change, once. The field Links of the result is the number of restored links. It skips links that
// are deleted, not visible any more, or whose URL was saved again. Errors are those of ChangeOf.
func (s *Store) Undo(ctx context.Context, changeID string) (Change, error) {
	var c Change
	err := s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		row, err := s.changeRow(tx, changeID)
		if err != nil {
			return nil, err
		}
		gone := tx.Exec("DELETE FROM link_changes WHERE id = ?", row.ID)
		if gone.Error != nil {
			return nil, fmt.Errorf("undo change: %w", gone.Error)
		}
		if gone.RowsAffected == 0 { // a concurrent request undid it
			return nil, models.NotFound("change to undo")
		}
		var items []undoItem
		if err := json.Unmarshal([]byte(row.Before), &items); err != nil {
			return nil, fmt.Errorf("read undo data: %w", err)
		}
		var ls []Link
		switch row.Action {
		case ActionDelete:
			ls, err = s.restore(tx, items)
		case ActionTag:
			ls, err = untag(tx, items)
		default:
			ls, err = resetExpiry(tx, items)
		}
		if err != nil {
			return nil, err
		}
		c = row.change()
		c.Links = len(ls)
		return ls, auditLinks(tx, s.clock.Now(), "undo", ls, nil, audit.Values{"undone": row.Action})
	})
	return c, err
}

// restore inserts deleted links again, with their ids and keys.
func (s *Store) restore(tx *gorm.DB, items []undoItem) ([]Link, error) {
	rows, tags := make([]Link, len(items)), map[string][]string{}
	for i, p := range items {
		tags[p.Link.ID] = p.Link.Tags
		rows[i] = p.Link
		rows[i].Tags = nil
	}
	ls, err := insert(tx, rows, "true")
	if err != nil {
		return nil, err
	}
	names := make([][]string, len(ls))
	for i, l := range ls {
		names[i] = tags[l.ID]
	}
	_, err = attach(tx, s.clock.Now(), ls, names)
	return ls, err
}

func undoItems(ls []Link) []undoItem {
	out := make([]undoItem, len(ls))
	for i, l := range ls {
		out[i] = undoItem{Link: l}
	}
	return out
}

// cleanIDs removes strings that are not ids of links. CodeInvalid if there are more than MaxBulk.
func cleanIDs(ids []string) ([]string, error) {
	if len(ids) > MaxBulk {
		return nil, models.TooLong("ids", MaxBulk, "items")
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return models.CheckID(models.KindLink, id) != nil
	}), nil
}
