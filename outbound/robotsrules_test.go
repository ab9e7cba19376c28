package outbound

import (
	"strings"
	"testing"
	"time"

	"github.com/jimsmart/grobotstxt"
)

func TestRobotsRules(t *testing.T) {
	for _, tc := range []struct{ file, allowed, refused string }{
		{"", "/ /a", ""},
		{"User-agent: *\nDisallow:", "/ /a", ""},
		{"User-agent: *\nDisallow: /", "", "/ /a"},
		{"Disallow: /\nUser-agent: *\nAllow: /", "/a", ""},
		{"User-agent: *\nDisallow: /\n\nUser-agent: linkWATCH/2.0 (x)\nDisallow: /b", "/a", "/b /bc"},
		{"User-agent: Linkwatch\n\nUser-agent: *\nDisallow: /", "", "/a"}, // one group
		{"User-agent: Linkwatch\nDisallow:\nUser-agent: *\nDisallow: /", "/a", ""},
		{"User-agent: Linkwatch\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: linkwatch\nDisallow: /c", "/b", "/a /c"},
		{"User-agent: Linkwatcher\nDisallow: /", "/a", ""},
		{"User-agent: x\nUser-agent: Linkwatch\nCrawl-delay: 1\nSitemap: /s\nDisallow: /a", "/b", "/a"},
		{"User-agent: *\nAllow: /p\nDisallow: /", "/p /page", "/a"},
		{"User-agent: *\nAllow: /page\nDisallow: /*.html", "/page", "/page.html"},
		{"User-agent: *\nAllow: /page\nDisallow: /page", "/page", ""}, // the same length
		{"User-agent: *\nDisallow: /*.php$", "/a.php5 /a.php?x", "/a.php /b/.php"},
		{"User-agent: *\nDisallow: /*?*x=", "/a?y /x=", "/a?x=1 /?yx="},
		{"User-agent: *\nDisallow: /a$b", "/a", "/a$b"},
		{"User-agent: *\nAllow: /d/index.html\nDisallow: /", "/d/ /d/index.html", "/d/x"},
		{"User-agent: *\nDisallow: /%62%2f%c3%bc/~x\nDisallow: /ü", "/x /b/", "/b%2F%C3%BC/~x /%62%2f%C3%bc/%7Ex /%c3%bc"},
		{"user agent: *\ndisalow: /a\ndisallow /b", "/c", "/a /b"},
		{"\xef\xbb\xbfUser-agent: *\r\nDisallow: /a # b\rDisallow: /c", "/b", "/a /c"},
		{"<html>\x00\xff: \n:\nUser-agent:\nUser-agent: *\nDisallow: /a\n\x1f\x8b", "/b", "/a"},
	} {
		rules := parseRobots(tc.file, "Linkwatch")
		for _, path := range strings.Fields(tc.allowed) {
			if !rules.allow(path) {
				t.Errorf("%q refuses %s", tc.file, path)
			}
		}
		for _, path := range strings.Fields(tc.refused) {
			if rules.allow(path) {
				t.Errorf("%q allows %s", tc.file, path)
			}
		}
	}
}

func TestCrawlDelay(t *testing.T) {
	for file, want := range map[string]time.Duration{
		"Crawl-delay: 5":                                                                     0,
		"User-agent: *\nCrawl-delay: 5":                                                      5 * time.Second,
		"User-agent: *\ncrawl-delay: 0.25 # s":                                               250 * time.Millisecond,
		"User-agent: *\nCrawl-delay: 1e300":                                                  time.Minute,
		"User-agent: *\nCrawl-delay: inf":                                                    time.Minute,
		"User-agent: *\nCrawl-delay: nan":                                                    0,
		"User-agent: *\nCrawl-delay: -1":                                                     0,
		"User-agent: *\nCrawl-delay: soon":                                                   0,
		"User-agent: *\nCrawl-delay: 1\nCrawl-delay: 3\nCrawl-delay: 2":                      3 * time.Second,
		"User-agent: *\nCrawl-delay: 5\nDisallow: /a\nUser-agent: Linkwatch\nDisallow: /b":   5 * time.Second,
		"User-agent: *\nCrawl-delay: 5\nDisallow: /a\nUser-agent: Linkwatch\nCrawl-delay: 2": 2 * time.Second,
		"User-agent: x\nCrawl-delay: 5\nDisallow: /":                                         0,
	} {
		if got := parseRobots(file, "Linkwatch").delay; got != want {
			t.Errorf("%q: got %v, want %v", file, got, want)
		}
	}
}

func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nAllow: /a*b$\nDisallow: /a\nUser-agent: x\nUser-agent: Linkwatch/1\nDisallow: /*?\nCrawl-delay: 3", "/a/b?c")
	f.Add("User-agent: * \nAllow: /d/index.htm$\nDisallow: /*$*$$\r\rDisallow /", "/d/")
	f.Add("user-agent Linkwatch\ndisalow:**\x00\xff%2", "/%2a%")
	f.Fuzz(func(t *testing.T, file, path string) {
		path = "/" + path
		rules := parseRobots(file, "Linkwatch")
		got := rules.allow(path)
		if rules.delay < 0 || rules.delay > maxCrawlDelay || rules.size() > 40*len(file) {
			t.Errorf("delay %v, %d bytes of rules from %d", rules.delay, rules.size(), len(file))
		}
		// The library compares escapes as they are written, and reads the URL itself.
		if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"#%<>[\\]^`{|}", r) }) ||
			strings.Contains(file, "%") {
			return
		}
		if want := grobotstxt.AgentAllowed(file, "Linkwatch", "http://h.example"+path); got != want {
			t.Errorf("%q, %q: got %v, want %v", file, path, got, want)
		}
	})
}

// The worst case of a file of 500 KiB.
func BenchmarkRobotsAllow(b *testing.B) {
	for name, line := range map[string]string{"plain": "Disallow: /a/b/c\n", "wild": "Disallow: *a*a*a*b*c\n"} {
		b.Run(name, func(b *testing.B) {
			rules := parseRobots("User-agent: *\n"+strings.Repeat(line, robotsLimit/len(line)), "Linkwatch")
			path := "/" + strings.Repeat("a", 2000)
			for b.Loop() {
				rules.allow(path)
			}
		})
	}
}
