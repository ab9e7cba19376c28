//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// chosen returns a script that checks whether the option with a text is selected, also for screen readers.
func chosen(text string) string {
	return `(() => {
		const all = [...document.querySelectorAll("#palette [role=option][aria-selected=true]")];
		return all.length === 1 && all[0].textContent.includes(` + quote(text) + `) && all[0].id === document.activeElement.getAttribute("aria-activedescendant");
	})()`
}

// The command palette works with the keyboard only.
func TestCommandPalette(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		for n := range 6 { // one more than the palette shows of a kind
			s.save(fmt.Sprintf("%s/go-memory?%d", web.URL, n), "Go")
		}
		s.save(web.URL+"/go-channels", "Go")
		s.addTarget(web.URL + "/go-memory")
		b := browse(t, s, in, "/")
		b.press("?")
		b.see("Search everything")
		b.press(palette) // one dialog at a time
		b.lacks("#palette[open]")
		b.press(escape)
		b.lacks("dialog[open]")

		// Opening and closing it changes nothing and restores the focus.
		b.press("j")
		before := eval[string](b, `document.activeElement.textContent`)
		b.press("/")
		b.has("#palette[open]")
		b.wait(chosen("Add link"))
		b.press(escape)
		b.lacks("dialog[open]")
		if now := eval[string](b, `document.activeElement.textContent`); now != before || before == "" {
			t.Errorf("got focus on %q, want %q", now, before)
		}

		b.press(palette)
		b.has("#palette[open]")
		b.fits(in, "the palette")
		b.inEveryLook("the empty palette", b.accessible)
		b.resize(in)
		b.fill("#palette-q", "go")
		b.wait(chosen("Go to Overview"))
		b.fill("#palette-q", "memory")
		b.wait(chosen("Go memory"))
		b.press(strings.Repeat(down, 5))
		b.wait(chosen("All results: Links"))
		b.press(down)
		b.wait(chosen(web.URL + "/go-memory")) // the target
		b.press(end)
		b.has("#palette [aria-label=Help]:last-child > :last-child[aria-selected=true]")
		b.press(down)
		b.wait(chosen("Go memory"))
		b.press(up + home)
		b.wait(chosen("Go memory"))
		b.wait(`document.querySelector("#palette-count").textContent.endsWith("results")`)
		b.fits(in, "the palette with results")
		b.inEveryLook("the palette", b.accessible)
		b.resize(in)
		b.press(enter)
		b.wait(`location.pathname.startsWith("/links/")`)
		b.see("Go memory")

		// A URL is offered to the forms, and nothing is submitted.
		b.press(palette)
		b.fill("#palette-q", "new.test/page")
		b.wait(chosen("Save link"))
		b.press(down + down)
		b.wait(chosen("Shorten this URL"))
		b.press(enter)
		b.wait(`document.querySelector("#url")?.value === "https://new.test/page"`)
		b.lacks("dialog[open]")
		if all, _ := s.found("/v1/links"); len(all) != 7 {
			t.Errorf("%d links", len(all))
		}

		// Also on the page that is selected, and without results.
		b.press(palette)
		b.fill("#palette-q", "add short")
		b.wait(chosen("Add short link"))
		b.press(enter)
		b.lacks("dialog[open]")
		b.wait(`document.activeElement.id === "url"`)
		b.press(palette)
		b.fill("#palette-q", "nothing-like-this")
		b.has("#palette .remark")
		b.inEveryLook("the palette without results", b.accessible)
		b.press(enter)
		b.wait(`location.pathname + location.search === "/search?q=nothing-like-this"`)

		// On a page with its own search, "/" focuses that.
		b.open("/links")
		b.press("/")
		b.wait(`document.activeElement.id === "q"`)
		b.lacks("dialog[open]")
		b.expect("status of 404") // icon of the site
	})
}

// The search page works without JavaScript, and the header of each page links to it.
func TestSearchPageWithoutJavaScript(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		s.save(web.URL+"/go-memory", "Go")
		b := browse(t, s, in, "/")
		b.expect("status of 4")
		call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		b.open("/watch")
		b.click(`header a[href="/search"]`)
		b.see("Add crawl job")
		b.fill("#q", "memory")
		b.press(enter)
		b.wait(`location.search === "?q=memory"`)
		b.fits(in, "/search")
		b.click(`.hits a.title`)
		b.see("Go memory")
		b.open("/search?q=" + web.URL)
		b.click(`.actions-list a[href^="/watch?"]`)
		b.wait(`document.querySelector("#url").value === ` + quote(web.URL))
	})
}

func TestAccessibleSearch(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t)
	s.save(web.URL+"/go-memory", "Go")
	s.addTarget(web.URL + "/go-memory")
	accessiblePages(t, s, []string{"/search", "/search?q=go", "/search?q=nothing-like-this", "/search?q=new.test"}, nil)
}
