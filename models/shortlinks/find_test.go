package shortlinks_test

import (
	"fmt"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// found returns the keys that Find finds.
func (f fixture) found(text string, limit int) string {
	f.Helper()
	ls, err := f.Find(f.Context(), text, limit)
	f.must(err)
	keys := []string{}
	for _, l := range ls {
		keys = append(keys, l.Key)
	}
	return fmt.Sprint(keys)
}

// Find matches any part of the texts of the newest short links, and the prefix of the key and of the URL of all.
func TestFind(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("Old-1"), func(n *shortlinks.New) { n.LongURL, n.Title = "https://www.shop.test/a", "Autumn sale" })
		f.clock.Advance(time.Minute)
		f.add(key("old-2"), func(n *shortlinks.New) { n.LongURL, n.Title = "http://other.test/shop", "50% off" })
		for text, want := range map[string]string{
			"autumn": "[Old-1]", "TEST": "[old-2 Old-1]", "50%": "[old-2]", "5_%": "[]", "%": "[old-2]", `\`: "[]", "shop": "[old-2 Old-1]", "none": "[]",
		} {
			if got := f.found(text, 5); got != want {
				t.Errorf("%q: got %s, want %s", text, got, want)
			}
		}
		if got := f.found("test", 1); got != "[old-2]" {
			t.Errorf("got %s first", got)
		}
		f.clock.Advance(time.Minute)
		f.addMany(6*models.NewestSearched, "")
		for text, want := range map[string]string{"autumn": "[]", "shop": "[Old-1]", "https://www.shop.test/": "[Old-1]", "Old": "[Old-1]", "old": "[old-2]"} {
			if got := f.found(text, 5); got != want {
				t.Errorf("among many, %q: got %s, want %s", text, got, want)
			}
		}
		f.must(f.Delete(t.Context(), "old-2"))
		if got := f.found("old", 5); got != "[]" {
			t.Errorf("deleted: got %s", got)
		}
		_, err := f.Find(t.Context(), string(make([]byte, models.MaxFilter+1)), 5)
		f.wantError(err, models.CodeInvalid, "query.q")
		modelstest.WholeTable(t, f.db, "short_links", func() error { _, err := f.Find(t.Context(), "shop", 5); return err })
	})
}
