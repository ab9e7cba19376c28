//go:build e2e

package e2e

import (
	"slices"
	"testing"
)

func TestRenameAndMergeTags(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		l := s.save(web.URL+"/go-memory", "Golang", "Talk")
		s.save(web.URL+"/go-channels", "Go")
		b := browse(t, s, in, "/tags")
		b.see("3 tags")
		tag := func(name string) string { // the row of a tag, as a selector
			t.Helper()
			row := `[...document.querySelectorAll("tr[data-row]")].find(r => r.querySelector(".tag")?.textContent === ` + quote(name) + `)`
			b.wait(row)
			return "#" + eval[string](b, row+".id")
		}

		row := tag("Talk")
		b.click(row + " summary")
		b.fill(row+" input[name=name]", "Talks & slides")
		b.click(row + " .rename button")
		b.see("Tag renamed.")
		b.see("Talks & slides")

		b.expect("status of 409")
		row = tag("Golang")
		b.click(row + " summary")
		b.fill(row+" input[name=name]", "go")
		b.click(row + " .rename button")
		b.see("The tag Go exists, on 1 link.")
		b.click(row + " .rename a.button") // keep both tags
		b.lacks(row + " .rename a.button")
		row = tag("Golang")
		b.click(row + " summary")
		b.fill(row+" input[name=name]", "go")
		b.click(row + " .rename button")
		b.click(row + " button.danger")
		b.see("Tags merged.")
		b.see("2 tags")
		if s.Call("GET", "/v1/link/"+l.ID, nil, &l); !slices.Contains(l.Tags, "Go") || !slices.Contains(l.Tags, "Talks & slides") {
			t.Errorf("got tags %q", l.Tags)
		}
		if _, total := s.found("/v1/search?q=tag:go"); total != 2 {
			t.Errorf("merged tag: got %d links, want 2", total)
		}

		b.fill("#q", "slid")
		b.see("1 tag")
		b.wait(`location.search === "?q=slid"`)
		b.click(".tag")
		b.shows("Go memory")
	})
}
