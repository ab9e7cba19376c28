package targets

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// KeepDeleted is how long a deleted target can be restored.
const KeepDeleted = models.Day

// Delete stops watching a target. It can be restored for KeepDeleted.
// CodeNotFound if there is none.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		t, err := lock(tx, id, false)
		if err != nil {
			return err
		}
		now := s.clock.Now()
		changes := map[string]any{"deleted_at": now}
		if err := s.unschedule(tx, t, changes); err != nil {
			return err
		}
		if err := update(tx, t, changes); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "target.delete", Subject: t.auditSubject(), Before: t.auditValues()})
	})
}

// Restore brings a deleted target back with its history: CodeNotFound if it
// was not deleted, or too long ago; CodeConflict if its URL is watched anew.
func (s *Store) Restore(ctx context.Context, id string) (Target, error) {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		t, err := lock(tx, id, true)
		if err != nil {
			return err
		}
		now := s.clock.Now()
		if t.DeletedAt.Before(now.Add(-KeepDeleted).Time) { // the reaper may be deleting its history
			return models.NotFound("target")
		}
		changes := map[string]any{"deleted_at": nil}
		if !t.Paused {
			schedule(t, changes, now)
		}
		err = update(tx, t, changes)
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return models.Conflict("The URL is watched anew already.")
		}
		if err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "target.restore", Subject: t.auditSubject()})
	})
	if err != nil {
		return Target{}, err
	}
	s.wake()
	return s.Get(ctx, id)
}
