package links

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Edit changes the title, notes or visibility of a link. A refresh does not overwrite them: the owner's title
// replaces the fetched one until it is cleared. Only the owner and admins may change the visibility, else
// CodeForbidden. CodeConflict if another link has the URL in the new scope.
func (s *Store) Edit(ctx context.Context, id string, e Edit) (Link, error) {
	var errs []error
	if e.Title != nil {
		t := models.CleanLine(*e.Title)
		if models.Runes(t) > MaxTitle {
			errs = append(errs, models.TooLong("title", MaxTitle, "characters"))
		}
		e.Title = &t
	}
	if e.Notes != nil {
		n := models.CleanText(*e.Notes)
		if models.Runes(n) > MaxNotes {
			errs = append(errs, models.TooLong("notes", MaxNotes, "characters"))
		}
		e.Notes = &n
	}
	if err := models.Invalids(errs...); err != nil {
		return Link{}, err
	}
	var l Link
	err := s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		var err error
		if l, err = lockOne(tx, id); err != nil {
			return nil, err
		}
		before := l
		models.Set(&l.OwnTitle, e.Title)
		models.Set(&l.Notes, e.Notes)
		if l.Title = l.OwnTitle; l.Title == "" {
			l.Title = l.FetchedTitle
		}
		l.UpdatedAt = s.clock.Now()
		conflict := ""
		if e.Private != nil && *e.Private != l.Private() {
			if err := models.MayShare(ctx, l.Owner); err != nil {
				return nil, err
			}
			l.PrivateTo = models.PrivateTo(l.Owner, *e.Private)
			if conflict = "A shared link with this URL exists already. Delete one of them."; l.Private() {
				conflict = "The owner has a private link with this URL already. Delete one of them."
			}
		}
		if err := save(tx, l, conflict, "title", "own_title", "notes", "private_to", "updated_at"); err != nil {
			return nil, err
		}
		if l.PrivateTo != before.PrivateTo {
			if err := s.moveScope(tx, before, l); err != nil {
				return nil, err
			}
		}
		return []Link{l}, auditLinks(tx, l.UpdatedAt, "edit", []Link{l}, editable(before), editable(l))
	})
	return l, err
}

// editable returns the fields that Edit changes.
func editable(l Link) audit.Values {
	return audit.Values{"title": l.OwnTitle, "notes": l.Notes, "private": l.Private()}
}

// moveScope moves a link from one scope to another in the counts of its tags.
func (s *Store) moveScope(tx *gorm.DB, before, after Link) error {
	left, err := deltasOf(tx, []Link{before}, removedFrom)
	if err != nil {
		return err
	}
	arrived := deltas{}
	for scope := range left {
		arrived.add(scope.tag, after, addedTo(after))
	}
	if err := updateCounts(tx, left); err != nil {
		return err
	}
	return countUse(tx, after.UpdatedAt, arrived)
}

// ApplyMove replaces the URL of a moved link by the one that it redirects to. CodeConflict if the link has not
// moved, or if another link has that URL.
func (s *Store) ApplyMove(ctx context.Context, id string) (Link, error) {
	var l Link
	err := s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		var err error
		if l, err = lockOne(tx, id); err != nil {
			return nil, err
		}
		if l.MovedTo == "" {
			return nil, models.Conflict("This link has not moved. Reload the page.")
		}
		u, err := models.ParseURL("url", l.MovedTo)
		if err != nil {
			return nil, err
		}
		now, oldURL := s.clock.Now(), l.URL
		l.URL, l.CanonicalURL, l.MovedTo = u.Given, u.Canonical, ""
		l.Health, l.HealthChangedAt, l.UpdatedAt = OK, now, now
		err = save(tx, l, "Another link has the new URL already. Delete one of them.", "url", "canonical_url", "moved_to", "health", "health_changed_at", "updated_at")
		if err != nil {
			return nil, err
		}
		return []Link{l}, auditLinks(tx, now, "move", []Link{l}, audit.Values{"url": oldURL}, audit.Values{"url": l.URL})
	})
	return l, err
}

// save stores columns of a link. If another link of its scope has its URL, the error is CodeConflict with the text
// conflict.
func save(tx *gorm.DB, l Link, conflict string, columns ...string) error {
	err := tx.Model(&l).Select(columns).Updates(&l).Error
	switch {
	case errors.Is(err, gorm.ErrDuplicatedKey):
		return models.Conflict(conflict)
	case err != nil:
		return fmt.Errorf("update link: %w", err)
	}
	return nil
}
