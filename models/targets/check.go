package targets

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// RequestCheck makes a target due now, before all others of its host that wait. A check
// that is running counts as the requested one. Errors are CodeNotFound, and CodeConflict
// if the target is paused or a Retry-After has not ended.
func (s *Store) RequestCheck(ctx context.Context, id string) error {
	_, err := s.requestCheck(ctx, id)
	return err
}

func (s *Store) requestCheck(ctx context.Context, id string) (t Target, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if t, err = lock(tx, id, false); err != nil {
			return err
		}
		if t.Paused {
			return errPaused
		}
		now := s.clock.Now()
		if t.ClaimedBy == "" && t.Throttled(now) {
			wait := t.PostponedUntil.Sub(now.Time)
			return &models.Error{Code: models.CodeConflict, RetryAfter: wait, Detail: fmt.Sprintf(
				"This target is rate limited. Try again in %s.", wait.Round(time.Second))}
		}
		requested := t
		requested.RequestedAt = now
		if t.ClaimedBy == "" { // otherwise it is running, or waits and Requested finds it
			requested.NextCheckAt = now
			if t.DueAt.After(now.Time) { // otherwise it is overdue since then
				requested.DueAt = now
			}
		}
		if err := reschedule(tx, requested); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "target.check", Subject: t.auditSubject()})
	})
	s.wake()
	return t, err
}

// pollInterval is how often CheckNow polls for the result. Another instance may run the
// check, so the result cannot be signaled in this process.
const pollInterval = 100 * time.Millisecond

// CheckNow requests a check like RequestCheck and waits for its result. done is false if
// ctx ends or wait elapses first; the check still runs. If the target is paused or
// deleted while CheckNow waits, the error is the one that RequestCheck would return.
func (s *Store) CheckNow(ctx context.Context, id string, wait time.Duration) (r Result, done bool, err error) {
	before, err := s.requestCheck(ctx, id)
	if err != nil {
		return Result{}, false, err
	}
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return Result{}, false, nil
		case <-timeout.C:
			return Result{}, false, nil
		case <-poll.C:
		}
		var now Target
		err := notDeleted(s.db.Read(ctx)).Select("seq, paused, last_checked_at").Where("seq = ?", before.Seq).Find(&now).Error
		switch {
		case err != nil:
			return Result{}, false, fmt.Errorf("wait for check: %w", err)
		case now.Seq == 0:
			return Result{}, false, models.NotFound("target")
		case now.Paused:
			return Result{}, false, errPaused
		case now.LastCheckedAt != before.LastCheckedAt:
			r, err = s.result(ctx, now)
			return r, err == nil, err
		}
	}
}

var errPaused = models.Conflict("The target is paused. Resume it first.")

// result returns the last check of a target.
func (s *Store) result(ctx context.Context, t Target) (r Result, err error) {
	err = withTarget(s.db.Read(ctx), "check_results AS x").Where("x.target_seq = ? AND x.checked_at = ?", t.Seq, t.LastCheckedAt).Take(&r).Error
	if err != nil {
		return r, fmt.Errorf("read check result: %w", err)
	}
	return r, nil
}
