package shortlinks

import (
	"context"
	"time"

	"linkwatch/models"
)

// KeepDeleted is how long a deleted short link can be restored; its key is
// taken until then.
const KeepDeleted = 24 * time.Hour

// Delete deletes a short link. It can be restored for KeepDeleted. The error is
// CodeNotFound if it does not exist.
func (s *Store) Delete(ctx context.Context, key string) error {
	_, err := s.change(ctx, key, false, func(l *ShortLink, now models.Time) error {
		l.DeletedAt = now
		return nil
	})
	return err
}

// Restore restores a deleted short link with its visits. The error is CodeNotFound
// if it was not deleted, or too long ago.
func (s *Store) Restore(ctx context.Context, key string) (ShortLink, error) {
	return s.change(ctx, key, true, func(l *ShortLink, now models.Time) error {
		if l.DeletedAt.Before(now.Add(-KeepDeleted).Time) { // about to be reaped
			return errUnknown
		}
		l.DeletedAt = models.Time{}
		return nil
	})
}
