package shortlinks_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
)

// noVisits are the method and headers of requests that are no visits, and whether a bot sent them.
var noVisits = []struct {
	method  string
	headers []string
	bot     bool
}{
	{"HEAD", nil, false},
	{"HEAD", []string{"User-Agent", byDesktop}, false},
	{"HEAD", []string{"User-Agent", "curl/8.5.0"}, false},
	{"GET", []string{"User-Agent", byDesktop, "Sec-Purpose", "prefetch"}, false},
	{"GET", []string{"User-Agent", byDesktop, "Sec-Purpose", "prefetch;prerender"}, false},
	{"GET", []string{"User-Agent", byDesktop, "Sec-Purpose", "prefetch; anonymous-client-ip"}, false},
	{"GET", []string{"User-Agent", byDesktop, "sec-purpose", "Prefetch"}, false},
	{"GET", []string{"User-Agent", byDesktop, "Purpose", "prefetch"}, false},
	{"GET", []string{"User-Agent", byMobile, "Purpose", "preview"}, false},
	{"GET", []string{"User-Agent", byMobile, "X-Purpose", "preview"}, false},
	{"GET", []string{"User-Agent", byDesktop, "X-moz", "prefetch"}, false},
	{"GET", []string{"User-Agent", byChat}, false},
	{"GET", []string{"User-Agent", strings.ToUpper(byChat)}, false},
	{"GET", []string{"User-Agent", "WhatsApp/2.24.10.79 A"}, false},
	{"GET", []string{"User-Agent", "Mozilla/4.0 (compatible; ms-office; MSOffice 16)"}, false},
	{"GET", []string{"User-Agent", byBot}, true},
	{"HEAD", []string{"User-Agent", byBot}, true},
}

// requestsNoVisits sends all of noVisits and calls check with each response.
func (s *server) requestsNoVisits(path, accept string, check func(a apptest.Response, method string)) {
	s.Helper()
	for _, r := range noVisits {
		a := s.Request(r.method, path, append([]string{"Accept", accept}, r.headers...)...)
		a.Call += fmt.Sprintf(" %q, %s", r.headers, accept)
		check(a, r.method)
	}
}

// TestVisitLimitIsForVisits: HEAD, prefetches, link previews and bots use up no visit and learn nothing about the
// destination. They get 410 as soon as visitors do.
func TestVisitLimitIsForVisits(t *testing.T) {
	eachCache(t, func(s *server, another func() *server) {
		s.shorten(`"short_key":"once","max_visits":1,"title":"Payroll"`)
		for _, instance := range []*server{s, another()} {
			for _, accept := range []string{browser, "*/*", ""} {
				instance.requestsNoVisits("/s/once", accept, func(a apptest.Response, method string) {
					h := a.Header
					if a.Status != http.StatusOK || h.Get("Location") != "" || h.Get("X-Robots-Tag") != "noindex" ||
						h.Get("Cache-Control") != "private, no-store" ||
						strings.Contains(a.Body, "example.com") || strings.Contains(a.Body, "Payroll") {
						s.Errorf("%s: got %d %v %s", a.Call, a.Status, h, a.Body)
					}
					switch {
					case method == "HEAD":
						if a.Body != "" {
							s.Errorf("%s: got body %q", a.Call, a.Body)
						}
					case accept != browser:
						const text = "This short link has a visit limit. Previews do not count as visits.\n"
						if !strings.HasPrefix(h.Get("Content-Type"), "text/plain") || a.Body != text {
							s.Errorf("%s: got %v %q", a.Call, h, a.Body)
						}
					default: // a browser may show it later, so it has a link to the short link
						link, others := doc(a).Find("main a"), doc(a).Find("script, noscript, form, nav")
						if link.AttrOr("href", "") != "/s/once" || link.Text() != "Open link" || others.Length() > 0 {
							s.Errorf("%s: got %s", a.Call, a.Body)
						}
					}
				})
			}
			instance.writeVisits()
		}
		previews, bots := 0.0, 0.0
		for _, r := range noVisits {
			if r.bot {
				bots += 2 * 3
			} else {
				previews += 2 * 3
			}
		}
		apptest.Has(s.TB, s.Do("GET", "/v1/shortlinks/once", "").Want(200), map[string]any{
			"visits": 0.0, "bots": bots, "previews": previews, "status": "active", "last_visited_at": nil,
		})

		visit := func() apptest.Response {
			return s.Request("GET", "/s/once", "Accept", browser, "User-Agent", byDesktop, "Sec-Fetch-Mode", "navigate")
		}
		if a := visit(); a.Status != http.StatusFound || a.Header.Get("Location") != longURL {
			s.Errorf("got %d %v", a.Status, a.Header)
		}
		if a := visit(); a.Status != http.StatusGone {
			s.Errorf("got %d after the last visit", a.Status)
		}
		for _, instance := range []*server{s, another()} {
			instance.requestsNoVisits("/s/once", browser, func(a apptest.Response, _ string) {
				if a.Status != http.StatusGone || strings.Contains(a.Body, "example.com") {
					s.Errorf("used up, %s: got %d %s", a.Call, a.Status, a.Body)
				}
			})
		}
		s.shorten(`"short_key":"ends","max_visits":5,"ttl_seconds":60`)
		s.Clock.Advance(time.Minute)
		for path, status := range map[string]int{"/s/ends": http.StatusGone, "/s/unknown": http.StatusNotFound} {
			s.requestsNoVisits(path, browser, func(a apptest.Response, _ string) {
				if a.Status != status {
					s.Errorf("%s: got %d, want %d", a.Call, a.Status, status)
				}
			})
		}
	})
}

// TestPreviewsAreRedirected: without a visit limit, requests that are no visits are redirected, and counted apart.
func TestPreviewsAreRedirected(t *testing.T) {
	each(t, func(s *server) {
		s.shorten(`"short_key":"free"`)
		s.requestsNoVisits("/s/free", browser, func(a apptest.Response, _ string) {
			if a.Status != http.StatusFound || a.Header.Get("Location") != longURL {
				s.Errorf("%s: got %d %v", a.Call, a.Status, a.Header)
			}
		})
		s.writeVisits()
		apptest.Has(s.TB, s.Do("GET", "/v1/shortlinks/free", "").Want(200), map[string]any{
			"visits": 0.0, "bots": 2.0, "previews": float64(len(noVisits) - 2),
		})
	})
}

// TestVisitsOfUnknownClients: tools and browsers in apps use up visits. So do requests whose headers only resemble those of
// a prefetch.
func TestVisitsOfUnknownClients(t *testing.T) {
	s := newServer(t)
	const app = " AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1 Line/13.16.0"
	all := [][]string{
		{"User-Agent", ""}, {"User-Agent", "curl/8.5.0"}, {"User-Agent", "Wget/1.21.4"}, {"User-Agent", "Go-http-client/1.1"},
		{"User-Agent", "SomeApp/1.0"}, {"User-Agent", "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X)" + app},
		{"Purpose", ""}, {"Sec-Purpose", "navigate"}, {"X-Prefetch", "prefetch"},
	}
	s.shorten(fmt.Sprintf(`"short_key":"some","max_visits":%d`, len(all)))
	for _, headers := range all {
		if a := s.Request("GET", "/s/some", headers...); a.Status != http.StatusFound {
			t.Errorf("%q: got %d", headers, a.Status)
		}
	}
	s.gone("/s/some", "visit limit")
	s.writeVisits()
	apptest.Has(t, s.Do("GET", "/v1/shortlinks/some", "").Want(200), map[string]any{
		"visits": float64(len(all)), "bots": 0.0, "previews": 0.0,
	})
}
