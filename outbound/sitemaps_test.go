package outbound

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestSitemapsIn(t *testing.T) {
	many := make([]string, 0, 100)
	for i := range 100 {
		many = append(many, fmt.Sprintf("https://a.example/%d.xml", i))
	}
	for name, tc := range map[string]struct {
		robots string
		want   []string
	}{
		"empty":           {"", nil},
		"between groups":  {"User-agent: x\nSitemap: https://a.example/1.xml\nDisallow: /\n\nsitemap:https://a.example/2.xml\n", []string{"https://a.example/1.xml", "https://a.example/2.xml"}},
		"twice":           {"Sitemap: https://a.example/b\nSITEMAP: HTTPS://A.example:443/x/../b", []string{"https://a.example/b"}},
		"BOM, CR, spaces": {"\ufeffSitemap:   http://a.example/s.xml  # ours\r\rSitemap : http://b.example/\r", []string{"http://a.example/s.xml", "http://b.example/"}},
		"query":           {"Sitemap: https://a.example/s?a=1&b=*", []string{"https://a.example/s?a=1&b=*"}},
		"relative": {
			"Sitemap: /sitemap.xml\nSitemap: s.xml?a=1\nSitemap: //a.example/s\nSitemap:\nSitemap: # none\nsitemap: ./x/../sitemap.xml",
			[]string{"https://h.example/sitemap.xml", "https://h.example/s.xml?a=1", "https://a.example/s"},
		},
		"words":         {"Sitemap: see our page\nSitemap: https://a.example/a b", []string{"https://a.example/a%20b"}},
		"other schemes": {"Sitemap: ftp://a.example/s\nSitemap: file:///etc/passwd\nSitemap: javascript:1", nil},
		"user":          {"Sitemap: https://u:p@a.example/s", nil},
		"too long":      {"Sitemap: https://a.example/" + strings.Repeat("x", 2048), nil},
		"too many":      {"Sitemap: " + strings.Join(append(slices.Clone(many), "https://a.example/more"), "\nSitemap: "), many},
		"HTML":          {"<html><body>Sitemap</body></html>", nil},
	} {
		if got := SitemapsIn(tc.robots, "https://h.example/robots.txt"); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestRelativeSitemaps(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.Redirect(w, r, "/moved/robots.txt", http.StatusFound)
			return
		}
		_, _ = fmt.Fprint(w, "Sitemap: sitemap.xml\nSitemap: /root.xml\n")
	})
	got, err := testClient(t, Options{}).Sitemaps(t.Context(), srv.URL)
	if want := []string{srv.URL + "/moved/sitemap.xml", srv.URL + "/root.xml"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	if got := SitemapsIn("Sitemap: /s.xml\nSitemap: http://a.example/s", "::"); !slices.Equal(got, []string{"http://a.example/s"}) {
		t.Errorf("without a URL: got %q", got)
	}
}

func FuzzSitemapsIn(f *testing.F) {
	f.Add("User-agent: *\nSitemap: https://a.example/s.xml\n")
	f.Add("\xef\xbbSitemap https://a.example/%zz\r\nsite-map:http://[::1]/")
	f.Add("Sitemap: s.xml#a\nSitemap: ../?\x00")
	f.Fuzz(func(t *testing.T, robots string) {
		got := SitemapsIn(robots, "https://h.example/robots.txt")
		if len(got) > maxRobotsSitemaps {
			t.Errorf("%d sitemaps", len(got))
		}
		for i, u := range got {
			if _, ok := parseURL(u); !ok || slices.Contains(got[:i], u) {
				t.Errorf("%q", u)
			}
		}
	})
}

func TestSitemaps(t *testing.T) {
	const file = "User-agent: *\nDisallow: /\nSitemap: https://a.example/s.xml\n"
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" && r.URL.Path != "/other" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		switch r.UserAgent() {
		case "missing":
			http.NotFound(w, r)
		case "down":
			w.WriteHeader(http.StatusBadGateway)
		case "busy":
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(http.StatusTooManyRequests)
		case "moved":
			if r.URL.Path == "/robots.txt" {
				http.Redirect(w, r, "/other", http.StatusMovedPermanently)
				return
			}
			_, _ = fmt.Fprint(w, file)
		case "loop":
			http.Redirect(w, r, "/robots.txt", http.StatusFound)
		case "long":
			_, _ = fmt.Fprint(w, file, "#", strings.Repeat("x", robotsLimit-len(file)-20), "\nSitemap: https://a.example/half")
		default:
			_, _ = fmt.Fprint(w, file)
		}
	})
	for agent, tc := range map[string]struct {
		found bool
		err   string
	}{
		"":        {found: true},
		"moved":   {found: true},
		"long":    {found: true}, // the line that is cut is left out
		"missing": {},
		"loop":    {},
		"down":    {err: "robots.txt unavailable: status 502"},
		"busy":    {err: "robots.txt unavailable: status 429"},
	} {
		got, err := testClient(t, Options{UserAgent: agent}).Sitemaps(t.Context(), srv.URL+"/blog/?q#f")
		if tc.err != "" {
			fails(t, err, KindProtocol, tc.err)
			continue
		}
		if err != nil || tc.found != slices.Equal(got, []string{"https://a.example/s.xml"}) || !tc.found && len(got) > 0 {
			t.Errorf("%s: got %q, %v", agent, got, err)
		}
	}
	c := testClient(t, Options{})
	_, err := c.Sitemaps(t.Context(), "ftp://a.example/")
	fails(t, err, KindInvalid, "invalid URL")
	srv.Close()
	_, err = c.Sitemaps(t.Context(), srv.URL)
	fails(t, err, KindRefused, "connection refused")
}
