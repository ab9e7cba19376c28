package shortlinks_test

import (
	"testing"

	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// A short link is found with and without the characters that models.Ignored names. The texts of short links that were added
// before schema 161 have them.
func TestSearchIgnores(t *testing.T) {
	each(t, func(f fixture) {
		search := func(when string) {
			t.Helper()
			for text, want := range map[string]string{"❤ مدرسة": "[first]", "❤\ufe0f مَدْرَسَة": "[first]", "מנהל": "[second]"} {
				if got := f.found(text, 5); got != want {
					t.Errorf("%s %s: got %s, want %s", text, when, got, want)
				}
			}
		}
		f.add(key("first"), func(n *shortlinks.New) { n.Title = "❤\ufe0f مَدْرَسَة" })
		f.add(key("second"), func(n *shortlinks.New) { n.Title = "מְנַהֵל" })
		search("at once")
		modelstest.MigrateBelow(t, f.db, 161)
		modelstest.Exec(t, f.db, "UPDATE short_links SET search_text = short_key || ' ' || title || ' ' || canonical_url")
		f.must(f.db.Migrate(t.Context()))
		search("after the migration")
	})
}
