//go:build e2e

package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// After an action on rows and after its undo, the list has the same page, search and position, and the notice is in view.
func TestActionsKeepThePlace(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		for i := range 64 {
			s.save(fmt.Sprintf("%s/go-%02d", web.URL, i), "Go")
		}
		b := browse(t, s, in, "/links?q=go&page=2")
		b.see("64 links")
		b.click(".row:nth-child(20) input")
		press := func(selector string) { // without scrolling to it
			t.Helper()
			b.has(selector)
			eval[chromedp.Void](b, fmt.Sprintf("document.querySelector(%q).click()", selector))
		}
		before := eval[float64](b, "scrollY")
		if before == 0 {
			t.Fatal("the list does not scroll")
		}
		press("#bulk button[value=expire]")
		inPlace := func(what string) {
			t.Helper()
			b.see(what)
			b.wait(`document.readyState === "complete"`)
			if at := eval[string](b, "location.pathname + location.search"); at != "/links?page=2&q=go" {
				t.Errorf("%s: the address is %s", what, at)
			}
			b.wait("Math.abs(scrollY - Math.min(" + fmt.Sprint(before) + ", document.documentElement.scrollHeight - innerHeight)) < 200")
			b.wait(`(r => r.top >= 0 && r.bottom <= innerHeight)(document.querySelector(".flash").getBoundingClientRect())`)
		}
		inPlace("1 link expired.")
		before = eval[float64](b, "scrollY")
		press("[data-undo]")
		inPlace("Undone.")
	})
}

// An action on all rows of the last page shows the page before it.
func TestLastPageAfterAnAction(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t)
	for i := range 31 {
		s.save(fmt.Sprintf("%s/go-%02d", web.URL, i))
	}
	b := browse(t, s, wide, "/links?page=2")
	b.click(".row input")
	b.click("#bulk button[value=delete]")
	b.see("1 link deleted.")
	b.see("30 links")
	b.lacks(".empty")
}

// A notice is shown once.
func TestNoticeIsGoneAfterReload(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t)
	l := s.save(web.URL + "/go-memory")
	b := browse(t, s, wide, "/links/"+l.ID+"?edit=1")
	b.fill("#edit input[name=title]", "Mine")
	b.click("#edit button.primary")
	b.see("Saved.")
	b.wait(`!location.search.includes("done")`)
	b.run("reloading", chromedp.Reload())
	b.see("Mine")
	b.lacks(".flash")
}

// A form that failed has the focus on its summary, whose links lead to the fields. Its address can be opened.
func TestFailedForm(t *testing.T) {
	t.Parallel()
	s := Start(t, demoIn(t))
	inBoth(t, func(t *testing.T, in size) {
		b := browse(t, s, in, "/watch")
		b.expect("status of 400")
		b.fill("#url", "ftp://nothing")
		b.click("#add summary")
		b.fill("#add input[name=status]", "none")
		b.click("#add button.primary")
		b.wait(`document.activeElement.matches("#add .error-summary")`)
		b.see("Correct 2 errors")
		b.click(".error-summary li:nth-child(2) a")
		b.wait(`document.activeElement.name === "status"`)
		b.open("/tags")
		b.click(".rename summary")
		b.fill(".rename details[open] input[name=name]", "a,b")
		b.press(enter)
		b.wait(`document.activeElement.matches(".rename .error-summary")`)
		b.open(eval[string](b, "location.pathname"))
		b.has(".tags-table")
	})
}

// The search for everything updates while the user types.
func TestSearchEverythingAsYouType(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t)
	s.save(web.URL+"/go-memory", "Go")
	s.addTarget(web.URL + "/go-health")
	inBoth(t, func(t *testing.T, in size) {
		b := browse(t, s, in, "/search")
		b.fill("#q", "go mem")
		b.see("Go memory")
		b.wait(`location.search === "?q=go+mem" && document.activeElement.id === "q"`)
		b.fill("#q", "go-health")
		b.see("Targets")
		b.run("reloading", chromedp.Reload())
		b.see("Targets")
		b.press(palette)
		b.fill("#palette-q", "memory")
		b.has("#palette-list [role=option]")
	})
}
