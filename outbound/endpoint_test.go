package outbound

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// A client for an endpoint connects only to its host and port, even on a private
// address. Only such a client sends a token.
func TestEndpoint(t *testing.T) {
	var authorization string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		authorization = r.Header.Get("Authorization")
		_, _ = io.WriteString(w, "hello")
	}))
	defer service.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	u, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := New(Options{Endpoint: u})
	defer c.Close()
	res, err := c.Fetch(t.Context(), Request{URL: service.URL + "/api", Bearer: "secret"})
	if err != nil || string(res.Body) != "hello" || authorization != "Bearer secret" {
		t.Errorf("%v, authorization %q", err, authorization)
	}
	if _, err := c.Fetch(t.Context(), Request{URL: other.URL}); kindOf(err) != KindBlocked {
		t.Errorf("another port: %v", err)
	}
	if _, err := c.Fetch(t.Context(), Request{URL: service.URL, Bearer: "secret", MaxRedirects: 1}); kindOf(err) != KindInvalid {
		t.Errorf("a token that could be sent on: %v", err)
	}
	plain := New(Options{})
	defer plain.Close()
	if _, err := plain.Fetch(t.Context(), Request{URL: "http://example.com", Bearer: "secret"}); kindOf(err) != KindInvalid {
		t.Errorf("a token without an endpoint: %v", err)
	}
	if _, err := plain.Fetch(t.Context(), Request{URL: service.URL}); kindOf(err) != KindBlocked {
		t.Errorf("without an endpoint: %v", err)
	}
}

func kindOf(err error) Kind {
	e, _ := errors.AsType[*Error](err)
	if e == nil {
		return ""
	}
	return e.Kind
}
