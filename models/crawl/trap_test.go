package crawl_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

// normalURLs maps URLs to their normal form. URLs that may be different pages stay different.
var normalURLs = map[string]string{
	"HTTP://Example.com:80/a/../b?x=1#top":               "http://example.com/b?x=1",
	"http://example.com":                                 "http://example.com/",
	"http://example.com/a/":                              "http://example.com/a/",
	"http://example.com/a":                               "http://example.com/a",
	"http://example.com//a//":                            "http://example.com//a//",
	"http://example.com/ä b":                             "http://example.com/%C3%A4%20b",
	"http://example.com/%c3%A4/%7e?%e3#%c3":              "http://example.com/%C3%A4/%7E?%E3",
	"http://example.com/%25c3;jsessionid=1/%c3?utm_id=1": "http://example.com/%25c3/%C3",
	"http://example.com/a?":                              "http://example.com/a",
	"http://example.com/a?&":                             "http://example.com/a",
	"http://example.com/a?b=1&&a=2&":                     "http://example.com/a?b=1&a=2",
	"http://example.com/a?b=2&a=1&b=1":                   "http://example.com/a?b=2&a=1&b=1",
	"http://example.com/a?b==&c":                         "http://example.com/a?b==&c",
	// Session ids.
	"http://example.com/a?PHPSESSID=0a1b":                    "http://example.com/a",
	"http://example.com/a?x=1&sid=0a1b&y=2":                  "http://example.com/a?x=1&y=2",
	"http://example.com/a?sessionid=1&session_id=2&q=sid":    "http://example.com/a?q=sid",
	"http://example.com/a?ASPSESSIONIDQQCCBBDS=X&jsessionid": "http://example.com/a",
	"http://example.com/a?side=left&user_sid=1":              "http://example.com/a?side=left&user_sid=1",
	"http://example.com/a;jsessionid=0A1B?x=1":               "http://example.com/a?x=1",
	"http://example.com/a;v=1;JSESSIONID=0A1B;w=2/b":         "http://example.com/a;v=1;w=2/b",
	"http://example.com/a;jsessionid=1;jsessionid=2/b;c":     "http://example.com/a/b;c",
	"http://example.com/a;jsessionid/b;":                     "http://example.com/a;jsessionid/b;",
	"http://example.com/;jsessionid=1":                       "http://example.com/",
	"http://example.com/a/..;jsessionid=1?utm_id=1":          "http://example.com/",
	"http://example.com/a?b;jsessionid=1":                    "http://example.com/a?b;jsessionid=1",
	// Tracking parameters.
	"http://example.com/a?utm_source=x&UTM_Medium=y&utm=z": "http://example.com/a?utm=z",
	"http://example.com/a?gclid=1&fbclid=2&msclkid=3":      "http://example.com/a",
	"http://example.com/a?mc_cid=1&page=2&mc_eid=3":        "http://example.com/a?page=2",
}

func TestNormalize(t *testing.T) {
	for in, want := range normalURLs {
		if got, ok := crawl.Normalize(in); got != want || !ok {
			t.Errorf("%q: got %q, %v, want %q", in, got, ok, want)
		}
	}
	long := "http://example.com/" + strings.Repeat("a", models.MaxURL)
	for _, in := range []string{"", "mailto:a@example.com", "javascript:void(0)", "/a", "http://", "http://u:p@example.com/", "\xff", long} {
		if got, ok := crawl.Normalize(in); ok || got != "" {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

func FuzzNormalize(f *testing.F) {
	for in := range normalURLs {
		f.Add(in)
	}
	f.Add("http://a/2031/05;jsessionid=1/2031-05-01T?date=203105&m=1&y=2031&&")
	f.Fuzz(func(t *testing.T, in string) {
		got, ok := crawl.Normalize(in)
		if !ok {
			return
		}
		if again, ok := crawl.Normalize(got); again != got || !ok {
			t.Errorf("%q: got %q, and from that %q, %v", in, got, again, ok)
		}
		base, query, hasQuery := strings.Cut(strings.ToLower(got), "?")
		if len(got) > models.MaxURL || hasQuery && query == "" || strings.Contains(base, ";jsessionid=") {
			t.Errorf("%q: got %q", in, got)
		}
		for p := range strings.SplitSeq(query, "&") {
			if strings.HasPrefix(p, "utm_") || strings.HasPrefix(p, "phpsessid=") {
				t.Errorf("%q: got %q", in, got)
			}
		}
		today := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		if reason := crawl.TrapOf(got, today); reason == "" && strings.Count(base, "/") > 25 {
			t.Errorf("%q is not a trap", got)
		}
		host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(got, "http://"), "https://"), "/")
		if p := crawl.Pattern(got); !strings.HasPrefix(p, host+"/") || len(p) > len(got) {
			t.Errorf("%q: got pattern %q", got, p)
		}
	})
}

func TestTrapOf(t *testing.T) {
	const (
		repeats    = "URL repeats a path segment"
		deep       = "URL path is too deep"
		parameters = "URL has too many parameters"
		calendar   = "date in URL is far from today"
	)
	segments := func(n int) (path string) {
		for i := range n {
			path += fmt.Sprintf("/s%d", i)
		}
		return path
	}
	for in, want := range map[string]string{
		"/":                                 "",
		"/a/b/a/b":                          "",
		"/a/b/a/b/a":                        repeats,
		"/a/b/c/a/d/a/":                     repeats,
		"/x/a/b/a/b/a/b/y":                  repeats,
		"/a//b//c///d":                      "",
		segments(20):                        "",
		segments(20) + "/":                  "",
		segments(21):                        deep,
		strings.Repeat("/", 22):             deep,
		segments(20) + "/s1/s1/":            deep,
		"/?" + strings.Repeat("&a", 15)[1:]: "",
		"/?" + strings.Repeat("&a", 16)[1:]: parameters,
		// Today is 2030-05-17.
		"/2030/05/":                             "",
		"/2032/05/17/a-post":                    "",
		"/2032/06":                              calendar,
		"/events/2041/1/":                       calendar,
		"/2000/5/":                              "",
		"/2000/4/":                              calendar,
		"/1890/":                                "",
		"/1890/13/":                             "",
		"/1890/012/":                            "",
		"/item/1234/5":                          "",
		"/item/2500/5":                          "",
		"/item/x2035/05":                        "",
		"/day/2035-01-02":                       calendar,
		"/day/2035-01/":                         calendar,
		"/day/2031-01-02":                       "",
		"/day/2035-01-a-post":                   "",
		"/day/2035-01-02-post":                  "",
		"/?year=1890&month=2":                   calendar,
		"/?month=2&year=9999":                   calendar,
		"/?year=1890":                           "",
		"/?year=2030&month=2":                   "",
		"/?y=2035&m=12":                         calendar,
		"/?cal_year=2035&cal_month=1&view=list": calendar,
		"/?date=2035-01-02":                     calendar,
		"/?d=2035-01-02T00:00":                  calendar,
		"/?d=2031-01-02":                        "",
		"/?d=2035-01-02x":                       "",
		"/?start_date=20350102":                 calendar,
		"/?start_date=20300102":                 "",
		"/?id=20350102":                         "",
		"/?m=203501":                            calendar,
		"/?date=2035":                           "",
		"/?date=1893456000":                     "",
		"/?date=01022035":                       "",
		"/?date=2035xx":                         "",
	} {
		if got := crawl.TrapOf("http://example.com"+in, slotNow); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestPatternOfURLs(t *testing.T) {
	for in, want := range map[string]string{
		"http://example.com/":                                          "example.com/",
		"https://example.com:8443/a/b/":                                "example.com:8443/a/b/",
		"http://example.com/blog/2030/05?page=2":                       "example.com/blog/#/#?page",
		"http://example.com/blog/2030-05-17/a-post":                    "example.com/blog/#/a-post",
		"http://example.com/blog/2030-05/":                             "example.com/blog/#/",
		"http://example.com/1-2/a-1":                                   "example.com/1-2/a-1",
		"http://example.com/v2/DEADBEEF":                               "example.com/v2/#",
		"http://example.com/abc/facade0/0":                             "example.com/abc/facade0/#",
		"http://example.com/550e8400-e29b-41d4-a716-446655440000.html": "example.com/550e8400-e29b-41d4-a716-446655440000.html",
		"http://example.com/550e8400-e29b-41d4-a716-446655440000":      "example.com/#",
		"http://example.com/55008400-2290-4104-1716-446655440000":      "example.com/#",
		"http://example.com/550e840-0e29b-41d4-a716-446655440000":      "example.com/550e840-0e29b-41d4-a716-446655440000",
		"http://example.com/a?z=1&b=2&z=3&a":                           "example.com/a?a&b&z",
		"http://example.com/a//1":                                      "example.com/a//#",
	} {
		if got := crawl.Pattern(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func BenchmarkNormalize(b *testing.B) {
	for name, u := range map[string]string{
		"plain":   "https://www.example.com/blog/2030/05/a-post-about-something/",
		"query":   "https://www.example.com/search?q=something&page=2",
		"session": "https://www.example.com/a;jsessionid=0A1B2C?q=something&utm_source=x",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				crawl.Normalize(u)
			}
		})
	}
}

func BenchmarkTrapOfAndPattern(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		crawl.TrapOf("https://www.example.com/blog/2030/05/a-post-about-something/?page=2", slotNow)
		crawl.Pattern("https://www.example.com/blog/2030/05/a-post-about-something/?page=2")
	}
}
