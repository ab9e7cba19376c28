package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"linkwatch/app/apptest"
)

// TestGuessing: a client with too many wrong credentials gets 429 with Retry-After on pages and in
// the API. Short links and other clients are not affected.
func TestGuessing(t *testing.T) {
	s := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "correct horse"))
	s.Shorten("https://example.com/page", "abcd")
	ask := func(client, method, path, auth string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(method, path, nil)
		req.Host, req.RemoteAddr = "127.0.0.1", client
		req.Header.Set("Authorization", auth)
		req.Header.Set("Accept", "text/html")
		req.Header.Set("X-Forwarded-For", "192.0.2.1")
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, req)
		return w
	}
	const guesser, right = "203.0.113.7:1", "Bearer correct horse"
	for i := range 10 {
		path := []string{"/", "/v1/links", "/api/v1/links", "/metrics"}[i%4]
		if w := ask(guesser, "GET", path, "Bearer wrong"); w.Code != http.StatusUnauthorized {
			t.Fatalf("guess %d: got %d", i+1, w.Code)
		}
		if w := ask(guesser, "GET", "/s/abcd", "Bearer wrong"); w.Code != http.StatusFound {
			t.Fatalf("short link: got %d", w.Code)
		}
	}
	for path, kind := range map[string]string{"/": "text/html", "/links": "text/html", "/v1/links": "application/problem+json"} {
		for _, method := range []string{"GET", "HEAD"} {
			w := ask(guesser, method, path, right)
			wait := w.Header().Get("Retry-After")
			if w.Code != http.StatusTooManyRequests || len(wait) != 2 || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) {
				t.Errorf("%s %s: got %d, %v", method, path, w.Code, w.Header())
			}
			if method == "GET" && !strings.Contains(w.Body.String(), "Try again in "+wait+" seconds.") {
				t.Errorf("%s: got %s", path, w.Body)
			}
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/s/abcd"} {
		if w := ask(guesser, "GET", path, "Bearer wrong"); w.Code >= 400 {
			t.Errorf("%s: got %d", path, w.Code)
		}
	}
	if w := ask("203.0.113.8:1", "GET", "/v1/links", right); w.Code != http.StatusOK {
		t.Errorf("other client: got %d", w.Code)
	}
}

// TestGuessingBehindAProxy: users behind a trusted proxy are separate clients, so that one who
// guesses does not block the others.
func TestGuessingBehindAProxy(t *testing.T) {
	for _, c := range []struct {
		name, trusted string
		other         int
	}{
		{"trusted", "10.0.0.0/8", http.StatusOK},
		{"not trusted", "", http.StatusTooManyRequests},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "correct horse"), apptest.Set("TRUSTED_PROXIES", c.trusted))
			ask := func(client, auth string) int {
				req := httptest.NewRequest(http.MethodGet, "/v1/links", nil)
				req.Host, req.RemoteAddr = "127.0.0.1", "10.0.0.1:1"
				req.Header.Set("Authorization", auth)
				req.Header.Set("X-Forwarded-For", client)
				w := httptest.NewRecorder()
				s.Handler.ServeHTTP(w, req)
				return w.Code
			}
			for range 10 {
				ask("203.0.113.7", "Bearer wrong")
			}
			if code := ask("203.0.113.7", "Bearer correct horse"); code != http.StatusTooManyRequests {
				t.Errorf("guessing client: got %d", code)
			}
			if code := ask("203.0.113.8", "Bearer correct horse"); code != c.other {
				t.Errorf("other client: got %d, want %d", code, c.other)
			}
		})
	}
}
