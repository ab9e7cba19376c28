package crawl_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// Sources and pages are found with and without the characters that models.Ignored names. The texts of sources that were added
// before schema 161 have them, and pages in Arabic and Hebrew are indexed again.
func TestSearchIgnores(t *testing.T) {
	each(t, func(w *world) {
		search := func(when string) {
			t.Helper()
			for _, text := range []string{"❤ مدرسة", "❤\ufe0f مَدْرَسَة"} {
				page, err := w.Sources(t.Context(), text, models.Cursor{}, 5)
				w.ok(err)
				if len(page.Items) != 1 {
					t.Errorf("%s %s: %d sources", text, when, len(page.Items))
				}
			}
			for query, want := range map[string]string{
				"شدة": "[/ar]", "شِدَّة": "[/ar]", `"שלום עולם"`: "[/he]", "heart": "[/en]",
			} {
				if got := fmt.Sprint(w.search(crawl.PageFilter{Query: query})); got != want {
					t.Errorf("%s %s: pages %s, want %s", query, when, got, want)
				}
			}
		}
		_, err := w.AddSource(t.Context(), crawl.NewSource{URL: "http://b.example/", Name: "❤\ufe0f مَدْرَسَة", Enabled: true})
		w.ok(err)
		j := w.job("http://a.example/", time.Hour)
		w.crawlSite(j, site{
			"/":   "Home\n->/ar\n->/he\n->/en",
			"/ar": "صفحة\nشِدَّة",
			"/he": "דף\nשָׁלוֹם עוֹלָם",
			"/en": "Page\nI ❤\ufe0fheart",
		})
		search("at once")

		modelstest.MigrateBelow(t, w.db, 161)
		modelstest.Exec(t, w.db, "UPDATE sources SET search_text = name || ' ' || url")
		modelstest.Exec(t, w.db, "UPDATE crawled_pages SET language = 'he', title = 'Page' WHERE url LIKE '%/he'")
		w.ok(w.db.Migrate(t.Context()))
		var urls []string
		w.ok(w.db.Read(t.Context()).Raw("SELECT url FROM crawled_pages WHERE unindexed ORDER BY url").Scan(&urls).Error)
		if want := []string{"http://a.example/ar", "http://a.example/he"}; !slices.Equal(urls, want) {
			t.Errorf("pages to index: %q, want %q", urls, want)
		}
		w.report()
		search("after the migration")
	})
}
