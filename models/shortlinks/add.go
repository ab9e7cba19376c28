package shortlinks

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Add adds a short link. If the actor has used the IdempotencyKey, it returns the
// existing short link and created is false. Errors are CodeInvalid ("long_url",
// "short_key", "expires_at", "ttl_seconds", "max_visits", "title",
// "header.Idempotency-Key"), and CodeConflict if the key is taken. An expired or deleted
// short link keeps its key until it is reaped.
func (s *Store) Add(ctx context.Context, n New) (l ShortLink, created bool, err error) {
	began := s.clock.Instant()
	err = s.db.WriteSmall(ctx, func(tx *gorm.DB) error {
		if n.IdempotencyKey == "" {
			l, err = s.add(tx, n)
			created = err == nil
			return err
		}
		known, err := s.keys.Claim(tx, n.IdempotencyKey)
		if err != nil {
			return err
		}
		if known != "" {
			// Not by its short key, which another short link may have now.
			var ok bool
			if l, ok, err = first(notDeleted(tx.Table(allLinks)).Where("seq = ?", known)); err != nil || ok {
				created = false
				return err
			} // deleted since: the idempotency key is free again
		}
		if l, err = s.add(tx, n); err != nil {
			return err
		}
		created = true
		return s.keys.Save(tx, n.IdempotencyKey, strconv.FormatInt(l.Seq, 10))
	})
	if err != nil {
		return ShortLink{}, false, err
	}
	if created {
		s.announce(ctx, l, began)
	}
	return l, created, nil
}

// maxKeyAttempts is the number of generated keys to try. With 10⁹ short links, one in a
// thousand attempts collides.
const maxKeyAttempts = 10

func (s *Store) add(tx *gorm.DB, n New) (ShortLink, error) {
	now, owner := s.clock.Now(), models.Owner(tx.Statement.Context)
	l := ShortLink{
		Owner: owner, PrivateTo: models.PrivateTo(owner, n.Private),
		Key: n.Key, Title: n.Title, MaxVisits: n.MaxVisits, ExpiresAt: n.ExpiresAt, CreatedAt: now, UpdatedAt: now,
	}
	errs := []error{s.setDestination(&l, n.LongURL)}
	if n.Key != "" {
		errs = append(errs, s.checkKey(n.Key))
	}
	errs = append(errs, normalize(&l))
	switch {
	case n.TTL == 0:
	case !n.ExpiresAt.IsZero():
		errs = append(errs, models.Invalid("ttl_seconds", "cannot be combined with expires_at; remove one of them"))
	case n.TTL < time.Second || n.TTL > MaxTTL:
		errs = append(errs, models.OutOfRange("ttl_seconds", "seconds", 1, int64(MaxTTL/time.Second)))
	default:
		l.ExpiresAt = now.Add(n.TTL)
	}
	err := models.Invalids(append(errs, checkExpiry(l.ExpiresAt, now))...)
	if err != nil {
		return l, err
	}
	if l.Version, err = s.newVersion(tx); err != nil {
		return l, err
	}
	for range maxKeyAttempts {
		if n.Key == "" {
			if l.Key = generateKey(); s.Reserved(l.Key) {
				continue
			}
		}
		l.SearchText = searchText(l)
		ok, err := insert(tx, &l)
		if err != nil {
			return l, fmt.Errorf("store short link: %w", err)
		}
		if ok {
			return l, audit.Add(tx, now, audit.Change{Action: "short_link.add", Subject: l.auditSubject(), After: l.auditValues()})
		}
		if n.Key != "" {
			return l, models.Conflict("The short key is taken. An expired or deleted short link keeps its key until it is cleaned up. Choose another key.")
		}
	}
	return l, fmt.Errorf("no free key in %d attempts", maxKeyAttempts)
}

// insert stores a short link. It reports false if another one has the key.
func insert(tx *gorm.DB, l *ShortLink) (bool, error) {
	res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(l)
	if res.Error != nil || res.RowsAffected == 0 {
		return false, res.Error
	}
	// Only now: if the reaper is moving the short link with the key to the archive, Create has waited for it.
	var archived int
	err := tx.Raw("SELECT count(*) FROM archived_short_links WHERE short_key = ?", l.Key).Scan(&archived).Error
	if err != nil || archived == 0 {
		return err == nil, err
	}
	err = tx.Delete(l).Error
	l.Seq = 0
	return false, err
}

// checkExpiry rejects an expiry in the past, and one that RFC 3339 cannot express in
// every time zone.
func checkExpiry(end, now models.Time) error {
	if end.IsZero() {
		return nil
	}
	if !end.After(now.Time) {
		return models.Invalid("expires_at", "must be in the future")
	}
	if end.Sub(now.Time) > MaxTTL {
		return models.Invalid("expires_at", "must be at most 100 years from now")
	}
	return nil
}

// setDestination validates the destination and sets it.
func (s *Store) setDestination(l *ShortLink, longURL string) error {
	u, err := s.rules.destination(longURL)
	if err != nil {
		return err
	}
	l.LongURL, l.CanonicalURL = u.Given, u.Canonical
	return nil
}

// normalize validates and normalizes the settings except destination and expiry.
func normalize(l *ShortLink) error {
	var errs []error
	if l.Title = models.CleanLine(l.Title); models.Runes(l.Title) > MaxTitle {
		errs = append(errs, models.TooLong("title", MaxTitle, "characters"))
	}
	if l.MaxVisits < 0 || l.MaxVisits > MaxVisits {
		errs = append(errs, models.OutOfRange("max_visits", "", 1, MaxVisits))
	}
	return models.Invalids(errs...)
}

func searchText(l ShortLink) string { return models.Fold(l.Key + " " + l.Title + " " + l.CanonicalURL) }
