package links

import (
	"net/url"
	"strings"
	"testing"

	"linkwatch/models/links"
)

func TestPlacePath(t *testing.T) {
	all := Place{Filter: links.Filter{Query: "a&b", Tag: "c#", Health: links.Dead, Shown: links.ShowAll}, Page: 3}
	for want, p := range map[string]Place{
		"/links":              {Page: 1},
		"/links?sort=popular": {Popular: true},
		"/links?expired=all&health=dead&page=3&q=a%26b&tag=c%23":  all,
		"/links?expired=all&health=moved&q=a%26b&tag=c%23":        all.withHealth(links.Moved),
		"/links?health=dead&q=a%26b&tag=c%23":                     all.withShown(links.ShowActive),
		"/links?expired=all&health=dead&q=a%26b":                  all.withoutTag(),
		"/links?expired=all&health=dead&page=12&q=a%26b&tag=c%23": all.withPage(12),
	} {
		if got := p.Path(); got != want {
			t.Errorf("path %q, want %q", got, want)
		}
	}
}

// A browser decodes a javascript: URL before running it.
func TestBookmarklet(t *testing.T) {
	for base, want := range map[string]string{
		"http://127.0.0.1:8080": `javascript:window.open("http://127.0.0.1:8080/links?url="+encodeURIComponent(location.href))`,
		`http://a%22'"`:         `javascript:window.open("http://a%22'\"/links?url="+encodeURIComponent(location.href))`,
	} {
		address := bookmarklet(base)
		got, err := url.PathUnescape(address)
		if err != nil || got != want || strings.ContainsAny(address, `"'<> `) {
			t.Errorf("%s: the browser would run %s (%v)", address, got, err)
		}
	}
}
