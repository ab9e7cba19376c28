package outbound

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testClient returns a Client that may also connect to 127.0.0.1, the address of the test servers.
func testClient(t *testing.T, o Options) *Client {
	t.Helper()
	o.AllowCIDRs = append(o.AllowCIDRs, netip.MustParsePrefix("127.0.0.1/32"))
	c := New(o)
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

// fails fails the test unless err is an *Error with this kind and text.
func fails(t *testing.T, err error, kind Kind, text string) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("got %v, want an *Error of kind %s", err, kind)
	}
	if e.Kind != kind || e.Error() != text {
		t.Fatalf("got %s %q (%v), want %s %q", e.Kind, e.Error(), e.Unwrap(), kind, text)
	}
}

// get fetches a URL and fails the test if there is no response.
func get(t *testing.T, c *Client, r Request) *Response {
	t.Helper()
	res, err := c.Fetch(t.Context(), r)
	if err != nil {
		t.Fatalf("Fetch: %v", err)
	}
	return res
}
