package sites_test

import (
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

func TestFindWebsites(t *testing.T) {
	each(t, func(w *fixture) {
		cafe := w.site("https://cafe.test/")
		name := "Café & Bar"
		_, err := w.Edit(w.Context(), cafe.ID, sites.Edit{Name: &name})
		w.must(err)
		w.clock.Advance(time.Minute)
		bar := w.site("https://bar.test/")
		gone := w.site("https://gone-bar.test/")
		w.must(w.Delete(w.Context(), gone.ID))
		for text, want := range map[string][]string{"bar": {bar.ID, cafe.ID}, "CAFE &": {cafe.ID}, "https://bar": {bar.ID}, "none": nil, "%": nil} {
			found, err := w.Find(w.Context(), text, 5)
			w.must(err)
			if len(found) != len(want) {
				t.Errorf("%q: got %d websites, want %d", text, len(found), len(want))
				continue
			}
			for i := range found {
				if found[i].ID != want[i] {
					t.Errorf("%q: got %s at index %d", text, found[i].Name, i)
				}
			}
		}
		if found, err := w.Find(w.Context(), "test", 1); err != nil || len(found) != 1 || found[0].ID != bar.ID {
			t.Errorf("first: %+v, %v", found, err)
		}
		_, err = w.Find(w.Context(), string(make([]byte, models.MaxFilter+1)), 5)
		w.wantCode(err, models.CodeInvalid)
	})
}

// FindPages finds any part of the URLs of the newest pages, and the beginning of the URLs of all.
func TestFindPages(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://shop.test/")
		m := w.sitemap(s, "https://shop.test/sitemap.xml")
		w.read(s, m, w.entry("https://shop.test/Deep/Page", 1), w.entry("https://shop.test/other", 1))
		found := func(text string) string {
			t.Helper()
			ps, err := w.FindPages(w.Context(), text, 5)
			w.must(err)
			urls := []string{}
			for _, p := range ps {
				urls = append(urls, p.URL)
			}
			return fmt.Sprint(urls)
		}
		const deep, both = "[https://shop.test/Deep/Page]", "[https://shop.test/other https://shop.test/Deep/Page]"
		for text, want := range map[string]string{"deep": deep, "SHOP": both, "shop.test/Deep": deep, "100%": "[]", "none": "[]"} {
			if got := found(text); got != want {
				t.Errorf("%q: got %s, want %s", text, got, want)
			}
		}
		modelstest.Exec(w.T, w.db, "UPDATE pages SET gone_at = 1 WHERE url LIKE '%other'")
		if got := found("shop"); got != deep {
			t.Errorf("gone: got %s", got)
		}
		other := w.site("https://many.test/")
		rows := models.NewRows("n bigint")
		for i := range models.NewestSearched {
			rows.Add(i)
		}
		w.must(w.db.Write(w.Context(), func(tx *gorm.DB) error {
			return rows.Exec(tx, `INSERT INTO pages (website_seq, url, path_start, auto_priority, queue_rank, status, cause, queued_for_google, queued_for_indexnow, attempts,
					removal, unverified, created_at, last_error, verdict, coverage_state, robots_state, indexing_state, fetch_state, google_canonical, user_canonical)
				SELECT CAST(? AS BIGINT), 'https://many.test/' || r.n, 18, 10, 90, 'pending', '', false, false, 0, false, false, 1, '', '', '', '', '', '', '', '' FROM {rows} AS r`, other.Seq).Error
		}))
		for text, want := range map[string]string{"deep": "[]", "https://shop.test/Deep": deep, "shop.test/": deep} {
			if got := found(text); got != want {
				t.Errorf("among many, %q: got %s, want %s", text, got, want)
			}
		}
		_, err := w.FindPages(w.Context(), string(make([]byte, models.MaxFilter+1)), 5)
		w.wantCode(err, models.CodeInvalid)
	})
}
