package links

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

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
