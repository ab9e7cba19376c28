//go:build e2e

package e2e

import (
	_ "embed" // of the script
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

// layout is a script that returns what is wrong with the layout of a page.
//
//go:embed testdata/layout.js
var layout string

// widths are the widths of phones, tablets and desktops, with those at which the layout changes.
var widths = []int64{360, 480, 721, 768, 1024, 1041, 1280, 1920}

// awkward are names that are hard to fit: a word without a break, an address with a port, and other scripts.
var awkward = []string{
	strings.Repeat("unbroken", 24),
	"very-long-name-of-a-host.with-many-labels.department.of.the.company.internal.example:65535",
	"長い題名" + strings.Repeat("の長い題名", 20) + " שלום עולם مرحبا بالعالم",
}

// address returns a URL on the website that is hard to fit.
func (w *website) address(i int) string {
	return fmt.Sprintf("%s/%d/%s?%s=%%E9%%95%%B7%%E3%%81%%84", w.URL, i, strings.Repeat("no-break", 40), strings.Repeat("q", 200))
}

// serveAwkward serves pages whose texts and links are hard to fit, and a sitemap of them.
func (w *website) serveAwkward() {
	var body, urls strings.Builder
	for i, name := range awkward {
		fmt.Fprintf(&body, "<h2>%[1]s</h2><p>%[1]s</p><p><a href=%[2]q>%[1]s</a></p>", name, w.address(i))
		fmt.Fprintf(&body, `<p><a href="/gone-%d/%s">%s</a></p>`, i, strings.Repeat("no-break", 40), name)
		fmt.Fprintf(&body, `<p><a href="http://%s/">%s</a></p>`, awkward[1], name)
		fmt.Fprintf(&urls, "<url><loc>%s</loc></url>", w.address(i))
	}
	for i, name := range awkward {
		w.set(fmt.Sprintf("/gone-%d/%s", i, strings.Repeat("no-break", 40)), status(404))
		w.set(fmt.Sprintf("/%d/%s", i, strings.Repeat("no-break", 40)), func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(rw, "<!doctype html><title>%s</title><body>%s", name, body.String())
		})
	}
	w.set("/sitemap.xml", func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(rw, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">%s</urlset>`, urls.String())
	})
}

// addAwkward adds rows to all lists that are hard to fit.
func (s *Server) addAwkward(w *website) {
	s.t.Helper()
	w.serveAwkward()
	add := func(path string, body map[string]any) (made struct{ ID string }) {
		s.t.Helper()
		if status := s.Call(http.MethodPost, path, body, &made); status != http.StatusCreated {
			s.t.Fatalf("POST %s: status %d", path, status)
		}
		return made
	}
	tags := make([]string, 40)
	for i := range tags {
		tags[i] = fmt.Sprintf("%02d%s", i, strings.Repeat("tag", 20))
	}
	var targets []string
	for i, name := range awkward {
		at := w.address(i)
		if i == 1 {
			at = "http://" + name + "/" + strings.Repeat("no-break", 20)
		}
		add("/v1/links", map[string]any{"url": at, "title": name, "notes": name + "\n" + name, "tags": tags[:max(1, i*20)], "force": true})
		target := add("/v1/targets", map[string]any{"url": at, "name": name, "interval_seconds": 3600})
		down := add("/v1/targets", map[string]any{"url": fmt.Sprintf("%s/gone-%d/%s", w.URL, i, strings.Repeat("no-break", 40)), "name": "down " + name})
		targets = append(targets, target.ID, down.ID)
		add("/v1/shortlinks", map[string]any{"long_url": at, "short_key": fmt.Sprintf("awkward-%d-%s", i, strings.Repeat("k", 50)), "title": name, "max_visits": 1_000_000})
		add("/v1/jobs", map[string]any{"url": at, "interval_minutes": 6, "interval_type": "hours"})
		channel := add("/v1/channels", map[string]any{"name": name, "url": w.URL + "/" + strings.Repeat("hook", 40)})
		add("/v1/alert-rules", map[string]any{"name": name, "events": []string{"target.down", "link.dead"}, "channels": []string{channel.ID}})
		starts := time.Now().Add(-time.Hour)
		add("/v1/maintenance", map[string]any{"name": name, "targets": targets[:1], "starts_at": starts, "ends_at": starts.Add(48 * time.Hour), "repeat": "weekly"})
	}
	add("/v1/status-pages", map[string]any{"slug": "awkward-" + strings.Repeat("s", 40), "title": awkward[0], "description": awkward[2], "targets": targets})
	website := add("/v1/websites", map[string]any{"name": awkward[1], "site_url": w.URL})
	add("/v1/websites/"+website.ID+"/sitemaps", map[string]any{"url": w.URL + "/sitemap.xml"})
	s.Call(http.MethodPost, "/v1/websites/"+website.ID+"/refresh", nil, nil)
	s.crawled(add("/v1/jobs", map[string]any{"url": w.address(0)}).ID, 1)
	for i := 1; i < len(targets); i += 2 {
		s.becomes(targets[i], "down")
	}
	modelstest.Eventually(s.t, "there are alerts and pages", func() bool {
		alerts, _ := listed[struct{ Subject struct{ ID string } }](s, "/v1/alerts?limit=5")
		pages, _ := listed[struct{ ID string }](s, "/v1/websites/"+website.ID+"/pages")
		return len(pages) == len(awkward) && slices.ContainsFunc(alerts, func(a struct{ Subject struct{ ID string } }) bool { return a.Subject.ID == targets[1] })
	})
}

// tour visits all pages that links lead to from its start, up to a number of examples of each route.
type tour struct {
	b      *tab
	routes []string       // of pages
	seen   map[string]int // by route and names of parameters
	todo   []string
	known  map[string]bool
}

// newTour returns a tour that begins with paths.
func newTour(b *tab, paths ...string) *tour {
	b.t.Helper()
	list, err := os.ReadFile(routes)
	if err != nil {
		b.t.Fatal(err)
	}
	t := &tour{b: b, seen: map[string]int{}, known: map[string]bool{}}
	for line := range strings.Lines(string(list)) {
		if f := strings.Fields(line); len(f) == 3 && f[1] == http.MethodGet {
			t.routes = append(t.routes, f[2])
		}
	}
	t.add(paths)
	return t
}

// route returns the route of a path, or "".
func (t *tour) route(path string) string {
	parts := strings.Split(path, "/")
	best := ""
	for _, r := range t.routes {
		of := strings.Split(r, "/")
		if len(of) != len(parts) {
			continue
		}
		matches := true
		for i, part := range of {
			matches = matches && (part == parts[i] || strings.HasPrefix(part, ":") && parts[i] != "")
		}
		if matches && (best == "" || strings.Count(r, ":") < strings.Count(best, ":")) {
			best = r
		}
	}
	return best
}

// skipped are routes of files and redirects.
var skipped = []string{"/apidoc", "/s/:key", "/s/:key/", "/links/random", "/health", "/healthz", "/readyz", "/metrics", "/login/oidc", "/openapi.json", "/openapi-3.0.json"}

// add adds the paths that are new.
func (t *tour) add(paths []string) {
	for _, path := range paths {
		u, err := url.Parse(path)
		if err != nil || t.known[path] {
			continue
		}
		t.known[path] = true
		route := t.route(u.Path)
		if route == "" || slices.Contains(skipped, route) || strings.HasPrefix(route, "/v1/") || strings.HasPrefix(route, "/sse/") ||
			strings.ContainsAny(route[strings.LastIndex(route, "/"):], ".") || strings.HasSuffix(route, "/feed") || strings.HasSuffix(route, "/log") || strings.HasPrefix(route, "/badge/") {
			continue
		}
		names := slices.Sorted(maps.Keys(u.Query()))
		key, limit := route+"?"+strings.Join(names, "&"), 2
		if len(names) > 0 {
			limit = 1
		}
		if t.seen[key]++; t.seen[key] <= limit {
			t.todo = append(t.todo, path)
		}
	}
}

// run visits the pages and returns the number of pages.
func (t *tour) run(check func(path string)) (n int) {
	t.b.t.Helper()
	for len(t.todo) > 0 {
		path := t.todo[0]
		t.todo = t.todo[1:]
		t.b.open(path)
		check(path)
		t.add(eval[[]string](t.b, `[...document.querySelectorAll("a[href]")].filter(a => a.origin === location.origin).map(a => a.pathname + a.search)`))
		n++
	}
	return n
}

// laidOut checks the layout of the current page at all widths.
func (b *tab) laidOut(path string) {
	b.t.Helper()
	for _, width := range widths {
		b.resize(size{width, 900})
		for _, fault := range eval[[]string](b, layout) {
			b.t.Errorf("%s at %d px: %s", path, width, fault)
		}
	}
}

// No page scrolls sideways and no texts overlap, at any width, with and without rows.
func TestLayoutAtAllWidths(t *testing.T) {
	t.Parallel()
	web := site(t)
	empty, full := Start(t), Start(t, demoIn(t))
	full.addAwkward(web)
	b := browse(t, empty, wide, "/")
	b.expect("status of 4")
	for _, path := range append(empty.pages(), "/nowhere", "/status/nowhere", "/s/nothing-here") {
		b.open(path)
		b.laidOut(path)
	}
	b = browse(t, full, wide, "/")
	b.expect("status of 4")
	paths := append(full.pages(), "/s/lunch-poll", "/s/spring26?preview=1", "/links?q=%22open", "/links?q=gomemry", "/watch?q=nothing-at-all", "/search?q=shop", "/status/demo", "/status/demo/edit")
	b.firstAccount("a-user-with-a-very-long-name-indeed")
	n := newTour(b, paths...).run(b.laidOut)
	t.Logf("%d pages at %d widths", n, len(widths))
}
