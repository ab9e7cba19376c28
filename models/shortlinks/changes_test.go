package shortlinks_test

import (
	"fmt"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

func TestChanged(t *testing.T) {
	each(t, func(f fixture) {
		seen := func(since models.Time) (keys []string) {
			f.must(f.Changed(f.Context(), since, func(c shortlinks.Change) {
				if c.TTL <= 0 || c.Entry.Version == 0 {
					t.Errorf("%+v", c)
				}
				if c.Entry.IsTombstone {
					c.Key += "†" + string(c.Entry.Reason)
				}
				keys = append(keys, c.Key)
			}))
			return keys
		}
		for i := range 3 {
			f.add(key(fmt.Sprintf("key-%d", i)))
			f.clock.Advance(time.Second)
		}
		since := f.Now()
		f.must(f.edit("key-1", shortlinks.Edit{Title: ptr("x")}))
		f.clock.Advance(time.Second)
		f.must(f.Delete(f.Context(), "key-0"))
		if got := fmt.Sprint(seen(since)); got != "[key-1 key-0†deleted]" {
			t.Error(got)
		}
		if got := fmt.Sprint(seen(f.Now().Add(-time.Hour))); got != "[key-2 key-1 key-0†deleted]" {
			t.Error(got)
		}
	})
}

// More changes than are read at once.
func TestManyChanged(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	since := f.Now()
	f.addMany(2500, "")
	n := map[string]bool{}
	f.must(f.Changed(f.Context(), since, func(c shortlinks.Change) { n[c.Key] = true }))
	if len(n) != 2500 {
		t.Errorf("%d were seen", len(n))
	}
}
