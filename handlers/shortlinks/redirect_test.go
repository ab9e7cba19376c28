package shortlinks_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/app/apptest"
)

const browser = "text/html,application/xhtml+xml,*/*;q=0.8"

// TestRedirect checks status, headers and body of a redirect.
func TestRedirect(t *testing.T) {
	s := newServer(t)
	s.shorten(`"short_key":"Abc-123_"`)
	for _, path := range []string{
		"/s/Abc-123_", "/s/Abc-123_/", "/s/Abc-123_?", "/s/Abc-123_?preview=0", "/s/Abc-123_?preview", "/s/Abc-123_?utm_source=x&to=https://evil.test",
		"/s/Abc-123_?preview=2&preview=1", "/s/%41bc-123_", "/s/Abc-123_?%zz;",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			a := s.Request(method, path, "Accept", browser)
			h := a.Header
			if a.Status != 302 || h.Get("Location") != longURL || h.Get("Cache-Control") != "private, no-store" || h.Get("X-Robots-Tag") != "noindex" ||
				h.Get("X-Request-Id") == "" || h.Get("X-Content-Type-Options") != "nosniff" || a.Body != "" {
				t.Errorf("%s: %d %v %q", a.Call, a.Status, h, a.Body)
			}
			if len(h["Location"]) != 1 {
				t.Errorf("%s: %v", a.Call, h)
			}
			for _, name := range []string{
				"Set-Cookie", "Content-Encoding", // as there is no page:
				"Content-Security-Policy", "Permissions-Policy", "Referrer-Policy", "Cross-Origin-Opener-Policy",
			} {
				if h.Get(name) != "" {
					t.Errorf("%s: got %s %q", a.Call, name, h.Get(name))
				}
			}
		}
	}
	for _, path := range []string{"/s/abc-123_", "/s/ABC-123_", "/s/Abc-123", "/S/Abc-123_"} { // keys are case-sensitive
		s.Request("GET", path).Problem(404, "not-found", "")
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS"} {
		a := s.Request(method, "/s/Abc-123_")
		a.Problem(405, "method-not-allowed", "")
		if a.Header.Get("Location") != "" || !strings.Contains(a.Header.Get("Allow"), "GET") {
			t.Errorf("%s: %v", method, a.Header)
		}
	}
	s.writeVisits()
	apptest.Has(t, s.Do("GET", "/v1/shortlinks/Abc-123_", "").Want(200), map[string]any{"visits": 9.0, "bots": 0.0, "previews": 9.0})
}

// TestLocation: Location has the destination as it was entered. If that is not valid in a header, it has
// the form that browsers use.
func TestLocation(t *testing.T) {
	s := newServer(t)
	for given, want := range map[string]string{
		"https://example.com":                           "https://example.com",
		"https://example.com/a/../b//c/./d/?q=%20+&x=#": "https://example.com/a/../b//c/./d/?q=%20+&x=#",
		"http://Example.COM:80/%7Euser#frag":            "http://Example.COM:80/%7Euser#frag",
		"https://bücher.example/straße?ö=ü#ä":           "https://xn--bcher-kva.example/stra%C3%9Fe?%C3%B6=%C3%BC#%C3%A4",
		"https://[2001:db8::1]:8443/x":                  "https://[2001:db8::1]:8443/x",
		"https://example.com/\u202e\U0001f600":          "https://example.com/%E2%80%AE%F0%9F%98%80",
		`https://example.com/"><script>`:                `https://example.com/"><script>`,
		"https://example.com/foo%":                      "https://example.com/foo%25",
		"https://exam\tple.com/\r\nX-Evil: 1":           "https://example.com/X-Evil:%201",
		`https://example.com\a\../b c#d e`:              "https://example.com/b%20c#d%20e",
		"http://0x7f.1:81/x":                            "http://127.0.0.1:81/x",
		"http://İ.example/":                             "http://xn--i-9bb.example/",
	} {
		body, err := json.Marshal(map[string]string{"long_url": given})
		if err != nil {
			t.Fatal(err)
		}
		key, _ := s.Do("POST", "/v1/shortlinks", string(body)).Want(201)["short_key"].(string)
		got := s.Request("GET", "/s/"+key).Header.Get("Location")
		if got != want {
			t.Errorf("%q: got %q, want %q", given, got, want)
		}
		for i := range len(got) {
			if got[i] <= ' ' || got[i] >= 0x7f {
				t.Errorf("%q is not a valid header", got)
			}
		}
	}
}

// TestRedirectProblems: browsers get a page with the reason, other clients a problem. Both are not cached
// and do not show the destination.
func TestRedirectProblems(t *testing.T) {
	s := newServer(t)
	s.shorten(`"short_key":"expired","ttl_seconds":60`)
	s.shorten(`"short_key":"used-up","max_visits":1`)
	s.shorten(`"short_key":"switched"`)
	s.shorten(`"short_key":"deleted"`)
	s.Clock.Advance(time.Minute)
	s.Request("GET", "/s/used-up")
	s.Do("PATCH", "/v1/shortlinks/switched", `{"disabled":true}`).Want(200)
	s.Do("DELETE", "/v1/shortlinks/deleted", "").Want(204)
	for path, want := range map[string]struct {
		status int
		slug   string
		words  string
	}{
		"/s/expired":           {410, "gone", "has expired"},
		"/s/expired/":          {410, "gone", "has expired"},
		"/s/expired?preview=1": {410, "gone", "has expired"},
		"/s/used-up":           {410, "gone", "visit limit"},
		"/s/switched":          {410, "gone", "disabled"},
		"/s/deleted":           {410, "gone", "was deleted"},
		"/s/deleted?preview=1": {410, "gone", "was deleted"},
		"/s/unknown":           {404, "not-found", "Short link not found"},
		"/s/unknown?preview=1": {404, "not-found", "Short link not found"},
		"/s/x":                 {404, "not-found", "Short link not found"},
		"/s/<script>alert(1)":  {404, "not-found", "Short link not found"},
	} {
		for _, accept := range []string{browser, "*/*", "application/json", ""} {
			a := s.Request("GET", path, "Accept", accept)
			if a.Header.Get("Cache-Control") != "private, no-store" || a.Header.Get("X-Robots-Tag") != "noindex" ||
				a.Header.Get("Location") != "" || strings.Contains(a.Body, "example.com") {
				t.Errorf("%s: %v %s", a.Call, a.Header, a.Body)
			}
			if accept != browser {
				a.Problem(want.status, want.slug, "")
				continue
			}
			d := doc(a)
			if a.Status != want.status || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") ||
				!strings.Contains(d.Find("main").Text(), want.words) || d.Find("h1").Length() != 1 {
				t.Errorf("%s: %d %s", a.Call, a.Status, a.Body)
			}
			if d.Find("nav, script, noscript, form").Length() > 0 || !strings.Contains(d.Find("footer").Text(), "Shortened by Linkwatch") {
				t.Errorf("%s shows internal pages: %s", a.Call, a.Body)
			}
		}
		if a := s.Request("HEAD", path); a.Status != want.status || a.Body != "" {
			t.Errorf("%s: %d %q", a.Call, a.Status, a.Body)
		}
	}
	for _, path := range []string{"/s/", "/s/expired/and/deeper"} { // visitors get no navigation
		if a := s.Request("GET", path, "Accept", browser); a.Status != 404 || doc(a).Find("nav").Length() > 0 {
			t.Errorf("%s: %d %s", a.Call, a.Status, a.Body)
		}
	}
}

// TestShortLinkPreview: a preview shows the destination and is not counted as a visit.
func TestShortLinkPreview(t *testing.T) {
	s := newServer(t)
	s.shorten(`"short_key":"shown","title":"<b>Title</b>","expires_at":"` + s.at(3*time.Hour) + `"`)
	s.shorten(`"short_key":"limited","max_visits":1`)

	a := s.Request("GET", "/s/shown?preview=1&x=2")
	got := a.Want(200)
	apptest.Has(t, got, map[string]any{"short_key": "shown", "long_url": longURL, "title": "<b>Title</b>", "expires_at": s.at(3 * time.Hour)})
	if len(got) != 4 || a.Header.Get("Cache-Control") != "private, no-store" || a.Header.Get("Location") != "" || a.Header.Get("X-Robots-Tag") != "noindex" {
		t.Errorf("%v %v", a.Header, got)
	}
	apptest.Has(t, s.Request("GET", "/s/limited?preview=1").Want(200), map[string]any{"long_url": "https://example.com", "title": "", "expires_at": nil})

	for _, path := range []string{"/s/shown?preview=1", "/s/shown/?preview=1"} {
		a = s.Request("GET", path, "Accept", browser)
		d := doc(a)
		if a.Status != 200 || d.Find(".destination").Text() != longURL || !strings.Contains(d.Find("main").Text(), "<b>Title</b>") ||
			!strings.Contains(d.Find("main").Text(), "in 3 h") || d.Find("main a").Length() != 1 || d.Find("main a").AttrOr("href", "") != "/s/shown" {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
		if d.Find("script, noscript").Length() > 0 {
			t.Errorf("%s refreshes itself: %s", path, a.Body)
		}
	}
	a = s.Request("GET", "/s/limited?preview=1", "Accept", browser)
	if strings.Contains(a.Body, "/page") || doc(a).Find(".destination").Text() != "https://example.com" {
		t.Errorf("got more than the destination: %s", a.Body)
	}
	if a := s.Request("HEAD", "/s/shown?preview=1"); a.Status != http.StatusOK || a.Body != "" {
		t.Errorf("%d %q", a.Status, a.Body)
	}
	s.writeVisits()
	for _, key := range []string{"shown", "limited"} {
		if got := s.Do("GET", "/v1/shortlinks/"+key, "").Want(200); got["visits"] != 0.0 || got["status"] != "active" {
			t.Errorf("a preview was counted as a visit: %v", got)
		}
	}
	s.redirectsTo("/s/limited", longURL)
	s.gone("/s/limited", "visit limit")
	s.gone("/s/limited?preview=1", "visit limit")
}

// doc parses the HTML of a response.
func doc(a apptest.Response) *goquery.Document {
	a.Helper()
	d, err := goquery.NewDocumentFromReader(strings.NewReader(a.Body))
	if err != nil {
		a.Fatal(err)
	}
	return d
}
