package links

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/lease"
)

// Claimed is a link that an instance has claimed to recheck it. Its tags are not
// loaded.
type Claimed struct {
	Link
	ClaimedBy lease.ID
}

// Claim takes up to n links whose check is due for an instance, those first whose
// time came first. Several instances never get the same link. next is when the
// first of the others is due; zero: none is. Errors include lease.ErrLost.
func (s *Store) Claim(ctx context.Context, holder lease.ID, n int) (ls []Claimed, next models.Time, err error) {
	now := s.clock.Now()
	next, err = lease.Claim(ctx, s.db, holder, now, firstDue, func(tx *gorm.DB) error {
		ls = nil
		// MATERIALIZED: PostgreSQL must not look for due ones a second time in one statement.
		return tx.Raw(`WITH due AS MATERIALIZED (
				SELECT seq FROM links WHERE next_check_at <= ? AND claimed_by IS NULL ORDER BY next_check_at LIMIT ?`+s.db.SkipLocked()+`)
			UPDATE links SET claimed_by = ? WHERE seq IN (SELECT seq FROM due) RETURNING *`, now, n, holder).Scan(&ls).Error
	})
	if err != nil {
		return nil, models.Time{}, fmt.Errorf("claiming links to check: %w", err)
	}
	slices.SortFunc(ls, func(a, b Claimed) int { return a.NextCheckAt.Compare(b.NextCheckAt.Time) })
	return ls, next, nil
}

// firstDue is when the first free link is due; zero: none is.
func firstDue(tx *gorm.DB) (next models.Time, err error) {
	err = tx.Raw("SELECT min(next_check_at) FROM links WHERE next_check_at IS NOT NULL AND claimed_by IS NULL").Scan(&next).Error
	if err != nil {
		return next, fmt.Errorf("looking for the next link that is due: %w", err)
	}
	return next, nil
}

// Release frees claimed links, to be claimed again after a time. Expired ones are
// not scheduled again. Those that are no longer claimed as they were are passed over.
func (s *Store) Release(ctx context.Context, back ...lease.Released[Claimed]) error {
	rows := models.NewRows("seq bigint, claimed_by text, next_check_at bigint")
	now := s.clock.Now()
	for _, b := range back {
		rows.Add(b.Item.Seq, b.Item.ClaimedBy, now.Add(b.After))
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return rows.Exec(tx, `UPDATE links SET claimed_by = NULL,
				next_check_at = CASE WHEN links.next_check_at IS NOT NULL THEN r.next_check_at END
			FROM {rows} AS r WHERE links.seq = r.seq AND links.claimed_by = r.claimed_by`).Error
	})
	if err != nil {
		return fmt.Errorf("releasing claimed links: %w", err)
	}
	return nil
}

// ReleaseOthers frees the links that an instance has claimed, but for those of
// keep. It is for after a claim that failed, when it is unknown whether it was
// committed.
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
		return fmt.Errorf("releasing forgotten links: %w", err)
	}
	return nil
}
