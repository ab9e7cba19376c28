package sites

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models/lease"
)

// AllSeqs returns the seqs of all websites, for jobs.
func (s *Store) AllSeqs(ctx context.Context) (seqs []int64, err error) {
	err = s.db.Read(ctx).Raw("SELECT seq FROM websites WHERE deleted_at IS NULL ORDER BY seq").Scan(&seqs).Error
	if err != nil {
		return nil, fmt.Errorf("list websites: %w", err)
	}
	return seqs, nil
}

// RequestedWebsites returns up to limit websites with an open request for an activity that no instance is working on.
func (s *Store) RequestedWebsites(ctx context.Context, a Activity, limit int) (seqs []int64, err error) {
	claimedBy, requested := a.columns()
	err = s.db.Read(ctx).Raw("SELECT seq FROM websites WHERE "+requested+" IS NOT NULL AND "+claimedBy+" IS NULL AND deleted_at IS NULL ORDER BY "+requested+" LIMIT ?", limit).Scan(&seqs).Error
	if err != nil {
		return nil, fmt.Errorf("find websites with requests: %w", err)
	}
	return seqs, nil
}

// Claim claims a website for an activity. ok is false if another instance works on it or the website is deleted. If
// requested is set, it claims only a website with an open request. The request stays open until Release, so that another
// instance continues if this one dies. Errors include lease.ErrLost.
func (s *Store) Claim(ctx context.Context, holder lease.ID, a Activity, seq int64, requested bool) (w Website, ok bool, err error) {
	claimedBy, requestedAt := a.columns()
	condition := ""
	if requested {
		condition = " AND " + requestedAt + " IS NOT NULL"
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := lease.Hold(tx, holder); err != nil {
			return err
		}
		var claimed []Website
		err := tx.Raw("UPDATE websites SET "+claimedBy+" = ? WHERE seq = ? AND "+claimedBy+" IS NULL AND deleted_at IS NULL"+condition+" RETURNING *", holder, seq).Scan(&claimed).Error
		if ok = len(claimed) > 0; ok {
			w = claimed[0]
		}
		return err
	})
	if err != nil {
		return w, false, fmt.Errorf("claim website: %w", err)
	}
	return w, ok, nil
}

// Release ends the claim of a website that Claim returned. The request stays open if it was repeated after the claim, or if
// again is set.
func (s *Store) Release(ctx context.Context, holder lease.ID, a Activity, w Website, again bool) error {
	claimedBy, requestedAt := a.columns()
	setRequest := requestedAt + " = CASE WHEN " + requestedAt + " = ? THEN NULL ELSE " + requestedAt + " END"
	at := w.requestedAt(a)
	if again {
		setRequest, at = requestedAt+" = COALESCE("+requestedAt+", ?)", s.clock.Now()
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE websites SET "+claimedBy+" = NULL, "+setRequest+" WHERE seq = ? AND "+claimedBy+" = ?", at, w.Seq, holder).Error
	})
	if err != nil {
		return fmt.Errorf("release website: %w", err)
	}
	return nil
}

// Reload returns the current state of a claimed website. ok is false if it is deleted or no longer claimed by holder.
func (s *Store) Reload(ctx context.Context, holder lease.ID, a Activity, seq int64) (w Website, ok bool, err error) {
	claimedBy, _ := a.columns()
	var found []Website
	err = s.db.Read(ctx).Raw("SELECT * FROM websites WHERE seq = ? AND "+claimedBy+" = ? AND deleted_at IS NULL", seq, holder).Scan(&found).Error
	if err != nil {
		return w, false, fmt.Errorf("reload website: %w", err)
	}
	if len(found) == 0 {
		return w, false, nil
	}
	return found[0], true, nil
}
