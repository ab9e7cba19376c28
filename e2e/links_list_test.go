//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestSearchAsYouType(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		s.save(web.URL+"/go-memory", "Go")
		s.save(web.URL+"/sqlite-pages", "Databases")
		s.save(web.URL+"/go-channels", "Go", "Talk")
		b := browse(t, s, in, "/")
		b.see("Recent") // the attention list depends on the disk of the machine
		b.click(`nav[aria-label=Main] a[href="/links"]`)
		b.shows("Go channels", "Sqlite pages", "Go memory")

		b.fill("#q", "go mem")
		b.shows("Go memory")
		b.wait(`location.search === "?q=go+mem"`)
		b.wait(`document.activeElement.id === "q"`) // more typing
		b.run("reloading", chromedp.Reload())
		b.shows("Go memory")
		if q := eval[string](b, `document.querySelector("#q").value`); q != "go mem" {
			t.Errorf("after a reload: got field %q", q)
		}

		b.fill("#q", "tag:go,talk")
		b.shows("Go channels")
		b.see("1 link")
		b.fill("#q", "nothing-like-this")
		b.see("No matching links")
		b.expect("status of 400")
		b.fill("#q", `title:"open`)
		b.has("#q-error")
		b.fill("#q", "")
		b.shows("Go channels", "Sqlite pages", "Go memory")
		b.wait(`location.search === ""`)
		b.lacks("#q-error")
	})
}

func TestBackAndForward(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		s.save(web.URL+"/go-memory", "Go")
		s.save(web.URL+"/sqlite-pages", "Databases")
		b := browse(t, s, in, "/")
		b.click(`nav[aria-label=Main] a[href="/links"]`)
		b.shows("Sqlite pages", "Go memory")
		b.fill("#q", "memory")
		b.shows("Go memory")
		b.wait(`location.search === "?q=memory"`)
		b.click(".row .more")
		b.wait(`document.querySelector("h1").textContent === "Go memory"`)

		b.history(-1)
		b.wait(`location.search === "?q=memory"`)
		b.shows("Go memory")
		b.wait(`document.querySelector("#q").value === "memory"`)
		b.history(-1)
		b.wait(`location.pathname === "/"`)
		b.history(1)
		b.shows("Go memory")
		b.history(1)
		b.wait(`document.querySelector("h1").textContent === "Go memory"`)
	})
}

func TestKeyboard(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t)
	first := s.save(web.URL + "/first")
	second := s.save(web.URL + "/second")
	b := browse(t, s, wide, "/links")
	b.shows("Second", "First")
	at := func(row string) { // index of the focused row
		t.Helper()
		b.wait(`document.activeElement.closest("[data-row]")?.id === ` + quote(row))
	}

	b.press("/")
	b.wait(`document.activeElement.id === "q"`)
	b.press("n") // text for the search, not a command
	b.wait(`document.querySelector("#q").value === "n"`)
	b.fill("#q", "")
	b.shows("Second", "First")
	b.press(escape)
	b.press("n")
	b.wait(`document.activeElement.id === "url"`)
	b.press(escape)

	b.press("j")
	at(second.ID)
	b.press("j")
	at(first.ID)
	b.press("k")
	at(second.ID)
	b.press("x")
	b.wait(`document.querySelector("[data-selected]").textContent === "1"`)
	b.has("#bulk")
	b.press(escape)
	b.wait(`document.querySelectorAll(".row input:checked").length === 0`)

	b.press("?")
	b.has("dialog[open]")
	b.see("Next or previous row")
	b.press("j") // the page behind the dialog does not change
	b.press(escape)
	b.lacks("dialog[open]")

	b.press("j")
	b.press("e")
	b.wait(`location.pathname.startsWith("/links/l_")`)
	b.press("gl")
	b.shows("Second", "First")
	b.press("jj")
	at(first.ID)
	b.press(enter)
	b.wait("location.href === " + quote(first.URL))
}

func TestBulkTagDeleteUndo(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		one, two := s.save(web.URL+"/one", "Kept"), s.save(web.URL+"/two")
		s.save(web.URL + "/three")
		b := browse(t, s, in, "/links")
		b.shows("Three", "Two", "One")
		pick := func(ls ...link) {
			t.Helper()
			for _, l := range ls {
				b.click("#" + l.ID + " input[type=checkbox]")
			}
			b.wait(fmt.Sprintf(`document.querySelectorAll(".row input:checked").length === %d`, len(ls)))
		}
		tagsOf := func(l link) []string {
			t.Helper()
			var now link
			s.Call("GET", "/v1/link/"+l.ID, nil, &now)
			return now.Tags
		}

		pick(one, two)
		b.fill("#bulk input[name=tags]", "Later, kept")
		b.click("#bulk button[value=tag]")
		b.see("2 links tagged")
		if a, z := tagsOf(one), tagsOf(two); !slices.Equal(a, []string{"Kept", "Later"}) || len(z) != 2 {
			t.Errorf("after tagging: got tags %q and %q", a, z)
		}
		b.click("[data-undo]")
		b.see("Undone.")
		if a, z := tagsOf(one), tagsOf(two); !slices.Equal(a, []string{"Kept"}) || len(z) != 0 {
			t.Errorf("after undo: got tags %q and %q", a, z)
		}

		pick(one, two)
		b.click("#bulk button[value=delete]")
		b.see("2 links deleted")
		b.shows("Three")
		b.press("u")
		b.see("Undone.")
		b.shows("Three", "Two", "One")

		pick(one)
		b.click("#bulk [data-all]")
		b.wait(`document.querySelector("[data-selected]").textContent === "3"`)
		b.click("#bulk button[value=expire]")
		b.see("3 links expired")
		b.lacks(".row")
		b.click("[data-undo]")
		b.shows("Three", "Two", "One")
	})
}

func TestBulkRefreshShowsProgress(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		s.save(web.URL + "/one")
		s.save(web.URL+"/two", "Slow")
		s.save(web.URL+"/three", "Slow")
		release := make(chan struct{})
		t.Cleanup(func() { close(release) })
		web.set("/three", func(rw http.ResponseWriter, _ *http.Request) { // the second: each host gets one request at a time
			<-release
			titled("Three, renewed")(rw, nil)
		})
		b := browse(t, s, in, "/links?tag=slow")
		b.shows("Three", "Two")
		b.click(".row input")
		b.click("#bulk [data-all]")
		b.wait(`document.querySelector("[data-selected]").textContent === "2"`)
		b.click("#bulk button[value=refresh]")
		b.see("of 2 links refreshed")
		b.wait(`document.querySelector("progress").value === 1 && document.querySelector("progress").max === 2`)
		release <- struct{}{}
		b.see("Done: 2 links refreshed.")
		b.wait(`document.querySelector("progress").value === 2`)
		b.click("main a.button")
		b.shows("Three, renewed", "Two")
	})
}
