package models_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"linkwatch/models"
)

func TestParseURLCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"HTTPS://Example.com:443/path/?a=1#section": "https://example.com/path?a=1",
		"http://example.com":                        "http://example.com",
		"http://example.com/":                       "http://example.com",
		"http://example.com///":                     "http://example.com",
		"http://example.com/?q=A&b=%20":             "http://example.com?q=A&b=%20",
		"http://EXAMPLE.com:80/a//":                 "http://example.com/a",
		"http://example.com:443/":                   "http://example.com:443",
		"https://example.com:80":                    "https://example.com:80",
		"http://example.com:8080/Path/":             "http://example.com:8080/Path",
		"http://example.com:/x":                     "http://example.com/x",
		"http://example.com:0080/x":                 "http://example.com/x",
		"http://example.com:0/":                     "http://example.com:0",
		"http://example.com/a%2Fb/":                 "http://example.com/a%2Fb",
		"http://example.com/ä b":                    "http://example.com/%C3%A4%20b",
		"http://example.com/%c3%A4?%e3%81&%c":       "http://example.com/%C3%A4?%E3%81&%25c",
		"http://example.com/%25c3%2f%7e":            "http://example.com/%25c3%2F%7E",
		"https://Bücher.example/":                   "https://xn--bcher-kva.example",
		"https://例え.jp/":                            "https://xn--r8jz45g.jp",
		"http://[2001:DB8::0001]:80/":               "http://[2001:db8::1]",
		"http://[::1]:8080/":                        "http://[::1]:8080",
		"http://[::ffff:127.0.0.1]/":                "http://[::ffff:7f00:1]",
		"http://under_score.example/":               "http://under_score.example",
		"http://bü_cher.example/":                   "http://xn--b_cher-3ya.example",
		"  http://example.com/x \n":                 "http://example.com/x",
		"\x00\x1f http://example.com/x\x01":         "http://example.com/x",
		"http://example.com/x?":                     "http://example.com/x?",
		"http://example.com/#a":                     "http://example.com",
		// What a browser accepts after http://.
		"http://exam\tple.com/a\r\nb":      "http://example.com/ab",
		"ht\ntp://example.com/%4\n1":       "http://example.com/%41",
		"http://example.com/foo%":          "http://example.com/foo%25",
		"http://example.com/%zz?100%&%4":   "http://example.com/%25zz?100%25&%254",
		"http://example.com/a\x00\x7f":     "http://example.com/a%00%7F",
		"http://example.com/a\x01b\x7fc":   "http://example.com/a%01b%7Fc",
		`http://example.com\a\b?c\d`:       `http://example.com/a/b?c\d`,
		`http://example.com/"<>^{}|` + "`": "http://example.com/%22%3C%3E%5E%7B%7D|%60",
		"http://example.com/?\"<>'|^":      "http://example.com?%22%3C%3E%27|^",
		"http://example.com/a/./b/../c":    "http://example.com/a/c",
		"http://example.com/a/%2E%2e/.":    "http://example.com",
		"http://example.com/../../a/..b":   "http://example.com/a/..b",
		"http://example.com//a":            "http://example.com//a",
		"http://ex%41mple.com/":            "http://example.com",
		// IPv4 shorthand.
		"http://127.1/":       "http://127.0.0.1",
		"http://0x7f.1:8080/": "http://127.0.0.1:8080",
		"http://1":            "http://0.0.0.1",
		"http://１２７．１/x":      "http://127.0.0.1/x",
		// Letters are mapped by IDNA before they become lower case.
		"http://İ.example/": "http://xn--i-9bb.example",
		"http://I.example/": "http://i.example",
		"http://ẞ.example/": "http://xn--zca.example",
		// White space around the URL, which the fragment is not part of.
		"http://canon.test/p?a #f":           "http://canon.test/p?a",
		"http://canon.test/p?a\u00a0#f":      "http://canon.test/p?a",
		"http://canon.test/p/\u3000\u2028#f": "http://canon.test/p",
		"http://canon.test/p\u2028":          "http://canon.test/p",
		"http://canon.test/p?a\u00a0b":       "http://canon.test/p?a%C2%A0b",
		"http://canon.test \t#f":             "http://canon.test",
	} {
		u, err := models.ParseURL("url", in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if u.Canonical != want {
			t.Errorf("%q is %q, want %q", in, u.Canonical, want)
		}
		checkStable(t, u)
	}
}

func TestParseURLForms(t *testing.T) {
	for _, test := range []struct{ in, given, requested, location string }{
		{" HTTP://Example.com:80/A/?b=%20c&d=[e]#f ", "HTTP://Example.com:80/A/?b=%20c&d=[e]#f", "http://example.com/A/?b=%20c&d=[e]", "HTTP://Example.com:80/A/?b=%20c&d=[e]#f"},
		{"https://example.com", "https://example.com", "https://example.com/", "https://example.com"},
		{"https://example.com#a", "https://example.com#a", "https://example.com/", "https://example.com#a"},
		{"http://h.example/foo%#50%", "http://h.example/foo%25#50%25", "http://h.example/foo%25", "http://h.example/foo%25#50%25"},
		{"http://h.example/a\n b\x00c #ü", "http://h.example/a b%00c #ü", "http://h.example/a%20b%00c", "http://h.example/a%20b%00c#%C3%BC"},
		{"http://h.example/%c3%a4?%e3", "http://h.example/%c3%a4?%e3", "http://h.example/%c3%a4?%e3", "http://h.example/%c3%a4?%e3"},
		{`http://h.example\a|b`, `http://h.example\a|b`, "http://h.example/a|b", "http://h.example/a|b"},
		{"http://127.1:81/x", "http://127.1:81/x", "http://127.0.0.1:81/x", "http://127.0.0.1:81/x"},
		{"http://[::1]:81/x", "http://[::1]:81/x", "http://[::1]:81/x", "http://[::1]:81/x"},
		{"http://[0:0::1]/x", "http://[0:0::1]/x", "http://[::1]/x", "http://[::1]/x"},
		{"https://Exämple.com:8443/ü?ö=ß#ä", "https://Exämple.com:8443/ü?ö=ß#ä", "https://xn--exmple-cua.com:8443/%C3%BC?%C3%B6=%C3%9F", "https://xn--exmple-cua.com:8443/%C3%BC?%C3%B6=%C3%9F#%C3%A4"},
	} {
		u, err := models.ParseURL("url", test.in)
		if err != nil || u.Given != test.given || u.Requested != test.requested || u.Location() != test.location {
			t.Errorf("%q is %+v, location %q (%v), want %+v", test.in, u, u.Location(), err, test)
		}
	}
	if got := models.RequestURL("http://256.1.1.1/a b"); got != "http://256.1.1.1/a b" { // stored under older rules
		t.Errorf("requests %q", got)
	}
}

func TestParseURLRefuses(t *testing.T) {
	for _, in := range []string{
		"", "   ", "\x00\t", "example.com", "/path", "//example.com/", "ftp://example.com/", "javascript:alert(1)", "mailto:x@example.com",
		"http:example.com", "http:/example.com", `http:\\example.com\`, `https:\/example.com`, "localhost:3000/x", "example.com/x",
		"http://", "http:///", "http:///path", `http://\\path`, "https://?q", "http://#f", "http://:80/", "http://user@example.com/", "http://u:p@example.com/", "http://@example.com/", "http://:@example.com/", "http://a@b@example.com/",
		"http://exa mple.com/", "http:// example.com/", "http://example.com:99999/", "http://example.com:x/", "http://example.com:+80/", "http://example.com:80:80/", "http://example.com:8 0/",
		"http://<script>/", "http://%zz/", "http://a%/", "http://a%20b/", "http://a%2Fb/", "http://a^b/", "http://a|b/", "http://a\x00b/", "http://a\x7fb/", "http://%ff/",
		"http://127.0.0.0.33/", "http://256.1.1.1/", "http://foo.0x4/", "http://foo.4/", "http://1.2.3.4.5", "http://4294967296/", "http://09.1/", "http://127.0.0.-1/", "http://127.0.0.+1/", "http://foo.0x-4",
		"http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[::1", "http://[::1]]/", "http://[[::1]/", "http://[127.0.0.1]/", "http://[::1]x/", "http://::1/", "http://[]/", "http://[x]/",
		"http://example.com/\xff", "http://\xff/", "http://xn--/", "http://xn--a/", "http://a\u202eb/", "http://\u00ad/",
		"http://example.com/" + strings.Repeat("a", models.MaxURL), "http://example.com/" + strings.Repeat("ä", 500), "http://example.com/#" + strings.Repeat("ä", 500),
		"http://example.com/" + strings.Repeat("%", 1000), "http://" + strings.Repeat("ä", 5000),
	} {
		if u, err := models.ParseURL("url", in); models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("%.60q was taken as %+v (%v)", in, u, err)
		} else if message, _ := json.Marshal(err.Error()); len(in) > 3 && strings.Contains(string(message), strings.TrimSpace(in)) {
			t.Errorf("%.60q: the error repeats what was sent: %v", in, err)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{
		"HTTPS://Example.com:443/path/?a=1#section", "http://[::1]:80//", "http://ä.example/%2F?", "http://a/\x7f", "http://a:0080/", "http://canon.test/p?a #f", "http://a/p\u2028?\u3000#\u00a0",
		"http://127.1/%", "http://İ.example\\..\\%2e/", "http://foo.0x4/", "http://a\tb//../c", "http://xn--bcher-kva.example./", "http://a`b{}/|", "http://a/%c3%%4a/%2e?%e3%", "http://[::ffff:1.2.3.4]:0/^", "http://a\u2260b/", "http://%61%2e1/'?'",
	} {
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
		checkStable(t, u)
		if u.Host == "" || len(u.Given) > models.MaxURL || len(u.Requested) > models.MaxURL || len(u.Canonical) > models.MaxURL || len(u.Location()) > models.MaxURL {
			t.Fatalf("%q became %+v", s, u)
		}
		if models.UpperEscapes(u.Canonical) != u.Canonical {
			t.Fatalf("%q became %q", s, u.Canonical)
		}
		for _, form := range []string{u.Requested, u.Canonical, u.Location()} {
			if strings.ContainsFunc(form, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
				t.Fatalf("%q became %q", s, form)
			}
		}
		sent, err := url.Parse(u.Requested)
		switch {
		case strings.ContainsAny(u.Host, "`{}"): // a browser takes these, net/url does not: requesting such a URL fails
		case err != nil:
			t.Fatalf("%q cannot be sent: %v", u.Requested, err)
		case sent.Hostname() != u.Host || sent.Scheme != "http" && sent.Scheme != "https":
			t.Fatalf("%q is sent to %q", u.Requested, sent.Host)
		case sent.RawPath != "" && sent.RawPath+question(sent) != strings.TrimPrefix(u.Requested, u.Origin()):
			t.Fatalf("%q is sent as %q", u.Requested, sent.RequestURI())
		}
	})
}

func question(u *url.URL) string {
	if u.RawQuery != "" || u.ForceQuery {
		return "?" + u.RawQuery
	}
	return ""
}

func BenchmarkParseURL(b *testing.B) {
	for name, s := range map[string]string{
		"plain":         "https://www.example.com/blog/2024/05/some-article.html?utm_source=x&id=17#top",
		"upper case":    "HTTPS://Example.com:443/path/?a=1#section",
		"path":          "https://example.com/a b/./ü",
		"host":          "https://bücher.example/a",
		"IPv4":          "http://192.0.2.7:8080/x",
		"long and odd":  "https://example.com/" + strings.Repeat("a ", 500),
		"long and good": "https://example.com/" + strings.Repeat("ab", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := models.ParseURL("url", s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
