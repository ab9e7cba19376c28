package links_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
)

// TestSearchOfManyBlocks compares searches, whose posting lists are loaded in stages, with the texts of links in four
// blocks of the index.
func TestSearchOfManyBlocks(t *testing.T) {
	each(t, func(f fixture) {
		const all = 13_000
		rnd := rand.New(rand.NewPCG(1, 2))
		ns := make([]links.New, all)
		for i := range ns {
			ns[i] = links.New{URL: fmt.Sprintf("https://h.test/%d", i), Title: fmt.Sprintf("word%d of all", rnd.IntN(500))}
		}
		ns[7].URL, ns[7].Title = "https://rare.test/zq", "first of all" // in the first block
		ns[9_000].Title = "first and ninth of all"
		_, err := f.Import(f.Context(), ns)
		f.must(err)
		for query, matches := range map[string]func(n links.New) bool{
			"url:rare":        func(n links.New) bool { return strings.Contains(n.URL, "rare") },
			"url:h.test":      func(n links.New) bool { return strings.Contains(n.URL, "h.test") },
			"zq":              func(n links.New) bool { return strings.Contains(n.URL, "zq") },
			"url:zq":          func(n links.New) bool { return strings.Contains(n.URL, "zq") },
			"first url:test":  func(n links.New) bool { return strings.Contains(n.Title, "first") },
			"first of":        func(n links.New) bool { return strings.Contains(n.Title, "first") && strings.Contains(n.Title, "of") },
			"word77 url:9 te": func(n links.New) bool { return strings.Contains(n.Title, "word77") && strings.Contains(n.URL, "9") },
			"te title:ninth":  func(n links.New) bool { return strings.Contains(n.Title, "ninth") },
		} {
			want := 0
			for _, n := range ns {
				if matches(n) {
					want++
				}
			}
			for _, shown := range []links.Shown{links.ShowActive, links.ShowAll} {
				seen := map[string]bool{}
				for number := 1; number <= min(want, 100); number++ {
					found, err := f.List(f.Context(), links.Filter{Query: query, Shown: shown}, models.Page{Number: number, Size: 1})
					f.must(err)
					if found.Total != min(want, links.MaxCounted) || len(found.Items) != 1 {
						f.Fatalf("%q, %q, page %d: %d of %d, want %d", query, shown, number, len(found.Items), found.Total, want)
					}
					seen[found.Items[0].ID] = true
				}
				if len(seen) != min(want, 100) {
					f.Errorf("%q, %q: %d links on %d pages", query, shown, len(seen), min(want, 100))
				}
			}
		}
	})
}
