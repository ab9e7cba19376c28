package e2e

import (
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// Everything that matters works with JavaScript switched off.
func TestWithoutJavaScript(t *testing.T) {
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), start(t)
		b := browse(t, s, in, "/")
		b.expect("status of 4")
		call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		b.open("/")
		if eval[bool](b, `Boolean(window.htmx)`) {
			t.Fatal("scripts run: this test would show nothing")
		}

		// Add, from the first step and from the list.
		b.fill("main input[name=url]", web.URL+"/go-memory")
		b.click(".steps button.primary")
		b.wait(`document.querySelector("#url")?.value.endsWith("/go-memory")`)
		b.fill("#add input[name=tags]", "Go, Memory")
		b.click("#add button.primary")
		b.see("Saved: Go memory")
		b.fill("#url", web.set("/missing", status(404)))
		b.fill("#add textarea", "keep these words")
		b.click("#add button.primary")
		b.has("#url-error")
		b.wait(`document.querySelector("#add textarea").value === "keep these words"`)
		s.save(web.URL + "/sqlite-pages")

		// Search.
		b.open("/links")
		b.shows("Sqlite pages", "Go memory")
		b.fill("#q", "memory")
		b.press(enter)
		b.wait(`location.search === "?q=memory"`)
		b.shows("Go memory")
		b.click(".row .tags a")
		b.wait(`location.search === "?tag=Go"`)

		// Bulk, and undo.
		b.open("/links")
		for _, l := range eval[[]string](b, `[...document.querySelectorAll(".row")].map(r => r.id)`) {
			b.click("#" + l + " input[type=checkbox]")
		}
		b.fill("#bulk input[name=tags]", "Both")
		b.click("#bulk button[value=tag]")
		b.see("2 links tagged")
		b.click("[data-undo]")
		b.see("Undone.")
		b.click(".row input[type=checkbox]")
		b.click("#bulk button[value=delete]")
		b.see("1 link deleted")
		b.shows("Go memory")
		b.click("[data-undo]")
		b.shows("Sqlite pages", "Go memory")

		// Refresh with progress, by the page reloading itself.
		release := make(chan struct{})
		web.set("/sqlite-pages", func(rw http.ResponseWriter, _ *http.Request) {
			<-release
			titled("Sqlite, renewed")(rw, nil)
		})
		b.click(".row input[type=checkbox]")
		b.click("#bulk button[value=refresh]")
		b.see("0 of 1 link fetched")
		close(release)
		b.see("Done: 1 link fetched.")
		b.click("main a.button")
		b.shows("Sqlite, renewed", "Go memory")

		// Edit, expire, revive.
		b.click(".row .more")
		b.click("[data-edit-here]")
		b.fill("#edit input[name=title]", "By hand")
		b.click("#edit button.primary")
		b.see("Saved.")
		b.wait(`document.querySelector("h1").textContent === "By hand"`)
		b.click(`.actions form[action$="/expired"] button`)
		b.see("1 link expired")
		b.click(`.actions form[action$="/expired"] button`)
		b.see("1 link revived")

		// Tags and jobs.
		b.open("/tags")
		b.see("2 tags")
		b.click(".rename summary")
		b.fill(".rename details[open] input[name=name]", "Golang")
		b.click(".rename details[open] button")
		b.see("Tag renamed.")
		b.open("/admin/jobs")
		b.click("#job-retention button")
		b.see("The job starts within moments.")
	})
}
