package targets

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Edit changes the settings of a target. Pausing ends an outage and resets the state.
// Resuming the target, or changing its expectations or interval, makes it due now, or
// when its Retry-After ends. Errors are those of Add, CodeNotFound,
// CodeForbidden and CodeConflict. CodeForbidden means that the actor may not change who
// sees the target. CodeConflict means that another target with the same URL is shared, or
// private to the same owner.
func (s *Store) Edit(ctx context.Context, id string, e Edit) (Target, error) {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		t, err := lock(tx, id, false)
		if err != nil {
			return err
		}
		before := t
		models.Set(&t.Name, e.Name)
		models.Set(&t.IntervalSeconds, e.IntervalSeconds)
		models.Set(&t.Paused, e.Paused)
		if e.Private != nil {
			t.PrivateTo = models.PrivateTo(t.Owner, *e.Private)
		}
		shared := t.PrivateTo != before.PrivateTo
		if shared {
			if err := models.MayShare(ctx, t.Owner); err != nil {
				return err
			}
		}
		if e.Expect != nil {
			t.Expect = e.Expect(t.Expect)
		}
		if err := t.validate(); err != nil {
			return err
		}
		changes := map[string]any{
			"name": t.Name, "search_text": t.SearchText, "interval_seconds": t.IntervalSeconds, "paused": t.Paused,
			"expect_status": t.Expect.Status, "expect_keyword": t.Expect.Keyword,
			"expect_absent": t.Expect.KeywordAbsent, "expect_latency_ms": t.Expect.MaxLatencyMS, "private_to": t.PrivateTo,
		}
		now := s.clock.Now()
		checksChanged := t.Paused != before.Paused || t.Expect != before.Expect || t.IntervalSeconds != before.IntervalSeconds
		if checksChanged || shared || t.Name != before.Name {
			changes["updated_at"] = now
		}
		switch {
		case t.Paused && !before.Paused:
			err = s.stopChecks(tx, t, changes)
		case checksChanged && !t.Paused:
			err = reschedule(tx, t.due(now))
		case shared: // a running check would record events with the old visibility
			err = reschedule(tx, t.unclaimed())
		}
		if err != nil {
			return err
		}
		err = update(tx, t, changes)
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return errURLTaken(t)
		}
		if err != nil {
			return err
		}
		return audit.Add(tx, now, auditChanges(before, t)...)
	})
	if err != nil {
		return Target{}, err
	}
	s.wake()
	return s.Get(ctx, id)
}

// errURLTaken is the error if a target cannot be shared or made private because another
// one has its URL.
func errURLTaken(t Target) error {
	if t.Private() {
		return models.Conflict("The owner already has a private target with this URL. Delete one of them first.")
	}
	return models.Conflict("A shared target already has this URL. Delete one of them first.")
}

// stopChecks removes a target from the schedule, ends its outage and resets its state.
func (s *Store) stopChecks(tx *gorm.DB, t Target, changes map[string]any) error {
	now := s.clock.Now()
	if err := reschedule(tx, t.unscheduled()); err != nil {
		return err
	}
	changes["state"], changes["state_since"], changes["failures"] = Pending, now, 0
	ended := t.accrue(now)
	changes["known_until"] = nil
	for prefix, rollup := range map[string]Rollup{"hour_": t.Hour, "day_": t.Day} {
		changes[prefix+"bucket_start"], changes[prefix+"checks"], changes[prefix+"latency"] = rollup.BucketStart, rollup.Checks, rollup.Latency
		changes[prefix+"known_from"], changes[prefix+"up_us"], changes[prefix+"down_us"] = rollup.KnownFrom, rollup.UpUS, rollup.DownUS
	}
	if err := s.storeRollups(tx, appendRollups(nil, t.Seq, ended.hours), appendRollups(nil, t.Seq, ended.days)); err != nil {
		return fmt.Errorf("store roll-ups: %w", err)
	}
	if err := endOutages(tx, []Result{{TargetSeq: t.Seq, CheckedAt: now}}); err != nil {
		return err
	}
	return closeEvents(tx, t, now)
}

func update(tx *gorm.DB, t Target, changes map[string]any) error {
	if err := tx.Model(&Target{}).Where("seq = ?", t.Seq).Updates(changes).Error; err != nil {
		return fmt.Errorf("store target: %w", err)
	}
	return nil
}
