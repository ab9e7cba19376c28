package links_test

import (
	"fmt"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
)

// Find returns the best of the newest matches of List, without near misses.
func TestFind(t *testing.T) {
	each(t, func(f fixture) {
		_, err := f.Import(t.Context(), []links.New{
			{URL: "https://a.test/go", Title: "Another"}, {URL: "https://b.test/", Title: "Go in practice", Tags: []string{"Books"}}, {URL: "https://c.test/", Title: "Rust", Tags: []string{"Go"}},
		})
		f.must(err)
		for text, want := range map[string]string{
			"go": "Go in practice, Another, Rust", "g": "Go in practice, Another, Rust", "tag:books": "Go in practice", "title:go": "Go in practice", "practics": "", "!": "", "": "",
		} {
			found, err := f.Find(t.Context(), text, 5)
			f.must(err)
			titles := make([]string, len(found))
			for i, l := range found {
				titles[i] = l.Title
			}
			if got := strings.Join(titles, ", "); got != want {
				t.Errorf("%q finds %q, want %q", text, got, want)
			}
		}
		many := make([]links.New, 300)
		for i := range many {
			many[i] = links.New{URL: fmt.Sprintf("https://many.test/go-%d", i), Title: "Many"}
		}
		_, err = f.Import(t.Context(), many)
		f.must(err)
		if found, err := f.Find(t.Context(), "go", 5); err != nil || len(found) != 5 || found[0].URL != "https://many.test/go-299" {
			t.Errorf("found %d of many, %v", len(found), err)
		}
		if _, err = f.Find(t.Context(), strings.Repeat("a", models.MaxFilter+1), 5); models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("a long text: %v", err)
		}
	})
}
