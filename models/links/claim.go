package links

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/lease"
)

// Claimed is a link that an instance has claimed for a recheck. Its tags are not loaded.
type Claimed struct {
	Link
	ClaimedBy lease.ID
}

// Claim claims up to n due links for an instance, longest due first. Two instances never claim the same link. next
// is when the next link is due, zero if there is none. Errors include lease.ErrLost.
func (s *Store) Claim(ctx context.Context, holder lease.ID, n int) (ls []Claimed, next models.Time, err error) {
	now := s.clock.Now()
	next, err = lease.Claim(ctx, s.db, holder, now, firstDue, func(tx *gorm.DB) error {
		ls = nil
		// MATERIALIZED: PostgreSQL must not evaluate the query twice.
		return tx.Raw(`WITH due AS MATERIALIZED (
				SELECT seq FROM links WHERE next_check_at <= ? AND claimed_by IS NULL ORDER BY next_check_at LIMIT ?`+s.db.SkipLocked()+`)
			UPDATE links SET claimed_by = ? WHERE seq IN (SELECT seq FROM due) RETURNING *`, now, n, holder).Scan(&ls).Error
	})
	if err != nil {
		return nil, models.Time{}, fmt.Errorf("claim links to check: %w", err)
	}
	slices.SortFunc(ls, func(a, b Claimed) int { return a.NextCheckAt.Compare(b.NextCheckAt.Time) })
	return ls, next, nil
}

// firstDue returns when the first unclaimed link is due, zero if there is none.
func firstDue(tx *gorm.DB) (next models.Time, err error) {
	err = tx.Raw("SELECT min(next_check_at) FROM links WHERE next_check_at IS NOT NULL AND claimed_by IS NULL").Scan(&next).Error
	if err != nil {
		return next, fmt.Errorf("find next due link: %w", err)
	}
	return next, nil
}

// Release releases claimed links and schedules them again, except expired ones. It ignores links that are claimed
// by another lease.
func (s *Store) Release(ctx context.Context, items ...lease.Released[Claimed]) error {
	rows := models.NewRows("seq bigint, claimed_by text, next_check_at bigint")
	now := s.clock.Now()
	for _, i := range items {
		rows.Add(i.Item.Seq, i.Item.ClaimedBy, now.Add(i.After))
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return rows.Exec(tx, `UPDATE links SET claimed_by = NULL,
				next_check_at = CASE WHEN links.next_check_at IS NOT NULL THEN r.next_check_at END
			FROM {rows} AS r WHERE links.seq = r.seq AND links.claimed_by = r.claimed_by`).Error
	})
	if err != nil {
		return fmt.Errorf("release claimed links: %w", err)
	}
	return nil
}

// ReleaseOthers releases the links that an instance has claimed, except those in keep. It is for use after a
// failed claim, which may have been committed.
func (s *Store) ReleaseOthers(ctx context.Context, holder lease.ID, keep ...Claimed) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if len(keep) == 0 {
			return tx.Exec("UPDATE links SET claimed_by = NULL WHERE claimed_by = ?", holder).Error
		}
		seqs := make([]int64, len(keep))
		for i, l := range keep {
			seqs[i] = l.Seq
		}
		return seqRows(seqs).Exec(tx, "UPDATE links SET claimed_by = NULL WHERE claimed_by = ? AND NOT "+bySeq, holder).Error
	})
	if err != nil {
		return fmt.Errorf("release other claimed links: %w", err)
	}
	return nil
}
