package shortlinks_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"linkwatch/app/apptest"
)

// TestLimitOfCreation: SHORT_CREATE_LIMIT limits the short links that a client without a login can
// add per minute.
func TestLimitOfCreation(t *testing.T) {
	const limit = 3
	for _, c := range []struct {
		name           string
		setting, value string
		client         string
		limited        bool
	}{
		{"a stranger", "", "", "203.0.113.7:1", true},
		{"a stranger by IPv6", "", "", "[2001:db8::7]:1", true},
		{"this machine", "", "", "127.0.0.1:1", false},
		{"this machine, by IPv6", "", "", "[::1]:1", false},
		{"by a proxy on this machine", "PUBLIC_URL", "https://links.example", "127.0.0.1:1", true},
		{"with the password", "ADMIN_PASSWORD", "correct horse", "203.0.113.7:1", false},
		{"no limit", "SHORT_CREATE_LIMIT", "0", "203.0.113.7:1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, apptest.Set("SHORT_CREATE_LIMIT", strconv.Itoa(limit)), apptest.Set(c.setting, c.value))
			s.add("abcd")
			ask := func(method, path string) *httptest.ResponseRecorder {
				req := httptest.NewRequest(method, path, strings.NewReader(`{"long_url":"https://example.com/"}`))
				req.Host, req.RemoteAddr = "127.0.0.1", c.client
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Authorization", "Bearer correct horse")
				w := httptest.NewRecorder()
				s.Handler.ServeHTTP(w, req)
				return w
			}
			for i := range limit {
				if w := ask("POST", "/v1/shortlinks"); w.Code != http.StatusCreated {
					t.Fatalf("request %d: got %d, %s", i+1, w.Code, w.Body)
				}
			}
			for _, path := range []string{"/v1/shortlinks", "/api/v1/shortlinks"} {
				w := ask("POST", path)
				if (w.Code == http.StatusTooManyRequests) != c.limited {
					t.Errorf("one more: got %d, %s", w.Code, w.Body)
				}
				wait := w.Header().Get("Retry-After") // a second less if the machine is slow
				if c.limited && (wait != "20" && wait != "19" || !strings.Contains(w.Body.String(), "/probs/rate-limited")) {
					t.Errorf("one more: got %v, %s", w.Header(), w.Body)
				}
			}
			for _, path := range []string{"/short", "/links/l_0000000000000000000000/shorten"} {
				if w := ask("POST", path); (w.Code == http.StatusTooManyRequests) != c.limited {
					t.Errorf("%s: %d %s", path, w.Code, w.Body)
				}
			}
			// Nothing else is limited.
			for _, path := range []string{"/v1/shortlinks", "/s/abcd", "/healthz"} {
				if w := ask("GET", path); w.Code >= 400 {
					t.Errorf("GET %s: %d", path, w.Code)
				}
			}
		})
	}
}
