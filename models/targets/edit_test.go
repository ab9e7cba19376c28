package targets_test

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
)

func TestEdit(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		f.check(up(5))
		before := f.get(made.ID)
		f.clock.Advance(time.Second)

		renamed, err := f.Edit(f.Context(), made.ID, targets.Edit{Name: new("New name")})
		f.must(err)
		if renamed.Name != "New name" || renamed.NextCheckAt != before.NextCheckAt || renamed.UpdatedAt != f.Now() {
			t.Errorf("%+v", renamed)
		}
		stricter, err := f.Edit(f.Context(), made.ID, targets.Edit{Expect: func(e targets.Expect) targets.Expect {
			e.Status = "204"
			return e
		}})
		f.must(err)
		if stricter.NextCheckAt != f.Now() || stricter.Expect.Status != "204" || stricter.Name != "New name" {
			t.Errorf("%+v", stricter)
		}
		slower, err := f.Edit(f.Context(), made.ID, targets.Edit{IntervalSeconds: new(3600)})
		f.must(err)
		if f.Interval(slower) != time.Hour {
			t.Errorf("%+v", slower)
		}
		_, err = f.Edit(f.Context(), made.ID, targets.Edit{IntervalSeconds: new(-1)})
		f.is(err, models.CodeInvalid, "interval_seconds")
		_, err = f.Edit(f.Context(), models.NewID(models.KindTarget), targets.Edit{})
		f.is(err, models.CodeNotFound, "")
		_, err = f.Edit(f.Context(), "nonsense", targets.Edit{})
		f.is(err, models.CodeNotFound, "")
	})
}

func TestPauseAndResume(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		f.check(down())
		if got := f.get(made.ID); got.Status() != targets.Down || got.Failures != 1 {
			t.Fatalf("%+v", got)
		}
		paused, err := f.Edit(f.Context(), made.ID, targets.Edit{Paused: new(true)})
		f.must(err)
		if paused.Status() != targets.Paused || !paused.NextCheckAt.IsZero() || paused.Failures != 0 {
			t.Errorf("%+v", paused)
		}
		if o := f.outages(made.ID); len(o) != 1 || o[0].EndedAt != f.Now() {
			t.Errorf("the outage does not end at the pause: %+v", o)
		}
		f.clock.Advance(time.Hour)
		if due := f.claim(); len(due) != 0 {
			t.Error("a paused target is due")
		}
		f.is(f.RequestCheck(f.Context(), made.ID), models.CodeConflict, "")
		resumed, err := f.Edit(f.Context(), made.ID, targets.Edit{Paused: new(false)})
		f.must(err)
		if resumed.Status() != targets.Pending || resumed.NextCheckAt != f.Now() {
			t.Errorf("%+v", resumed)
		}
	})
}
