package links_test

import (
	"slices"
	"testing"

	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

func TestEventsOfChecks(t *testing.T) {
	each(t, func(f fixture) {
		f.web.set("https://a.test/dies", links.Page{Status: 200, Title: "Dies"})
		f.web.set("https://a.test/moves", links.Page{Status: 200, Title: "Moves"})
		dies, moves := f.add("https://a.test/dies"), f.add("https://a.test/moves")
		if got := modelstest.Events(f, f.db); len(got) != 0 {
			f.Errorf("got %q", got)
		}
		f.web.set("https://a.test/dies", links.Page{Status: 404})
		f.web.set("https://a.test/moves", links.Page{Status: 200, Permanent: true, URL: "https://b.test/"})
		for _, id := range []string{dies.ID, moves.ID, moves.ID} { // one event per change
			_, err := f.Recheck(f.Context(), id)
			f.must(err)
		}
		want := []string{"link.dead once Dies: unexpected status 404", "link.moved once Moves: to https://b.test/"}
		if got := modelstest.Events(f, f.db); !slices.Equal(got, want) {
			f.Errorf("%q, want %q", got, want)
		}
	})
}
