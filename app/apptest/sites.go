package apptest

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"linkwatch/app"
	"linkwatch/outbound"
)

// NewFetcher returns a fetcher with 127.0.0.0/8 in OUTBOUND_ALLOW_CIDRS.
func NewFetcher(t testing.TB) app.Fetcher {
	t.Helper()
	client := outbound.New(outbound.Options{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(client.Close)
	return app.NewFetcher(client)
}

// NewSite serves a website on this machine until the end of the test and returns its URL.
// Each website has a different port and so counts as a different host.
func NewSite(t testing.TB, h http.HandlerFunc) (url string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
