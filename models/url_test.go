package models_test

import (
	"strings"
	"testing"

	"github.com/linkwatch/linkwatch/models"
)

func TestParseURLCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"HTTPS://Example.com:443/path/?a=1#section": "https://example.com/path?a=1", // seed 000's example
		"http://example.com":                        "http://example.com",
		"http://example.com/":                       "http://example.com",
		"http://example.com///":                     "http://example.com",
		"http://example.com/?q=A&b=%20":             "http://example.com?q=A&b=%20",
		"http://EXAMPLE.com:80/a//":                 "http://example.com/a",
		"http://example.com:443/":                   "http://example.com:443",
		"https://example.com:80":                    "https://example.com:80",
		"http://example.com:8080/Path/":             "http://example.com:8080/Path",
		"http://example.com:/x":                     "http://example.com/x",
		"http://example.com/a%2Fb/":                 "http://example.com/a%2Fb",
		"http://example.com/ä b":                    "http://example.com/%C3%A4%20b",
		"https://Bücher.example/":                   "https://xn--bcher-kva.example",
		"https://例え.jp/":                            "https://xn--r8jz45g.jp",
		"http://[2001:DB8::0001]:80/":               "http://[2001:db8::1]",
		"http://[::1]:8080/":                        "http://[::1]:8080",
		"http://under_score.example/":               "http://under_score.example",
		"  http://example.com/x \n":                 "http://example.com/x",
		"http://example.com/x?":                     "http://example.com/x?",
		"http://example.com/#a":                     "http://example.com",
	} {
		u, err := models.ParseURL("url", in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if u.Canonical != want {
			t.Errorf("%q is %q, want %q", in, u.Canonical, want)
		}
		if u.Given != strings.TrimSpace(in) {
			t.Errorf("%q was given as %q", in, u.Given)
		}
	}
}

func TestParseURLRefuses(t *testing.T) {
	for _, in := range []string{
		"", "   ", "example.com", "/path", "//example.com/", "ftp://example.com/", "javascript:alert(1)",
		"http://", "http:///path", "https://?q", "http:example.com", "http://user@example.com/", "http://u:p@example.com/",
		"http://exa mple.com/", "http://example.com:0/", "http://example.com:99999/", "http://example.com:x/",
		"http://<script>/", "http://a,b/", "http://%zz/", "http://example.com/%zz", "http://example.com/\x00", "http://./",
		"http://[fe80::1%25eth0]/", "http://[::1", "http://example.com/\xff",
		"http://example.com/" + strings.Repeat("a", models.MaxURL), "http://example.com/" + strings.Repeat("ä", 500),
		"http://" + strings.Repeat("a.", 200) + "example/",
	} {
		if u, err := models.ParseURL("url", in); models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("%.60q was taken as %+v (%v)", in, u, err)
		} else if len(in) > 3 && strings.Contains(err.Error(), strings.TrimSpace(in)) {
			t.Errorf("%.60q: the error repeats what was sent: %v", in, err)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"HTTPS://Example.com:443/path/?a=1#section", "http://[::1]:80//", "http://ä.example/%2F?", "http://a/\x7f", "http://a:0080/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := models.ParseURL("url", s)
		if err != nil {
			if models.CodeOf(err) != models.CodeInvalid {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		again, err := models.ParseURL("url", u.Canonical)
		if err != nil {
			t.Fatalf("%q became %q, which is refused: %v", s, u.Canonical, err)
		}
		if again.Canonical != u.Canonical || again.Host != u.Host {
			t.Fatalf("%q became %q and that %q", s, u.Canonical, again.Canonical)
		}
		if !strings.HasPrefix(u.Canonical, "http://") && !strings.HasPrefix(u.Canonical, "https://") {
			t.Fatalf("%q became %q", s, u.Canonical)
		}
	})
}
