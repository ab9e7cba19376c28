package targets_test

import (
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
)

func TestResultsArePagedNewestFirst(t *testing.T) {
	each(t, func(f fixture) {
		ids := f.addMany(3)
		for round := range 5 {
			f.clock.Advance(2 * time.Minute)
			for i, claimed := range f.claim() { // all three at the same instant
				if r := up(round); i == 0 {
					f.record(claimed, down())
				} else {
					f.record(claimed, r)
				}
			}
		}
		for name, filter := range map[string]targets.ResultFilter{
			"all": {}, "one target": {TargetID: ids[1]}, "failed": {Failed: true}, "since": {Since: f.Now().Add(-4 * time.Minute)},
		} {
			want := f.results(filter)
			if n := map[string]int{"all": 15, "one target": 5, "failed": 5, "since": 9}[name]; len(want) != n {
				t.Errorf("%s: %d results, want %d", name, len(want), n)
			}
			if !slices.IsSortedFunc(want, func(a, b targets.Result) int { return b.CheckedAt.Compare(a.CheckedAt.Time) }) {
				t.Errorf("%s: not the newest first", name)
			}
			var got []targets.Result
			var after models.Cursor
			for {
				page, err := f.Results(f.Context(), filter, after, 2)
				f.must(err)
				got = append(got, page.Items...)
				if after = page.Next; after == (models.Cursor{}) {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: pages of two give %v, want %v", name, got, want)
			}
		}
		_, err := f.Results(f.Context(), targets.ResultFilter{TargetID: models.NewID(models.KindTarget)}, models.Cursor{}, 10)
		f.is(err, models.CodeNotFound, "")
	})
}
