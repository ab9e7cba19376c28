//go:build e2e

package e2e

import (
	"testing"

	"linkwatch/models/modelstest"
)

// The list shows a new target as up, then down, then up, without a reload. Its page shows the outage.
func TestTargetStatusOnPages(t *testing.T) {
	t.Parallel() // waits for pages that refresh themselves every five seconds
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t, "CHECK_INTERVAL=300ms")
		b := browse(t, s, in, "/watch")
		b.see("No targets yet")
		b.fits(in, "/watch, empty")
		b.fill("#url", web.URL+"/shop")
		b.click("#add button.primary")
		b.see("Target added: 127.0.0.1:")
		eval[bool](b, `window.stays = true`) // lost on a reload
		b.fill("#q", "shop")
		b.wait(`location.search === "?q=shop"`)
		b.is("up")
		web.Close()
		b.is("down")
		b.see("connection refused")
		b.fits(in, "/watch, down")
		web.again(t)
		b.is("up")
		b.wait(`window.stays && document.activeElement.id === "q" && document.querySelector("#q").value === "shop"`)

		b.click(targetRow + " a.title")
		b.has(".target h1")
		b.is("up")
		b.see("Connection refused")
		b.wait(`document.querySelectorAll("ul.outages li").length === 1 && !document.querySelector("ul.outages li.down")`)
		b.has(".chart svg")
		b.fits(in, "/watch/{id}")
		eval[bool](b, `window.stays = true`)
		web.set("/shop", status(503))
		b.is("down")
		b.wait(`document.querySelectorAll("ul.outages li").length === 2 && document.querySelectorAll("ul.outages li.down").length === 1`)
		b.see("unexpected status 503")
		b.wait(`window.stays`)
		b.click(`nav[aria-label="Checks"] a:last-child`)
		b.wait(`location.search.includes("failed=true") && document.querySelectorAll("table.checks tbody tr").length > 1`)
		b.wait(`[...document.querySelectorAll("table.checks tbody tr")].every(r => !r.textContent.includes("200"))`)
		b.click(`nav[aria-label="Uptime and range"] a:nth-child(3)`)
		b.wait(`location.search.includes("range=30d") && window.stays`)
		b.open("/")
		b.see("Unexpected status 503")
	})
}

// The settings of a target are edited in place, errors are next to their fields, and a deleted target can be
// restored.
func TestTargetPage(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t, "CHECK_INTERVAL=1h")
		watched := s.addTarget(web.URL + "/shop")
		s.becomes(watched.ID, "up")
		b := browse(t, s, in, "/watch/"+watched.ID)
		b.click("[data-edit-here]")
		b.fill("#edit input[name=name]", "The shop")
		b.fill("#edit input[name=keyword]", "Sold out")
		b.click("#edit button.primary")
		b.wait(`document.querySelector("h1").textContent === "The shop"`)
		s.becomes(watched.ID, "down") // checked at once with the new settings
		b.open("/watch/" + watched.ID)
		b.is("down")
		b.see("keyword not found")
		b.expect("status of 400")
		b.click("[data-edit-here]")
		b.fill("#edit input[name=status]", "all is well")
		b.click("#edit button.primary")
		b.has("#status-error")
		b.wait(`document.querySelector("#edit input[name=status]").value === "all is well"`)
		b.fill("#edit input[name=status]", "")
		b.fill("#edit input[name=keyword]", "")
		b.click("#edit button.primary")
		b.see("Saved.")
		s.becomes(watched.ID, "up")

		asked := web.requests("/shop")
		b.click("[data-check]")
		b.see("Checked: up, status 200 in")
		if web.requests("/shop") != asked+1 {
			t.Errorf("check now: got %d requests", web.requests("/shop")-asked)
		}
		b.click("[data-pause]")
		b.is("paused")
		b.click("[data-pause]")
		b.lacks(".state.paused")
		s.becomes(watched.ID, "up")
		b.click(`.actions form[action$="/delete"] button`)
		b.see("Target deleted.")
		b.see("No targets yet")
		b.click("[data-undo]")
		b.has(".target h1")
		b.wait(`document.querySelector("h1").textContent === "The shop"`)
		b.press("e")
		b.has("#edit input[name=name]")
	})
}

// One click on the page of a saved link adds a target, and the page then shows its history.
func TestWatchASavedLink(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t, "CHECK_INTERVAL=300ms")
		l := s.save(web.URL + "/go-memory")
		b := browse(t, s, in, "/links/"+l.ID)
		b.click(`form[action="/watch"] button`)
		b.see("Target added: Go memory.")
		b.wait(`location.pathname === "/links/` + l.ID + `"`)
		b.lacks(`form[action="/watch"] button`)
		all, _ := listed[target](s, "/v1/targets")
		if len(all) != 1 || all[0].CanonicalURL != web.URL+"/go-memory" || all[0].Name != "Go memory" {
			t.Fatalf("got targets %+v", all)
		}
		modelstest.Eventually(t, "it was checked three times", func() bool { return len(s.results(all[0].ID)) >= 3 })
		b.open("/links/" + l.ID)
		b.has("section[aria-labelledby=watched] .state.up svg")
		b.fits(in, "/links/{id}, watched")
		b.click(`section[aria-labelledby=watched] a`)
		b.wait(`location.pathname === "/watch/` + all[0].ID + `"`)
		b.click(`aside a[href="/links/` + l.ID + `"]`)
		b.has(`section[aria-labelledby=watched]`)
	})
}
