package crawl_test

import (
	"fmt"
	"net/http"
	"testing"

	"linkwatch/models/crawl"
)

// A crawl stores what keeps a page out of a search index: noindex, another canonical URL, a redirect, robots.txt.
func TestFactsOfACrawl(t *testing.T) {
	each(t, func(w *world) {
		header := func(name, value string) http.HandlerFunc {
			page := html("Page")
			return func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set(name, value)
				page(w, r)
			}
		}
		head := func(head string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, "<!doctype html><html><head>%s</head><p>Four words of text.", head)
			}
		}
		s := newSite(w.T, map[string]http.HandlerFunc{
			"/robots.txt": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "User-agent: *\nDisallow: /private") },
			"/":           html("Home", "/meta", "/header", "/far", "/link", "/self", "/copy", "/moved", "/private", "/plain", "/slash", "/dead", "/shelf/", "/lost"),
			"/meta":       head(`<meta name=robots content=noindex>`),
			"/header":     header("X-Robots-Tag", "noindex"),
			"/far":        head(`<link rel=canonical href="https://far.example/page#x">`),
			"/link":       header("Link", `<https://far.example/page>; rel="canonical"`),
			"/self":       head(`<link rel=canonical href="/self">`),
			"/copy":       head(`<link rel=canonical href="/plain">`),
			"/moved":      func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/to", http.StatusMovedPermanently) },
			"/to":         html("To"),
			"/plain":      head(""),
			"/slash": func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/slash/", http.StatusMovedPermanently)
			},
			"/slash/": html("Slash"),
			"/shelf": func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/shelf/", http.StatusMovedPermanently)
			},
			"/shelf/": head(`<link rel=canonical href="/shelf">`),
			"/lost":   head(`<link rel=canonical href="/dead">`),
		})
		j := w.job(s.URL + "/")
		w.start()
		if e := w.ended(j); e.Status != crawl.ExecutionCompleted {
			t.Fatalf("got %+v", e)
		}
		urls := []string{s.URL}
		for _, path := range []string{"/meta", "/header", "/far", "/link", "/self", "/copy", "/moved", "/private", "/plain", "/slash", "/dead", "/nowhere", "/shelf", "/shelf/", "/lost"} {
			urls = append(urls, s.URL+path)
		}
		facts, err := w.store.FactsOf(w.Context(), urls)
		if err != nil {
			t.Fatal(err)
		}
		far := "https://far.example/page"
		for path, want := range map[string]crawl.PageFacts{
			"": {StatusCode: 200, Words: 3}, "/plain": {StatusCode: 200, Words: 4}, "/slash": {StatusCode: 200, Words: 3},
			"/meta": {StatusCode: 200, Words: 4, NoIndex: true}, "/header": {StatusCode: 200, Words: 3, NoIndex: true},
			"/far": {StatusCode: 200, Words: 4, Canonical: far, OtherCanonical: true}, "/link": {StatusCode: 200, Words: 3, Canonical: far, OtherCanonical: true},
			"/self": {StatusCode: 200, Words: 4, Canonical: s.URL + "/self"}, "/copy": {StatusCode: 200, Words: 4, Canonical: s.URL + "/plain", OtherCanonical: true},
			"/moved": {Words: -1, Redirects: true, RedirectsTo: s.URL + "/to"}, "/private": {Words: -1, Robots: true}, "/dead": {StatusCode: 404, Words: -1},
			"/nowhere": {Words: -1, Unlinked: true}, "/shelf": {StatusCode: 200, Words: 4, Canonical: s.URL + "/shelf"}, "/shelf/": {StatusCode: 200, Words: 4, Canonical: s.URL + "/shelf"},
			"/lost": {StatusCode: 200, Words: 4, Canonical: s.URL + "/dead", OtherCanonical: true},
		} {
			got := facts[s.URL+path]
			if got.SourceID == "" || got.FetchedAt.IsZero() != want.Unlinked {
				t.Errorf("%s: got %+v", path, got)
			}
			if path == "" { // link texts count as words
				want.Words = got.Words
			}
			got.SourceID, got.PageID, got.FetchedAt = "", "", want.FetchedAt
			if got != want {
				t.Errorf("%s: got %+v\nwant %+v", path, got, want)
			}
		}
	})
}
