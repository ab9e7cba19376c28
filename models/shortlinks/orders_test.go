package shortlinks_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// Lists have each row once in each direction, with ties, and no statement sorts. The count of each status has its filter.
func TestListInEachOrder(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("some"))
		modelstest.Copies(f, f.db, "short_links", 2000, map[string]string{"short_key": "'a' || (1000000 + i)", "created_at": "created_at + i / 9"})
		modelstest.ListedOnce(f, f.db, shortlinks.ListOrders, func(after models.Cursor, limit int) (models.Slice[shortlinks.ShortLink], error) {
			return f.List(f.Context(), shortlinks.Filter{}, after, limit)
		})
		modelstest.Exec(f, f.db, "UPDATE short_links SET disabled = TRUE WHERE seq % 2 = 0")
		modelstest.Exec(f, f.db, "UPDATE short_links SET expires_at = created_at WHERE seq % 3 = 0")
		f.clock.Advance(models.Day)
		for _, status := range []shortlinks.Status{shortlinks.Active, shortlinks.Disabled, shortlinks.Expired} {
			page, err := f.List(f.Context(), shortlinks.Filter{Status: status}, models.Cursor{Want: models.Want{Total: true}}, 5)
			f.must(err)
			all, err := f.List(f.Context(), shortlinks.Filter{Status: status}, models.Cursor{}, 5000)
			f.must(err)
			if n := len(all.Items); n == 0 || page.Count != (models.Count{Known: true, N: n}) {
				f.Errorf("%s: count %+v of %d", status, page.Count, n)
			}
		}
	})
}
