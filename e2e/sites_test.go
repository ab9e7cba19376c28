//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"linkwatch/jobs/sites/standin"
	"linkwatch/models/modelstest"
)

// A website is added, set up, submitted in queue order within the quota, and verified.
func TestWebsitePages(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		engine, settings := searchEngines(t)
		web, s := site(t), Start(t, append(settings, "GOOGLE_CONCURRENCY=1", "GOOGLE_PUBLISH_PER_DAY=10")...)
		web.set("/robots.txt", status(404))
		sitemap := web.sitemap(12)
		b := browse(t, s, in, "/sites")
		b.see("No websites yet")
		b.fits(in, "/sites, empty")
		b.press("n")
		b.wait(`document.activeElement.id === "url"`)
		b.fill("#url", web.URL)
		b.press(enter)
		b.see("Website added. The first read of the sitemaps")
		id := eval[string](b, `location.pathname.split("/").pop()`)
		at := "/sites/" + id
		b.see("No sitemaps: robots.txt lists none.")
		b.fits(in, "/sites/{id}, empty")

		// Invalid credentials show an error.
		b.expect("status of 400")
		b.fill("textarea[name=credentials]", `{"type": "authorized_user"}`)
		b.click(`form[action$="/credentials"] button`)
		b.has("#credentials-error")
		b.upload("input[name=file]", keyFile(t))
		b.click(`form[action$="/credentials"] button`)
		b.see("Credentials saved.")
		b.see(standin.ClientEmail)
		if text := eval[string](b, "document.documentElement.outerHTML"); strings.Contains(text, "PRIVATE KEY") || strings.Contains(text, "private_key_id") {
			t.Error("the page contains the key")
		}
		property := web.URL + "/"
		engine.Permit("https://another.example/", "siteOwner")
		b.click(`form[action$="/test"] button`)
		b.has("#test .state.failed")
		b.has("#test .state-text")
		b.fits(in, "/sites/{id}, with a failed test")
		engine.Permit(property, "siteOwner")
		b.click(`form[action$="/test"] button`)
		b.wait(`document.querySelector("#test .state.ok") && !document.querySelector("#test .state.failed")`)

		b.click("[data-edit-here]")
		b.click("#edit input[name=indexing_enabled]")
		b.click("#edit button.primary")
		b.see("Saved.")
		b.fill("#url", sitemap)
		b.click("#add button.primary")
		b.see("Sitemap added.")
		b.see("12 pages. 12 not yet submitted.")
		b.fits(in, "/sites/{id}")

		// A boosted page is submitted first.
		b.open(at + "/pages")
		b.see("12 pages")
		eval[bool](b, `window.notReloaded = true`) // lost on a reload
		b.press("jjj")
		last := eval[string](b, `document.activeElement.closest("tr").querySelector("[data-main]").textContent`)
		b.click(`tr:focus-within button[value="100"]`)
		b.wait(fmt.Sprintf(`window.notReloaded && [...document.querySelectorAll(%s)].some(r => r.innerText.includes(%s) && r.innerText.includes("Manual 100"))`, quote(pageRow), quote(last)))
		b.fits(in, "/sites/{id}/pages")
		s.runs("submission")
		modelstest.Eventually(t, "the quota is used up", func() bool { return s.ownSite(id).Pages.Submitted == 10 })
		if got := engine.Requests(standin.Publish)[0].URL; got != web.URL+last {
			t.Errorf("first submitted page: got %s, want %s", got, last)
		}
		b.open(at + "/pages?queued=true")
		b.see("2 pages")
		b.open(at + "/submissions")
		b.wait(`document.querySelectorAll("#submissions tbody tr").length === 10`)
		b.see("Accepted (200)")
		b.fits(in, "/sites/{id}/submissions")
		b.open(at)
		b.see("10 of 10")
		b.has("meter")
		b.click(".figures summary")
		b.fits(in, "/sites/{id}, with the figures")

		// The page shows the status from Google with the reasons.
		engine.Cover(web.URL+"/p1", standin.Coverage{Verdict: "PASS", CoverageState: "Submitted and indexed"})
		engine.Cover(web.URL+"/p2", standin.Coverage{Verdict: "NEUTRAL", CoverageState: "Crawled - currently not indexed"})
		s.runs("verification")
		modelstest.Eventually(t, "all pages were verified", func() bool { p := s.ownSite(id).Pages; return p.Indexed == 1 && p.NotIndexed == 11 })
		b.see("1 of 12 pages indexed.")
		b.open(at + "/not-indexed")
		b.see("Crawled - currently not indexed")
		b.fits(in, "/sites/{id}/not-indexed")
		b.click(`#unindexed a[data-main]`)
		b.see("Why it is not indexed")
		b.fits(in, "/sites/{id}/pages/{page}")

		// A page selected by keyboard is saved as a link.
		b.open(at + "/pages?status=indexed")
		b.press("jx")
		b.see("1 selected")
		b.fits(in, "/sites/{id}/pages, with a selection")
		b.click("#bulk button[value=save]")
		b.has("#pages .kept")
		if _, total := s.found("/v1/links"); total != 1 {
			t.Errorf("got %d links, want 1", total)
		}

		b.open("/sites")
		b.see("8%")
		b.fits(in, "/sites")
		b.press("jo")
		b.wait(`location.pathname === ` + quote(at))
		b.click(".actions button.danger")
		b.see("Website deleted, with its sitemaps and pages.")
		b.click("[data-undo]")
		b.see("Website restored.")
		b.see("1 of 12 pages indexed.")
	})
}

// upload selects a file in a file input.
func (b *tab) upload(selector, file string) {
	b.t.Helper()
	b.has(selector)
	field := call(b, runtime.Evaluate, runtime.EvaluateParams{Expression: "document.querySelector(" + quote(selector) + ")"})
	call(b, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{file}, ObjectID: field.Result.ObjectID})
}

// keyFile writes the key file of the fake service account.
func keyFile(t *testing.T) string {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(key, standin.Credentials(), 0o600); err != nil {
		t.Fatal(err)
	}
	return key
}

// If the process is killed while it submits pages, no page is lost after the restart, and the quota counts every request that
// arrived.
func TestKillDuringSubmission(t *testing.T) {
	t.Parallel()
	const pages, answered, inFlight = 40, 15, 4
	engine, settings := searchEngines(t)
	web := site(t)
	web.set("/robots.txt", status(404))
	settings = append(settings, storeIn(t), fmt.Sprintf("GOOGLE_CONCURRENCY=%d", inFlight))
	s := Start(t, settings...)
	var own ownSite
	if status := s.Call("POST", "/v1/websites", map[string]any{"site_url": web.URL + "/", "indexing_enabled": true}, &own); status != 201 {
		t.Fatalf("add website: status %d", status)
	}
	at := "/v1/websites/" + own.ID
	if status := s.Call("PUT", at+"/credentials", json.RawMessage(standin.Credentials()), nil); status != 200 {
		t.Fatalf("set credentials: status %d", status)
	}
	s.Call("POST", at+"/sitemaps", map[string]any{"url": web.sitemap(pages)}, nil)
	modelstest.Eventually(t, "the sitemap is read", func() bool { return s.ownSite(own.ID).Pages.Pending == pages })

	engine.Fail(standin.Publish, standin.Times(answered, nil)...)
	engine.Fail(standin.Publish, standin.Times(inFlight, standin.Slow(nil))...) // no response while the process runs
	s.runs("submission")
	engine.Await(t, standin.Publish, answered+inFlight)
	day := s.ownSite(own.ID).Quota.Publish.ResetsAt
	s.Kill()

	again := Start(t, settings...)
	before := again.ownSite(own.ID)
	if before.Pages.Submitted+before.Pages.Pending != pages || before.Pages.Submitted > answered {
		t.Errorf("after the kill: got pages %+v and %d responses", before.Pages, answered)
	}
	if used := before.Quota.Publish; used.Used != answered+inFlight && used.ResetsAt == day {
		t.Errorf("got %d requests in the quota, want %d", used.Used, answered+inFlight)
	}
	modelstest.Eventually(t, "every page is submitted", func() bool {
		now := again.ownSite(own.ID)
		if now.Pages.Submitted == pages {
			return true
		}
		again.runs("submission")
		return false
	})
	seen := map[string]bool{}
	for _, r := range engine.Requests(standin.Publish) {
		seen[r.URL] = true
	}
	if len(seen) != pages {
		t.Errorf("got %d of %d pages submitted", len(seen), pages)
	}
	if used := again.ownSite(own.ID).Quota.Publish; used.Used != engine.Count(standin.Publish) && used.ResetsAt == day {
		t.Errorf("got %d requests in the quota, want %d", used.Used, engine.Count(standin.Publish))
	}
	sent := 0
	for _, one := range everything[submission](again, at+"/submissions", 100) {
		if one.Status == "accepted" {
			sent++
		}
	}
	if sent < pages-inFlight {
		t.Errorf("got %d accepted submissions of %d pages", sent, pages)
	}
}
