package links

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// The actions that can be taken back.
const (
	ActionDelete = "delete"
	ActionExpire = "expire"
	ActionRevive = "revive"
	ActionTag    = "tag"
)

// undoFor is how long a change can be taken back.
const undoFor = 24 * time.Hour

// changeRow is a row of link_changes.
type changeRow struct {
	ID        string
	Action    string
	Links     int
	Before    string // JSON of []past
	CreatedAt models.Time
}

func (changeRow) TableName() string { return "link_changes" }

func (c changeRow) change() Change { return Change{c.ID, c.Action, c.Links, c.CreatedAt} }

// past is what undoing needs of one link: all of it where it was deleted, the
// expiry where that changed, or the tags that it got.
type past struct {
	Link Link     `json:"link"`
	Tags []string `json:"tags,omitempty"` // for ActionTag: those that were new to it
}

// Delete deletes links for good, unless it is undone within a day.
func (s *Store) Delete(ctx context.Context, ids ...string) (Change, error) {
	return s.change(ctx, ActionDelete, ids, func(tx *gorm.DB, ls []Link) ([]past, []Link, error) {
		counts, err := tagSeqs(tx, ls)
		if err != nil {
			return nil, nil, err
		}
		before := pastOf(ls)
		if err := s.index.remove(tx, seqsOf(ls)); err != nil {
			return nil, nil, fmt.Errorf("taking links out of the index: %w", err)
		}
		if err := tx.Delete(&Link{}, seqsOf(ls)).Error; err != nil { // link_tags go with them
			return nil, nil, fmt.Errorf("deleting links: %w", err)
		}
		var tags []int64
		for seq, n := range counts {
			tags, counts[seq] = append(tags, seq), -n
		}
		if err := recount(tx, counts); err != nil {
			return nil, nil, err
		}
		slices.Sort(tags)
		return before, nil, dropUnused(tx, tags)
	})
}

// SetExpired expires links by hand or revives them. Links that are so already
// are passed over.
func (s *Store) SetExpired(ctx context.Context, expired bool, ids ...string) (Change, error) {
	action := ActionRevive
	if expired {
		action = ActionExpire
	}
	return s.change(ctx, action, ids, func(tx *gorm.DB, ls []Link) ([]past, []Link, error) {
		ls = slices.DeleteFunc(ls, func(l Link) bool { return l.Expired() == expired })
		if len(ls) == 0 {
			return nil, nil, nil
		}
		before, now := pastOf(ls), s.clock.Now()
		n := 1
		if expired {
			n = -1
		}
		if err := countExpired(tx, ls, n); err != nil {
			return nil, nil, err
		}
		for i := range ls {
			l := &ls[i]
			l.UpdatedAt = now
			if expired {
				l.ExpiredAt, l.NextCheckAt = now, models.Time{}
			} else {
				l.ExpiredAt, l.NextCheckAt = models.Time{}, now.Add(spread(s.opts.CheckInterval))
				if l.Health == Dead { // whoever revives it knows better than the last check
					l.Health, l.HealthChangedAt, l.Failures = Unchecked, now, 0
				}
			}
			if err := save(tx, *l); err != nil {
				return nil, nil, err
			}
		}
		return before, ls, nil
	})
}

// TagAll puts tags on links. If one of them would have more than MaxTags,
// nothing is added.
func (s *Store) TagAll(ctx context.Context, names []string, ids ...string) (Change, error) {
	names, err := cleanTags(names)
	if err != nil {
		return Change{}, err
	}
	return s.change(ctx, ActionTag, ids, func(tx *gorm.DB, ls []Link) ([]past, []Link, error) {
		each := make([][]string, len(ls))
		for i := range each {
			each[i] = names
		}
		added, err := attach(tx, s.clock.Now(), ls, each)
		if err != nil {
			return nil, nil, err
		}
		var before []past
		for i, tags := range added {
			if len(tags) > 0 {
				before = append(before, past{Link{ID: ls[i].ID}, tags})
			}
		}
		return before, ls, nil
	})
}

// change runs fn on the links of ids and keeps what it did for Undo. fn
// answers what undoing needs, and the links to be indexed anew.
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
		ls, err := lock(tx, ids)
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
		row := changeRow{c.ID, c.Action, c.Links, string(js), c.CreatedAt}
		if err := tx.Create(&row).Error; err != nil {
			return nil, fmt.Errorf("keeping what is undone: %w", err)
		}
		return changed, nil
	})
	return c, err
}

// ChangeOf is a change that can still be undone; else CodeNotFound.
func (s *Store) ChangeOf(ctx context.Context, changeID string) (Change, error) {
	row, err := s.changeRow(s.db.Read(ctx), changeID)
	return row.change(), err
}

func (s *Store) changeRow(tx *gorm.DB, changeID string) (changeRow, error) {
	if models.CheckID(models.KindChange, changeID) != nil {
		return changeRow{}, models.NotFound("change to undo")
	}
	var rows []changeRow
	err := tx.Where("id = ? AND created_at > ?", changeID, s.clock.Now().Add(-undoFor)).Find(&rows).Error
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
// stays as it is.
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
		c = row.change()
		c.Links = len(ls)
		return ls, err
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

// untag takes the tags off that a change had put on.
func untag(tx *gorm.DB, before []past) ([]Link, error) {
	ids, byTag := make([]string, len(before)), map[string]map[string]bool{}
	for i, p := range before {
		ids[i] = p.Link.ID
		for _, n := range p.Tags {
			f := models.FoldName(n)
			if byTag[f] == nil {
				byTag[f] = map[string]bool{}
			}
			byTag[f][p.Link.ID] = true
		}
	}
	ls, err := lock(tx, ids)
	if err != nil {
		return nil, err
	}
	for _, f := range sortedKeys(byTag) {
		var ts []Tag
		if err := tx.Where("folded = ?", f).Find(&ts).Error; err != nil {
			return nil, fmt.Errorf("loading a tag: %w", err)
		}
		var on []int // the places in ls of the links that still carry it
		var sub []Link
		for i, l := range ls {
			if byTag[f][l.ID] && slices.ContainsFunc(l.Tags, func(n string) bool { return models.FoldName(n) == f }) {
				on, sub = append(on, i), append(sub, l)
			}
		}
		if len(ts) == 0 || len(sub) == 0 {
			continue
		}
		if err := detach(tx, sub, ts[0]); err != nil {
			return nil, err
		}
		for j, i := range on {
			ls[i] = sub[j]
		}
	}
	return ls, nil
}

// resetExpiry gives links back the expiry and health they had.
func resetExpiry(tx *gorm.DB, before []past) ([]Link, error) {
	ids, was := make([]string, len(before)), map[string]Link{}
	for i, p := range before {
		ids[i], was[p.Link.ID] = p.Link.ID, p.Link
	}
	ls, err := lock(tx, ids)
	if err != nil {
		return nil, err
	}
	var changed []Link
	for _, l := range ls {
		w := was[l.ID]
		if l.Expired() == w.Expired() {
			continue
		}
		n := 1
		if w.Expired() {
			n = -1
		}
		if err := countExpired(tx, []Link{l}, n); err != nil {
			return nil, err
		}
		l.ExpiredAt, l.NextCheckAt, l.UpdatedAt = w.ExpiredAt, w.NextCheckAt, w.UpdatedAt
		l.Health, l.HealthChangedAt, l.Failures = w.Health, w.HealthChangedAt, w.Failures
		if err := save(tx, l); err != nil {
			return nil, err
		}
		changed = append(changed, l)
	}
	return changed, nil
}

// countExpired adds n for each link to the counts of its tags, as it leaves
// (-1) or joins (+1) the active ones.
func countExpired(tx *gorm.DB, ls []Link, n int) error {
	as := slices.Clone(ls)
	for i := range as {
		as[i].ExpiredAt = models.Time{} // count each, whatever it is now
	}
	counts, err := tagSeqs(tx, as)
	if err != nil {
		return err
	}
	for seq := range counts {
		counts[seq] *= n
	}
	return recount(tx, counts)
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

// Purge drops what is kept only for a while: changes that can no longer be
// undone, batches of refreshes that are over, and, some at each call, words
// that stand in no link any more. It also finishes renames that were cut short.
func (s *Store) Purge(ctx context.Context) error {
	old := s.clock.Now().Add(-undoFor)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec("DELETE FROM link_changes WHERE created_at <= ?", old).Error; err != nil {
			return err
		}
		return tx.Exec(`DELETE FROM link_refreshes WHERE created_at <= ?
			AND NOT EXISTS (SELECT 1 FROM link_refresh_items WHERE refresh_id = link_refreshes.id)`, old).Error
	})
	if err != nil {
		return fmt.Errorf("dropping old changes of links: %w", err)
	}
	if err := s.reindex(ctx); err != nil {
		return err
	}
	return s.sweep(ctx)
}
