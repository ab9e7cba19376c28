package visits

import (
	"fmt"
	"strings"
	"testing"

	"linkwatch/models/shortlinks"
	"linkwatch/models/useragent"
)

func FuzzVisitor(f *testing.F) {
	f.Add("Mozilla/5.0 (Linux; Android 10; K) Chrome/1 (+https://example.com) [x]", "https://www.example.com:8080/a?b#c")
	f.Add("(;:/[", "://")
	f.Fuzz(func(t *testing.T, userAgent, referrer string) {
		v := truncate(shortlinks.Visitor{Referrer: referrer, UserAgent: userAgent})
		if len(v.Referrer) > maxHeader || len(v.UserAgent) > maxHeader {
			t.Errorf("got %d and %d bytes", len(v.Referrer), len(v.UserAgent))
		}
		useragent.Parse(v.UserAgent)
		if h := hostOf(v.Referrer); len(h) > 253 || strings.Trim(h, "abcdefghijklmnopqrstuvwxyz0123456789-._:") != "" {
			t.Errorf("%q: got host %q", referrer, h)
		}
	})
}

func TestReferrers(t *testing.T) {
	long := "https://" + strings.Repeat("a.", 200) + "example"
	for referrer, want := range map[string]string{
		"":                                     "",
		"https://news.example/a/b?secret=1#c":  "news.example",
		"http://news.example:8080/":            "news.example",
		"https://WWW.News.Example":             "news.example",
		"https://news.example?q=1":             "news.example",
		"https://bücher.example/":              "xn--bcher-kva.example",
		"https://www.example":                  "www.example", // www is part of the name
		"https://localhost/":                   "localhost",
		"https://127.0.0.1:99/x":               "127.0.0.1",
		"https://[2001:DB8::1]/":               "2001:db8::1",
		"https://user:secret@news.example/":    "",
		"android-app://com.google.android.gm/": "",
		"about:client":                         "",
		"news.example":                         "",
		"https://":                             "",
		"https://a b/":                         "",
		"https://<script>/":                    "",
		"*":                                    "",
		"https://*/":                           "",
		long:                                   "",
		"https://news.example/" + strings.Repeat("x", 10_000): "news.example",
	} {
		if got := hostOf(truncate(shortlinks.Visitor{Referrer: referrer}).Referrer); got != want {
			t.Errorf("%.80q: got %q, want %q", referrer, got, want)
		}
	}
}

func TestHeaderCacheIsLimited(t *testing.T) {
	v := newHeaders()
	for i := range 3 * maxCached {
		v.family(fmt.Sprintf("curl/%d", i))
		v.referrer(fmt.Sprintf("https://host%d.example", i))
	}
	if len(v.families) > maxCached || len(v.hosts) > maxCached {
		t.Errorf("got %d and %d cached", len(v.families), len(v.hosts))
	}
	if v.family("Twitterbot/1.0") != useragent.Preview || v.referrer("https://a.example") != "a.example" {
		t.Error("a cached value is wrong")
	}
}
