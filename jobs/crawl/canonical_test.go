package crawl_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// named serves a page about foxes that names a canonical URL and has links.
func named(canonical string, links ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><title>Fox</title><link rel=canonical href=\"%s\"><p>A fox.", canonical)
		for _, l := range links {
			fmt.Fprintf(w, "<a href=\"%s\">link</a> ", l)
		}
	}
}

// linked is like named with a header.
func linked(canonical string, links ...string) http.HandlerFunc {
	page := html("fox", links...)
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "<"+canonical+`>; rel="canonical"`)
		page(w, r)
	}
}

func redirectTo(path string, status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, path, status) }
}

// report indexes all pages and writes the report of the last crawl.
func (w *world) report() {
	w.Helper()
	index := func() {
		for {
			if n, err := w.store.IndexNext(w.Context(), 100); err != nil {
				w.Fatal(err)
			} else if n == 0 {
				return
			}
		}
	}
	index()
	for {
		r, err := w.store.NextReport(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		if r == nil {
			break
		}
		for done := false; !done; {
			if done, err = r.Next(w.Context()); err != nil {
				w.Fatal(err)
			}
		}
	}
	index()
}

// paths returns the paths of the pages that a list or search shows, sorted. Pages that are gone are omitted.
func (w *world) paths(base, query string) (paths []string) {
	w.Helper()
	list, err := w.store.Pages(w.Context(), crawl.PageFilter{Query: query}, models.Cursor{}, 100)
	if err != nil {
		w.Fatal(err)
	}
	for _, p := range list.Items {
		if p.GoneAt.IsZero() {
			paths = append(paths, strings.TrimPrefix(p.URL, base))
		}
	}
	slices.Sort(paths)
	return paths
}

// A page with a canonical URL is fetched, listed and found like any other, and its links are followed, unless the canonical URL is a
// good page of its own. Each URL is requested once.
func TestCanonicalURLIsAHint(t *testing.T) {
	robots := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "User-agent: *\nDisallow: /private") }
	fox := html("fox")
	for name, c := range map[string]struct {
		page      string // path of the page with the canonical URL
		pages     map[string]http.HandlerFunc
		duplicate bool
		requests  int // for the canonical URL
	}{
		"redirects back": {"/blog/", map[string]http.HandlerFunc{
			"/blog/": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, `<title>Fox</title><link rel="canonical" href="/blog"><p>words<a href="/below">`)
			},
			"/blog": redirectTo("/blog/", http.StatusMovedPermanently),
		}, false, 1},
		"redirects back for now": {"/copy", map[string]http.HandlerFunc{"/copy": named("/to", "/below"), "/to": redirectTo("/copy", http.StatusFound)}, false, 1},
		"redirects in a loop":    {"/copy", map[string]http.HandlerFunc{"/copy": named("/to", "/below"), "/to": redirectTo("/to", http.StatusFound)}, false, 1},
		"redirects out":          {"/copy", map[string]http.HandlerFunc{"/copy": named("/to", "/below"), "/to": redirectTo("http://other.example/", http.StatusFound)}, false, 1},
		"mutual":                 {"/copy", map[string]http.HandlerFunc{"/copy": named("/to", "/below"), "/to": named("/copy")}, false, 1},
		"a chain":                {"/copy", map[string]http.HandlerFunc{"/copy": named("/to", "/below"), "/to": named("/last"), "/last": fox}, false, 1},
		"not found":              {"/copy", map[string]http.HandlerFunc{"/copy": named("/to", "/below")}, false, 1},
		"broken": {"/copy", map[string]http.HandlerFunc{"/copy": named("/to", "/below"), "/to": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
		}}, false, 3}, // attempts
		"noindex": {"/copy", map[string]http.HandlerFunc{"/copy": named("/to", "/below"), "/to": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Robots-Tag", "noindex")
			fox(w, r)
		}}, false, 1},
		"without text": {"/copy", map[string]http.HandlerFunc{"/copy": named("/to", "/below"), "/to": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "<html><script src=x></script>")
		}}, false, 1},
		"an image": {"/copy", map[string]http.HandlerFunc{"/copy": named("/to", "/below"), "/to": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("\x89PNG\r\n\x1a\n"))
		}}, false, 1},
		"disallowed":          {"/copy", map[string]http.HandlerFunc{"/copy": named("/private", "/below"), "/private": fox}, false, 0},
		"never fetched":       {"/copy", map[string]http.HandlerFunc{"/copy": named("/to/to/to", "/below"), "/to/to/to": fox}, false, 0},
		"another host":        {"/copy", map[string]http.HandlerFunc{"/copy": named("http://other.example/", "/below")}, false, 0},
		"another scheme":      {"/copy", map[string]http.HandlerFunc{"/copy": named("ftp://other.example/", "/below")}, false, 0},
		"itself":              {"/copy", map[string]http.HandlerFunc{"/copy": named("/x/../copy?utm_source=x#top", "/below")}, false, 0},
		"good":                {"/copy", map[string]http.HandlerFunc{"/copy": named("/to#top", "/below"), "/to": fox}, true, 1},
		"good, names itself":  {"/copy", map[string]http.HandlerFunc{"/copy": named("/to", "/below"), "/to": named("/to#top")}, true, 1},
		"good, fetched first": {"/copy", map[string]http.HandlerFunc{"/": html("Home", "/to"), "/copy": named("/to", "/below"), "/to": html("fox", "/copy")}, true, 1},
		"good, by a redirect": {"/copy", map[string]http.HandlerFunc{"/": html("Home", "/away", "/copy"), "/copy": named("/to", "/below"), "/away": redirectTo("/to", http.StatusFound), "/to": fox}, true, 1},
		"good, in a header":   {"/copy", map[string]http.HandlerFunc{"/copy": linked("/to", "/below"), "/to": fox}, true, 1},
		"good, nofollow": {"/copy", map[string]http.HandlerFunc{"/": html("Home", "/copy", "/below"), "/copy": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Robots-Tag", "nofollow")
			named("/to", "/hidden")(w, r)
		}, "/to": fox, "/hidden": html("Hidden")}, true, 1},
		"good, at the maximum depth": {"/copy", map[string]http.HandlerFunc{"/": html("Home", "/1"), "/1": html("One", "/2", "/below"), "/2": html("Two", "/copy"), "/copy": named("/to"), "/to": fox}, true, 1},
		"the start page":             {"/copy", map[string]http.HandlerFunc{"/": html("fox", "/copy"), "/copy": named("/", "/below")}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				pages := map[string]http.HandlerFunc{"/": html("Home", c.page), "/below": html("Below"), "/robots.txt": robots}
				for path, page := range c.pages {
					pages[path] = page
				}
				s := newSite(w.T, pages)
				j := w.job(s.URL + "/")
				w.start()
				w.ended(j)
				w.report()
				e := w.ended(j)
				all, found := w.paths(s.URL, ""), w.paths(s.URL, "fox")
				if slices.Contains(all, c.page) == c.duplicate || slices.Contains(found, c.page) == c.duplicate || !slices.Contains(all, "/below") {
					w.Errorf("listed %v, found %v", all, found)
				}
				changes, err := w.store.PageChanges(w.Context(), e, "", models.Cursor{}, 50)
				if err != nil {
					w.Fatal(err)
				}
				for _, change := range changes.Items {
					if change.Change != crawl.PageNew {
						w.Errorf("%s is %s", change.URL, change.Change)
					}
				}
				if e.Status != crawl.ExecutionCompleted || e.PagesNew != len(changes.Items) || e.PagesGone != 0 || e.BrokenLinks != 0 {
					w.Errorf("%d changes, %+v", len(changes.Items), e)
				}
				if n := s.count("/to") + s.count("/blog") + s.count("/to/to/to") + s.count("/private"); n != c.requests || s.count(c.page) != 1 {
					w.Errorf("%d requests for the page and %d for its canonical URL", s.count(c.page), n)
				}
				if got := modelstest.Events(w.T, w.db); len(got) != 0 {
					w.Errorf("events %v", got)
				}
			})
		})
	}
}

// A page is shown again as soon as a crawl finds that its canonical URL is no good page any more, although the page itself did not
// change.
func TestCanonicalURLDies(t *testing.T) {
	each(t, func(w *world) {
		var dead atomic.Bool
		tagged := func(page http.HandlerFunc) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("ETag", `"1"`)
				if r.Header.Get("If-None-Match") == `"1"` {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				page(w, r)
			}
		}
		original := tagged(html("fox"))
		s := newSite(w.T, map[string]http.HandlerFunc{
			"/": html("Home", "/copy"), "/copy": tagged(named("/original")),
			"/original": func(w http.ResponseWriter, r *http.Request) {
				if dead.Load() {
					http.NotFound(w, r)
					return
				}
				original(w, r)
			},
		})
		j := w.job(s.URL+"/", func(n *crawl.NewJob) { n.Interval = crawl.Interval{Count: 1, Type: crawl.Days} })
		w.start()
		for run, want := range []string{"/original", "/original", "/copy", "/copy", "/original"} {
			dead.Store(want == "/copy")
			if _, err := w.store.Act(w.Context(), j.ID, crawl.ForceRun); err != nil {
				w.Fatal(err)
			}
			modelstest.Eventually(w.T, "the run ends", func() bool {
				j, _ = w.store.Job(w.Context(), j.ID)
				return j.Executions == run+1 && j.Status == crawl.Scheduled
			})
			w.report()
			if got := w.paths(s.URL, "fox"); !slices.Equal(got, []string{want}) {
				w.Errorf("run %d: found %v, want %s", run+1, got, want)
			}
			if got := w.paths(s.URL, ""); !slices.Equal(got, []string{"/", want}) {
				w.Errorf("run %d: listed %v", run+1, got)
			}
			if s.count("/copy") != run+1 || s.count("/original") != run+1 {
				w.Errorf("run %d: %d and %d requests", run+1, s.count("/copy"), s.count("/original"))
			}
		}
	})
}
