package links

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Attention holds the links that need attention.
type Attention struct {
	Dead, Suspect, Moved []Link // active links, most recent change of health first
	Gone                 []Link // dead links that expired within the last RecentDays, most recent first
	GoneCount            int    // number of all such links; Counts has the numbers of the others
}

// NeedAttention returns up to limit links of each kind, without their tags. It runs five queries, each on an
// index.
func (s *Store) NeedAttention(ctx context.Context, limit int) (Attention, error) {
	var a Attention
	tx := s.db.Read(ctx)
	for _, list := range []struct {
		health Health
		rows   *[]Link
	}{{Dead, &a.Dead}, {Suspect, &a.Suspect}, {Moved, &a.Moved}} {
		err := active(tx).Where("health = ? AND health <> 'ok'", list.health). // the second condition selects the partial index
											Order("health_changed_at DESC, seq DESC").Limit(limit).Find(list.rows).Error
		if err != nil {
			return a, fmt.Errorf("load %s links: %w", list.health, err)
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
		return a, fmt.Errorf("load recently expired links: %w", err)
	}
	a.GoneCount = int(n)
	return a, nil
}

func (s *Store) recently() models.Time { return s.clock.Now().Add(-RecentDays * models.Day) }
