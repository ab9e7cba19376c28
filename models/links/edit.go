package links

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Edit changes what the owner sets of a link. No refresh overwrites title and notes;
// the owner's title is shown instead of the fetched one until it is cleared. Only the owner and
// admins may change who sees the link: CodeForbidden. CodeConflict if a link that the same
// accounts see has its URL already.
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
		was := l
		models.Set(&l.OwnTitle, e.Title)
		models.Set(&l.Notes, e.Notes)
		if l.Title = l.OwnTitle; l.Title == "" {
			l.Title = l.FetchedTitle
		}
		l.UpdatedAt = s.clock.Now()
		taken := ""
		if e.Private != nil && *e.Private != l.Private() {
			if err := models.MayShare(ctx, l.Owner); err != nil {
				return nil, err
			}
			l.PrivateTo = models.PrivateTo(l.Owner, *e.Private)
			if taken = "A shared link with this URL exists already. Delete one of them."; l.Private() {
				taken = "The owner has a private link with this URL already. Delete one of them."
			}
		}
		if err := save(tx, l, taken, "title", "own_title", "notes", "private_to", "updated_at"); err != nil {
			return nil, err
		}
		if l.PrivateTo != was.PrivateTo {
			if err := s.move(tx, was, l); err != nil {
				return nil, err
			}
		}
		return []Link{l}, done(tx, l.UpdatedAt, "edit", []Link{l}, set(was), set(l))
	})
	return l, err
}

// set is what the owner sets of a link.
func set(l Link) audit.Values {
	return audit.Values{"title": l.OwnTitle, "notes": l.Notes, "private": l.Private()}
}

// move counts a link among those that other accounts see.
func (s *Store) move(tx *gorm.DB, was, is Link) error {
	left, err := deltasOf(tx, []Link{was}, leaves)
	if err != nil {
		return err
	}
	arrived := deltas{}
	for scope := range left {
		arrived.add(scope.tag, is, arrives(is))
	}
	if err := recount(tx, left); err != nil {
		return err
	}
	return usedBy(tx, is.UpdatedAt, arrived)
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
		now, was := s.clock.Now(), l.URL
		l.URL, l.CanonicalURL, l.MovedTo = u.Given, u.Canonical, ""
		l.Health, l.HealthChangedAt, l.UpdatedAt = OK, now, now
		err = save(tx, l, "Another saved link has this address already.", "url", "canonical_url", "moved_to", "health", "health_changed_at", "updated_at")
		if err != nil {
			return nil, err
		}
		return []Link{l}, done(tx, now, "move", []Link{l}, audit.Values{"url": was}, audit.Values{"url": l.URL})
	})
	return l, err
}

// save stores some columns of a link; CodeConflict, which says taken, if another one has its
// address in its scope.
func save(tx *gorm.DB, l Link, taken string, columns ...string) error {
	err := tx.Model(&l).Select(columns).Updates(&l).Error
	switch {
	case errors.Is(err, gorm.ErrDuplicatedKey):
		return models.Conflict(taken)
	case err != nil:
		return fmt.Errorf("storing a link: %w", err)
	}
	return nil
}
