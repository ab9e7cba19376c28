package targets_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

// A search reads a bounded number of targets and continues with the next page.
func TestSearchOfManyTargets(t *testing.T) {
	each(t, func(f fixture) {
		f.add("https://a.test")
		const n = models.MaxSearched + 10
		modelstest.Copies(f, f.db, "targets", n, map[string]string{
			"id": "'t_000000000000' || (1000000000 + i)", "canonical_url": "'https://h' || i || '.test'", "search_text": modelstest.Last(n, "needle", "search_text"),
		})
		modelstest.StopsAndContinues(f, func(after models.Cursor) (models.Slice[targets.Target], error) {
			return f.List(f.as("bob"), targets.Filter{Text: "Needle"}, after, 5)
		})
		modelstest.StopsAndContinues(f, func(after models.Cursor) (models.Slice[targets.Target], error) {
			return f.List(f.Context(), targets.Filter{Text: "Needle", Status: targets.Pending}, after, 5)
		})
		choices, more, err := f.Matching(f.as("bob"), "Needle", 5)
		f.must(err)
		if len(choices) != 1 || more {
			t.Errorf("got %d choices, more: %v", len(choices), more)
		}
		some, err := f.List(f.Context(), targets.Filter{Text: ".test", Status: targets.Pending}, models.Cursor{}, 5)
		f.must(err)
		if len(some.Items) != 5 || some.Stopped || some.Next.ID != some.Items[4].ID {
			t.Errorf("got %d targets, stopped: %v, next %v", len(some.Items), some.Stopped, some.Next)
		}
	})
}
