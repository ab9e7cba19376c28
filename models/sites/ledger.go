package sites

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
	"linkwatch/models/lease"
)

// MaxDelay is how long after the call of Acquire a request may reach Google. The caller
// gives up a request that it cannot send in that time.
const MaxDelay = 10 * time.Second

const (
	// window is how long a use counts against the limits of a minute. It is MaxDelay
	// longer than a minute: of two requests that reach Google within a minute, the
	// permits are at most that far apart. So Google never sees more than a limit.
	window   = time.Minute + MaxDelay
	windowUS = int64(window / time.Microsecond)

	// maxBack is how far a clock may be set back for the ledger to wait for it. If it is
	// set back further, it was wrong before.
	maxBack = 7 * models.Day

	keepQuota  = 40 * models.Day // a day after its end, and the latest uses of a scope
	lostAfter  = time.Hour       // a permit without Done is no longer under way
	retryAfter = time.Second     // when too many requests are under way
)

// Bound is what a permit is refused for.
type Bound string

// The bounds.
const (
	BoundDay         Bound = "day"         // the quota of the day
	BoundReset       Bound = "reset"       // the pause around the end of a quota day
	BoundMinute      Bound = "minute"      // the quota of the call per minute
	BoundRequests    Bound = "requests"    // the quota of a Google project per minute, for all calls
	BoundConcurrency Bound = "concurrency" // the requests under way of a website
)

// QuotaError refuses a permit. If several limits refuse it, it names the one that does
// so for longest.
type QuotaError struct {
	Call    Call
	Bound   Bound
	RetryAt models.Time // when a permit may be had again; zero = never, since the limit is 0
}

// Error implements error.
func (e *QuotaError) Error() string {
	text := fmt.Sprintf("no permit for a call to Google (%s): the limit %q is reached", e.Call, e.Bound)
	if e.RetryAt.IsZero() {
		return text + ", it is 0"
	}
	return text + " until " + e.RetryAt.Format(time.RFC3339)
}

// ErrNoProject is the error of a call to the Indexing API for a website without a
// Google project.
var ErrNoProject = errors.New("the website has no Google project")

// Permit allows one request to Google, within MaxDelay.
type Permit struct{ seq int64 }

// Acquire takes one unit of every quota that a call of a website counts against, or
// returns a *QuotaError and takes nothing. The unit is spent whether or not the request
// is sent or answered. Until Done, or until the holder's lease ends, the request counts
// as under way.
//
// The limits hold over all instances and restarts. MaxDelay also covers how much the
// clocks of instances differ: where they differ by 2 s, a request has 8 s. Errors include
// ErrNoProject and lease.ErrLost.
func (s *Store) Acquire(ctx context.Context, holder lease.ID, w Website, c Call) (Permit, error) {
	scope := c.scope(w)
	if scope == "" {
		return Permit{}, ErrNoProject
	}
	var permit Permit
	var refused *QuotaError
	err := s.db.Write(ctx, func(tx *gorm.DB) (err error) {
		if err := lease.Hold(tx, holder); err != nil {
			return err
		}
		// Always in this order, so that no two transactions wait for each other.
		for _, name := range []string{fmt.Sprintf("website:%d", w.Seq), scope} {
			if err := s.db.OneAtATime(tx, quotaLock(name)); err != nil {
				return err
			}
		}
		now, err := s.ledgerTime(tx, scope)
		if err != nil {
			return err
		}
		if refused, err = s.refusal(tx, now, scope, w, c); err != nil || refused != nil {
			return err
		}
		permit, err = s.use(tx, now, scope, holder, w, c)
		return err
	})
	if err != nil {
		return Permit{}, fmt.Errorf("taking a unit of a quota: %w", err)
	}
	if refused != nil {
		return Permit{}, refused
	}
	return permit, nil
}

// quotaLock is the key of the transactions that count the uses of a scope, or the
// requests under way of a website.
func quotaLock(name string) models.LockKey {
	sum := sha256.Sum256([]byte("sites quota " + name))
	return models.LockKey(binary.BigEndian.Uint64(sum[:]))
}

// ledgerTime is the present of a scope: what the clock says, but not before the latest
// use. So a clock that is set back frees nothing. If it is set back by more than maxBack,
// the time follows it, and what was used after that counts as used now.
func (s *Store) ledgerTime(tx *gorm.DB, scope string) (models.Time, error) {
	now := s.clock.Now()
	var latest models.Time
	err := tx.Raw("SELECT max(used_at) FROM quota_uses WHERE scope = ?", scope).Scan(&latest).Error
	switch {
	case err != nil || !latest.After(now.Time):
		return now, err
	case !latest.After(now.Add(maxBack).Time):
		return latest, nil
	}
	return now, tx.Exec("UPDATE quota_uses SET used_at = ? WHERE scope = ? AND used_at > ?", now, scope, now).Error
}

// refusal is why a website gets no permit; nil = it gets one.
func (s *Store) refusal(tx *gorm.DB, now models.Time, scope string, w Website, c Call) (refused *QuotaError, err error) {
	refuse := func(bound Bound, until models.Time) {
		if refused == nil || !refused.RetryAt.IsZero() && (until.IsZero() || until.After(refused.RetryAt.Time)) {
			refused = &QuotaError{c, bound, until}
		}
	}
	day, minute := s.opts.Limits.of(c)
	if day != nil {
		var used int
		ends := dayEnd(now)
		err := tx.Raw("SELECT used FROM quota_days WHERE scope = ? AND kind = ? AND ends_at = ?", scope, c, ends).Scan(&used).Error
		if err != nil {
			return nil, err
		}
		paused := pauseEnd(now)
		switch {
		case *day <= 0:
			refuse(BoundDay, models.Time{})
		case used >= *day:
			refuse(BoundDay, ends.Add(resetPause))
		case !paused.IsZero():
			refuse(BoundReset, paused)
		}
	}
	for _, m := range minute {
		if m.limit <= 0 {
			refuse(m.bound, models.Time{})
			continue
		}
		// The limit is reached if there are that many uses in the window. It is free
		// again when the first of the latest ones leaves it.
		where, args := "scope = ? AND used_at > ?", []any{scope, now.Add(-window)}
		if m.call != "" {
			where, args = where+" AND kind = ?", append(args, m.call)
		}
		var first models.Time
		err := tx.Raw("SELECT used_at FROM quota_uses WHERE "+where+" ORDER BY used_at DESC LIMIT 1 OFFSET ?", append(args, m.limit-1)...).Scan(&first).Error
		if err != nil {
			return nil, err
		}
		if !first.IsZero() {
			refuse(m.bound, first.Add(window))
		}
	}
	var underWay int
	err = tx.Raw("SELECT count(*) FROM quota_uses WHERE website_seq = ? AND claimed_by IS NOT NULL AND used_at > ?", w.Seq, now.Add(-lostAfter)).Scan(&underWay).Error
	switch {
	case err != nil:
		return nil, err
	case s.opts.Limits.Concurrency <= 0:
		refuse(BoundConcurrency, models.Time{})
	case underWay >= s.opts.Limits.Concurrency:
		refuse(BoundConcurrency, s.clock.Now().Add(retryAfter))
	}
	return refused, nil
}

// use stores a use, and deletes those of the scope that no longer count. The latest use
// always stays: the time of the ledger is read from it.
func (s *Store) use(tx *gorm.DB, now models.Time, scope string, holder lease.ID, w Website, c Call) (Permit, error) {
	err := tx.Exec("DELETE FROM quota_uses WHERE scope = ? AND used_at <= ? AND (claimed_by IS NULL OR used_at <= ?)",
		scope, now.Add(-window), now.Add(-lostAfter)).Error
	if err != nil {
		return Permit{}, err
	}
	if day, _ := s.opts.Limits.of(c); day != nil {
		var used int
		err := tx.Raw("INSERT INTO quota_days (scope, kind, ends_at, used) VALUES (?, ?, ?, 1) ON CONFLICT (scope, kind, ends_at) DO UPDATE SET used = quota_days.used + 1 RETURNING used",
			scope, c, dayEnd(now)).Scan(&used).Error
		if err == nil && used == nearlySpent(*day) {
			err = event.Add(tx, quotaEvent(w, c, used, *day, now))
		}
		if err != nil {
			return Permit{}, err
		}
	}
	var p Permit
	err = tx.Raw("INSERT INTO quota_uses (scope, kind, used_at, website_seq, claimed_by) VALUES (?, ?, ?, ?, ?) RETURNING seq",
		scope, c, now, w.Seq, holder).Scan(&p.seq).Error
	return p, err
}

// Done says that the request of a permit is no longer under way. The unit stays spent.
// It may be called twice.
func (s *Store) Done(ctx context.Context, p Permit) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE quota_uses SET claimed_by = NULL WHERE seq = ?", p.seq).Error
	})
	if err != nil {
		return fmt.Errorf("ending a request to Google: %w", err)
	}
	return nil
}

// ReapQuotaDays deletes up to limit rows of the ledger: quota days that ended over 40
// days ago, and uses of scopes that were not used since then.
func (s *Store) ReapQuotaDays(tx *gorm.DB, limit int) (int64, error) {
	old := s.clock.Now().Add(-keepQuota)
	n, err := s.db.DeleteBatch(tx, limit, "quota_days", "scope, kind, ends_at", "ends_at < ? ORDER BY ends_at", old)
	if err != nil || n == int64(limit) {
		return n, err
	}
	uses, err := s.db.DeleteBatch(tx, limit-int(n), "quota_uses", "seq", "used_at < ? AND claimed_by IS NULL ORDER BY used_at", old)
	return n + uses, err
}
