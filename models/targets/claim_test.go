package targets_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/models"
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

// Two checkers on one store never get the same target.
func TestClaimsAreNotShared(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(200)
		var mu sync.Mutex
		var got []string
		var wg sync.WaitGroup
		for _, name := range []string{"k_one", "k_two", "k_three"} {
			id := modelstest.Lease(t, f.db, name)
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

// Without a lease nothing is claimed, since it would never be freed.
func TestClaimNeedsALease(t *testing.T) {
	each(t, func(f fixture) {
		f.add("https://a.test")
		if ts, _, err := f.Claim(f.Context(), "k_unknown", 10); !errors.Is(err, lease.ErrLost) || len(ts) != 0 {
			t.Errorf("%v %v", ts, err)
		}
	})
}

func TestReleaseKeepsSinceWhenItIsDue(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		f.clock.Advance(time.Second)
		claimed := f.only()
		f.must(f.Release(f.Context(), time.Minute, claimed))
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

func TestTheEndOfALeaseFreesItsClaims(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(3)
		if n := len(f.claim()); n != 3 {
			t.Fatalf("%d claimed", n)
		}
		f.loseLease()
		if n := len(f.claim()); n != 3 {
			t.Errorf("%d of 3 are free", n)
		}
	})
}

// After a claim of which nobody knows whether it was committed, all are freed but
// those that the checker knows of.
func TestReleaseOthers(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(3)
		known := f.claim()[1]
		f.must(f.ReleaseOthers(f.Context(), checker, known))
		if again := f.claim(); len(again) != 2 || again[0].ID == known.ID || again[1].ID == known.ID {
			t.Errorf("%v", again)
		}
		f.must(f.ReleaseOthers(f.Context(), checker))
		if n := len(f.claim()); n != 3 {
			t.Errorf("%d of 3 are free", n)
		}
	})
}

// After a time in which nobody checked, the overdue checks come spread over
// one interval instead of all at once.
func TestSpreadAfterATimeWithoutChecks(t *testing.T) {
	each(t, func(f fixture) {
		const n = 100
		f.addMany(n)
		for _, claimed := range f.claim() {
			f.record(claimed, up(1))
		}
		f.clock.Advance(time.Hour)
		modelstest.Exec(t, f.db, "UPDATE instances SET heartbeat_at = ?", f.Now())
		if moved, err := f.Spread(f.Context(), "k_second", time.Second); err != nil || moved != 0 { // while another one checks
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

// What a longer interval or a clock that ran ahead has planned is planned anew.
func TestSpreadOfWhatIsPlannedTooFarAhead(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(4)
		for i, claimed := range f.claim() {
			r := up(1)
			r.CheckedAt = f.Now()
			c := targets.Checked{Target: claimed, Result: r}
			if i == 0 {
				c.RetryAfter = 40 * time.Minute // which is no mistake
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

// A tick that finds nothing due only reads.
func TestIdleTickWritesNothing(t *testing.T) {
	each(t, func(f fixture) {
		f.add("https://a.test")
		f.record(f.only(), up(1))
		var next models.Time
		sent := modelstest.Sent(t, f.db, func() (err error) { _, next, err = f.Claim(f.Context(), checker, 10); return err })
		if next != f.get(f.results(targets.ResultFilter{})[0].TargetID).NextCheckAt {
			t.Errorf("next %v", next)
		}
		for _, s := range sent {
			if !strings.HasPrefix(s.SQL, "SELECT ") {
				t.Error(s.SQL)
			}
		}
	})
}
