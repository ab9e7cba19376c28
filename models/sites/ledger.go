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

// MaxDelay is how long after Acquire a request may reach Google. Callers cancel a request that is not sent in time.
const MaxDelay = 10 * time.Second

const (
	// window is how long a use counts against a limit per minute. Two requests that reach Google within a minute have permits
	// at most a minute plus MaxDelay apart. So Google never sees more requests than a limit.
	window   = time.Minute + MaxDelay
	windowUS = int64(window / time.Microsecond)

	// maxClockSetback is how far a clock may be set back while the ledger keeps its later time. If it is set back further, the
	// earlier clock was wrong.
	maxClockSetback = 7 * models.Day

	quotaRetention = 40 * models.Day // ended quota days, and unused scopes
	staleAfter     = time.Hour       // a permit that was not released no longer counts as in flight
	retryAfter     = time.Second     // when too many requests are in flight
)

// LimitKind is a kind of limit that refuses a permit.
type LimitKind string

// The kinds of limits.
const (
	LimitDay         LimitKind = "day"         // daily quota
	LimitReset       LimitKind = "reset"       // pause around the end of a quota day
	LimitMinute      LimitKind = "minute"      // quota of the call per minute
	LimitRequests    LimitKind = "requests"    // quota of a Google project per minute for all calls
	LimitConcurrency LimitKind = "concurrency" // requests of a website in flight
)

// QuotaError means that a limit refuses a permit. If several do, it has the limit with the longest wait.
type QuotaError struct {
	Call    Call
	Limit   LimitKind
	RetryAt models.Time // zero = never: the limit is 0
}

// Error implements error.
func (e *QuotaError) Error() string {
	text := fmt.Sprintf("quota of Google call %s: limit %q reached", e.Call, e.Limit)
	if e.RetryAt.IsZero() {
		return text + ": it is 0"
	}
	return text + " until " + e.RetryAt.Format(time.RFC3339)
}

// ErrNoProject means that a website without a Google project calls the Indexing API.
var ErrNoProject = errors.New("website has no Google project")

// Permit allows one request to Google within MaxDelay.
type Permit struct{ seq int64 }

// Acquire takes one unit of each quota that a call counts against, or returns a *QuotaError and takes nothing. The unit is
// spent even if the request is never sent. The request counts as in flight until ReleasePermit or the end of the lease.
//
// The limits hold across instances and restarts. MaxDelay includes the clock difference between instances: with 2 s
// difference, a request has 8 s. Errors include ErrNoProject and lease.ErrLost.
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
		// Always in this order, to avoid deadlocks.
		for _, name := range []string{fmt.Sprintf("website:%d", w.Seq), scope} {
			if err := s.db.OneAtATime(tx, quotaLock(name)); err != nil {
				return err
			}
		}
		now, err := s.ledgerTime(tx, scope)
		if err != nil {
			return err
		}
		if refused, err = s.checkLimits(tx, now, scope, w, c); err != nil || refused != nil {
			return err
		}
		permit, err = s.recordUse(tx, now, scope, holder, w, c)
		return err
	})
	if err != nil {
		return Permit{}, fmt.Errorf("acquire quota: %w", err)
	}
	if refused != nil {
		return Permit{}, refused
	}
	return permit, nil
}

// quotaLock is the lock key for the uses of a scope, or for the requests in flight of a website.
func quotaLock(name string) models.LockKey {
	sum := sha256.Sum256([]byte("sites quota " + name))
	return models.LockKey(binary.BigEndian.Uint64(sum[:]))
}

// ledgerTime is the current time of a scope: the clock, but not before the latest use. So a clock that is set back frees no
// quota. After a setback of more than maxClockSetback, the ledger follows the clock and counts later uses as used now.
func (s *Store) ledgerTime(tx *gorm.DB, scope string) (models.Time, error) {
	now := s.clock.Now()
	var latest models.Time
	err := tx.Raw("SELECT max(used_at) FROM quota_uses WHERE scope = ?", scope).Scan(&latest).Error
	switch {
	case err != nil || !latest.After(now.Time):
		return now, err
	case !latest.After(now.Add(maxClockSetback).Time):
		return latest, nil
	}
	return now, tx.Exec("UPDATE quota_uses SET used_at = ? WHERE scope = ? AND used_at > ?", now, scope, now).Error
}

// checkLimits returns the limit that refuses a permit; nil = none.
func (s *Store) checkLimits(tx *gorm.DB, now models.Time, scope string, w Website, c Call) (refused *QuotaError, err error) {
	refuse := func(limit LimitKind, until models.Time) {
		if refused == nil || !refused.RetryAt.IsZero() && (until.IsZero() || until.After(refused.RetryAt.Time)) {
			refused = &QuotaError{c, limit, until}
		}
	}
	day, minute := s.opts.Limits.forCall(c)
	if day != nil {
		var used int
		ends := dayEnd(now)
		err := tx.Raw("SELECT used FROM quota_days WHERE scope = ? AND kind = ? AND ends_at = ?", scope, c, ends).Scan(&used).Error
		if err != nil {
			return nil, err
		}
		pauseUntil := pauseEnd(now)
		switch {
		case *day <= 0:
			refuse(LimitDay, models.Time{})
		case used >= *day:
			refuse(LimitDay, ends.Add(resetPause))
		case !pauseUntil.IsZero():
			refuse(LimitReset, pauseUntil)
		}
	}
	for _, m := range minute {
		if m.limit <= 0 {
			refuse(m.kind, models.Time{})
			continue
		}
		// The limit is reached if the window has that many uses. It is free again when the oldest of the latest m.limit uses
		// leaves the window.
		where, args := "scope = ? AND used_at > ?", []any{scope, now.Add(-window)}
		if m.call != "" {
			where, args = where+" AND kind = ?", append(args, m.call)
		}
		var oldest models.Time
		err := tx.Raw("SELECT used_at FROM quota_uses WHERE "+where+" ORDER BY used_at DESC LIMIT 1 OFFSET ?", append(args, m.limit-1)...).Scan(&oldest).Error
		if err != nil {
			return nil, err
		}
		if !oldest.IsZero() {
			refuse(m.kind, oldest.Add(window))
		}
	}
	var inFlight int
	err = tx.Raw("SELECT count(*) FROM quota_uses WHERE website_seq = ? AND claimed_by IS NOT NULL AND used_at > ?", w.Seq, now.Add(-staleAfter)).Scan(&inFlight).Error
	switch {
	case err != nil:
		return nil, err
	case s.opts.Limits.Concurrency <= 0:
		refuse(LimitConcurrency, models.Time{})
	case inFlight >= s.opts.Limits.Concurrency:
		refuse(LimitConcurrency, s.clock.Now().Add(retryAfter))
	}
	return refused, nil
}

// recordUse stores a use and deletes expired uses of the scope. The latest use is always kept, since ledgerTime reads it.
func (s *Store) recordUse(tx *gorm.DB, now models.Time, scope string, holder lease.ID, w Website, c Call) (Permit, error) {
	err := tx.Exec("DELETE FROM quota_uses WHERE scope = ? AND used_at <= ? AND (claimed_by IS NULL OR used_at <= ?)",
		scope, now.Add(-window), now.Add(-staleAfter)).Error
	if err != nil {
		return Permit{}, err
	}
	if day, _ := s.opts.Limits.forCall(c); day != nil {
		var used int
		err := tx.Raw("INSERT INTO quota_days (scope, kind, ends_at, used) VALUES (?, ?, ?, 1) ON CONFLICT (scope, kind, ends_at) DO UPDATE SET used = quota_days.used + 1 RETURNING used",
			scope, c, dayEnd(now)).Scan(&used).Error
		if err == nil && used == nearlyUsed(*day) {
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

// ReleasePermit marks the request of a permit as no longer in flight. The unit stays spent. Calling it twice is safe.
func (s *Store) ReleasePermit(ctx context.Context, p Permit) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE quota_uses SET claimed_by = NULL WHERE seq = ?", p.seq).Error
	})
	if err != nil {
		return fmt.Errorf("release permit: %w", err)
	}
	return nil
}

// ReapQuotaDays deletes up to limit rows: quota days that ended over 40 days ago, and uses of scopes not used since then.
func (s *Store) ReapQuotaDays(tx *gorm.DB, limit int) (int64, error) {
	cutoff := s.clock.Now().Add(-quotaRetention)
	n, err := s.db.DeleteBatch(tx, limit, "quota_days", "scope, kind, ends_at", "ends_at < ? ORDER BY ends_at", cutoff)
	if err != nil || n == int64(limit) {
		return n, err
	}
	uses, err := s.db.DeleteBatch(tx, limit-int(n), "quota_uses", "seq", "used_at < ? AND claimed_by IS NULL ORDER BY used_at", cutoff)
	return n + uses, err
}
