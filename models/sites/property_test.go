package sites_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/sites"
)

func TestParseProperty(t *testing.T) {
	for input, want := range map[string]string{
		"https://Example.com": "https://example.com/", "http://example.com:80/blog": "http://example.com/blog/", " https://example.com/a/ ": "https://example.com/a/",
		"https://bücher.example/": "https://xn--bcher-kva.example/", "https://example.com:8443/": "https://example.com:8443/",
		"sc-domain:Example.com/": "sc-domain:example.com", "SC-DOMAIN:bücher.example": "sc-domain:xn--bcher-kva.example",
	} {
		if p, err := sites.ParseProperty(input); err != nil || p.SiteURL != want {
			t.Errorf("%q: %q %v, want %q", input, p.SiteURL, err, want)
		}
		if p, err := sites.ParseProperty(want); err != nil || p.SiteURL != want {
			t.Errorf("%q again: %q %v", want, p.SiteURL, err)
		}
	}
	for _, bad := range []string{
		"", "nope", "example.com", "ftp://example.com/", "https://example.com/?a", "https://u:p@example.com/", "sc-domain:", "sc-domain:localhost", "sc-domain:127.0.0.1",
		"sc-domain:example.com/a", "sc-domain:example.com:80", "sc-domain:a b.example", "sc-domain:example.com?x", "sc-domain:https://example.com", "sc-domain:example.com.",
	} {
		if p, err := sites.ParseProperty(bad); models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("%q: %v %v", bad, p, err)
		}
	}
}

func TestPropertyContains(t *testing.T) {
	for _, c := range []struct {
		property, url string
		want          bool
	}{
		{"https://example.com/", "https://example.com", true},
		{"https://example.com/", "https://EXAMPLE.com:443/a?b", true},
		{"https://example.com/", "http://example.com/a", false},
		{"https://example.com/", "https://example.com.evil.example/", false},
		{"https://example.com/", "https://www.example.com/", false},
		{"https://example.com/blog/", "https://example.com/blog", true},
		{"https://example.com/blog/", "https://example.com/blog/x", true},
		{"https://example.com/blog/", "https://example.com/blogs", false},
		{"https://example.com/blog/", "https://example.com/blog/../x", false},
		{"https://example.com/%c3%a9/", "https://example.com/%C3%A9/x", true},
		{"https://example.com/%C3%a9/", "https://example.com/é", true},
		{"https://example.com/%c3/", "https://example.com/%c4/", false},
		{"sc-domain:example.com", "http://example.com/", true},
		{"sc-domain:example.com", "https://a.b.example.com:8443/x", true},
		{"sc-domain:example.com", "https://notexample.com/", false},
		{"sc-domain:example.com", "https://example.com.evil.example/", false},
	} {
		p, err := sites.ParseProperty(c.property)
		if err != nil {
			t.Fatal(err)
		}
		u, err := models.ParseURL("url", c.url)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Contains(u); got != c.want {
			t.Errorf("%s in %s: %v", c.url, c.property, got)
		}
	}
}
