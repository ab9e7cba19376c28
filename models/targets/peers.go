package targets

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// deadAfter is the number of consecutive looks, one per Heartbeat, at which a
// lease must be unchanged for its checker to be dead. The first look may come
// at once after the last renewal, and one look may be late and the next on
// time, so a live checker has at least three heartbeats: CheckerLease.
const deadAfter = 5

// Peers remembers the leases of other checkers, as one checker has seen them,
// to find those that died. A lease counts by the number of looks without a
// renewal, not by the time it ends: the clocks of two machines need not agree,
// and no instance is dead because the database was unavailable to all of them.
// The zero value is ready to use. It belongs to one goroutine.
type Peers struct{ seen map[string]peer }

type peer struct {
	until models.Time // the lease, only to see whether it changes
	looks int         // at this value
}

// look takes in the leases of now and returns those of the dead.
func (p *Peers) look(leases []lease) (dead []lease) {
	now := make(map[string]peer, len(leases))
	for _, l := range leases {
		looks := 1
		if before, ok := p.seen[l.ID]; ok && before.until == l.LeaseUntil {
			looks += before.looks
		}
		now[l.ID] = peer{l.LeaseUntil, looks}
		if looks >= deadAfter {
			dead = append(dead, l)
		}
	}
	p.seen = now
	return dead
}

// lease is a row of checkers.
type lease struct {
	ID         string
	LeaseUntil models.Time
}

// FreeDead frees the targets of checkers that died, as seen has observed them
// on behalf of checker. Call it once per Heartbeat, after Hold. On an error seen
// starts over, because the others may have been unable to renew their leases too.
func (s *Store) FreeDead(ctx context.Context, checker string, seen *Peers) error {
	var leases []lease
	if err := s.db.Read(ctx).Raw("SELECT id, lease_until FROM checkers WHERE id <> ?", checker).Scan(&leases).Error; err != nil {
		*seen = Peers{}
		return fmt.Errorf("reading the leases of other checkers: %w", err)
	}
	dead := seen.look(leases)
	if len(dead) == 0 {
		return nil
	}
	var freed int64
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		freed = 0
		for _, l := range dead {
			// A checker that renewed its lease since is alive.
			res := tx.Exec("DELETE FROM checkers WHERE id = ? AND lease_until = ?", l.ID, l.LeaseUntil)
			if res.Error != nil || res.RowsAffected == 0 {
				if res.Error != nil {
					return res.Error
				}
				continue
			}
			res = tx.Exec("UPDATE targets SET claimed_by = '' WHERE claimed_by = ?", l.ID)
			if res.Error != nil {
				return res.Error
			}
			freed += res.RowsAffected
		}
		return nil
	})
	if err != nil {
		*seen = Peers{}
		return fmt.Errorf("freeing the targets of dead checkers: %w", err)
	}
	if freed > 0 {
		s.wake()
	}
	return nil
}
