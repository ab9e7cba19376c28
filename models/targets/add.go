package targets

import (
	"context"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Add adds a target. If the actor used the IdempotencyKey before, Add returns the
// existing target unchanged, with created = false. It does the same if a target with the
// same canonical URL is shared or the actor's own. Errors are CodeInvalid ("url", "name",
// "interval_seconds", "expect.status", "expect.keyword", "expect.keyword_absent",
// "expect.max_latency_ms", "header.Idempotency-Key").
func (s *Store) Add(ctx context.Context, n New) (t Target, created bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if n.IdempotencyKey == "" {
			t, created, err = s.add(tx, n)
			return err
		}
		known, err := s.keys.Claim(tx, n.IdempotencyKey)
		if err != nil {
			return err
		}
		if known != "" {
			if _, err = lock(tx, known, false); models.CodeOf(err) != models.CodeNotFound {
				t, created = Target{ID: known}, false
				return err
			} // it was deleted, so the key can be used again
		}
		if t, created, err = s.add(tx, n); err != nil {
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

// draft returns the validated row of a new target of the actor.
func (s *Store) draft(ctx context.Context, n New) (Target, error) {
	u, err := models.ParseURL("url", n.URL)
	if err != nil {
		return Target{}, err
	}
	now, owner := s.clock.Now(), models.Owner(ctx)
	t := Target{
		Owner: owner, PrivateTo: models.PrivateTo(owner, n.Private),
		ID: models.NewID(models.KindTarget), URL: u.Given, CanonicalURL: u.Canonical, Host: u.Host,
		Name: n.Name, IntervalSeconds: n.IntervalSeconds, Expect: n.Expect,
		CreatedAt: now, UpdatedAt: now, State: Pending, StateSince: now,
	}
	return t, t.validate()
}

// add returns the new target, or only the id of the existing one.
func (s *Store) add(tx *gorm.DB, n New) (t Target, created bool, err error) {
	if t, err = s.draft(tx.Statement.Context, n); err != nil {
		return t, false, err
	}
	var id string
	find := func() error {
		if err := byURL(tx, t.CanonicalURL).Pluck("id", &id).Error; err != nil {
			return fmt.Errorf("find target by URL: %w", err)
		}
		return nil
	}
	if err := find(); err != nil || id != "" {
		return Target{ID: id}, false, err
	}
	res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&t)
	if res.Error != nil {
		return t, false, fmt.Errorf("store target: %w", res.Error)
	}
	if res.RowsAffected > 0 {
		if err := scheduleNew(tx, []string{t.ID}); err != nil {
			return t, false, err
		}
		return t, true, audit.Add(tx, t.CreatedAt, audit.Change{Action: "target.add", Subject: t.auditSubject(), After: t.auditValues()})
	}
	if err := find(); err != nil { // another request added it first
		return t, false, err
	}
	if id == "" {
		return t, false, models.Conflict("The target is being deleted. Try again.")
	}
	return Target{ID: id}, false, nil
}

// validate checks what the owner set and converts it to its stored form.
func (t *Target) validate() (err error) {
	if t.Name = models.CleanLine(t.Name); models.Runes(t.Name) > MaxName {
		return models.TooLong("name", MaxName, "characters")
	}
	if t.IntervalSeconds < 0 || t.IntervalSeconds > MaxInterval {
		return models.OutOfRange("interval_seconds", "seconds", 1, MaxInterval)
	}
	t.SearchText = models.Fold(t.Name + " " + t.CanonicalURL)
	t.Expect, err = t.Expect.validate("expect")
	return err
}
