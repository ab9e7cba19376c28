package apptest

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"linkwatch/app"
	"linkwatch/outbound"
)

// NewFetcher returns a fetcher that may fetch from this machine, as
// OUTBOUND_ALLOW_CIDRS would allow it to.
func NewFetcher(t testing.TB) app.Fetcher {
	t.Helper()
	client := outbound.New(outbound.Options{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(client.Close)
	return app.NewFetcher(client)
}

// NewSite serves a web site on this machine until the end of the test and returns
// its URL. Each has a host of its own: its port.
func NewSite(t testing.TB, h http.HandlerFunc) (url string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
