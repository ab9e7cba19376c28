package targets_test

import (
	"errors"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/targets"
)

// A requested check does not override a Retry-After.
func TestCheckNowKeepsRateLimit(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		r := targets.Result{Outcome: targets.ThrottledOutcome, StatusCode: 429, Attempts: 1, Error: "throttled: status 429", CheckedAt: f.Now()}
		f.must(f.Record(f.Context(), targets.Checked{Target: f.only(), Result: r, RetryAfter: 10 * time.Minute}))
		err := f.RequestCheck(f.Context(), made.ID)
		f.is(err, models.CodeConflict, "")
		if e, ok := errors.AsType[*models.Error](err); !ok || e.RetryAfter != 10*time.Minute {
			t.Errorf("%+v", err)
		}
		edited, err := f.Edit(f.Context(), made.ID, targets.Edit{IntervalSeconds: new(300)})
		f.must(err)
		if edited.NextCheckAt != f.Now().Add(10*time.Minute) {
			t.Errorf("after an edit it is checked in %v", edited.NextCheckAt.Sub(f.Now().Time))
		}
		// Nor does resuming or restoring a target.
		_, err = f.Edit(f.Context(), made.ID, targets.Edit{Paused: new(true)})
		f.must(err)
		resumed, err := f.Edit(f.Context(), made.ID, targets.Edit{Paused: new(false)})
		f.must(err)
		f.must(f.Delete(f.Context(), made.ID))
		restored, err := f.Restore(f.Context(), made.ID)
		f.must(err)
		if want := f.Now().Add(10 * time.Minute); resumed.NextCheckAt != want || restored.NextCheckAt != want {
			t.Errorf("resumed, it is checked at %v; restored, at %v; want %v", resumed.NextCheckAt, restored.NextCheckAt, want)
		}
		f.clock.Advance(10 * time.Minute)
		f.must(f.RequestCheck(f.Context(), made.ID))
		f.only()
	})
}

// A requested check does not move an overdue target to the end of the queue.
func TestCheckNowKeepsDueTime(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		f.must(f.Release(f.Context(), lease.Released[targets.Target]{Item: f.only(), After: time.Minute}))
		f.clock.Advance(30 * time.Second)
		f.must(f.RequestCheck(f.Context(), made.ID))
		if got := f.only(); got.DueAt != made.DueAt {
			t.Errorf("due since %v, was due since %v", got.DueAt, made.DueAt)
		}
	})
}

func TestCheckNow(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		f.check(up(1))
		f.clock.Advance(time.Second)
		f.must(f.RequestCheck(f.Context(), made.ID))
		<-f.Wanted()
		done := make(chan targets.Result)
		go func() {
			r, ok, err := f.CheckNow(t.Context(), made.ID, time.Minute)
			if err != nil || !ok {
				t.Error(ok, err)
			}
			done <- r
		}()
		<-f.Wanted() // the check was requested
		f.record(f.only(), down())
		if r := <-done; r.TargetID != made.ID || r.Outcome != targets.DownOutcome {
			t.Errorf("%+v", r)
		}
		if _, ok, err := f.CheckNow(f.Context(), made.ID, time.Millisecond); ok || err != nil {
			t.Errorf("done %v, %v without a check", ok, err)
		}
		_, _, err := f.CheckNow(f.Context(), models.NewID(models.KindTarget), time.Millisecond)
		f.is(err, models.CodeNotFound, "")
		<-f.Wanted()
		go func() {
			<-f.Wanted() // the check was requested
			_, err := f.Edit(t.Context(), made.ID, targets.Edit{Paused: new(true)})
			if err != nil {
				t.Error(err)
			}
		}()
		_, _, err = f.CheckNow(f.Context(), made.ID, time.Minute)
		f.is(err, models.CodeConflict, "")
	})
}

// A target that waits for a busy host is not postponed. It is overdue since it was due,
// and a check can be requested. A rate limited target is postponed, even if the rate
// limit is shorter than the interval.
func TestBusyHostsAreNotPostponed(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		for range 3 { // each release counts from the time of the release
			f.must(f.Release(f.Context(), lease.Released[targets.Target]{Item: f.only(), After: time.Minute}))
			f.clock.Advance(time.Minute)
		}
		claimed := f.only()
		f.must(f.Release(f.Context(), lease.Released[targets.Target]{Item: claimed, After: time.Minute}))
		if got := f.get(made.ID); got.OverdueSince() != made.DueAt || got.Throttled(f.Now()) {
			t.Errorf("overdue since %v, due since %v", got.OverdueSince(), made.DueAt)
		}
		f.must(f.RequestCheck(f.Context(), made.ID))

		r := targets.Result{Outcome: targets.ThrottledOutcome, StatusCode: 429, Attempts: 1, Error: "throttled: status 429", CheckedAt: f.Now()}
		f.must(f.Record(f.Context(), targets.Checked{Target: f.only(), Result: r, RetryAfter: 2 * time.Minute}))
		f.is(f.RequestCheck(f.Context(), made.ID), models.CodeConflict, "")
		f.clock.Advance(2 * time.Minute)
		if got := f.get(made.ID); got.OverdueSince() != f.Now() || got.Throttled(f.Now()) {
			t.Errorf("overdue since %v, the rate limit ended at %v", got.OverdueSince(), f.Now())
		}
		f.must(f.RequestCheck(f.Context(), made.ID))
	})
}
