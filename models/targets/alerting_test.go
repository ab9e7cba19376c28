package targets_test

import (
	"testing"
	"time"
)

// Newest returns the newest targets first, without deleted ones.
func TestNewest(t *testing.T) {
	each(t, func(f fixture) {
		ids := f.addMany(3)
		f.clock.Advance(time.Second)
		f.must(f.Delete(t.Context(), ids[1]))
		found, err := f.Newest(t.Context(), 10)
		f.must(err)
		if len(found) != 2 || found[0].ID != ids[2] || found[1].ID != ids[0] {
			t.Errorf("got %+v, want %s and %s", found, ids[2], ids[0])
		}
	})
}
