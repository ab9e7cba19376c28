//go:build e2e

package e2e

import (
	"net/http"
	"path"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"linkwatch/jobs/sites/standin"
	"linkwatch/models/modelstest"
)

// Links, tags and jobs work without JavaScript.
func TestWithoutJavaScript(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		b := browse(t, s, in, "/")
		b.expect("status of 4")
		call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		b.open("/")
		if eval[bool](b, `Boolean(window.htmx)`) {
			t.Fatal("scripts run, so this test proves nothing")
		}

		// Add on the empty page and on the list.
		b.fill("main input[name=url]", web.URL+"/go-memory")
		b.click(".steps button.primary")
		b.wait(`document.querySelector("#url")?.value.endsWith("/go-memory")`)
		b.fill("#add input[name=tags]", "Go, Memory")
		b.click("#add button.primary")
		b.see("Link saved: Go memory")
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

		// Refresh: the page reloads itself to show progress.
		release := make(chan struct{})
		web.set("/sqlite-pages", func(rw http.ResponseWriter, _ *http.Request) {
			<-release
			titled("Sqlite, renewed")(rw, nil)
		})
		b.click(".row input[type=checkbox]")
		b.click("#bulk button[value=refresh]")
		b.see("0 of 1 link refreshed")
		close(release)
		b.see("Done: 1 link refreshed.")
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
		b.click("#job-reaper button")
		b.see("The job will start in a few seconds.")
	})
}

// Targets and status pages work without JavaScript.
func TestTargetsWithoutJavaScript(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t, "CHECK_INTERVAL=300ms")
		b := browse(t, s, in, "/")
		b.expect("status of 4")
		call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		b.open("/watch")
		if eval[bool](b, `Boolean(window.htmx)`) {
			t.Fatal("scripts run, so this test proves nothing")
		}
		b.fill("#url", "ftp://nothing")
		b.click("#add button.primary")
		b.has("#url-error")
		b.wait(`document.querySelector("#url").value === "ftp://nothing"`)
		b.fill("#url", web.set("/shop", status(404)))
		b.click("#add button.primary")
		b.see("Target added: 127.0.0.1:")
		b.fill("#url", web.URL+"/fine")
		b.click("#add button.primary")
		b.wait(`document.querySelectorAll("` + targetRow + `").length === 2`)
		all, _ := listed[target](s, "/v1/targets")
		s.becomes(all[0].ID, "down")
		s.becomes(all[1].ID, "up")
		b.open("/watch?status=down")
		b.is("down")
		b.see("unexpected status 404")
		b.click(targetRow + " [data-check]")
		b.see("Checked: down, unexpected status 404.")
		b.click(targetRow + " [data-pause]")
		b.see("No matching targets")
		b.open("/watch/" + all[1].ID + "?range=7d")
		b.is("up")
		b.has(".chart svg")
		b.click(`nav[aria-label="Checks"] a:last-child`)
		b.see("No failed checks")
		b.click("[data-edit-here]")
		b.fill("#edit input[name=name]", "By hand")
		b.click("#edit button.primary")
		b.wait(`document.querySelector("h1").textContent === "By hand"`)
		b.click(`.actions form[action$="/delete"] button`)
		b.click("[data-undo]")
		b.wait(`document.querySelector("h1").textContent === "By hand"`)

		// A status page with targets selected by checkboxes.
		b.open("/status/new")
		b.fill("input[name=title]", "How we do")
		b.click(`input[value="` + all[1].ID + `"]`)
		b.click("button[name=save]")
		b.wait(`location.pathname === "/status/how-we-do/edit"`)
		b.open("/status/how-we-do")
		b.see("By hand")
		b.lacks(`[href="/links"]`)
		b.fits(in, "/status/{slug}")
	})
}

// Short links work without JavaScript. Controls that need it are hidden.
func TestShortLinksWithoutJavaScript(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		s := Start(t)
		b := browse(t, s, in, "/")
		b.expect("status of 4")
		call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		b.open("/short")
		if eval[bool](b, `Boolean(window.htmx)`) {
			t.Fatal("scripts run, so this test proves nothing")
		}
		b.fill("#url", "https://example.com/x")
		b.fill("#key", "no good")
		b.choose("select[name=expires]", "at")
		b.has("input[name=expires_at]")
		eval[string](b, `document.querySelector("input[name=expires_at]").value = "2099-01-02T03:04"`)
		b.fill("input[name=max_visits]", "2")
		b.click("#add .field-row button.primary")
		b.has("#key-error")
		b.wait(`document.querySelector("input[name=expires_at]").value === "2099-01-02T03:04" && document.querySelector("input[name=max_visits]").value === "2"`)
		b.fill("#key", "Plain")
		b.click("#add .field-row button.primary")
		b.see(s.URL + "/s/Plain")
		b.lacks("[data-copy]")
		for range 2 {
			wantRedirect(t, s, "Plain", 302, "https://example.com/x")
		}
		wantRedirect(t, s, "Plain", 410, "")
		b.open("/short?status=expired")
		b.see("2 of 2")
		b.click(shortLinkRow + " a.title")
		b.see("The limit of 2 visits is reached.")
		b.click("[data-edit-here]")
		b.wait(`document.querySelector("select[name=expires]").value === "kept"`)
		b.fill("#edit input[name=max_visits]", "3")
		b.click("#edit button.primary")
		b.see("1 visit left of 3.")
		b.click(`.extend button[value=""]`)
		b.lacks(".extend")
		b.click("[data-pause]")
		b.has(".state.disabled")
		b.click(`.actions form[action$="/delete"] button`)
		b.click("[data-undo]")
		b.has(".state.disabled")
		b.fits(in, "/short/{key}")
	})
}

// Websites work without JavaScript.
func TestSitesWithoutJavaScript(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		engine, settings := searchEngines(t)
		web, s := site(t), Start(t, settings...)
		web.set("/robots.txt", status(404))
		b := browse(t, s, in, "/")
		b.expect("status of 4")
		call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		b.open("/sites")
		if eval[bool](b, `Boolean(window.htmx)`) {
			t.Fatal("scripts run, so this test proves nothing")
		}
		b.fill("#url", "ftp://nothing")
		b.click("#add .field-row button.primary")
		b.has("#url-error")
		b.fill("#url", web.URL)
		b.click("#add .field-row button.primary")
		b.see("No sitemap")
		at := eval[string](b, "location.pathname")
		b.upload("input[name=file]", keyFile(t))
		b.click(`form[action$="/credentials"] button`)
		b.see("Credentials saved.")
		b.lacks("[data-copy]")
		b.click(`form[action$="/test"] button`)
		b.has("#test .state.ok")
		b.fill("#url", web.sitemap(3))
		b.click("#add button.primary")
		b.see("Sitemap added. The first read starts within seconds.")
		modelstest.Eventually(t, "the sitemap is read", func() bool { return s.ownSite(path.Base(at)).Pages.Total == 3 })
		b.open(at)
		b.see("3 pages.")
		b.open(at + "/pages?q=%2Fp*")
		b.click(`.boost-all button[value=boost]`)
		b.see("Undo")
		b.see("Manual 100")
		b.click("[data-undo]")
		b.see("Priorities restored.")
		engine.Cover(web.URL+"/p1", standin.Coverage{Verdict: "PASS", CoverageState: "Submitted and indexed"})
		b.click(`input[value="` + path.Base(s.pagesOf(path.Base(at))[0]) + `"]`)
		b.click("#bulk button[value=verify]")
		b.see("1 page")
		modelstest.Eventually(t, "the page is verified", func() bool { return s.ownSite(path.Base(at)).Pages.Indexed == 1 })
		b.open(at + "/pages?status=indexed")
		b.click("[data-main]")
		b.see("Submitted and indexed")
		b.click("[data-edit-here]")
		b.fill("#edit input[name=manual_priority]", "42")
		b.click("#edit button.primary")
		b.see("Manual 42")
		b.open(at)
		b.click(`.actions form[action$="/delete"] button`)
		b.click("[data-undo]")
		b.see("Website restored.")
		b.fits(in, "/sites/{id}")
	})
}
