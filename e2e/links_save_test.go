//go:build e2e

package e2e

import (
	"slices"
	"testing"
)

// The main journey: paste, preview, save, find.
func TestSaveAndFind(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		b := browse(t, s, in, "/")
		b.see("Add a link")
		b.see("Save from anywhere")
		b.see("Monitor a site")
		if n := eval[int](b, `document.querySelectorAll(".steps > li").length`); n != 4 {
			t.Errorf("first visit: got %d steps, want 4", n)
		}

		b.fill("[data-new]", web.URL+"/go-memory")
		b.press("\r")
		b.wait(`location.pathname === "/links"`)
		b.see("Go memory") // the preview loads without a click
		b.wait(`document.querySelector("#preview img").naturalWidth > 0`)

		b.fill("#url", web.URL+"/sqlite-pages")
		b.see("Sqlite pages")
		b.see("What there is to know about Sqlite pages.")
		b.wait(`document.querySelector("#preview img").naturalWidth > 0`)
		b.fill("#add input[name=tags]", "Go, Databases")
		b.click("#add button.primary")
		b.see("Link saved: Sqlite pages")
		b.has(".row")
		b.wait(`document.querySelector(".row .title").textContent === "Sqlite pages"`)

		saved, total := s.found("/v1/search?q=tag:go,databases")
		if total != 1 || saved[0].URL != web.URL+"/sqlite-pages" {
			t.Errorf("search by both tags: got %+v", saved)
		}
	})
}

// An error is next to its field, and the form keeps its input.
func TestErrorsKeepInput(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		missing := web.set("/missing", status(404))
		b := browse(t, s, in, "/links")
		b.expect("status of 4") // the browser logs the error responses

		b.fill("#url", "javascript:alert(1)")
		b.has("#preview .field-error")
		b.fill("#url", missing)
		b.wait(`document.querySelector("#preview .field-error").innerText.includes("404")`)
		b.fill("#add input[name=tags]", "Go, <b>it's</b>")
		b.fill("#add textarea", "Two\nlines")
		b.click("#add button.primary")
		b.has("#url-error")
		if !eval[bool](b, `document.querySelector("#url").matches("[aria-invalid=true][aria-describedby=url-error]")`) {
			t.Error("the invalid field is not marked")
		}
		typed := eval[[]string](b, `["#url", "#add input[name=tags]", "#add textarea"].map(q => document.querySelector(q).value)`)
		if want := []string{missing, "Go, <b>it's</b>", "Two\nlines"}; !slices.Equal(typed, want) {
			t.Errorf("after the error: got input %q, want %q", typed, want)
		}
		if _, total := s.found("/v1/links"); total != 0 {
			t.Errorf("got %d stored links, want 0", total)
		}

		web.set("/missing", titled("Here after all"))
		b.click("#add button.primary")
		b.see("Link saved: Here after all")
	})
}

// Saving a link twice shows a message and merges the tags.
func TestSaveTwice(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t)
	s.save(web.URL+"/go-memory", "Go")
	b := browse(t, s, wide, "/links")
	b.fill("#url", web.URL+"/go-memory/#part")
	b.fill("#add input[name=tags]", "go, Memory")
	b.click("#add button.primary")
	b.see("This link is already saved")
	if found, _ := s.found("/v1/links"); len(found) != 1 || !slices.Equal(found[0].Tags, []string{"Go", "Memory"}) {
		t.Errorf("got %+v, want one link with the tags Go and Memory", found)
	}
}
