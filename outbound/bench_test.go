package outbound

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// A fetch of a page of 12 KB. The allocations include those of the server.
func BenchmarkFetch(b *testing.B) {
	page := "<title>t</title>" + strings.Repeat("<p>text", 1700)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, page) }))
	defer srv.Close()
	c := New(Options{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	defer c.Close()
	for name, discard := range map[string]bool{"keep": false, "discard": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Fetch(b.Context(), Request{URL: srv.URL, Discard: discard}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
