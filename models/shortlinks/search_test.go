package shortlinks_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// A search reads a bounded number of short links and continues with the next page.
func TestSearchOfManyShortLinks(t *testing.T) {
	each(t, func(f fixture) {
		const n = models.MaxSearched + 10
		f.add(key("some"))
		modelstest.Copies(f, f.db, "short_links", n, map[string]string{"short_key": "'a' || (1000000 + i)", "search_text": modelstest.Last(n, "needle", "search_text")})
		search := func(filter shortlinks.Filter) {
			modelstest.StopsAndContinues(f, func(after models.Cursor) (models.Slice[shortlinks.ShortLink], error) {
				return f.List(f.Context(), filter, after, 5)
			})
		}
		search(shortlinks.Filter{Text: "Needle"})
		search(shortlinks.Filter{Text: "Needle", Status: shortlinks.Active})
		modelstest.Exec(f, f.db, "UPDATE short_links SET created_at = created_at - seq")
		search(shortlinks.Filter{Text: "Needle", Newest: true})
	})
}
