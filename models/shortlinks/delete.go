package shortlinks

import (
	"context"
	"time"

	"linkwatch/models"
)

// KeepDeleted is how long a deleted short link can be restored. Its key is taken until
// then.
const KeepDeleted = 24 * time.Hour

// Delete deletes a short link. Restore undoes it within KeepDeleted. The error is
// CodeNotFound if it does not exist.
func (s *Store) Delete(ctx context.Context, key string) error {
	_, err := s.change(ctx, key, false, func(l *ShortLink, now models.Time) error {
		l.DeletedAt = now
		return nil
	})
	return err
}

// Restore restores a deleted short link with its visits. The error is CodeNotFound if it
// is not deleted, or was deleted more than KeepDeleted ago.
func (s *Store) Restore(ctx context.Context, key string) (ShortLink, error) {
	return s.change(ctx, key, true, func(l *ShortLink, now models.Time) error {
		if l.DeletedAt.Before(now.Add(-KeepDeleted).Time) { // about to be reaped
			return errUnknown
		}
		l.DeletedAt = models.Time{}
		return nil
	})
}
