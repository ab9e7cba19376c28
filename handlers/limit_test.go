package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"linkwatch/handlers/middleware"
)

// TestLimitOfCreation: strangers make so many short links a minute, and no more.
func TestLimitOfCreation(t *testing.T) {
	const limit = 3
	for _, c := range []struct {
		name    string
		change  func(*Deps)
		client  string
		limited bool
	}{
		{"a stranger", func(*Deps) {}, "203.0.113.7:1", true},
		{"a stranger by IPv6", func(*Deps) {}, "[2001:db8::7]:1", true},
		{"this machine", func(*Deps) {}, "127.0.0.1:1", false},
		{"this machine, by IPv6", func(*Deps) {}, "[::1]:1", false},
		{"by a proxy on this machine", func(d *Deps) { d.Addresses.PublicURL = "https://links.example" }, "127.0.0.1:1", true},
		{"with the password", func(d *Deps) { d.Password = "correct horse" }, "203.0.113.7:1", false},
		{"no limit", func(d *Deps) { d.ShortCreateLimit = 0 }, "203.0.113.7:1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newShortHost(t, func(d *Deps) {
				d.Addresses, d.ShortCreateLimit = middleware.Addresses{}, limit
				c.change(d)
			})
			ask := func(method, path string) *httptest.ResponseRecorder {
				req := httptest.NewRequest(method, path, strings.NewReader(`{"long_url":"https://example.com/"}`))
				req.Host, req.RemoteAddr = "127.0.0.1", c.client
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Authorization", "Bearer correct horse")
				w := httptest.NewRecorder()
				r.ServeHTTP(w, req)
				return w
			}
			for i := range limit {
				if w := ask("POST", "/v1/shortlinks"); w.Code != http.StatusCreated {
					t.Fatalf("number %d: %d %s", i+1, w.Code, w.Body)
				}
			}
			for _, path := range []string{"/v1/shortlinks", "/api/v1/shortlinks"} {
				w := ask("POST", path)
				if (w.Code == http.StatusTooManyRequests) != c.limited {
					t.Errorf("one more: %d %s", w.Code, w.Body)
				}
				wait := w.Header().Get("Retry-After") // a second less if the machine is slow
				if c.limited && (wait != "20" && wait != "19" || !strings.Contains(w.Body.String(), "/probs/rate-limited")) {
					t.Errorf("one more: %v %s", w.Header(), w.Body)
				}
			}
			for _, path := range []string{"/short", "/links/l_0000000000000000000000/shorten"} {
				if w := ask("POST", path); (w.Code == http.StatusTooManyRequests) != c.limited {
					t.Errorf("%s: %d %s", path, w.Code, w.Body)
				}
			}
			// Everything else goes on.
			for _, path := range []string{"/v1/shortlinks", "/s/abcd", "/healthz"} {
				if w := ask("GET", path); w.Code >= 400 {
					t.Errorf("GET %s: %d", path, w.Code)
				}
			}
		})
	}
}

// TestGuessing: a client that sends wrong credentials too often is told when to
// come back, by either face; short links and others notice nothing of it.
func TestGuessing(t *testing.T) {
	r := newShortHost(t, func(d *Deps) { d.Addresses, d.Password = middleware.Addresses{}, "correct horse" })
	ask := func(client, method, path, auth string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(method, path, nil)
		req.Host, req.RemoteAddr = "127.0.0.1", client
		req.Header.Set("Authorization", auth)
		req.Header.Set("Accept", "text/html")
		req.Header.Set("X-Forwarded-For", "192.0.2.1")
		w := httptest.NewRecorder()
		r.ServeHTTP(w, req)
		return w
	}
	const guesser, right = "203.0.113.7:1", "Bearer correct horse"
	for i := range 10 {
		path := []string{"/", "/v1/links", "/api/v1/links", "/metrics"}[i%4]
		if w := ask(guesser, "GET", path, "Bearer wrong"); w.Code != http.StatusUnauthorized {
			t.Fatalf("guess %d: %d", i+1, w.Code)
		}
		if w := ask(guesser, "GET", "/s/abcd", "Bearer wrong"); w.Code != http.StatusFound {
			t.Fatalf("a short link: %d", w.Code)
		}
	}
	for path, kind := range map[string]string{"/": "text/html", "/links": "text/html", "/v1/links": "application/problem+json"} {
		for _, method := range []string{"GET", "HEAD"} {
			w := ask(guesser, method, path, right)
			wait := w.Header().Get("Retry-After")
			if w.Code != http.StatusTooManyRequests || len(wait) != 2 || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) {
				t.Errorf("%s %s: %d %v", method, path, w.Code, w.Header())
			}
			if method == "GET" && !strings.Contains(w.Body.String(), "Try again in "+wait+" seconds.") {
				t.Errorf("%s: %s", path, w.Body)
			}
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/s/abcd"} {
		if w := ask(guesser, "GET", path, "Bearer wrong"); w.Code >= 400 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := ask("203.0.113.8:1", "GET", "/v1/links", right); w.Code != http.StatusOK {
		t.Errorf("another client: %d", w.Code)
	}
}
