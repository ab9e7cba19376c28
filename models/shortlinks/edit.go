package shortlinks

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Edit changes what the owner of a short link set. A link that has expired and is
// not reaped yet is active again if it gets a later expiry or more visits. Errors
// are those of Add, CodeNotFound, and CodeForbidden if the actor may not change who sees the
// short link.
func (s *Store) Edit(ctx context.Context, key string, e Edit) (ShortLink, error) {
	return s.change(ctx, key, false, func(l *ShortLink, now models.Time) error {
		models.Set(&l.MaxVisits, e.MaxVisits)
		models.Set(&l.Title, e.Title)
		models.Set(&l.Disabled, e.Disabled)
		if e.Private != nil && *e.Private != l.Private() {
			if err := models.MayShare(ctx, l.Owner); err != nil {
				return err
			}
			l.PrivateTo = models.PrivateTo(l.Owner, *e.Private)
		}
		if e.ExpiresAt != nil && *e.ExpiresAt != l.ExpiresAt {
			l.ExpiresAt = *e.ExpiresAt
			if err := checkEnd(l.ExpiresAt, now); err != nil {
				return err
			}
		}
		if err := check(l); err != nil {
			return err
		}
		// What stays as it is may stay, also if its host is blocked by now: it can be switched off, say.
		if e.LongURL != nil && *e.LongURL != l.LongURL {
			if err := s.lead(l, *e.LongURL); err != nil {
				return err
			}
		}
		switch {
		case !l.UsedUp():
			l.ExhaustedAt = models.Time{}
		case l.ExhaustedAt.IsZero():
			l.ExhaustedAt = now
		}
		return nil
	})
}

// change stores what do makes of a short link, and announces it to every cache.
func (s *Store) change(ctx context.Context, key string, deleted bool, do func(l *ShortLink, now models.Time) error) (l ShortLink, err error) {
	began := s.clock.Instant()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		// Before the row: a visit of it must not wait while this waits for other changes.
		version, err := s.newVersion(tx)
		if err != nil {
			return err
		}
		if l, err = lock(tx, key, deleted); err != nil {
			return err
		}
		before := l
		l.UpdatedAt = s.clock.Now()
		if err := do(&l, l.UpdatedAt); err != nil {
			return err
		}
		l.Version = version
		l.SearchText = searchText(l)
		err = tx.Model(&l).Select("long_url", "canonical_url", "title", "search_text", "max_visits", "disabled",
			"updated_at", "version", "expires_at", "exhausted_at", "deleted_at", "private_to").Updates(&l).Error
		if err != nil {
			return fmt.Errorf("storing a short link: %w", err)
		}
		return audit.Add(tx, l.UpdatedAt, changes(before, l)...)
	})
	if err != nil {
		return ShortLink{}, err
	}
	s.announce(ctx, l, began)
	return l, nil
}

// announce tells every cache of a change. It goes on when the request that made
// the change is cancelled: the change is committed.
func (s *Store) announce(ctx context.Context, l ShortLink, began time.Time) {
	e, ttl := s.entry(l, s.present())
	s.cache.Announce(context.WithoutCancel(ctx), l.Key, e, ttl, began)
}
