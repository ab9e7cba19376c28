package targets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Heartbeat is how often a checker renews its lease and looks for dead peers.
const Heartbeat = 800 * time.Millisecond

// CheckerLease is how long a checker may work after its last successful Hold or
// Claim. No other checker takes its targets before, and with FreeDead they are
// free at most deadAfter heartbeats (4 s) after that of a killed one.
const CheckerLease = 3 * Heartbeat

// ErrLeaseLost is the error of a claim whose checker held no lease.
var ErrLeaseLost = errors.New("the checker's lease has ended")

// Hold renews the lease of a checker or begins one. lost is true if there was
// none: another checker took it for dead, or it is new, and none of the targets
// it may have in memory are its own.
func (s *Store) Hold(ctx context.Context, checker string) (lost bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		lost, err = s.renew(tx, checker)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("renewing a checker's lease: %w", err)
	}
	return lost, nil
}

// renew extends a lease. A lease whose time is over is still held unless another
// checker has ended it: the database may have been unavailable to all of them.
func (s *Store) renew(tx *gorm.DB, checker string) (lost bool, err error) {
	until := s.clock.Now().Add(CheckerLease)
	res := tx.Exec("UPDATE checkers SET lease_until = ? WHERE id = ?", until, checker)
	if res.Error != nil || res.RowsAffected > 0 {
		return false, res.Error
	}
	return true, tx.Exec("INSERT INTO checkers (id, lease_until) VALUES (?, ?)", checker, until).Error
}

// Spread puts the schedule in order as a checker begins: what is late by more
// than that, as after a time in which nobody checked, comes spread over one
// CHECK_INTERVAL. So does what is due later than it should ever be, which was
// planned by a longer interval or by a clock that has been set back. While
// others check nothing is moved: the schedule is theirs too. n is how many
// targets it was.
func (s *Store) Spread(ctx context.Context, checker string, late time.Duration) (n int64, err error) {
	now, every := s.clock.Now(), s.opts.CheckInterval.Microseconds()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		// 2654435761 is Knuth's multiplier: neighbours get places far from each other.
		res := tx.Exec(`UPDATE targets SET due_at = ? + seq * 2654435761 % ?, next_check_at = ? + seq * 2654435761 % ?
			WHERE next_check_at IS NOT NULL AND claimed_by = '' AND (next_check_at < ? OR
				due_at > ? + 3 * CASE WHEN interval_seconds * 1000000 > ? THEN interval_seconds * 1000000 ELSE ? END / 2)
			AND NOT EXISTS (SELECT 1 FROM checkers WHERE id <> ? AND lease_until > ?)`,
			now, every, now, every, now.Add(-late), now, every, every, checker, now)
		n = res.RowsAffected
		return res.Error
	})
	if err != nil {
		return 0, fmt.Errorf("spreading overdue checks: %w", err)
	}
	return n, nil
}

// Claim takes up to n targets that are due, those first whose time to be looked
// at came first, for a checker that holds a lease, which it renews. Several checkers never get the same
// target. next is when the first of the others comes due; zero: none does.
// Without a lease it is ErrLeaseLost.
func (s *Store) Claim(ctx context.Context, checker string, n int) (ts []Target, next models.Time, err error) {
	// A look that changes nothing first: most ticks find nothing due.
	now := s.clock.Now()
	if next, err = firstDue(s.db.Read(ctx)); err != nil || n <= 0 || next.IsZero() || next.After(now.Time) {
		return nil, next, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		lost, err := s.renew(tx, checker)
		if err == nil && lost { // taken back, so that Hold tells of it too
			err = ErrLeaseLost
		}
		if err != nil {
			return err
		}
		ts = nil
		// MATERIALIZED: PostgreSQL must not look for due ones a second time in one statement.
		err = tx.Raw(`WITH due AS MATERIALIZED (
				SELECT seq FROM targets WHERE next_check_at <= ? AND claimed_by = '' ORDER BY next_check_at LIMIT ?`+s.db.SkipLocked()+`)
			UPDATE targets SET claimed_by = ? WHERE seq IN (SELECT seq FROM due) RETURNING *`, now, n, checker).Scan(&ts).Error
		if err != nil {
			return err
		}
		next, err = firstDue(tx)
		return err
	})
	if err != nil {
		return nil, models.Time{}, fmt.Errorf("claiming targets to check: %w", err)
	}
	slices.SortFunc(ts, func(a, b Target) int { return a.DueAt.Compare(b.DueAt.Time) })
	return ts, next, nil
}

// firstDue is when the first free target comes due; zero: none does.
func firstDue(tx *gorm.DB) (next models.Time, err error) {
	err = tx.Raw("SELECT min(next_check_at) FROM targets WHERE next_check_at IS NOT NULL AND claimed_by = ''").Scan(&next).Error
	if err != nil {
		return next, fmt.Errorf("looking for the next target that comes due: %w", err)
	}
	return next, nil
}

// PutOff gives claimed targets back to be looked at again after d. They stay
// due since when they were.
func (s *Store) PutOff(ctx context.Context, checker string, d time.Duration, ts ...Target) error {
	if len(ts) == 0 {
		return nil
	}
	until := s.clock.Now().Add(d)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		for _, t := range ts {
			err := tx.Exec("UPDATE targets SET claimed_by = '', next_check_at = ? WHERE seq = ? AND claimed_by = ? AND due_at = ?",
				until, t.Seq, checker, t.DueAt).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("putting checks off: %w", err)
	}
	return nil
}

// Leave gives all targets of a checker back and ends its lease.
func (s *Store) Leave(ctx context.Context, checker string) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE targets SET claimed_by = '' WHERE claimed_by = ?", checker).Error; err != nil {
			return err
		}
		return tx.Exec("DELETE FROM checkers WHERE id = ?", checker).Error
	})
	if err != nil {
		return fmt.Errorf("ending a checker's lease: %w", err)
	}
	return nil
}
