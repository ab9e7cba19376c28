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

// changeRow is a row of link_changes.
type changeRow struct {
	ID        string
	Action    string
	Links     int
	Before    string // JSON of []past
	CreatedAt models.Time
	MadeBy    string // name of the actor
}

func (changeRow) TableName() string { return "link_changes" }

func (c changeRow) change() Change { return Change{c.ID, c.Action, c.Links, c.CreatedAt} }

// past is what undoing needs of one link: all of it where it was deleted, the
// expiry where that changed, or the tags that it got.
type past struct {
	Link Link     `json:"link"`
	Tags []string `json:"tags,omitempty"` // for ActionTag: those that were new to it
}

// change runs fn on the links of ids and keeps what it did for Undo. fn
// returns what undoing needs, and the links that the search index has to take in.
func (s *Store) change(ctx context.Context, action string, ids []string,
	fn func(tx *gorm.DB, ls []Link) ([]past, []Link, error),
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
		before, changed, err := fn(tx, ls)
		if err != nil || len(before) == 0 {
			return changed, err
		}
		js, err := json.Marshal(before)
		if err != nil {
			return nil, fmt.Errorf("keeping what is undone: %w", err)
		}
		c.ID, c.Links = models.NewID(models.KindChange), len(before)
		row := changeRow{c.ID, c.Action, c.Links, string(js), c.CreatedAt, models.Owner(ctx)}
		if err := tx.Create(&row).Error; err != nil {
			return nil, fmt.Errorf("keeping what is undone: %w", err)
		}
		return changed, nil
	})
	return c, err
}

// ChangeOf is a change that the actor can still undo; else CodeNotFound. Who made it can, and admins.
func (s *Store) ChangeOf(ctx context.Context, changeID string) (Change, error) {
	row, err := s.changeRow(s.db.Read(ctx), changeID)
	return row.change(), err
}

func (s *Store) changeRow(tx *gorm.DB, changeID string) (changeRow, error) {
	if models.CheckID(models.KindChange, changeID) != nil {
		return changeRow{}, models.NotFound("change to undo")
	}
	var rows []changeRow
	own, args := madeBy(tx)
	err := tx.Where("id = ? AND created_at > ?", changeID, s.clock.Now().Add(-keepChanges)).Where(own, args...).Find(&rows).Error
	if err != nil {
		return changeRow{}, fmt.Errorf("loading a change: %w", err)
	}
	if len(rows) == 0 {
		return changeRow{}, models.NotFound("change to undo")
	}
	return rows[0], nil
}

// Undo takes a change back, once. Its answer's Links is how many links are as
// they were: one whose address was saved again meanwhile, or that is gone,
// stays as it is, as does one that the actor does not see any more. Errors are those of ChangeOf.
func (s *Store) Undo(ctx context.Context, changeID string) (Change, error) {
	var c Change
	err := s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		row, err := s.changeRow(tx, changeID)
		if err != nil {
			return nil, err
		}
		gone := tx.Exec("DELETE FROM link_changes WHERE id = ?", row.ID)
		if gone.Error != nil {
			return nil, fmt.Errorf("undoing a change: %w", gone.Error)
		}
		if gone.RowsAffected == 0 { // somebody undoes it at the same time
			return nil, models.NotFound("change to undo")
		}
		var before []past
		if err := json.Unmarshal([]byte(row.Before), &before); err != nil {
			return nil, fmt.Errorf("reading what is undone: %w", err)
		}
		var ls []Link
		switch row.Action {
		case ActionDelete:
			ls, err = s.restore(tx, before)
		case ActionTag:
			ls, err = untag(tx, before)
		default:
			ls, err = resetExpiry(tx, before)
		}
		if err != nil {
			return nil, err
		}
		c = row.change()
		c.Links = len(ls)
		return ls, done(tx, s.clock.Now(), "undo", ls, nil, audit.Values{"undone": row.Action})
	})
	return c, err
}

// restore brings deleted links back, under their old ids and keys.
func (s *Store) restore(tx *gorm.DB, before []past) ([]Link, error) {
	rows, tags := make([]Link, len(before)), map[string][]string{}
	for i, p := range before {
		tags[p.Link.ID] = p.Link.Tags
		rows[i] = p.Link
		rows[i].Tags = nil
	}
	ls, err := insert(tx, rows)
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

func pastOf(ls []Link) []past {
	out := make([]past, len(ls))
	for i, l := range ls {
		out[i] = past{Link: l}
	}
	return out
}

// cleanIDs drops what cannot be the id of a link; more than MaxBulk are refused.
func cleanIDs(ids []string) ([]string, error) {
	if len(ids) > MaxBulk {
		return nil, models.Invalid("ids", "holds more than %d links", MaxBulk)
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return models.CheckID(models.KindLink, id) != nil
	}), nil
}
