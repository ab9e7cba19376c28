package crawl_test

import (
	"fmt"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

// Sources and pages are found with and without the characters that models.Ignored names.
func TestSearchIgnores(t *testing.T) {
	each(t, func(w *world) {
		_, err := w.AddSource(t.Context(), crawl.NewSource{URL: "http://b.example/", Name: "❤\ufe0f مَدْرَسَة", Enabled: true})
		w.ok(err)
		j := w.job("http://a.example/", time.Hour)
		w.crawlSite(j, site{
			"/":   "Home\n->/ar\n->/he\n->/en",
			"/ar": "صفحة\nشِدَّة",
			"/he": "דף\nשָׁלוֹם עוֹלָם",
			"/en": "Page\nI ❤\ufe0fheart",
		})
		for _, text := range []string{"❤ مدرسة", "❤\ufe0f مَدْرَسَة"} {
			page, err := w.Sources(t.Context(), text, models.Cursor{}, 5)
			w.ok(err)
			if len(page.Items) != 1 {
				t.Errorf("%s: %d sources", text, len(page.Items))
			}
		}
		for query, want := range map[string]string{
			"شدة": "[/ar]", "شِدَّة": "[/ar]", `"שלום עולם"`: "[/he]", "heart": "[/en]",
		} {
			if got := fmt.Sprint(w.search(crawl.PageFilter{Query: query})); got != want {
				t.Errorf("%s: pages %s, want %s", query, got, want)
			}
		}
	})
}
