package handlers_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
)

// TestTrailingSlash requests every page with a trailing slash.
func TestTrailingSlash(t *testing.T) {
	r := apptest.New(t)
	asked := 0
	for _, rt := range r.Router.Routes() {
		if rt.Method != "GET" || middleware.IsAPI(rt.Path) || strings.ContainsAny(rt.Path, "*") || strings.HasSuffix(rt.Path, "/") {
			continue
		}
		path := strings.NewReplacer(":id", "x", ":key", "x", ":slug", "x", ":target", "x", ":kind", "x", ":range", "x").Replace(rt.Path)
		if path == "/s/x" || path == "/apidoc" { // also served with the slash
			continue
		}
		asked++
		for _, method := range []string{"GET", "HEAD"} {
			w := get(r.Handler, method, path+"/?q=a%20b&x=%C3%BC")
			if got := w.Header().Get("Location"); w.Code != http.StatusMovedPermanently || got != path+"?q=a%20b&x=%C3%BC" {
				t.Errorf("%s %s/: got %d to %q", method, path, w.Code, got)
			}
			if w.Header().Get("X-Request-Id") == "" || w.Header().Get("X-Content-Type-Options") == "" {
				t.Errorf("%s/ skips the middleware: %v", path, w.Header())
			}
		}
	}
	if asked < 20 {
		t.Errorf("got only %d pages", asked)
	}
}

func TestTrailingSlash_NoPage(t *testing.T) {
	r := apptest.New(t)
	for _, c := range []struct{ method, path string }{
		{"GET", "//evil.example/"}, {"GET", "///"}, {"GET", "//"}, {"GET", "/%5Cevil.example/"}, {"GET", "/%2F%2Fevil.example/"},
		{"GET", "//links/"}, {"GET", "/links//"}, {"GET", "/links//x/"}, {"GET", "/nothing/"}, {"GET", "/links/x/y/z/"},
		{"GET", "/v1/links/"}, {"GET", "/api/v1/links/"}, {"GET", "/v1/"}, {"GET", "/favicon.ico/x/"},
		{"POST", "/watch/"}, {"DELETE", "/watch/"},
	} {
		if w := get(r.Handler, c.method, c.path); w.Code != http.StatusNotFound || w.Header().Get("Location") != "" {
			t.Errorf("%s %s: %d to %q", c.method, c.path, w.Code, w.Header().Get("Location"))
		}
	}
	if w := get(r.Handler, "GET", "/v1/links/"); w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("API: got content type %q", w.Header().Get("Content-Type"))
	}
	w := get(r.Handler, "GET", "/watch/?q="+strings.Repeat("a", 50_000))
	if got := w.Header().Get("Location"); w.Code != http.StatusMovedPermanently || got != "/watch" {
		t.Errorf("long query: got %d to %.50q", w.Code, got)
	}
	w = get(r.Handler, "GET", "/links/"+strings.Repeat("a", 50_000)+"/")
	if got := w.Header().Get("Location"); len(got) > 4000 {
		t.Errorf("long path: got a location of %d bytes", len(got))
	}
	if w := get(r.Handler, "GET", "/watch/", "Host", "evil.test"); w.Code != http.StatusForbidden {
		t.Errorf("other host: got %d", w.Code)
	}
}

func TestFavicon(t *testing.T) {
	r := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "correct horse")) // public
	w := get(r.Handler, "GET", "/favicon.ico")
	h := w.Header()
	if w.Code != http.StatusOK || h.Get("Content-Type") != "image/x-icon" || !strings.Contains(h.Get("Cache-Control"), "max-age") {
		t.Errorf("got %d, %v", w.Code, h)
	}
	if !bytes.HasPrefix(w.Body.Bytes(), []byte{0, 0, 1, 0}) || w.Body.Len() > 8<<10 {
		t.Errorf("got an icon of %d bytes", w.Body.Len())
	}
	if w := get(r.Handler, "HEAD", "/favicon.ico"); w.Code != http.StatusOK || w.Body.Len() != 0 {
		t.Errorf("HEAD: got %d, %d bytes", w.Code, w.Body.Len())
	}
}
