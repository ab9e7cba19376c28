package links

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"
)

// Claim takes up to n links whose check is due, longest first, and leases
// them to the caller for ten minutes: whatever becomes of the caller, they
// come due again. Several instances never get the same link.
func (s *Store) Claim(ctx context.Context, n int) ([]Link, error) {
	now := s.clock.Now()
	var ls []Link
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var seqs []int64
		err := tx.Raw("SELECT seq FROM links WHERE next_check_at <= ? ORDER BY next_check_at LIMIT ?"+s.db.SkipLocked(), now, n).Scan(&seqs).Error
		if err != nil || len(seqs) == 0 {
			return err
		}
		if err := tx.Exec("UPDATE links SET next_check_at = ? WHERE seq IN ?", now.Add(claimFor), seqs).Error; err != nil {
			return err
		}
		ls, err = inOrder(tx, seqs)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claiming links to check: %w", err)
	}
	return ls, nil
}

// PutOff makes claimed links come due again after d, 0 being at once: for
// those that their claimer could not get to. Expired ones are passed over.
func (s *Store) PutOff(ctx context.Context, d time.Duration, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE links SET next_check_at = ? WHERE id IN ? AND next_check_at IS NOT NULL",
			s.clock.Now().Add(d), ids).Error
	})
	if err != nil {
		return fmt.Errorf("putting checks off: %w", err)
	}
	return nil
}
