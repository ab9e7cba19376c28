package targets_test

import (
	"sync"
	"testing"

	"linkwatch/models"
	"linkwatch/models/targets"
)

// If a URL is added and restored at the same time, exactly one target has it.
func TestRestoreDuringAdd(t *testing.T) {
	each(t, func(f fixture) {
		for range 20 {
			made := f.add("https://a.test")
			f.must(f.Delete(f.Context(), made.ID))
			var other targets.Target
			var created bool
			var addErr, restoreErr error
			var wg sync.WaitGroup
			wg.Go(func() { other, created, addErr = f.Add(t.Context(), targets.New{URL: "https://a.test"}) })
			wg.Go(func() { _, restoreErr = f.Restore(t.Context(), made.ID) })
			wg.Wait()
			f.must(addErr)
			if restored := restoreErr == nil; restored == created || !restored && models.CodeOf(restoreErr) != models.CodeConflict {
				t.Fatalf("created %v, restored: %v", created, restoreErr)
			}
			f.must(f.Delete(f.Context(), other.ID))
		}
	})
}

func TestDeleteAndRestore(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		f.check(up(3))
		f.must(f.Delete(f.Context(), made.ID))
		_, err := f.Get(f.Context(), made.ID)
		f.is(err, models.CodeNotFound, "")
		f.is(f.Delete(f.Context(), made.ID), models.CodeNotFound, "")
		if all := f.results(targets.ResultFilter{}); len(all) != 0 {
			t.Errorf("results of a deleted target are shown: %v", all)
		}
		back, err := f.Restore(f.Context(), made.ID)
		f.must(err)
		if back.ID != made.ID || back.NextCheckAt != f.Now() || len(f.results(targets.ResultFilter{TargetID: made.ID})) != 1 {
			t.Errorf("%+v", back)
		}
		_, err = f.Restore(f.Context(), made.ID)
		f.is(err, models.CodeNotFound, "")

		f.must(f.Delete(f.Context(), made.ID))
		f.add("https://a.test") // the address is free again
		_, err = f.Restore(f.Context(), made.ID)
		f.is(err, models.CodeConflict, "")
	})
}
