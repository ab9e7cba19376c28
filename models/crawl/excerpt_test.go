package crawl_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// TestExcerpts checks that an excerpt has the first characters of a text, and is read without the rest of a long one.
func TestExcerpts(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 2))
	long := make([]rune, 200_000) // does not compress to less than a block
	for i := range long {
		long[i] = rune('\u4e00' + noise.IntN(20_000))
	}
	texts := map[string]string{
		"/none": "", "/short": "é", "/exact": strings.Repeat("é", crawl.ExcerptLength), "/above": strings.Repeat("😀", crawl.ExcerptLength) + "x",
		"/mixed": strings.Repeat("a😀é", 5000), "/long": string(long),
	}
	each(t, func(w *world) {
		pages := map[string]func(*crawl.Result){}
		for path, text := range texts {
			pages[path] = func(r *crawl.Result) { r.Page.Text, r.Page.ContentHash = crawl.CompressText(text), "h"+path }
		}
		w.crawlPages(w.job("http://a.example/", 0), pages)
		// Nothing after the first block of the long text is read.
		modelstest.Exec(w.T, w.db, "UPDATE page_versions SET text = substr(text, 1, 200000) WHERE length(text) > 200000")
		list, err := w.Pages(w.Context(), crawl.PageFilter{}, models.Cursor{}, 50)
		w.ok(err)
		var found []crawl.Page
		for _, p := range list.Items {
			found = append(found, p.Page)
		}
		got, err := w.Excerpts(w.Context(), found...)
		w.ok(err)
		seen := 0
		for _, p := range found {
			text, ok := texts[strings.TrimPrefix(p.URL, "http://a.example")]
			if !ok {
				continue
			}
			seen++
			runes := []rune(text)
			want := crawl.Excerpt{Text: string(runes[:min(crawl.ExcerptLength, len(runes))]), Truncated: len(runes) > crawl.ExcerptLength}
			if got[p.Seq] != want {
				w.Errorf("%s: got %d bytes, truncated %v; want %d, %v", p.URL, len(got[p.Seq].Text), got[p.Seq].Truncated, len(want.Text), want.Truncated)
			}
		}
		if seen != len(texts) {
			w.Errorf("got %d of %d pages", seen, len(texts))
		}
		modelstest.Exec(w.T, w.db, "UPDATE page_versions SET text = substr(text, 1, 10) WHERE length(text) > 1000")
		if _, err := w.Excerpts(w.Context(), found...); err == nil {
			w.Error("damaged texts are not reported")
		}
	})
}
