package lease

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// deadAfter is the number of consecutive looks, one per Heartbeat, at which a
// row must be unchanged for its instance to be dead. The first look may come at
// once after the last renewal, so a live instance has four heartbeats, which is
// more than Duration.
const deadAfter = 5

// peers are the other instances, as this one has seen them. A heartbeat counts by
// the number of looks without a change, not by its time: the clocks of two
// machines need not agree, and no instance is dead because the database was
// unavailable to all of them.
type peers map[ID]peer

type peer struct {
	heartbeatAt models.Time // only to see whether it changes
	looks       int         // at this value
}

// row is a row of instances.
type row struct {
	ID          ID
	HeartbeatAt models.Time
}

// look takes in the rows of now and returns those of the dead.
func (p *peers) look(rows []row) (dead []row) {
	now := make(peers, len(rows))
	for _, r := range rows {
		looks := 1
		if before, ok := (*p)[r.ID]; ok && before.heartbeatAt == r.HeartbeatAt {
			looks += before.looks
		}
		now[r.ID] = peer{r.HeartbeatAt, looks}
		if looks >= deadAfter {
			dead = append(dead, r)
		}
	}
	*p = now
	return dead
}

// freeTime is for freeing what dead instances held. What a statement of a dead one
// still locks is freed at a later look: the next renewal must not wait for it.
const freeTime = Heartbeat / 2

// freeDead deletes the rows of dead instances, which frees what they held.
func (l *Lease) freeDead(ctx context.Context, own ID) error {
	ctx, cancel := context.WithTimeout(ctx, freeTime)
	defer cancel()
	var rows []row
	if err := l.db.Read(ctx).Raw("SELECT id, heartbeat_at FROM instances WHERE id <> ?", own).Scan(&rows).Error; err != nil {
		l.peers = nil
		return fmt.Errorf("looking at the leases of other instances: %w", err)
	}
	dead := l.peers.look(rows)
	if len(dead) == 0 {
		return nil
	}
	err := l.db.Write(ctx, func(tx *gorm.DB) error {
		for _, r := range dead { // of which there are few
			// An instance that renewed its lease since is alive.
			err := tx.Exec("DELETE FROM instances WHERE id IN (SELECT id FROM instances WHERE id = ? AND heartbeat_at = ?"+l.db.SkipLocked()+")",
				r.ID, r.HeartbeatAt).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("freeing what dead instances held: %w", err)
	}
	return nil
}
