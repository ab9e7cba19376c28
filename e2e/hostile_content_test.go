//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// hostile has titles with markup, scripts, very long words and both text directions.
var hostile = []string{
	`<script>alert(1)</script>`,
	`"><img src=x onerror=alert(2)>`,
	`</textarea></title><svg onload=alert(3)>`,
	`' autofocus onfocus=alert(4) x='`,
	`{{ alert(5) }} ${alert(5)} javascript:alert(5)`,
	strings.Repeat("unbroken", 60),
	"\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd, \u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645 (https://example.com/)",
	strings.Repeat("\u9577\u3044\u984c\u540d", 60),
	"zalgo " + strings.Repeat("a\u0301\u0302\u0303\u0304\u0305\u0306", 40),
}

// hostileStore returns a server with all of these titles, and the paths of its pages.
func hostileStore(t *testing.T) (*Server, []string) {
	t.Helper()
	web, s := site(t), Start(t)
	for i, title := range hostile {
		path := fmt.Sprintf("/hostile-%d", i)
		web.set(path, document(`<meta property="og:title" content="`+attribute(title)+`"><meta property="og:description" content="`+
			attribute(title)+`"><meta property="og:site_name" content="`+attribute(title)+`">`))
		l := s.save(web.URL+path, "<b>bold</b>", `'><script>`)
		s.Call("PUT", "/v1/link/"+l.ID+"/annotation", map[string]any{"notes": title}, nil)
	}
	many := make([]string, 64)
	for i := range many {
		many[i] = fmt.Sprintf("%02d%s", i, strings.Repeat("w", 62))
	}
	tagged := s.save(web.URL+"/many-tags?"+strings.Repeat("q", 1900), many...)
	var started struct{ ID string }
	s.Call("POST", "/v1/links/bulk", map[string]any{"ids": []string{tagged.ID}, "action": "refresh"}, &started)

	var watched []string
	for i, title := range hostile {
		name := []rune(title)
		t := s.addTargetAs(map[string]any{"url": fmt.Sprintf("%s/hostile-%d", web.URL, i), "name": string(name[:min(len(name), 200)])})
		watched = append(watched, t.ID)
	}
	page := map[string]any{"slug": "hostile", "title": hostile[1], "description": hostile[0], "targets": watched}
	if status := s.Call("POST", "/v1/status-pages", page, nil); status != 201 {
		t.Fatalf("add status page: status %d", status)
	}

	paths := []string{
		"/watch", "/watch?q=script", "/watch/" + watched[0], "/watch/" + watched[5], "/watch/" + watched[7] + "?edit=1",
		"/status", "/status/hostile", "/status/hostile/edit", "/status/hostile/delete", "/admin/checks", "/admin/checks?target=" + watched[1],
		"/", "/links", "/links?q=script", "/links?q=%22open", "/links?tag=" + many[7], "/links?q=nothing-at-all", "/links?url=" + web.URL + "/hostile-1",
		"/links/" + tagged.ID, "/links/" + tagged.ID + "?edit=1", "/links/refreshes/" + started.ID,
		"/tags", "/tags?sort=count", "/admin/jobs", "/admin/jobs/revalidation", "/admin/settings", "/nowhere",
	}
	found, _ := s.found("/v1/links")
	for _, l := range found {
		paths = append(paths, "/links/"+l.ID)
	}
	return s, paths
}

// attribute escapes a text for a quoted HTML attribute.
func attribute(s string) string {
	return strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;").Replace(s)
}

// Text from other sites is shown as text, and no page scrolls sideways.
func TestHostileContentIsText(t *testing.T) {
	t.Parallel()
	s, paths := hostileStore(t)
	inBoth(t, func(t *testing.T, in size) {
		b := browse(t, s, in, "/links")
		b.expect("status of 4") // some of these are error pages
		shown := eval[[]string](b, rowTitles)
		for _, title := range hostile {
			if !slices.Contains(shown, title) {
				t.Errorf("want the title %q in the list, got %q", title, shown)
			}
		}
		for _, path := range paths {
			b.open(path)
			b.wait(`document.readyState === "complete"`)
			if strays := eval[[]string](b, `[...document.querySelectorAll("script:not([src^='/static/']), img[onerror], svg[onload], [onfocus], main b")].map(e => e.outerHTML)`); len(strays) > 0 {
				t.Errorf("%s: content is interpreted as markup: %q", path, strays)
			}
			b.fits(in, path)
		}
	})
}
