package shortlinks_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"linkwatch/models/shortlinks"
)

// The visit limit is exact for concurrent visits on several instances.
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
			t.Errorf("got %d redirects, %d refused, %+v", led.Load(), refused.Load(), l)
		}
		// If the limit grows by two, all instances allow exactly two more visits, even if they cached that it was reached.
		_, err := f.Edit(f.Context(), "some", shortlinks.Edit{MaxVisits: new(int64(9))})
		f.must(err)
		if l := f.get("some"); !l.ExhaustedAt.IsZero() {
			t.Errorf("got %+v", l)
		}
		for i, want := range []string{"https://example.com/page", "https://example.com/page", "gone"} {
			if got := f.visit("some"); got != want {
				t.Errorf("visit %d: got %s", i, got)
			}
		}
	})
}

// A claim uses the current link, not the cached one.
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
			stale.redirectsTo("moves", "https://example.com/page")
			f.must(f.edit("moves", c.e))
			stale.redirectsTo("moves", c.want)
		}
		if l := f.get("moves"); l.Visits != 4 {
			t.Errorf("got %d claimed visits", l.Visits)
		}
	})
}
