package links

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// SetExpired expires or revives links. It ignores links that are in that state already.
func (s *Store) SetExpired(ctx context.Context, expired bool, ids ...string) (Change, error) {
	action := ActionRevive
	if expired {
		action = ActionExpire
	}
	return s.change(ctx, action, ids, func(tx *gorm.DB, ls []Link) ([]undoItem, []Link, error) {
		ls = slices.DeleteFunc(ls, func(l Link) bool { return l.Expired() == expired })
		if len(ls) == 0 {
			return nil, nil, nil
		}
		items, now := undoItems(ls), s.clock.Now()
		for i := range ls {
			l := &ls[i]
			l.UpdatedAt = now
			if expired {
				l.ExpiredAt, l.NextCheckAt = now, models.Time{}
			} else {
				l.ExpiredAt, l.NextCheckAt = models.Time{}, now.Add(jitter(s.opts.CheckInterval))
				if l.Health == Dead { // the user knows better than the last check
					l.Health, l.HealthChangedAt, l.Failures = Unchecked, now, 0
				}
			}
		}
		if err := countExpired(tx, ls); err != nil {
			return nil, nil, err
		}
		if err := saveAll(tx, ls, false); err != nil {
			return nil, nil, err
		}
		return items, ls, auditLinks(tx, now, action, ls, audit.Values{"expired": !expired}, audit.Values{"expired": expired})
	})
}

// resetExpiry restores the expiry and health of links.
func resetExpiry(tx *gorm.DB, items []undoItem) ([]Link, error) {
	ids, was := make([]string, len(items)), map[string]Link{}
	for i, p := range items {
		ids[i], was[p.Link.ID] = p.Link.ID, p.Link
	}
	ls, err := lockIDs(tx, ids)
	if err != nil {
		return nil, err
	}
	ls = slices.DeleteFunc(ls, func(l Link) bool { return l.Expired() == was[l.ID].Expired() })
	for i := range ls {
		l, w := &ls[i], was[ls[i].ID]
		l.ExpiredAt, l.NextCheckAt, l.UpdatedAt = w.ExpiredAt, w.NextCheckAt, w.UpdatedAt
		l.Health, l.HealthChangedAt, l.Failures = w.Health, w.HealthChangedAt, w.Failures
	}
	if err := countExpired(tx, ls); err != nil {
		return nil, err
	}
	return ls, saveAll(tx, ls, false)
}

// countExpired updates the counts of tags after links were expired or revived.
func countExpired(tx *gorm.DB, ls []Link) error {
	d, err := deltasOf(tx, ls, func(l Link) delta {
		if l.Expired() {
			return delta{active: -1}
		}
		return delta{active: 1}
	})
	if err != nil {
		return err
	}
	return updateCounts(tx, d)
}
