package targets_test

import (
	"fmt"
	"testing"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

// A target is found with and without the characters that models.Ignored names. The texts of targets that were added before
// schema 161 have them.
func TestSearchIgnores(t *testing.T) {
	each(t, func(f fixture) {
		search := func(when string) {
			t.Helper()
			for _, text := range []string{"❤ مدرسة", "❤\ufe0f مَدْرَسَة", "מנהל"} {
				found, err := f.Find(t.Context(), text, 5)
				f.must(err)
				page, err := f.List(t.Context(), targets.Filter{Text: text}, models.Cursor{}, 5)
				f.must(err)
				if len(found) != 1 || len(page.Items) != 1 {
					t.Errorf("%s %s: found %d, listed %d", text, when, len(found), len(page.Items))
				}
			}
		}
		for i, name := range []string{"❤\ufe0f مَدْرَسَة", "מְנַהֵל"} {
			_, _, err := f.Add(t.Context(), targets.New{URL: fmt.Sprintf("https://a.test/%d", i), Name: name})
			f.must(err)
		}
		search("at once")
		modelstest.MigrateBelow(t, f.db, 161)
		modelstest.Exec(t, f.db, "UPDATE targets SET search_text = name || ' ' || canonical_url")
		f.must(f.db.Migrate(t.Context()))
		search("after the migration")
	})
}
