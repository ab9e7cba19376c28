package handlers_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
)

var (
	// unstored matches the paths of routes whose responses must not be stored: the API, metrics, settings, the audit log
	// and pages with secrets.
	unstored = regexp.MustCompile(`^/(v1/|sse/|admin(/|$)|settings(/|$)|metrics$|health$|openapi|alerts/channels(/new|/:id)$|sites/:id/(indexnow/key\.txt|credentials)$)`)
	// chosen matches the paths of routes whose handlers choose: files, a random page, the end of a session.
	chosen = regexp.MustCompile(`\.(csv|txt)$|/archive/:hash$|^/links/random$|^/logout$|^/alerts/channels$`)
)

// TestCachingOfEveryRoute requests every route that needs a role, signed in and with sign-in off. A new route is private.
func TestCachingOfEveryRoute(t *testing.T) {
	s := newTeam(t)
	open := apptest.New(t)
	for _, rt := range s.Router.Routes() {
		if rt.Needs == middleware.Public || rt.Stream && rt.Method == http.MethodGet {
			continue
		}
		want := middleware.Private
		if unstored.MatchString(rt.Path) {
			want = middleware.NoStore
		}
		for _, accept := range []string{"text/html", "*/*"} {
			for name, w := range map[string]http.Header{
				"signed in":        s.ask(rt.Method, rt.Path, "Cookie", s.session(s.users[middleware.Admin]), "Accept", accept).Header(),
				"with sign-in off": get(open.Router, rt.Method, rt.Path, "Accept", accept).Header(),
			} {
				if got := w.Get("Cache-Control"); got != want && (got != middleware.NoStore || !chosen.MatchString(rt.Path)) {
					t.Errorf("%s %s %s: got %q, want %q", rt.Method, rt.Path, name, got, want)
				}
			}
		}
		if rt.Needs == middleware.Admin { // the page of a 403
			w := s.ask(rt.Method, rt.Path, "Cookie", s.session(s.users[middleware.Viewer]), "Accept", "text/html")
			if got := w.Header().Get("Cache-Control"); got != middleware.NoStore {
				t.Errorf("%s %s as a viewer: got %q", rt.Method, rt.Path, got)
			}
		}
	}
	for path, want := range map[string]string{
		"/v1/nothing": middleware.NoStore, "/api/v1/links": middleware.NoStore, "/api/v1/nothing": middleware.NoStore, "/api/admin/cleanup/stats": middleware.NoStore,
		"/nothing": middleware.Private, "/links?q=tag:": middleware.Private, "/admin/audit?since=x": middleware.NoStore,
	} {
		if got := get(open.Handler, "GET", path, "Accept", "text/html").Header().Get("Cache-Control"); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	page, err := goquery.NewDocumentFromReader(get(open.Handler, "GET", "/").Body)
	s.Must(err)
	script := page.Find("script[src]").AttrOr("src", "")
	if got := get(open.Handler, "GET", script).Header().Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
		t.Errorf("%s: got %q", script, got)
	}
}

// TestSecurityHeadersOfEveryRoute requests every route without credentials and signed in.
func TestSecurityHeadersOfEveryRoute(t *testing.T) {
	s := newTeam(t, apptest.Set("SHORT_HOST", "go.example"))
	check := func(what string, h http.Header) {
		t.Helper()
		for name, want := range map[string]string{
			"Cross-Origin-Opener-Policy": "same-origin", "Permissions-Policy": "camera=()", "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "", "Content-Security-Policy": "default-src 'self'",
		} {
			if got, ok := h[name]; !ok || len(got) != 1 || !strings.HasPrefix(got[0], want) {
				t.Errorf("%s: got %s %q", what, name, got)
			}
		}
		if strings.Contains(strings.Split(h.Get("Content-Security-Policy"), "style-src")[0], "unsafe") {
			t.Errorf("%s allows inline scripts: %s", what, h.Get("Content-Security-Policy"))
		}
	}
	for _, rt := range s.Router.Routes() {
		check(rt.Method+" "+rt.Path+" without credentials", s.ask(rt.Method, rt.Path).Header())
		if !rt.Stream {
			check(rt.Method+" "+rt.Path, s.ask(rt.Method, rt.Path, "Cookie", s.session(s.users[middleware.Admin])).Header())
		}
	}
	for host, routes := range s.Router.HostRoutes() {
		for _, rt := range routes {
			check(rt.Path+" at "+host, get(s.Handler, rt.Method, rt.Path, "Host", host).Header())
		}
	}
	for _, path := range []string{"/nothing", "/v1/nothing", "/links/", "/s/unknown", "/static/nothing", "/api/v1/links"} {
		check(path, get(s.Handler, "GET", path).Header())
	}
	check("another host", get(s.Handler, "GET", "/", "Host", "evil.test").Header())
	check("another method", get(s.Handler, "TRACE", "/links").Header())
	check("another site", get(s.Handler, "POST", "/links", "Sec-Fetch-Site", "cross-site").Header())
}

// TestAPIDocHasNoInlineScript: the page of Swagger UI runs without inline scripts and event handlers.
func TestAPIDocHasNoInlineScript(t *testing.T) {
	r := apptest.New(t)
	page, err := goquery.NewDocumentFromReader(get(r.Handler, "GET", "/apidoc").Body)
	r.Must(err)
	if page.Find("script").Length() != 3 {
		t.Errorf("got %d scripts", page.Find("script").Length())
	}
	page.Find("*").Each(func(_ int, e *goquery.Selection) {
		for _, a := range e.Nodes[0].Attr {
			if strings.HasPrefix(a.Key, "on") {
				t.Errorf("got the event handler %s", a.Key)
			}
		}
	})
	page.Find("script").Each(func(_ int, e *goquery.Selection) {
		src := e.AttrOr("src", "")
		if w := get(r.Handler, "GET", src); src == "" || e.Text() != "" || w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/javascript") && !strings.HasPrefix(w.Header().Get("Content-Type"), "application/javascript") {
			t.Errorf("script %q: got %d, %v, %q", src, w.Code, w.Header(), e.Text())
		}
	})
}
