package outbound

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// A client for a service connects only to its endpoint, follows no redirects and limits the body.
func TestNewService(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/bomb":
			for range PageLimit >> 19 {
				_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
			}
		default:
			_, _ = io.WriteString(w, "hello")
		}
	}))
	defer service.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	u, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := NewService(Options{Endpoint: u})
	defer c.CloseIdleConnections()
	get := func(c *http.Client, url string) (status int, body string, err error) {
		res, err := c.Get(url)
		if err != nil {
			return 0, "", err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return res.StatusCode, string(b), err
	}
	if status, body, err := get(c, service.URL); status != http.StatusOK || body != "hello" || err != nil {
		t.Errorf("status %d, %q, %v", status, body, err)
	}
	if status, _, err := get(c, service.URL+"/moved"); status != http.StatusFound || err != nil {
		t.Errorf("a redirect: status %d, %v", status, err)
	}
	if _, body, err := get(c, service.URL+"/bomb"); err == nil {
		t.Errorf("a large body: %d bytes and no error", len(body))
	} else if e := ServiceError(err); e.Kind != KindProtocol || e.Error() != "response too large" {
		t.Errorf("a large body: %s, %v", e.Kind, e)
	}
	if _, _, err := get(c, other.URL); err == nil {
		t.Error("another port was reached")
	} else if e := ServiceError(err); e.Kind != KindBlocked {
		t.Errorf("another port: %s, %v", e.Kind, e)
	}
	if _, _, err := get(NewService(Options{}), service.URL); err == nil {
		t.Error("a loopback address was reached without an endpoint")
	}
}
