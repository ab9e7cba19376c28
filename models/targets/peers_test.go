package targets_test

import (
	"context"
	"testing"
	"time"

	"linkwatch/models/targets"
)

// A killed checker's targets are free after a few heartbeats of another one.
func TestClaimsOfAKilledCheckerEnd(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		claimed := f.only()
		var seen targets.Peers
		f.beats("k_other", &seen, 4)
		if ts, _, err := f.Claim(f.Context(), "k_other", 10); err != nil || len(ts) != 0 {
			t.Fatalf("it was claimed from a living checker: %v %v", ts, err)
		}
		f.beats("k_other", &seen, 1)
		ts, _, err := f.Claim(f.Context(), "k_other", 10)
		f.must(err)
		if len(ts) != 1 || ts[0].ID != made.ID {
			t.Fatalf("%v", ts)
		}
		// The first one was only stopped: it learns that its claim is gone.
		if lost, err := f.Hold(f.Context(), checker); err != nil || !lost {
			t.Errorf("lost %v, %v", lost, err)
		}
		f.record(claimed, down())
		if got := f.get(made.ID); !got.LastCheckedAt.IsZero() || got.ClaimedBy != "k_other" {
			t.Errorf("a lost check was recorded: %+v", got)
		}
	})
}

// A checker that renews its lease keeps its claims, however rarely it does and
// whatever its clock says.
func TestLivingCheckersKeepTheirClaims(t *testing.T) {
	each(t, func(f fixture) {
		f.add("https://a.test")
		claimed := f.only()
		var seen targets.Peers
		for range 5 {
			f.beats("k_other", &seen, 4)
			f.clock.Advance(time.Microsecond)
			if lost, err := f.Hold(f.Context(), checker); err != nil || lost {
				t.Fatalf("lost %v, %v", lost, err)
			}
		}
		f.clock.Advance(time.Hour) // as while the database is unavailable to every checker
		f.beats("k_other", &seen, 1)
		if lost, err := f.Hold(f.Context(), checker); err != nil || lost {
			t.Fatalf("lost %v, %v", lost, err)
		}
		f.beats("k_other", &seen, 4)
		f.record(claimed, up(1))
		if got := f.get(claimed.ID); got.LastCheckedAt.IsZero() {
			t.Error("the check of a living checker was dropped")
		}
	})
}

// Looks that failed count for nothing: they say nothing about the others.
func TestPeersStartOverAfterAnError(t *testing.T) {
	each(t, func(f fixture) {
		f.add("https://a.test")
		f.only()
		var seen targets.Peers
		f.beats("k_other", &seen, 4)
		canceled, cancel := context.WithCancel(f.Context())
		cancel()
		if err := f.FreeDead(canceled, "k_other", &seen); err == nil {
			t.Fatal("no error without a database")
		}
		f.beats("k_other", &seen, 4)
		if ts, _, err := f.Claim(f.Context(), "k_other", 10); err != nil || len(ts) != 0 {
			t.Errorf("%v %v", ts, err)
		}
	})
}
