//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// paper is a sheet of A4 at 96 pixels per inch, without margins.
var paper = size{718, 1000}

// prints shows the page as it is printed, or as on the screen.
func (b *tab) prints(is bool) {
	b.t.Helper()
	media := ""
	if is {
		media = "print"
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media})
}

// shownTitles is an expression: the titles of rows that are visible.
const shownTitles = `[...document.querySelectorAll("main .title")].filter(e => e.getClientRects().length > 0 && e.getBoundingClientRect().width > 20).map(e => e.innerText.trim())`

// Pages print their content and no controls, in all widths of paper.
func TestPrint(t *testing.T) {
	t.Parallel()
	s := Start(t, demoIn(t))
	found, _ := s.found("/v1/links?per_page=2")
	targets, _ := listed[target](s, "/v1/targets")
	jobs, _ := listed[crawlJob](s, "/v1/jobs")
	sites, _ := listed[ownSite](s, "/v1/websites")
	b := browse(t, s, wide, "/links")
	for _, path := range []string{
		"/", "/links", "/links/" + found[0].ID, "/tags", "/search?q=shop", "/watch", "/watch/" + targets[0].ID, "/status/demo", "/short", "/short/spring26",
		"/crawl", "/crawl/jobs/" + jobs[0].ID, "/crawl/pages", "/sites", "/sites/" + sites[0].ID, "/sites/" + sites[0].ID + "/pages", "/alerts", "/admin/jobs", "/help", "/help/settings",
	} {
		b.prints(false)
		b.resize(wide)
		b.open(path)
		titles := eval[[]string](b, shownTitles)
		b.prints(true)
		for _, in := range []size{paper, {1040, 735}, wide} {
			b.resize(in)
			printed := strings.Join(eval[[]string](b, shownTitles), "\n")
			for _, title := range titles {
				if !strings.Contains(printed, strings.TrimSuffix(title, "…")) {
					t.Errorf("%s at %d px: the title %q is not printed", path, in.width, title)
				}
			}
			if controls := eval[[]string](b, `[...document.querySelectorAll("button, input, select, textarea, nav a:not(.tiles *), .button")].filter(e => e.getClientRects().length > 0).map(e => e.outerHTML.slice(0, 80))`); len(controls) > 0 {
				t.Errorf("%s at %d px: controls are printed: %q", path, in.width, controls)
			}
			for _, fault := range eval[[]string](b, layout) {
				t.Errorf("%s at %d px: %s", path, in.width, fault)
			}
		}
	}

	b.open("/links")
	printed := eval[[]string](b, `[...document.querySelectorAll(".row .title")].map(e => getComputedStyle(e, "::after").content.slice(1, -1))`)
	for _, l := range found {
		if !slices.Contains(printed, l.URL) {
			t.Errorf("the URL %q is not printed", l.URL)
		}
	}
	if n := eval[int](b, `[...document.querySelectorAll(".row .tag")].filter(e => e.getBoundingClientRect().width > 0).length`); n == 0 {
		t.Error("no tags are printed")
	}
}
