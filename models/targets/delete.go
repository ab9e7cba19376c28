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

// Delete deletes a target, which can be restored for KeepDeleted. CodeNotFound if there
// is none.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		t, err := lock(tx, id, false)
		if err != nil {
			return err
		}
		now := s.clock.Now()
		changes := map[string]any{"deleted_at": now}
		if err := s.stopChecks(tx, t, changes); err != nil {
			return err
		}
		if err := update(tx, t, changes); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "target.delete", Subject: t.auditSubject(), Before: t.auditValues()})
	})
}

// Restore restores a deleted target with its history. CodeNotFound if it was not
// deleted, or longer than KeepDeleted ago. CodeConflict if another target has its URL.
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
			if err := reschedule(tx, t.due(now)); err != nil {
				return err
			}
		}
		err = update(tx, t, changes)
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return models.Conflict("Another target has this URL now. Delete it first.")
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
