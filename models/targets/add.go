package targets

import (
	"context"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Add adds a target. If the actor used the IdempotencyKey before, Add returns the
// existing target unchanged, with created = false. It does the same if a target with the
// same canonical URL is shared or the actor's own. Errors are CodeInvalid ("url", "name",
// "interval_seconds", "expect.status", "expect.keyword", "expect.keyword_absent",
// "expect.max_latency_ms", "header.Idempotency-Key").
func (s *Store) Add(ctx context.Context, n New) (t Target, created bool, err error) {
	draft, invalid := s.draft(ctx, n) // other writers do not wait for it
	if invalid != nil && n.IdempotencyKey == "" {
		return Target{}, false, invalid
	}
	err = s.db.WriteSmall(ctx, func(tx *gorm.DB) (err error) {
		t, created = Target{}, false
		if n.IdempotencyKey != "" {
			if t.ID, err = s.addedWith(tx, n.IdempotencyKey); err != nil || t.ID != "" {
				return err
			}
		}
		if invalid != nil {
			return invalid
		}
		if t, created, err = s.add(tx, draft); err != nil || n.IdempotencyKey == "" {
			return err
		}
		return s.keys.Save(tx, n.IdempotencyKey, t.ID)
	})
	if err != nil {
		return Target{}, false, err
	}
	if !created {
		t, err = s.Get(ctx, t.ID)
		return t, false, err
	}
	s.wake()
	t = t.due(t.CreatedAt)
	t.setUptime(make([]Share, len(Windows)), t.CreatedAt)
	return t, true, nil
}

// addedWith claims an idempotency key. It returns the id of the target that the actor added
// with it, or "". If the target was deleted, the key can be used again.
func (s *Store) addedWith(tx *gorm.DB, key string) (id string, err error) {
	if id, err = s.keys.Claim(tx, key); err != nil || id == "" {
		return "", err
	}
	if _, err = lock(tx, id, false); models.CodeOf(err) == models.CodeNotFound {
		return "", nil
	}
	return id, err
}

// draft returns the validated row of a new target of the actor, without ID and dates.
func (s *Store) draft(ctx context.Context, n New) (Target, error) {
	u, wrong := models.ParseURL("url", n.URL)
	owner := models.Owner(ctx)
	t := Target{
		Owner: owner, PrivateTo: models.PrivateTo(owner, n.Private),
		URL: u.Given, CanonicalURL: u.Canonical, Host: u.Host,
		Name: n.Name, IntervalSeconds: n.IntervalSeconds, Expect: n.Expect, State: Pending,
	}
	return t, models.Invalids(wrong, t.validate())
}

// add stores a new target. If its URL has one, it returns only the id of that one.
func (s *Store) add(tx *gorm.DB, draft Target) (t Target, created bool, err error) {
	stored, err := s.insert(tx, []Target{draft})
	if err != nil {
		return t, false, err
	}
	if len(stored) > 0 {
		return stored[0], true, nil
	}
	known, err := byURLs(tx, []string{draft.CanonicalURL})
	if err != nil {
		return t, false, err
	}
	existing, ok := known[draft.CanonicalURL]
	if !ok {
		return t, false, models.Conflict("The target is being deleted. Try again.")
	}
	return Target{ID: existing.ID}, false, nil
}

// validate checks what the owner set and converts it to its stored form.
func (t *Target) validate() error {
	var errs []error
	if t.Name = models.CleanLine(t.Name); models.Runes(t.Name) > MaxName {
		errs = append(errs, models.TooLong("name", MaxName, "characters"))
	}
	if t.IntervalSeconds < 0 || t.IntervalSeconds > MaxInterval {
		errs = append(errs, models.OutOfRange("interval_seconds", "seconds", 1, MaxInterval))
	}
	t.SearchText = models.Fold(t.Name + " " + t.CanonicalURL)
	var wrong error
	t.Expect, wrong = t.Expect.validate("expect")
	return models.Invalids(append(errs, wrong)...)
}
