package shortlinks_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models/shortlinks"
	"linkwatch/static"
)

// newShortHost returns a server with SHORT_HOST and the short link "abcd".
func newShortHost(t *testing.T, change ...func(*apptest.Setup)) *server {
	t.Helper()
	s := newServer(t, append(change, apptest.Set("PUBLIC_URL", "https://links.example"), apptest.Set("SHORT_HOST", "go.example"))...)
	s.add("abcd")
	return s
}

// TestShortHost: at SHORT_HOST the path of a short link is /{key}.
func TestShortHost(t *testing.T) {
	s := newShortHost(t, apptest.Set("ADMIN_PASSWORD", "correct horse"))
	for _, host := range []string{"go.example", "go.example:8080", "GO.Example"} {
		for _, path := range []string{"/abcd", "/abcd/", "/abcd?x=1"} {
			for _, method := range []string{"GET", "HEAD"} {
				a := s.Request(method, path, "Host", host)
				if a.Status != http.StatusFound || a.Header.Get("Location") != "https://example.com/page" || a.Header.Get("Cache-Control") != "private, no-store" {
					t.Errorf("%s %s%s: %d %v", method, host, path, a.Status, a.Header)
				}
			}
		}
	}
	page := s.Request("GET", "/abcd?preview=1", "Host", "go.example", "Accept", "text/html")
	if page.Status != 200 || !strings.Contains(page.Body, `href="/abcd"`) {
		t.Errorf("%d %s", page.Status, page.Body)
	}
	_, _, err := s.ShortLinks.Add(t.Context(), shortlinks.New{LongURL: longURL, Key: "once", MaxVisits: 1})
	s.Must(err)
	page = s.Request("GET", "/once/", "Host", "go.example", "Accept", "text/html", "Sec-Purpose", "prefetch")
	if link := doc(page).Find("main a"); page.Status != 200 || link.AttrOr("href", "") != "/once" {
		t.Errorf("%d %s", page.Status, page.Body)
	}
	style := regexp.MustCompile(static.Prefix + `[^"]*app\.css[^"]*`).FindString(page.Body)
	if a := s.Request("GET", style, "Host", "go.example"); a.Status != 200 {
		t.Errorf("stylesheet %q: got %d", style, a.Status)
	}
	if a := s.Request("GET", "/s/abcd", "Host", "links.example"); a.Status != http.StatusFound {
		t.Errorf("other path: got %d", a.Status)
	}
	if a := s.Request("GET", "/abcd", "Host", "links.example"); a.Status != http.StatusNotFound {
		t.Errorf("key on the main host: got %d", a.Status)
	}
	if a := s.Request("GET", "/abcd", "Host", "other.example"); a.Status != http.StatusForbidden {
		t.Errorf("other host: got %d", a.Status)
	}
}

// TestShortHostServesNothingElse: SHORT_HOST serves no pages and no API operations, with or without the
// password.
func TestShortHostServesNothingElse(t *testing.T) {
	s := newShortHost(t, apptest.Set("ADMIN_PASSWORD", "correct horse"))
	open := map[string]bool{"/healthz": true, "/probs/:slug": true, static.Prefix + "*file": true}
	for _, rt := range s.Router.Routes() {
		if open[rt.Path] {
			continue
		}
		for _, auth := range []string{"", "Bearer correct horse"} {
			path := strings.ReplaceAll(rt.Path, ":key", "abcd")
			a := s.Request(rt.Method, path, "Host", "go.example", "Authorization", auth)
			if a.Status != http.StatusNotFound && a.Status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d %v", rt.Method, path, a.Status, a.Header)
			}
		}
	}
	for _, path := range []string{"/", "/admin", "/links", "/v1/links", "/api/v1/links", "/metrics", "/s/abcd", "/readyz", "/robots.txt", "/favicon.ico"} {
		a := s.Request("GET", path, "Host", "go.example", "Accept", "text/html", "Authorization", "Bearer correct horse")
		if a.Status != http.StatusNotFound || strings.Contains(a.Body, "<nav") || a.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
	if a := s.Request("POST", "/abcd", "Host", "go.example"); a.Status != http.StatusMethodNotAllowed {
		t.Errorf("POST: got %d", a.Status)
	}
}

// TestOwnAddressesAreReserved: the first path segments of all routes are reserved, in any case.
func TestOwnAddressesAreReserved(t *testing.T) {
	s := newShortHost(t)
	key := regexp.MustCompile(`^[0-9A-Za-z_-]{4,64}$`)
	seen := 0
	for _, rt := range slices.Concat(s.Router.Routes(), s.Systems.ShortLinks.Host.Routes) {
		first, _, _ := strings.Cut(strings.TrimPrefix(rt.Path, "/"), "/")
		if !key.MatchString(first) {
			continue
		}
		seen++
		for _, word := range []string{first, strings.ToUpper(first)} {
			if !s.ShortLinks.Reserved(word) {
				t.Errorf("%s %s: %q is not reserved", rt.Method, rt.Path, word)
			}
		}
	}
	if seen == 0 {
		t.Error("got no routes")
	}
}
