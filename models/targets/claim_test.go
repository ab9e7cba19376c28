package targets_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/linkwatch/linkwatch/models"
	"github.com/linkwatch/linkwatch/models/targets"
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
		for _, id := range []string{"k_one", "k_two", "k_three"} {
			_, err := f.Hold(f.Context(), id)
			f.must(err)
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

// A checker that was killed holds its targets no longer than its lease.
func TestClaimsOfAKilledCheckerEnd(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		claimed := f.only()
		f.clock.Advance(targets.CheckerLease - time.Second)
		_, err := f.Hold(f.Context(), "k_other")
		f.must(err)
		if ts, _, err := f.Claim(f.Context(), "k_other", 10); err != nil || len(ts) != 0 {
			t.Fatalf("it was claimed from a living checker: %v %v", ts, err)
		}
		f.clock.Advance(time.Second)
		if _, err := f.Hold(f.Context(), "k_other"); err != nil {
			t.Fatal(err)
		}
		ts, _, err := f.Claim(f.Context(), "k_other", 10)
		f.must(err)
		if len(ts) != 1 || ts[0].ID != made.ID {
			t.Fatalf("%v", ts)
		}
		// The first one was only asleep: it learns that its claim is gone.
		if lost, err := f.Hold(f.Context(), checker); err != nil || !lost {
			t.Errorf("lost %v, %v", lost, err)
		}
		f.record(claimed, down())
		if got := f.get(made.ID); !got.LastCheckedAt.IsZero() || got.ClaimedBy != "k_other" {
			t.Errorf("a lost check was recorded: %+v", got)
		}
	})
}

// Without a lease nothing is claimed, since nobody would free it.
func TestClaimNeedsALease(t *testing.T) {
	each(t, func(f fixture) {
		f.add("https://a.test")
		f.clock.Advance(targets.CheckerLease)
		if ts, _, err := f.Claim(f.Context(), checker, 10); !errors.Is(err, targets.ErrLeaseLost) || len(ts) != 0 {
			t.Errorf("%v %v", ts, err)
		}
		if lost, err := f.Hold(f.Context(), checker); err != nil || !lost {
			t.Errorf("lost %v, %v", lost, err)
		}
	})
}

func TestPutOffKeepsSinceWhenItIsDue(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		f.clock.Advance(time.Second)
		claimed := f.only()
		f.must(f.PutOff(f.Context(), checker, time.Minute, claimed))
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

func TestLeaveGivesEverythingBack(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(3)
		if n := len(f.claim()); n != 3 {
			t.Fatalf("%d claimed", n)
		}
		f.must(f.Leave(f.Context(), checker))
		if _, err := f.Hold(f.Context(), "k_next"); err != nil {
			t.Fatal(err)
		}
		if ts, _, err := f.Claim(f.Context(), "k_next", 10); err != nil || len(ts) != 3 {
			t.Errorf("%d of 3 are free, %v", len(ts), err)
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
		if moved, err := f.Spread(f.Context()); err != nil || moved != n {
			t.Fatalf("%d moved, %v", moved, err)
		}
		if moved, err := f.Spread(f.Context()); err != nil || moved != 0 { // a second instance starts
			t.Errorf("%d moved again, %v", moved, err)
		}
		for i := range 12 {
			f.clock.Advance(5 * time.Second)
			if got := len(f.claim()); got < n/24 || got > n/8 {
				t.Errorf("%d of %d checks in part %d of 12", got, n, i)
			}
		}
	})
}

// A tick that finds nothing due only reads.
func TestIdleTickWritesNothing(t *testing.T) {
	each(t, func(f fixture) {
		f.add("https://a.test")
		f.record(f.only(), up(1))
		before := f.changes()
		_, next, err := f.Claim(f.Context(), checker, 10)
		f.must(err)
		if next != f.get(f.results(targets.ResultFilter{})[0].TargetID).NextCheckAt {
			t.Errorf("next %v", next)
		}
		if after := f.changes(); after != before {
			t.Error("the lease was renewed")
		}
	})
}

// changes tells writes of the checker's lease apart.
func (f fixture) changes() (until models.Time) {
	f.Helper()
	f.must(f.db.Read(f.Context()).Raw("SELECT lease_until FROM checkers WHERE id = ?", checker).Scan(&until).Error)
	f.clock.Advance(time.Millisecond)
	return until
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
		<-f.Wanted() // it was asked for
		f.record(f.only(), down())
		if r := <-done; r.TargetID != made.ID || r.Outcome != targets.DownOutcome {
			t.Errorf("%+v", r)
		}
		if _, ok, err := f.CheckNow(f.Context(), made.ID, time.Millisecond); ok || err != nil {
			t.Errorf("done %v, %v without a check", ok, err)
		}
		_, _, err := f.CheckNow(f.Context(), models.NewID(models.KindTarget), time.Millisecond)
		f.is(err, models.CodeNotFound, "")
	})
}
