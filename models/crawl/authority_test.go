package crawl

import (
	"testing"

	"linkwatch/models"
)

// FuzzAuthority: an authority with a valid host and port is the same after it was written as text.
func FuzzAuthority(f *testing.F) {
	for _, s := range []string{"a.example", "a.example:8080", "a.example:443", "[::1]:8001", "[::1]", "::1", "[::1", "a:0", "a:99999", "[]x", "a:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, port, _ := splitAuthority(s)
		if port < -1 || port > 65535 || port == 80 || port == 443 {
			t.Fatalf("%q: port %d", s, port)
		}
		if _, ok := models.CanonicalHost(host); !ok || port <= 0 {
			return
		}
		text := authority{host, port}.String()
		if h, p, _ := splitAuthority(text); h != host || p != port {
			t.Errorf("%q is %q and %d, then %q is %q and %d", s, host, port, text, h, p)
		}
	})
}
