package lease

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// deadAfter is the number of consecutive polls, one per Heartbeat, with the same heartbeat
// after which an instance is dead. The first poll may follow immediately after a renewal, so
// an instance has at least four heartbeats to renew, which is more than Duration.
const deadAfter = 5

// peers are the other instances by lease. An instance is dead after a number of polls
// without a change of its heartbeat. The time of the heartbeat does not count: clocks of
// machines differ, and an unavailable database must not make all instances look dead.
type peers map[ID]peer

type peer struct {
	heartbeatAt models.Time // only compared for equality
	polls       int         // with this value
}

type row struct {
	ID          ID
	HeartbeatAt models.Time
}

// poll updates the peers and returns the rows of dead instances.
func (p *peers) poll(rows []row) (dead []row) {
	now := make(peers, len(rows))
	for _, r := range rows {
		polls := 1
		if before, ok := (*p)[r.ID]; ok && before.heartbeatAt == r.HeartbeatAt {
			polls += before.polls
		}
		now[r.ID] = peer{r.HeartbeatAt, polls}
		if polls >= deadAfter {
			dead = append(dead, r)
		}
	}
	*p = now
	return dead
}

// releaseTimeout limits the release of dead instances, which must not delay the next renewal.
// Rows that a dead instance still locks are released at a later poll.
const releaseTimeout = Heartbeat / 2

// releaseDead deletes the rows of dead instances, which releases their claims.
func (l *Lease) releaseDead(ctx context.Context, own ID) error {
	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	var rows []row
	if err := l.db.Read(ctx).Raw("SELECT id, heartbeat_at FROM instances WHERE id <> ?", own).Scan(&rows).Error; err != nil {
		l.peers = nil
		return fmt.Errorf("read leases of other instances: %w", err)
	}
	dead := l.peers.poll(rows)
	if len(dead) == 0 {
		return nil
	}
	err := l.db.Write(ctx, func(tx *gorm.DB) error {
		for _, r := range dead { // few
			// An instance that has renewed its lease since the poll is alive.
			err := tx.Exec("DELETE FROM instances WHERE id IN (SELECT id FROM instances WHERE id = ? AND heartbeat_at = ?"+l.db.SkipLocked()+")",
				r.ID, r.HeartbeatAt).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("release claims of dead instances: %w", err)
	}
	return nil
}
