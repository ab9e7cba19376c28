//go:build e2e

package e2e

import (
	_ "embed" // of axe
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"linkwatch/models/modelstest"
)

// axe is the unchanged axe.min.js of axe-core 4.14.1 (testdata/axe.LICENSE). It checks the WCAG rules that can be
// checked automatically.
//
//go:embed testdata/axe.min.js
var axe string

// accessible runs axe on the current page. It injects axe through the DevTools protocol, to which the
// Content-Security-Policy of the page does not apply.
func (b *tab) accessible(where string) {
	b.t.Helper()
	// Colors are checked after transitions have ended and the page is complete.
	b.wait(`document.readyState === "complete" && document.getAnimations().every(a => a.playState !== "running")`)
	// Preloading takes half of the time, and only rules on audio and a disabled rule need it.
	// Only colors differ in the dark scheme.
	dark := eval[bool](b, `matchMedia("(prefers-color-scheme: dark)").matches`)
	only := ""
	if dark {
		only = `, runOnly: ["color-contrast", "link-in-text-block"]`
	}
	check := `axe.run(document, {resultTypes: ["violations"], preload: false, selectors: false` + only + `}).then(r => JSON.stringify({
		passed: r.passes.map(p => p.id),
		broken: r.violations.map(v => ({rule: v.id, impact: v.impact,
			nodes: v.nodes.map(n => n.html.slice(0, 200) + "\n      " + n.failureSummary.replaceAll("\n", "\n      "))}))}))`
	if !eval[bool](b, `"axe" in window`) { // axe is still loaded in the next color scheme
		eval[chromedp.Void](b, axe)
	}
	answer, err := within(b, chromedp.Evaluate[string](check, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: running axe: %v", where, err)
	}
	var found struct {
		Passed []string
		Broken []struct {
			Rule, Impact string
			Nodes        []string
		}
	}
	if err := json.Unmarshal([]byte(answer), &found); err != nil {
		b.t.Fatal(err)
	}
	if !slices.Contains(found.Passed, "color-contrast") || !dark && len(found.Passed) < 10 {
		b.t.Errorf("%s: axe did not check the page: only %q passed", where, found.Passed)
	}
	for _, v := range found.Broken {
		more := ""
		if len(v.Nodes) > 3 {
			more = fmt.Sprintf("\n    and %d more", len(v.Nodes)-3)
			v.Nodes = v.Nodes[:3]
		}
		b.t.Errorf("%s breaks %s (%s):\n    %s%s", where, v.Rule, v.Impact, strings.Join(v.Nodes, "\n    "), more)
	}
}

// tabs is the number of tabs that share the pages of a test. Each tab has a browser process, so all cores are used.
const tabs = 3

// accessiblePages runs axe on pages in all color schemes and widths, in parallel subtests. more is another check, or nil.
func accessiblePages(t *testing.T, s *Server, paths []string, more func(b *tab, path string)) {
	t.Helper()
	for i := range tabs {
		t.Run(fmt.Sprintf("tab %d", i+1), func(t *testing.T) {
			t.Parallel() // axe is slow
			b := browse(t, s, wide, "/")
			b.expect("status of 4")
			for at := i; at < len(paths); at += tabs {
				b.open(paths[at])
				b.inEveryLook(paths[at], b.accessible)
				if more != nil {
					more(b, paths[at])
				}
			}
		})
	}
}

func TestAccessibleEmpty(t *testing.T) {
	t.Parallel()
	s := Start(t)
	accessiblePages(t, s, append(s.pages(), "/nowhere"), nil)
}

func TestAccessibleFull(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t, "LINK_CHECK_INTERVAL=1ms")
	ill := map[string]link{}
	for _, name := range []string{"moved", "gone", "secret", "broken", "fine"} {
		ill[name] = s.save(web.URL+"/"+name, "Go", "Health")
	}
	shown := s.save(web.URL+"/go-memory", "Go", "Memory", "A tag with some words")
	s.Call("PUT", "/v1/link/"+shown.ID+"/annotation", map[string]any{"title": "My words", "notes": "Some notes.\nTwo lines."}, nil)
	web.set("/moved", redirect(301, "/new-home"))
	web.set("/gone", status(410))
	web.set("/secret", status(403))
	web.set("/broken", status(500))
	s.Call("POST", "/v1/admin/jobs/revalidation/run", nil, nil)
	s.Call("POST", "/v1/admin/cleanup/run", nil, nil)
	modelstest.Eventually(t, "every link was checked", func() bool {
		_, ok := s.found("/v1/search?q=moved")
		var moved, gone, secret, broken link
		s.Call("GET", "/v1/link/"+ill["moved"].ID, nil, &moved)
		s.Call("GET", "/v1/link/"+ill["gone"].ID, nil, &gone)
		s.Call("GET", "/v1/link/"+ill["secret"].ID, nil, &secret)
		s.Call("GET", "/v1/link/"+ill["broken"].ID, nil, &broken)
		return ok > 0 && moved.Health == "moved" && gone.Expired && secret.Health == "blocked" && broken.Health == "suspect"
	})
	var refresh struct{ ID string }
	s.Call("POST", "/v1/links/bulk", map[string]any{"ids": []string{shown.ID}, "action": "refresh"}, &refresh)

	t.Run("pages", func(t *testing.T) {
		accessiblePages(t, s, []string{
			"/", "/links", "/links?expired=all", "/links?q=gomemry", "/links?q=%22open", "/links/" + shown.ID, "/links/" + ill["moved"].ID,
			"/links/" + ill["gone"].ID, "/links/refreshes/" + refresh.ID, "/tags", "/admin/jobs", "/admin/jobs/revalidation", "/admin/settings", "/admin/cleanup",
		}, nil)
	})
	b := browse(t, s, wide, "/") // the next steps change the links
	b.expect("status of 4")
	for name, prepare := range map[string]func(){
		"the help dialog": func() { b.open("/links"); b.press("?"); b.has("dialog[open]") },
		"a selection":     func() { b.open("/links"); b.click(".row input"); b.has("#bulk button[value=delete]") },
		"a preview": func() {
			b.open("/links")
			b.fill("#url", web.URL+"/a-preview")
			b.has("#preview img")
		},
		"an error of the preview": func() { b.open("/links"); b.fill("#url", "nothing"); b.has("#preview .field-error") },
		"an error of the form": func() {
			b.open("/links")
			b.fill("#url", "ftp://nothing")
			b.click("#add button.primary")
			b.has("#url-error")
		},
		"a message with undo": func() {
			b.open("/links/" + ill["fine"].ID)
			b.click(`.actions form[action$="/expired"] button`)
			b.has("[data-undo]")
		},
		"the edit form": func() { b.open("/links/" + shown.ID); b.click("[data-edit-here]"); b.has("#edit textarea") },
		"a renamed tag": func() { b.open("/tags"); b.click(".rename summary"); b.has(".rename input[name=name]") },
		"the question before a merge": func() {
			b.open("/tags")
			b.click(".rename summary")
			b.fill(".rename details[open] input[name=name]", "memory")
			b.press(enter)
			b.has(".rename .field-error")
		},
	} {
		b.resize(wide)
		prepare()
		b.inEveryLook(name, b.accessible)
	}
}

// The demo data has targets and short links in all states.
func TestAccessibleDemo(t *testing.T) {
	t.Parallel()
	s := Start(t, demoIn(t))
	paths := append(s.pages(),
		"/watch?status=down", "/watch?q=nothing-at-all", "/watch?host=api.northwind.example",
		"/status/demo", "/status/demo/edit", "/status/demo/delete", "/status/nowhere", "/admin/checks?failed=true",
		"/short?made=webinar", "/short?q=nothing-at-all",
		"/s/spring26?preview=1", "/s/lunch-poll", "/s/nothing-here", "/probs/unauthorized", "/probs/nothing-here",
		"/help/access", "/help/settings", "/help?q=alert", "/help?q=nothing-at-all",
		"/short/spring26", "/short/summer-sale?days=400", "/short/first-20", "/short/lunch-poll", "/short/beta-invite",
	)
	sites, _ := listed[ownSite](s, "/v1/websites")
	for _, x := range sites {
		at := "/sites/" + x.ID
		paths = append(paths, at, at+"/pages", at+"/submissions", at+"/not-indexed", s.pagesOf(x.ID)[0])
	}
	shop, jobs := "/sites/"+sites[0].ID, s.pagesOf(sites[1].ID) // one with sitemaps, one with the Indexing API
	paths = append(paths, "/sites?problem=sitemaps", shop+"?range=365d", shop+"/pages?q=%2Fblog%2F*", shop+"/pages?q=nothing-at-all", shop+"/pages?gone=true",
		shop+"/not-indexed?q=nothing-at-all", shop+"/credentials/delete", jobs[0]+"/remove", jobs[len(jobs)-1])
	all, _ := listed[target](s, "/v1/targets")
	for _, x := range all {
		switch x.Name {
		case "Shop", "Shipping labels", "Old shop", "Exchange rates", "Blog": // up, down, paused, throttled, expiring certificate
			paths = append(paths, "/watch/"+x.ID)
		}
		if strings.Count(x.URL, "/") > 3 && strings.Contains(x.URL, ".example/20") { // a link of the demo data
			found, _ := s.found("/v1/links?per_page=2")
			paths = append(paths, "/links/"+found[0].ID)
			break
		}
	}
	accessiblePages(t, s, paths, func(b *tab, path string) {
		for _, in := range []size{wide, {1181, 900}, {1041, 900}, {721, 900}, narrow} { // tablets: the narrowest of each layout
			b.resize(in)
			b.fits(in, path)
		}
	})
	t.Run("forms", func(t *testing.T) {
		t.Parallel()
		b := browse(t, s, wide, "/")
		b.expect("status of 4")
		for name, prepare := range map[string]func(){
			"an error of the form for a target": func() {
				b.open("/watch")
				b.fill("#url", "ftp://nothing")
				b.click("#add summary")
				b.fill("#add input[name=status]", "none")
				b.click("#add button.primary")
				b.has("#add .field-error")
			},
			"the edit form of a target": func() { b.open("/watch/" + all[0].ID); b.click("[data-edit-here]"); b.has("#edit input[name=name]") },
			"the figures of a chart":    func() { b.open("/watch/" + all[0].ID); b.click(".figures summary"); b.has(".figures table") },
			"an error of the form for a short link": func() {
				b.open("/short")
				b.fill("#url", "https://example.com")
				b.fill("#key", "no good")
				b.click("#add .field-row button.primary")
				b.has("#key-error")
			},
			"the edit form of a short link": func() { b.open("/short/spring26"); b.click("[data-edit-here]"); b.choose("select[name=expires]", "at") },
			"an error of the form for a website": func() {
				b.open("/sites")
				b.fill("#url", "ftp://nothing")
				b.click("#add .field-row button.primary")
				b.has("#url-error")
			},
			"the edit form of a website":  func() { b.open(shop); b.click("[data-edit-here]"); b.has("#edit input[name=name]") },
			"the figures of the coverage": func() { b.open(shop); b.click(".figures summary"); b.has(".figures table") },
			"the key of another service account": func() {
				b.open(shop)
				b.click("[aria-labelledby=google] .edit summary")
				b.fill("textarea[name=credentials]", "nothing")
				b.click(`form[action$="/credentials"] button`)
				b.has("#credentials-error")
			},
			"an error of the form for a priority": func() {
				b.open(jobs[0])
				b.click("[data-edit-here]")
				b.fill("#edit input[name=manual_priority]", "101")
				b.click("#edit button.primary")
				b.has("#priority-error")
			},
			"a selection of pages": func() {
				b.open(shop + "/pages")
				b.press("jx")
				b.has("#bulk button[value=boost]")
			},
			"the figures of visits": func() { b.open("/short/spring26"); b.click(".figures summary"); b.has(".figures table") },
			"an error of the status page": func() {
				b.open("/status/new")
				b.fill("input[name=title]", "A page")
				b.fill("input[name=slug]", "Not A Slug")
				b.click("button[name=save]")
				b.has("#slug-error")
			},
		} {
			b.resize(wide)
			prepare()
			b.inEveryLook(name, b.accessible)
		}
	})
}

// ARIA reads an empty value as false, and axe accepts it. So aria-current and aria-invalid must have a value.
func TestARIAStatesHaveValues(t *testing.T) {
	t.Parallel()
	s := Start(t)
	b := browse(t, s, wide, "/")
	b.expect("status of 400")
	marked := map[string]string{"/links?q=%22open": "#q[aria-invalid]"}
	for _, path := range s.pages() {
		if path != "/login" { // no navigation
			marked[path] = "[aria-current]"
		}
	}
	for path, states := range marked {
		b.open(path)
		b.has(states)
		if empty := eval[[]string](b, `[...document.querySelectorAll("[aria-current=''], [aria-invalid='']")].map(e => e.outerHTML.slice(0, 60))`); len(empty) > 0 {
			t.Errorf("%s: empty attribute, which screen readers ignore: %q", path, empty)
		}
	}
}
