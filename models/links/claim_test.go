package links_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"linkwatch/models/lease"
	"linkwatch/models/links"
)

func TestClaimLongestDueFirst(t *testing.T) {
	each(t, func(t fixture) {
		ids := make([]string, 3)
		for i := range ids {
			ids[i] = t.add(fmt.Sprintf("https://a.test/%d", i)).ID
			t.clock.Advance(week) // more than the jitter
		}
		t.clock.Advance(week)
		last := t.add("https://a.test/last")
		first, next, err := t.Claim(t.Context(), t.lease, 2)
		t.must(err)
		if len(first) != 2 || first[0].ID != ids[0] || first[1].ID != ids[1] || next != t.get(ids[2]).NextCheckAt {
			t.Errorf("got %+v, next %v", first, next)
		}
		rest, next, err := t.Claim(t.Context(), t.lease, 2)
		t.must(err)
		if len(rest) != 1 || rest[0].ID != ids[2] || next != last.NextCheckAt {
			t.Errorf("got %+v, next %v", rest, next)
		}
		t.release(time.Minute, slices.Concat(first, rest)...)
		if _, next, err = t.Claim(t.Context(), t.lease, 2); err != nil || !next.Equal(t.clock.Now().Add(time.Minute)) {
			t.Errorf("next %v, %v", next, err)
		}
	})
}

func TestReleasedLinksAreDueAgain(t *testing.T) {
	each(t, func(t fixture) {
		a, b := t.add("https://a.test/a"), t.add("https://a.test/b")
		t.clock.Advance(2 * week)
		due := t.claim(t.lease, 5)
		_, err := t.SetExpired(t.Context(), true, b.ID)
		t.must(err)
		t.release(time.Minute, due...)
		if due := t.claim(t.lease, 5); len(due) != 0 {
			t.Errorf("due too early: %+v", due)
		}
		t.clock.Advance(time.Minute)
		again := t.claim(t.lease, 5)
		if len(again) != 1 || again[0].ID != a.ID { // not the expired one
			t.Errorf("due: %+v", again)
		}
		t.release(0, again...)
		if due := t.claim(t.instance("k_other"), 5); len(due) != 1 {
			t.Errorf("due at once: %+v", due)
		}
		t.release(0, again...) // they are claimed by another instance
		if due := t.claim(t.lease, 5); len(due) != 0 {
			t.Errorf("claims of another instance were released: %+v", due)
		}
		if l := t.get(b.ID); !l.Expired() || !l.NextCheckAt.IsZero() {
			t.Errorf("expired: %+v", l)
		}
	})
}

func TestReleaseOthers(t *testing.T) {
	each(t, func(t fixture) {
		for i := range 6 {
			t.add(fmt.Sprintf("https://a.test/%d", i))
		}
		t.clock.Advance(2 * week)
		other := t.instance("k_other")
		others, mine := t.claim(other, 2), t.claim(t.lease, 4)
		t.must(t.ReleaseOthers(t.Context(), t.lease, mine[1], mine[2]))
		again := t.claim(t.lease, 10)
		if len(again) != 2 || again[0].ID != mine[0].ID || again[1].ID != mine[3].ID {
			t.Errorf("unclaimed: %+v", again)
		}
		t.must(t.ReleaseOthers(t.Context(), t.lease))
		if again = t.claim(t.lease, 10); len(again) != 4 || slices.ContainsFunc(again, func(l links.Claimed) bool { return l.ID == others[0].ID }) {
			t.Errorf("unclaimed: %+v", again)
		}
	})
}

func TestClaimsAreExclusiveAndEndWithTheLease(t *testing.T) {
	each(t, func(t fixture) {
		const n = 40
		for i := range n {
			t.add(fmt.Sprintf("https://a.test/%d", i))
		}
		t.clock.Advance(2 * week)
		var mu sync.Mutex
		claims := map[string]int{}
		var wg sync.WaitGroup
		dead := []lease.ID{t.instance("k_1"), t.instance("k_2"), t.instance("k_3"), t.instance("k_4")}
		for _, id := range dead {
			wg.Go(func() {
				for {
					due, _, err := t.Claim(t.Context(), id, 7)
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					for _, l := range due {
						claims[l.ID]++
						if l.ClaimedBy != id {
							t.Errorf("claimed by %q, want %q", l.ClaimedBy, id)
						}
					}
					all := len(claims) == n
					mu.Unlock()
					if all || err != nil { // none due, but claims of other instances may still fail
						return
					}
				}
			})
		}
		wg.Wait()
		for id, times := range claims {
			if times != 1 {
				t.Errorf("%s was claimed %d times", id, times)
			}
		}
		if due := t.claim(t.lease, 100); len(due) != 0 {
			t.Errorf("%d claimed links are due", len(due))
		}
		t.clock.Advance(week) // claims do not expire
		if due := t.claim(t.lease, 100); len(due) != 0 {
			t.Errorf("%d claimed links are due after a week", len(due))
		}
		for _, id := range dead {
			t.endLease(id)
		}
		if due := t.claim(t.lease, 100); len(due) != n {
			t.Errorf("%d links are due again, want %d", len(due), n)
		}
	})
}

// A claim without a lease would never be released.
func TestClaimNeedsALease(t *testing.T) {
	each(t, func(t fixture) {
		l := t.add("https://a.test/")
		_, err := t.StartRefresh(t.Context(), l.ID)
		t.must(err)
		t.clock.Advance(2 * week)
		t.endLease(t.lease)
		if ls, _, err := t.Claim(t.Context(), t.lease, 5); !errors.Is(err, lease.ErrLost) || len(ls) != 0 {
			t.Errorf("got %+v, %v", ls, err)
		}
		if items, _, err := t.ClaimRefreshes(t.Context(), t.lease, 5); !errors.Is(err, lease.ErrLost) || len(items) != 0 {
			t.Errorf("got %+v, %v", items, err)
		}
		if due := t.claim(t.instance("k_other"), 5); len(due) != 1 {
			t.Errorf("due: %+v", due)
		}
	})
}
