package targets_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

func TestClaimTakesTheLongestDueFirst(t *testing.T) {
	each(t, func(f fixture) {
		var want []string
		for _, host := range []string{"a", "b", "c"} {
			want = append(want, f.add("https://"+host+".test").ID)
			f.clock.Advance(time.Second)
		}
		first, next, err := f.Claim(f.Context(), checker, 2)
		f.must(err)
		if len(first) != 2 || first[0].ID != want[0] || first[1].ID != want[1] || next.After(f.Now().Time) {
			t.Errorf("%v, next %v", first, next)
		}
		rest, next, err := f.Claim(f.Context(), checker, 2)
		f.must(err)
		if len(rest) != 1 || rest[0].ID != want[2] || !next.IsZero() {
			t.Errorf("%v, next %v", rest, next)
		}
	})
}

// Two instances never claim the same target.
func TestClaimsAreNotShared(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(200)
		var mu sync.Mutex
		var got []string
		var wg sync.WaitGroup
		for _, name := range []string{"k_one", "k_two", "k_three"} {
			id := modelstest.Lease(f, f.db, name)
			wg.Go(func() {
				for {
					ts, _, err := f.Claim(t.Context(), id, 7)
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					for _, claimed := range ts {
						got = append(got, claimed.ID)
					}
					all := len(got)
					mu.Unlock()
					if all >= 200 || err != nil {
						return
					}
				}
			})
		}
		wg.Wait()
		slices.Sort(got)
		if len(got) != 200 || len(slices.Compact(got)) != 200 {
			t.Errorf("%d targets were claimed", len(got))
		}
	})
}

// Without a lease nothing can be claimed, because the claim would never end.
func TestClaimNeedsALease(t *testing.T) {
	each(t, func(f fixture) {
		f.add("https://a.test")
		f.end(checker)
		if ts, _, err := f.Claim(f.Context(), checker, 10); !errors.Is(err, lease.ErrLost) || len(ts) != 0 {
			f.Errorf("%v %v", ts, err)
		}
	})
}

func TestReleaseKeepsDueTime(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		f.clock.Advance(time.Second)
		claimed := f.only()
		f.must(f.Release(f.Context(), lease.Released[targets.Target]{Item: claimed, After: time.Minute}))
		got := f.get(made.ID)
		if got.ClaimedBy != "" || got.DueAt != claimed.DueAt || got.NextCheckAt != f.Now().Add(time.Minute) {
			t.Errorf("%+v", got)
		}
		f.clock.Advance(time.Minute)
		if again := f.only(); again.DueAt != claimed.DueAt {
			t.Errorf("%+v", again)
		}
	})
}

// The claims of an instance end with its lease. Results that it records afterwards are
// dropped.
func TestClaimsEndWithTheirLease(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(3)
		claimed := f.claim()
		if len(claimed) != 3 {
			f.Fatalf("%d claimed", len(claimed))
		}
		next := modelstest.Lease(f, f.db, "k_next")
		if ts, _, err := f.Claim(f.Context(), next, 10); err != nil || len(ts) != 0 {
			f.Fatalf("claimed from a running instance: %v %v", ts, err)
		}
		f.end(checker)
		if ts, _, err := f.Claim(f.Context(), next, 10); err != nil || len(ts) != 3 {
			f.Errorf("%d of 3 are free, %v", len(ts), err)
		}
		f.record(claimed[0], down())
		if got := f.get(claimed[0].ID); !got.LastCheckedAt.IsZero() || got.ClaimedBy != next {
			f.Errorf("a lost check was recorded: %+v", got)
		}
	})
}

// After a failed claim, an instance releases the targets that it does not have in memory.
func TestReleaseOthers(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(3)
		claimed := f.claim()
		f.must(f.ReleaseOthers(f.Context(), checker, claimed[1]))
		if again := f.claim(); len(again) != 2 || again[0].ID != claimed[0].ID || again[1].ID != claimed[2].ID {
			f.Errorf("%d are free, want the first and the third", len(again))
		}
		f.must(f.ReleaseOthers(f.Context(), checker))
		if n := len(f.claim()); n != 3 {
			f.Errorf("%d of 3 are free", n)
		}
	})
}

// After a time without checks, overdue checks are spread over one interval.
func TestSpreadAfterATimeWithoutChecks(t *testing.T) {
	each(t, func(f fixture) {
		const n = 100
		f.addMany(n)
		for _, claimed := range f.claim() {
			f.record(claimed, up(1))
		}
		f.clock.Advance(time.Hour)
		f.beat()
		if moved, err := f.Spread(f.Context(), "k_second", time.Second); err != nil || moved != 0 { // while another instance runs
			t.Fatalf("%d moved, %v", moved, err)
		}
		if moved, err := f.Spread(f.Context(), checker, 2*time.Hour); err != nil || moved != 0 { // nothing is that late
			t.Fatalf("%d moved, %v", moved, err)
		}
		if moved, err := f.Spread(f.Context(), checker, time.Second); err != nil || moved != n {
			t.Fatalf("%d moved, %v", moved, err)
		}
		for i := range 12 {
			f.clock.Advance(5 * time.Second)
			if got := len(f.claim()); got < n/24 || got > n/8 {
				t.Errorf("%d of %d checks in part %d of 12", got, n, i)
			}
		}
	})
}

// Targets that are due too far ahead, after a longer interval or a wrong clock, are
// rescheduled.
func TestSpreadOfTargetsDueTooFarAhead(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(4)
		for i, claimed := range f.claim() {
			r := up(1)
			r.CheckedAt = f.Now()
			c := targets.Checked{Target: claimed, Result: r}
			if i == 0 {
				c.RetryAfter = 40 * time.Minute // a valid reason to be far ahead
			}
			f.must(f.Record(f.Context(), c))
		}
		f.clock.Advance(-time.Hour) // it was ahead
		if moved, err := f.Spread(f.Context(), checker, time.Second); err != nil || moved != 4 {
			t.Errorf("%d of 4 moved, %v", moved, err)
		}
		f.clock.Advance(time.Minute)
		for _, claimed := range f.claim() {
			f.record(claimed, up(1))
			if next := f.get(claimed.ID).NextCheckAt; next.Sub(f.Now().Time) > 90*time.Second {
				t.Errorf("the next check is in %v", next.Sub(f.Now().Time))
			}
		}
		// The same by a shorter interval.
		hourly := targets.NewStore(f.db, f.clock.Now, targets.Options{CheckInterval: time.Hour})
		f.clock.Advance(2 * time.Minute)
		for _, claimed := range f.claim() {
			r := up(1)
			r.CheckedAt = f.Now()
			f.must(hourly.Record(f.Context(), targets.Checked{Target: claimed, Result: r}))
		}
		if moved, err := f.Spread(f.Context(), checker, time.Second); err != nil || moved != 4 {
			t.Errorf("%d of 4 moved, %v", moved, err)
		}
	})
}

// A claim without due targets only reads.
func TestIdleClaimWritesNothing(t *testing.T) {
	each(t, func(f fixture) {
		f.add("https://a.test")
		f.record(f.only(), up(1))
		queries := modelstest.Queries(f, f.db)
		_, next, err := f.Claim(f.Context(), checker, 10)
		f.must(err)
		if n := queries.Load(); n != 1 {
			f.Errorf("%d statements, want one", n)
		}
		if next != f.get(f.results(targets.ResultFilter{})[0].TargetID).NextCheckAt {
			t.Errorf("next %v", next)
		}
	})
}
