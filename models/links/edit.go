package links

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Edit changes the owner's title and notes of a link. No refresh overwrites them;
// the owner's title is shown instead of the fetched one until it is cleared.
func (s *Store) Edit(ctx context.Context, id string, e Edit) (Link, error) {
	if e.Title != nil {
		t := models.CleanLine(*e.Title)
		if models.Runes(t) > MaxTitle {
			return Link{}, models.Invalid("title", "is longer than %d characters", MaxTitle)
		}
		e.Title = &t
	}
	if e.Notes != nil {
		n := models.CleanText(*e.Notes)
		if models.Runes(n) > MaxNotes {
			return Link{}, models.Invalid("notes", "is longer than %d characters", MaxNotes)
		}
		e.Notes = &n
	}
	var l Link
	err := s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		var err error
		if l, err = lockOne(tx, id); err != nil {
			return nil, err
		}
		models.Set(&l.OwnTitle, e.Title)
		models.Set(&l.Notes, e.Notes)
		if l.Title = l.OwnTitle; l.Title == "" {
			l.Title = l.FetchedTitle
		}
		l.UpdatedAt = s.clock.Now()
		return []Link{l}, save(tx, l, "title", "own_title", "notes", "updated_at")
	})
	return l, err
}

// ApplyMove makes the address that a moved link leads to the link's own;
// CodeConflict if it has not moved, or if that address is saved already.
func (s *Store) ApplyMove(ctx context.Context, id string) (Link, error) {
	var l Link
	err := s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		var err error
		if l, err = lockOne(tx, id); err != nil {
			return nil, err
		}
		if l.MovedTo == "" {
			return nil, models.Conflict("The link has not moved.")
		}
		u, err := models.ParseURL("url", l.MovedTo)
		if err != nil {
			return nil, err
		}
		now := s.clock.Now()
		l.URL, l.CanonicalURL, l.MovedTo = u.Given, u.Canonical, ""
		l.Health, l.HealthChangedAt, l.UpdatedAt = OK, now, now
		return []Link{l}, save(tx, l, "url", "canonical_url", "moved_to", "health", "health_changed_at", "updated_at")
	})
	return l, err
}

// save stores some columns of a link; CodeConflict if another one has its address.
func save(tx *gorm.DB, l Link, columns ...string) error {
	err := tx.Model(&l).Select(columns).Updates(&l).Error
	switch {
	case errors.Is(err, gorm.ErrDuplicatedKey):
		return models.Conflict("Another saved link has this address already.")
	case err != nil:
		return fmt.Errorf("storing a link: %w", err)
	}
	return nil
}
