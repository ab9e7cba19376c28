package targets

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// RequestCheck asks for a check as soon as possible; one that is under way will
// do. CodeConflict if the target is paused, or its host asked for a pause; an
// unknown one is CodeNotFound.
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
		switch {
		case t.ClaimedBy != "":
			return nil
		case t.Throttled(now):
			wait := t.PostponedUntil.Sub(now.Time)
			return &models.Error{Code: models.CodeConflict, RetryAfter: wait, Detail: fmt.Sprintf(
				"The host of this target asked for a pause. It can be checked in %s.", wait.Round(time.Second))}
		}
		changes := map[string]any{"next_check_at": now}
		if t.DueAt.After(now.Time) { // else it keeps its place among those who are overdue
			changes["due_at"] = now
		}
		if err := update(tx, t, changes); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "target.check", Subject: t.auditSubject()})
	})
	s.wake()
	return t, err
}

// pollInterval is how often CheckNow looks whether the check is done. The checker
// may be another instance, so there is nothing to be woken by.
const pollInterval = 100 * time.Millisecond

// CheckNow is RequestCheck that waits until the check is done, ctx ends or wait
// is over: then done is false, and the check comes later. Who pauses or deletes
// the target meanwhile has CheckNow answer as if that had been so before.
func (s *Store) CheckNow(ctx context.Context, id string, wait time.Duration) (r Result, done bool, err error) {
	before, err := s.requestCheck(ctx, id)
	if err != nil {
		return Result{}, false, err
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	look := time.NewTicker(pollInterval)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return Result{}, false, nil
		case <-over.C:
			return Result{}, false, nil
		case <-look.C:
		}
		var now Target
		err := notDeleted(s.db.Read(ctx)).Select("seq, paused, last_checked_at").Where("seq = ?", before.Seq).Find(&now).Error
		switch {
		case err != nil:
			return Result{}, false, fmt.Errorf("waiting for a check: %w", err)
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

// result is the last check of a target.
func (s *Store) result(ctx context.Context, t Target) (r Result, err error) {
	err = withTarget(s.db.Read(ctx), "check_results AS x").Where("x.target_seq = ? AND x.checked_at = ?", t.Seq, t.LastCheckedAt).Take(&r).Error
	if err != nil {
		return r, fmt.Errorf("reading a check result: %w", err)
	}
	return r, nil
}
