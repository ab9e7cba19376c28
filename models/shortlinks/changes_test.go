package shortlinks_test

import (
	"fmt"
	"testing"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
)

func TestChangedAfter(t *testing.T) {
	each(t, func(f fixture) {
		version := int64(0)
		changed := func(want ...string) {
			t.Helper()
			newest, changes, err := f.ChangedAfter(f.Context(), version, 10)
			f.must(err)
			got := map[string]bool{}
			for _, c := range changes {
				got[c.Key] = true
				if c.Version <= version || c.Version > newest {
					t.Errorf("got %+v, want a version after %d and up to %d", c, version, newest)
				}
			}
			for _, key := range want {
				if !got[key] {
					t.Errorf("%s is missing in %v", key, changes)
				}
			}
			if len(changes) != len(want) {
				t.Errorf("got %v, want %v", changes, want)
			}
			version = newest
		}
		changed()
		for i := range 3 {
			f.add(key(fmt.Sprintf("key-%d", i)))
		}
		changed("key-0", "key-1", "key-2")
		changed()
		f.must(f.edit("key-1", shortlinks.Edit{Title: new("x")}))
		f.must(f.Delete(f.Context(), "key-0"))
		changed("key-0", "key-1")
		if err := f.edit("key-1", shortlinks.Edit{MaxVisits: new(int64(-1))}); err == nil {
			t.Error("-1 visits are accepted")
		}
		changed() // nothing is committed
		version = 0
		if _, changes, err := f.ChangedAfter(f.Context(), 0, 2); err != nil || len(changes) != 2 {
			t.Errorf("limit 2: got %v, %v", changes, err)
		}
	})
}

// Each version is greater than the previous one, for any clock.
func TestVersionsGrow(t *testing.T) {
	each(t, func(f fixture) {
		l := f.add()
		f.clock.Advance(-1e9)
		for range 3 {
			before := l
			l = f.add()
			if l.Version <= before.Version {
				t.Errorf("added: got version %d after %d", l.Version, before.Version)
			}
			before = l
			l, err := f.Edit(f.Context(), l.Key, shortlinks.Edit{Title: new("x")})
			f.must(err)
			if l.Version <= before.Version || f.get(l.Key).Version != l.Version {
				t.Errorf("changed: got version %d after %d", l.Version, before.Version)
			}
		}
		// After a restored backup it is also greater than the versions of lost changes.
		f.clock.Advance(2e9)
		if l := f.add(); l.Version != models.At(f.clock.Now()).UnixMicro() {
			t.Errorf("got version %d at %s", l.Version, f.clock.Now())
		}
	})
}
