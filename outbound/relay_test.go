package outbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

func testRelay(t *testing.T, o RelayOptions) *Relay {
	t.Helper()
	r := NewRelay(o)
	t.Cleanup(r.Close)
	return r
}

// getDefault is a library that sends with the default client.
func getDefault(url string) (string, error) {
	res, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

// Requests that a library sends with the default client belong to its own Run, with any number of Runs.
func TestRelayTellsRunsApart(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path+r.UserAgent()) })
	relay := testRelay(t, RelayOptions{AllowCIDRs: loopback, UserAgent: "/agent"})
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			path := fmt.Sprintf("/%d", i)
			exchanges, err := relay.Run(t.Context(), func(http.RoundTripper) error {
				body, err := getDefault(server.URL + path)
				if body != path+"/agent" {
					t.Errorf("the library got %q", body)
				}
				return err
			})
			if err != nil || len(exchanges) != 1 || string(exchanges[0].Body) != path+"/agent" || exchanges[0].StatusCode != 200 || exchanges[0].Failed() {
				t.Errorf("%+v, %v", exchanges, err)
			}
		})
	}
	all.Wait()
	if body, err := getDefault(server.URL + "/x"); err != nil || body != "/xGo-http-client/1.1" {
		t.Errorf("after the runs: %q, %v", body, err)
	}
}

// A Run that hangs does not block others, and ends with its context.
func TestRelayHangs(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			<-r.Context().Done()
		}
	})
	relay := testRelay(t, RelayOptions{AllowCIDRs: loopback})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := relay.Run(ctx, func(http.RoundTripper) error {
			for {
				if _, err := getDefault(server.URL + "/hangs"); errors.Is(err, context.Canceled) {
					return err
				}
			}
		})
		done <- err
	}()
	for range 20 {
		if _, err := relay.Run(t.Context(), func(http.RoundTripper) error { _, err := getDefault(server.URL); return err }); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestRelayGuard(t *testing.T) {
	server := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("an inside address was reached") })
	relay := testRelay(t, RelayOptions{})
	exchanges, err := relay.Run(t.Context(), func(http.RoundTripper) error { _, err := getDefault(server.URL); return err })
	if err == nil || len(exchanges) != 1 || exchanges[0].Err == nil || exchanges[0].Err.Kind != KindBlocked || !exchanges[0].Failed() {
		t.Errorf("%+v, %v", exchanges, err)
	}
	if c, err := relay.Dial(t.Context(), "tcp", strings.TrimPrefix(server.URL, "http://")); err == nil {
		_ = c.Close()
		t.Error("it was dialed")
	}
	if relay.Allows(netip.MustParseAddr("10.0.0.1")) || !relay.Allows(netip.MustParseAddr("9.9.9.9")) {
		t.Error("the guard of addresses")
	}
}

// A redirect is not followed, a failed request is not repeated, and a loop ends.
func TestRelayRequests(t *testing.T) {
	requests := 0
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/down":
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	relay := testRelay(t, RelayOptions{AllowCIDRs: loopback})
	for path, want := range map[string]int{"/moved": 1, "/down": 1, "/": relayRequests} {
		requests = 0
		exchanges, _ := relay.Run(t.Context(), func(http.RoundTripper) error {
			var err error
			for range 100 {
				_, err = getDefault(server.URL + path)
			}
			return err
		})
		if requests != want || len(exchanges) != want {
			t.Errorf("%s: %d requests, %d exchanges", path, requests, len(exchanges))
		}
		if path == "/down" && (exchanges[0].RetryAfter.Seconds() != 5 || exchanges[0].StatusCode != 503) {
			t.Errorf("%+v", exchanges[0])
		}
	}
}

// The library gets 64 KiB of an endless body. A panic and a nested Run are errors.
func TestRelayBounds(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<10)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	relay := testRelay(t, RelayOptions{AllowCIDRs: loopback})
	exchanges, err := relay.Run(t.Context(), func(http.RoundTripper) error {
		body, err := getDefault(server.URL)
		if len(body) != relayBody {
			t.Errorf("%d bytes", len(body))
		}
		if _, err := relay.Run(t.Context(), func(http.RoundTripper) error { return nil }); err == nil {
			t.Error("a Run in a Run")
		}
		return err
	})
	if err != nil || len(exchanges) != 1 || len(exchanges[0].Body) != relayBody {
		t.Errorf("%d exchanges, %v", len(exchanges), err)
	}
	if _, err := relay.Run(t.Context(), func(http.RoundTripper) error { panic("no") }); err == nil {
		t.Error("a panic is no error")
	}
	if _, err := relay.Run(t.Context(), func(http.RoundTripper) error { return nil }); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}

// A program that replaces the default transport cannot send requests without the guard.
func TestRelayNeedsTheDefaultTransport(t *testing.T) {
	relay := testRelay(t, RelayOptions{})
	http.DefaultTransport = &http.Transport{}
	defer func() { http.DefaultTransport = byGoroutine }()
	if _, err := relay.Run(t.Context(), func(http.RoundTripper) error { t.Error("it may send"); return nil }); err == nil {
		t.Error("no error")
	}
}

// GuardDefault has no undo, so the test restores the previous transport.
func TestGuardDefault(t *testing.T) {
	server := serve(t, func(http.ResponseWriter, *http.Request) {})
	before := byGoroutine.fallback.Load()
	defer byGoroutine.fallback.Store(before)
	GuardDefault(nil)
	if _, err := getDefault(server.URL); err == nil {
		t.Error("the default client reached an inside address")
	}
	GuardDefault(loopback)
	if _, err := getDefault(server.URL); err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
}
