package links_test

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

func TestPutOff(t *testing.T) {
	each(t, func(t fixture) {
		a, b := t.add("https://a.test/a"), t.add("https://a.test/b")
		t.clock.Advance(2 * week)
		due, err := t.Claim(t.Context(), 5)
		t.must(err)
		_, err = t.SetExpired(t.Context(), true, b.ID)
		t.must(err)
		t.must(t.PutOff(t.Context(), time.Minute, due[0].ID, due[1].ID))
		t.clock.Advance(time.Minute)
		if due, err = t.Claim(t.Context(), 5); err != nil || len(due) != 1 || due[0].ID != a.ID {
			t.Errorf("due %+v, %v", due, err)
		}
		t.must(t.PutOff(t.Context(), 0, a.ID))
		if due, err = t.Claim(t.Context(), 5); err != nil || len(due) != 1 {
			t.Errorf("due %+v, %v", due, err)
		}
	})
}

func TestClaimsAreNotSharedAndEnd(t *testing.T) {
	each(t, func(t fixture) {
		const n = 40
		for i := range n {
			t.add(fmt.Sprintf("https://a.test/%d", i))
		}
		t.clock.Advance(2 * week)
		var mu sync.Mutex
		claims := map[string]int{}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					due, err := t.Claim(t.Context(), 7)
					if err != nil {
						t.Error(err)
					}
					if len(due) == 0 {
						return
					}
					mu.Lock()
					for _, l := range due {
						claims[l.ID]++
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(claims) != n {
			t.Errorf("%d links claimed, want %d", len(claims), n)
		}
		for id, times := range claims {
			if times != 1 {
				t.Errorf("%s was claimed %d times", id, times)
			}
		}
		t.clock.Advance(11 * time.Minute) // whoever claimed them was killed
		due, err := t.Claim(t.Context(), 100)
		t.must(err)
		if len(due) != n {
			t.Errorf("%d links come due again, want %d", len(due), n)
		}
	})
}
