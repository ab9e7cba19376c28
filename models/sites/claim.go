package sites

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models/lease"
)

// All are the seqs of all websites. It is for jobs.
func (s *Store) All(ctx context.Context) (seqs []int64, err error) {
	err = s.db.Read(ctx).Raw("SELECT seq FROM websites WHERE deleted_at IS NULL ORDER BY seq").Scan(&seqs).Error
	if err != nil {
		return nil, fmt.Errorf("listing websites: %w", err)
	}
	return seqs, nil
}

// WantedFor are up to limit websites for which somebody waits for an activity, and on
// which no instance is at it.
func (s *Store) WantedFor(ctx context.Context, a Activity, limit int) (seqs []int64, err error) {
	by, wanted := a.columns()
	err = s.db.Read(ctx).Raw("SELECT seq FROM websites WHERE "+wanted+" IS NOT NULL AND "+by+" IS NULL AND deleted_at IS NULL ORDER BY "+wanted+" LIMIT ?", limit).Scan(&seqs).Error
	if err != nil {
		return nil, fmt.Errorf("looking for websites that are waited for: %w", err)
	}
	return seqs, nil
}

// Claim begins an activity on a website, unless an instance is at it or the website is
// gone: then ok is false. If wanted is set, it begins only what somebody still waits for.
// Until Release the website stays wanted, so that another instance goes on if this one
// dies. Errors include lease.ErrLost.
func (s *Store) Claim(ctx context.Context, holder lease.ID, a Activity, seq int64, wanted bool) (w Website, ok bool, err error) {
	by, since := a.columns()
	only := ""
	if wanted {
		only = " AND " + since + " IS NOT NULL"
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := lease.Hold(tx, holder); err != nil {
			return err
		}
		var claimed []Website
		err := tx.Raw("UPDATE websites SET "+by+" = ? WHERE seq = ? AND "+by+" IS NULL AND deleted_at IS NULL"+only+" RETURNING *", holder, seq).Scan(&claimed).Error
		if ok = len(claimed) > 0; ok {
			w = claimed[0]
		}
		return err
	})
	if err != nil {
		return w, false, fmt.Errorf("claiming a website: %w", err)
	}
	return w, ok, nil
}

// Release ends an activity on a website as Claim returned it. It stays
// wanted if it was asked for after the claim, or if again is set.
func (s *Store) Release(ctx context.Context, holder lease.ID, a Activity, w Website, again bool) error {
	by, since := a.columns()
	still := since + " = CASE WHEN " + since + " = ? THEN NULL ELSE " + since + " END"
	at := w.wantedAt(a)
	if again {
		still, at = since+" = COALESCE("+since+", ?)", s.clock.Now()
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE websites SET "+by+" = NULL, "+still+" WHERE seq = ? AND "+by+" = ?", at, w.Seq, holder).Error
	})
	if err != nil {
		return fmt.Errorf("releasing a website: %w", err)
	}
	return nil
}

// Refresh is the website again, as it is now; ok is false if it is deleted, or no
// longer claimed for the activity by holder.
func (s *Store) Refresh(ctx context.Context, holder lease.ID, a Activity, seq int64) (w Website, ok bool, err error) {
	by, _ := a.columns()
	var found []Website
	err = s.db.Read(ctx).Raw("SELECT * FROM websites WHERE seq = ? AND "+by+" = ? AND deleted_at IS NULL", seq, holder).Scan(&found).Error
	if err != nil {
		return w, false, fmt.Errorf("loading a website again: %w", err)
	}
	if len(found) == 0 {
		return w, false, nil
	}
	return found[0], true, nil
}
