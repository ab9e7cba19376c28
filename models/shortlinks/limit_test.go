package shortlinks_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"linkwatch/models/shortlinks"
)

// The number of visits is exact, however many come at once to however many instances.
func TestMaxVisitsIsExact(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("some"), limit(7))
		instances := []fixture{f, f.another(), f.another()}
		var led, refused atomic.Int64
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() {
				switch instances[i%3].visit("some") {
				case "https://example.com/page":
					led.Add(1)
				case "gone":
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		l := f.get("some")
		if led.Load() != 7 || refused.Load() != 53 || l.Visits != 7 || l.Status(f.Now()) != shortlinks.Expired || l.ExhaustedAt != f.Now() {
			t.Errorf("%d redirected, %d refused: %+v", led.Load(), refused.Load(), l)
		}
		// Two more visits are two more for every instance, also for those that saw the limit reached.
		_, err := f.Edit(f.Context(), "some", shortlinks.Edit{MaxVisits: new(int64(9))})
		f.must(err)
		if l := f.get("some"); !l.ExhaustedAt.IsZero() {
			t.Errorf("%+v", l)
		}
		for i, want := range []string{"https://example.com/page", "https://example.com/page", "gone"} {
			if got := f.visit("some"); got != want {
				t.Errorf("visit %d leads to %s", i, got)
			}
		}
	})
}

// A claim goes by what the link is now, not by what a cache holds of it.
func TestClaimOfAChangedLink(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("moves"), limit(5))
		for _, c := range []struct {
			e    shortlinks.Edit
			want string
		}{
			{shortlinks.Edit{LongURL: new("https://new.test")}, "https://new.test"},
			{shortlinks.Edit{Disabled: new(true)}, "gone"},
			{shortlinks.Edit{MaxVisits: new(int64(0))}, "https://example.com/page"},
		} {
			f.must(f.edit("moves", shortlinks.Edit{Disabled: new(false), LongURL: new("https://example.com/page"), MaxVisits: new(int64(100))}))
			stale := f.another()
			stale.leads("moves", "https://example.com/page")
			f.must(f.edit("moves", c.e))
			stale.leads("moves", c.want)
		}
		if l := f.get("moves"); l.Visits != 4 {
			t.Errorf("%d visits were claimed", l.Visits)
		}
	})
}
