package targets

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Edit changes what the owner set. Pausing ends an outage and forgets the
// state. Resuming, and what changes how or how often is checked, has the target
// checked at once, unless its host asked for a pause. Errors are those of Add,
// CodeNotFound, CodeForbidden if the actor may not change who sees the target, and
// CodeConflict if there is a target of the URL among those that it would be one of.
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
		checkedOtherwise := t.Paused != before.Paused || t.Expect != before.Expect || t.IntervalSeconds != before.IntervalSeconds
		if checkedOtherwise || shared || t.Name != before.Name {
			changes["updated_at"] = now
		}
		if shared { // events of a check under way would say who saw it before
			changes["claimed_by"] = nil
		}
		switch {
		case t.Paused && !before.Paused:
			err = s.unschedule(tx, t, changes)
		case checkedOtherwise && !t.Paused:
			schedule(t, changes, now)
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

// errURLTaken is the error of a target that cannot be shared or made private, because there is
// one of its URL already.
func errURLTaken(t Target) error {
	if t.Private() {
		return models.Conflict("The owner has a private target of this URL already. Delete one of them first.")
	}
	return models.Conflict("There is a shared target of this URL already. Delete one of them first.")
}

// schedule makes a target due, as soon as its host's pause is over. A check under way, which goes by what was set
// before, is not recorded: its claim is gone.
func schedule(t Target, changes map[string]any, now models.Time) {
	changes["due_at"], changes["next_check_at"], changes["claimed_by"] = now, now, nil
	if t.Throttled(now) {
		changes["next_check_at"] = t.PostponedUntil
	}
}

// unschedule removes a target from the schedule and ends its outage. From now on its
// state is unknown.
func (s *Store) unschedule(tx *gorm.DB, t Target, changes map[string]any) error {
	now := s.clock.Now()
	changes["due_at"], changes["next_check_at"], changes["claimed_by"] = nil, nil, nil
	changes["state"], changes["state_since"], changes["failures"] = Pending, now, 0
	ended := t.accrue(now)
	changes["known_until"] = nil
	for prefix, sum := range map[string]Rollup{"hour_": t.Hour, "day_": t.Day} {
		changes[prefix+"bucket_start"], changes[prefix+"checks"], changes[prefix+"latency"] = sum.BucketStart, sum.Checks, sum.Latency
		changes[prefix+"known_from"], changes[prefix+"up_us"], changes[prefix+"down_us"] = sum.KnownFrom, sum.UpUS, sum.DownUS
	}
	if err := s.storeRollups(tx, appendRollups(nil, t.Seq, ended.hours), appendRollups(nil, t.Seq, ended.days)); err != nil {
		return fmt.Errorf("storing roll-ups: %w", err)
	}
	if err := endOutages(tx, []Result{{TargetSeq: t.Seq, CheckedAt: now}}); err != nil {
		return err
	}
	return closeEvents(tx, t, now)
}

func update(tx *gorm.DB, t Target, changes map[string]any) error {
	if err := tx.Model(&Target{}).Where("seq = ?", t.Seq).Updates(changes).Error; err != nil {
		return fmt.Errorf("storing a target: %w", err)
	}
	return nil
}
