package shortlinks_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"linkwatch/handlers/middleware"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
	"linkwatch/static"
)

// newShortHost is a router with SHORT_HOST and a short link of the key "abcd".
func newShortHost(t *testing.T, change func(*Deps)) *Router {
	t.Helper()
	db := modelstest.New(t)
	memory := cache.NewMemory(1000, nil)
	t.Cleanup(memory.Close)
	store := shortlinks.NewStore(db, nil, memory, visits.New(), shortlinks.Options{ShortHost: "go.example"})
	if _, _, err := store.Add(t.Context(), shortlinks.New{LongURL: "https://example.com/page", Key: "abcd"}); err != nil {
		t.Fatal(err)
	}
	return newRouter(t, func(d *Deps) {
		d.ShortLinks = store
		d.Addresses = middleware.Addresses{PublicURL: "https://links.example", ShortHost: "go.example"}
		if change != nil {
			change(d)
		}
	})
}

// TestShortHost: at SHORT_HOST keys stand right behind the host.
func TestShortHost(t *testing.T) {
	r := newShortHost(t, func(d *Deps) { d.Password = "correct horse" })
	for _, host := range []string{"go.example", "go.example:8080", "GO.Example"} {
		for _, path := range []string{"/abcd", "/abcd/", "/abcd?x=1"} {
			for _, method := range []string{"GET", "HEAD"} {
				w := get(r, method, path, "Host", host)
				if w.Code != http.StatusFound || w.Header().Get("Location") != "https://example.com/page" || w.Header().Get("Cache-Control") != "private, no-store" {
					t.Errorf("%s %s%s: %d %v", method, host, path, w.Code, w.Header())
				}
			}
		}
	}
	page := get(r, "GET", "/abcd?preview=1", "Host", "go.example", "Accept", "text/html")
	if page.Code != 200 || !strings.Contains(page.Body.String(), `href="/abcd"`) {
		t.Errorf("%d %s", page.Code, page.Body)
	}
	style := regexp.MustCompile(static.Prefix + `[^"]*app\.css[^"]*`).FindString(page.Body.String())
	if w := get(r, "GET", style, "Host", "go.example"); w.Code != 200 {
		t.Errorf("its style %q: %d", style, w.Code)
	}
	if w := get(r, "GET", "/s/abcd", "Host", "links.example"); w.Code != http.StatusFound {
		t.Errorf("elsewhere: %d", w.Code)
	}
	if w := get(r, "GET", "/abcd", "Host", "links.example"); w.Code != http.StatusNotFound {
		t.Errorf("a bare key elsewhere: %d", w.Code)
	}
	if w := get(r, "GET", "/abcd", "Host", "other.example"); w.Code != http.StatusForbidden {
		t.Errorf("another host: %d", w.Code)
	}
}

// TestShortHostServesNothingElse: no page and no call of the program answers there,
// with the password or without.
func TestShortHostServesNothingElse(t *testing.T) {
	r := newShortHost(t, func(d *Deps) { d.Password = "correct horse" })
	open := map[string]bool{"/healthz": true, "/probs/:slug": true, static.Prefix + "*file": true}
	for _, rt := range r.routes {
		if open[rt.path] {
			continue
		}
		for _, auth := range []string{"", "Bearer correct horse"} {
			path := strings.ReplaceAll(rt.path, ":key", "abcd")
			w := get(r, rt.method, path, "Host", "go.example", "Authorization", auth)
			if w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d %v", rt.method, path, w.Code, w.Header())
			}
		}
	}
	for _, path := range []string{"/", "/admin", "/links", "/v1/links", "/api/v1/links", "/metrics", "/s/abcd", "/readyz", "/robots.txt", "/favicon.ico"} {
		w := get(r, "GET", path, "Host", "go.example", "Accept", "text/html", "Authorization", "Bearer correct horse")
		if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "<nav") || w.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := get(r, "POST", "/abcd", "Host", "go.example"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// TestOwnAddressesAreReserved: no key hides an address of the program, or could
// be taken for one, whatever serves it at SHORT_HOST one day.
func TestOwnAddressesAreReserved(t *testing.T) {
	r := newShortHost(t, nil)
	key := regexp.MustCompile(`^[0-9A-Za-z_-]{4,64}$`)
	seen := 0
	for _, rt := range append(r.routes, r.short...) {
		first, _, _ := strings.Cut(strings.TrimPrefix(rt.path, "/"), "/")
		if !key.MatchString(first) {
			continue
		}
		seen++
		for _, word := range []string{first, strings.ToUpper(first)} {
			if !shortlinks.Reserved(word) {
				t.Errorf("%s %s: %q is not reserved", rt.method, rt.path, word)
			}
		}
	}
	if seen == 0 {
		t.Error("no route was looked at")
	}
}
