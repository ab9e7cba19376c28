package shortlinks

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Edit changes the settings of a short link. A later expiry or a higher visit limit
// reactivates an expired one, also from the archive. Errors are those of Add, CodeNotFound, and CodeForbidden if
// the actor may not change Private.
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
		errs := []error{normalize(l)}
		if e.ExpiresAt != nil && *e.ExpiresAt != l.ExpiresAt {
			l.ExpiresAt = *e.ExpiresAt
			errs = append(errs, checkExpiry(l.ExpiresAt, now))
		}
		// An unchanged destination is valid even if its host is blocked now, so that the link can be disabled.
		if e.LongURL != nil && *e.LongURL != l.LongURL {
			errs = append(errs, s.setDestination(l, *e.LongURL))
		}
		if err := models.Invalids(errs...); err != nil {
			return err
		}
		switch {
		case !l.LimitReached():
			l.ExhaustedAt = models.Time{}
		case l.ExhaustedAt.IsZero():
			l.ExhaustedAt = now
		}
		return nil
	})
}

// change applies do to a short link, stores it and announces it to the caches.
func (s *Store) change(ctx context.Context, key string, deleted bool, do func(l *ShortLink, now models.Time) error) (l ShortLink, err error) {
	started := s.clock.Instant()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		// Before the row is locked, so that its visits do not wait for other changes.
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
		if l.archived && !l.ended(l.UpdatedAt) {
			if err := move(tx, archive, live, []int64{l.Seq}); err != nil {
				return err
			}
			l.archived = false
		}
		table := live
		if l.archived {
			table = archive
		}
		err = tx.Table(table.links).Model(&l).Select("long_url", "canonical_url", "title", "search_text", "max_visits", "disabled",
			"updated_at", "version", "expires_at", "exhausted_at", "deleted_at", "private_to").Updates(&l).Error
		if err != nil {
			return fmt.Errorf("store short link: %w", err)
		}
		return audit.Add(tx, l.UpdatedAt, auditChanges(before, l)...)
	})
	if err != nil {
		return ShortLink{}, err
	}
	s.announce(ctx, l, started)
	return l, nil
}

// announce sends a committed change to the caches, also if the request is cancelled.
func (s *Store) announce(ctx context.Context, l ShortLink, started time.Time) {
	e, ttl := s.entry(l, s.now())
	s.cache.Announce(context.WithoutCancel(ctx), l.Key, e, ttl, started)
}
