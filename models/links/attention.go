package links

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Attention are the links that need attention, by what is wrong with them.
type Attention struct {
	Dead, Suspect, Moved []Link // active links; the newest change of health first
	Gone                 []Link // dead links that expired within the last RecentDays, the last expired first
	GoneCount            int    // all of those; Counts has the numbers of the others
}

// NeedAttention returns up to limit links of each kind, without their tags. It
// takes five queries, each by an index, however many links there are.
func (s *Store) NeedAttention(ctx context.Context, limit int) (Attention, error) {
	var a Attention
	tx := s.db.Read(ctx)
	for _, of := range []struct {
		health Health
		into   *[]Link
	}{{Dead, &a.Dead}, {Suspect, &a.Suspect}, {Moved, &a.Moved}} {
		err := active(tx).Where("health = ? AND health <> 'ok'", of.health). // the second part names the index
											Order("health_changed_at DESC, seq DESC").Limit(limit).Find(of.into).Error
		if err != nil {
			return a, fmt.Errorf("loading the %s links: %w", of.health, err)
		}
	}
	gone := func() *gorm.DB {
		return visible(tx).Where("expired_at > ? AND health = ?", s.recently(), Dead)
	}
	var n int64
	err := gone().Count(&n).Error
	if err == nil {
		err = gone().Order("expired_at DESC, seq DESC").Limit(limit).Find(&a.Gone).Error
	}
	if err != nil {
		return a, fmt.Errorf("loading the links that are gone: %w", err)
	}
	a.GoneCount = int(n)
	return a, nil
}

// recently is the time after which an expired link is recent.
func (s *Store) recently() models.Time { return s.clock.Now().Add(-RecentDays * models.Day) }
