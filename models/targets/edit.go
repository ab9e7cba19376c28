package targets

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
)

// Add watches a URL. It is created unless the key was used before, or a target
// of the same canonical URL is there (both levels of seed 000): then that one
// is answered as it is. Errors are CodeInvalid ("url", "name",
// "interval_seconds", "expect.status", "expect.keyword",
// "expect.keyword_absent", "expect.max_latency_ms", "header.Idempotency-Key").
func (s *Store) Add(ctx context.Context, n New) (t Target, created bool, err error) {
	var id string
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if n.Key == "" {
			id, created, err = s.add(tx, n)
			return err
		}
		known, err := s.keys.Claim(tx, n.Key)
		if err != nil {
			return err
		}
		if known != "" {
			if _, err = lock(tx, known, false); models.CodeOf(err) != models.CodeNotFound {
				id, created = known, false
				return err
			} // deleted meanwhile: the key is free again
		}
		if id, created, err = s.add(tx, n); err != nil {
			return err
		}
		return s.keys.Keep(tx, n.Key, id)
	})
	if err != nil {
		return Target{}, false, err
	}
	if created {
		s.wake()
	}
	t, err = s.Get(ctx, id)
	return t, created, err
}

func (s *Store) add(tx *gorm.DB, n New) (id string, created bool, err error) {
	u, err := models.ParseURL("url", n.URL)
	if err != nil {
		return "", false, err
	}
	now := s.clock.Now()
	t := Target{
		ID: models.NewID(models.KindTarget), URL: u.Given, CanonicalURL: u.Canonical, Host: u.Host,
		Name: n.Name, IntervalSeconds: n.IntervalSeconds, Expect: n.Expect,
		CreatedAt: now, UpdatedAt: now, DueAt: now, NextCheckAt: now, State: Pending, StateSince: now,
	}
	if err := t.check(); err != nil {
		return "", false, err
	}
	res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&t)
	if res.Error != nil {
		return "", false, fmt.Errorf("storing a target: %w", res.Error)
	}
	if res.RowsAffected > 0 {
		return t.ID, true, nil
	}
	if err := there(tx).Where("canonical_url = ?", u.Canonical).Pluck("id", &id).Error; err != nil {
		return "", false, fmt.Errorf("looking up a target by its URL: %w", err)
	}
	if id == "" {
		return "", false, models.Conflict("The target is being deleted. Try again.")
	}
	return id, false, nil
}

// check bounds what the owner set and brings it to its stored form.
func (t *Target) check() (err error) {
	if t.Name = models.CleanLine(t.Name); models.Runes(t.Name) > MaxName {
		return models.Invalid("name", "is longer than %d characters", MaxName)
	}
	if t.IntervalSeconds < 0 || t.IntervalSeconds > MaxInterval {
		return models.Invalid("interval_seconds", "must be a whole number of seconds from 1 to %d, or left out", MaxInterval)
	}
	t.Folded = models.Fold(t.Name + " " + t.CanonicalURL)
	t.Expect, err = t.Expect.check("expect")
	return err
}

// Edit changes what the owner set. Pausing ends an outage and forgets the
// state. Resuming, and what changes how or how often is checked, has the target
// checked at once. Errors are those of Add, and CodeNotFound.
func (s *Store) Edit(ctx context.Context, id string, e Edit) (Target, error) {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		t, err := lock(tx, id, false)
		if err != nil {
			return err
		}
		before := t
		set(&t.Name, e.Name)
		set(&t.IntervalSeconds, e.IntervalSeconds)
		set(&t.Paused, e.Paused)
		if e.Expect != nil {
			t.Expect = e.Expect(t.Expect)
		}
		if err := t.check(); err != nil {
			return err
		}
		changes := map[string]any{
			"name": t.Name, "folded": t.Folded, "interval_seconds": t.IntervalSeconds, "paused": t.Paused,
			"expect_status": t.Expect.Status, "expect_keyword": t.Expect.Keyword,
			"expect_absent": t.Expect.Absent, "expect_latency": t.Expect.MaxLatencyMS,
		}
		now := s.clock.Now()
		checkedOtherwise := t.Paused != before.Paused || t.Expect != before.Expect || t.IntervalSeconds != before.IntervalSeconds
		if checkedOtherwise || t.Name != before.Name {
			changes["updated_at"] = now
		}
		switch {
		case t.Paused && !before.Paused:
			err = s.rest(tx, t, changes)
		case checkedOtherwise && !t.Paused:
			begin(changes, now)
			if before.Resting(now) { // the host's pause holds for this as well
				changes["next_check_at"] = before.NextCheckAt
			}
		}
		if err != nil {
			return err
		}
		return update(tx, t, changes)
	})
	if err != nil {
		return Target{}, err
	}
	s.wake()
	return s.Get(ctx, id)
}

func set[T any](member *T, value *T) {
	if value != nil {
		*member = *value
	}
}

// begin makes a target due. A check under way, which goes by what was set
// before, is not recorded: its claim is gone.
func begin(changes map[string]any, now models.Time) {
	changes["due_at"], changes["next_check_at"], changes["claimed_by"] = now, now, ""
}

// rest removes a target from the schedule and ends its outage. From now on its
// state is unknown.
func (s *Store) rest(tx *gorm.DB, t Target, changes map[string]any) error {
	now := s.clock.Now()
	changes["due_at"], changes["next_check_at"], changes["claimed_by"] = nil, nil, ""
	changes["state"], changes["state_since"], changes["failures"] = Pending, now, 0
	ended := t.settle(now)
	changes["known_until"] = nil
	for prefix, sum := range map[string]Sum{"hour_": t.Hour, "day_": t.Day} {
		changes[prefix+"at"], changes[prefix+"checks"], changes[prefix+"latency"] = sum.At, sum.Checks, sum.Latency
		changes[prefix+"known_from"], changes[prefix+"up_us"], changes[prefix+"down_us"] = sum.KnownFrom, sum.UpUS, sum.DownUS
	}
	if err := s.storeSums(tx, appendSums(nil, t.Seq, ended.hours), appendSums(nil, t.Seq, ended.days)); err != nil {
		return fmt.Errorf("storing roll-ups: %w", err)
	}
	return endOutage(tx, t.Seq, now)
}

func update(tx *gorm.DB, t Target, changes map[string]any) error {
	if err := tx.Model(&Target{}).Where("seq = ?", t.Seq).Updates(changes).Error; err != nil {
		return fmt.Errorf("storing a target: %w", err)
	}
	return nil
}

// Delete stops watching a target. It can be restored for KeepDeleted.
// CodeNotFound if there is none.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		t, err := lock(tx, id, false)
		if err != nil {
			return err
		}
		changes := map[string]any{"deleted_at": s.clock.Now()}
		if err := s.rest(tx, t, changes); err != nil {
			return err
		}
		return update(tx, t, changes)
	})
}

// Restore brings a deleted target back with its history: CodeNotFound if it
// was not deleted, or too long ago; CodeConflict if its URL is watched anew.
func (s *Store) Restore(ctx context.Context, id string) (Target, error) {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		t, err := lock(tx, id, true)
		if err != nil {
			return err
		}
		now := s.clock.Now()
		if t.DeletedAt.Before(now.Add(-KeepDeleted).Time) { // being purged
			return models.NotFound("target")
		}
		changes := map[string]any{"deleted_at": nil}
		if !t.Paused {
			begin(changes, now)
		}
		err = update(tx, t, changes)
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return models.Conflict("The URL is watched anew already.")
		}
		return err
	})
	if err != nil {
		return Target{}, err
	}
	s.wake()
	return s.Get(ctx, id)
}

// RequestCheck asks for a check as soon as possible; one that is under way will
// do. CodeConflict if the target is paused, or its host asked for a pause; an
// unknown one is CodeNotFound.
func (s *Store) RequestCheck(ctx context.Context, id string) error {
	_, err := s.requestCheck(ctx, id)
	return err
}

func (s *Store) requestCheck(ctx context.Context, id string) (t Target, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if t, err = lock(tx, id, false); err != nil {
			return err
		}
		if t.Paused {
			return errPaused
		}
		now := s.clock.Now()
		switch {
		case t.ClaimedBy != "":
			return nil
		case t.Resting(now):
			wait := t.NextCheckAt.Sub(now.Time)
			return &models.Error{Code: models.CodeConflict, RetryAfter: wait, Detail: fmt.Sprintf(
				"Checks of this target are postponed. The next check is in %s.", wait.Round(time.Second))}
		}
		changes := map[string]any{"next_check_at": now}
		if t.DueAt.After(now.Time) { // else it keeps its place among those who are overdue
			changes["due_at"] = now
		}
		return update(tx, t, changes)
	})
	s.wake()
	return t, err
}

// waitStep is how often CheckNow looks whether the check is done. The checker
// may be another instance, so there is nothing to be woken by.
const waitStep = 100 * time.Millisecond

// CheckNow is RequestCheck that waits until the check is done, ctx ends or wait
// is over: then done is false, and the check comes later. Who pauses or deletes
// the target meanwhile has CheckNow answer as if that had been so before.
func (s *Store) CheckNow(ctx context.Context, id string, wait time.Duration) (r Result, done bool, err error) {
	before, err := s.requestCheck(ctx, id)
	if err != nil {
		return Result{}, false, err
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	look := time.NewTicker(waitStep)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return Result{}, false, nil
		case <-over.C:
			return Result{}, false, nil
		case <-look.C:
		}
		var now Target
		err := there(s.db.Read(ctx)).Select("seq, paused, last_checked_at").Where("seq = ?", before.Seq).Find(&now).Error
		switch {
		case err != nil:
			return Result{}, false, fmt.Errorf("waiting for a check: %w", err)
		case now.Seq == 0:
			return Result{}, false, models.NotFound("target")
		case now.Paused:
			return Result{}, false, errPaused
		case now.LastCheckedAt != before.LastCheckedAt:
			r, err = s.result(ctx, now)
			return r, err == nil, err
		}
	}
}

var errPaused = models.Conflict("The target is paused. Resume it first.")

// result is the last check of a target.
func (s *Store) result(ctx context.Context, t Target) (r Result, err error) {
	err = named(s.db.Read(ctx), "check_results AS x").Where("x.target_seq = ? AND x.checked_at = ?", t.Seq, t.LastCheckedAt).Take(&r).Error
	if err != nil {
		return r, fmt.Errorf("reading a check result: %w", err)
	}
	return r, nil
}
