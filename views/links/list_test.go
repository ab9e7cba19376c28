package links

import (
	"net/url"
	"strings"
	"testing"
)

// A browser undoes the escapes of a javascript: address before it runs it.
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
