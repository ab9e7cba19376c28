//go:build e2e

package e2e

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestForeignHostsAndOriginsAreRefused(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t)
	form := url.Values{"url": {web.URL + "/page"}}.Encode()
	as := func(headers ...string) func(*http.Request) {
		return func(r *http.Request) {
			for i := 0; i < len(headers); i += 2 {
				if headers[i] == "Host" {
					r.Host = headers[i+1]
				}
				r.Header.Set(headers[i], headers[i+1])
			}
		}
	}
	const typed = "application/x-www-form-urlencoded"
	for name, c := range map[string]struct {
		method, path, body string
		with               func(*http.Request)
		want               int
	}{
		"foreign Host, page":           {"GET", "/links", "", as("Host", "evil.example"), 403},
		"foreign Host, API":            {"GET", "/v1/links", "", as("Host", "evil.example:8080"), 403},
		"foreign Host, write":          {"POST", "/v1/links", "{}", as("Host", "evil.example", "Content-Type", "application/json"), 403},
		"foreign Origin":               {"POST", "/links", form, as("Content-Type", typed, "Origin", "https://evil.example"), 403},
		"cross-site by Sec-Fetch-Site": {"POST", "/links", form, as("Content-Type", typed, "Sec-Fetch-Site", "cross-site"), 403},
		"cross-site with Origin null":  {"POST", "/links", form, as("Content-Type", typed, "Origin", "null", "Sec-Fetch-Site", "cross-site"), 403},
		"Host of this machine":         {"GET", "/links", "", as("Host", "localhost:1"), 200},
	} {
		t.Run(name, func(t *testing.T) {
			res := send(t, s, c.method, c.path, c.body, c.with)
			if res.StatusCode != c.want {
				t.Errorf("got status %d, want %d", res.StatusCode, c.want)
			}
			if res.Header.Get("X-Request-Id") == "" || res.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("no request id or Content-Security-Policy in %v", res.Header)
			}
		})
	}
	if _, total := s.found("/v1/links"); total != 0 {
		t.Errorf("got %d stored links, want 0", total)
	}
	if n := web.requests("/page"); n != 0 {
		t.Errorf("got %d fetches, want 0", n)
	}
	own := send(t, s, "POST", "/links", form, as("Content-Type", typed, "Origin", s.URL, "Sec-Fetch-Site", "same-origin"))
	if own.StatusCode != http.StatusSeeOther {
		t.Errorf("own form: got status %d, want 303", own.StatusCode)
	}
}

// With ADMIN_PASSWORD set, the server may listen on other addresses than loopback. Pages redirect to the login, and
// API clients need the password.
func TestPassword(t *testing.T) {
	t.Parallel()
	s := Start(t, "HTTP_HOST=127.0.0.1", "ADMIN_PASSWORD=correct horse")
	open := func(*http.Request) {}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/login": 200, "/": 303, "/links": 303, "/v1/links": 401, "/metrics": 401, "/admin/settings": 303} {
		if res := send(t, s, "GET", path, "", open); res.StatusCode != want {
			t.Errorf("GET %s without the password: got %d, want %d", path, res.StatusCode, want)
		}
	}
	login := func(r *http.Request) { r.SetBasicAuth("anyone", "correct horse") }
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer correct horse") }
	for _, with := range []func(*http.Request){login, bearer} {
		if res := send(t, s, "GET", "/v1/links", "", with); res.StatusCode != 200 {
			t.Errorf("with the password: got %d, want 200", res.StatusCode)
		}
	}
	const typed = "application/x-www-form-urlencoded"
	res := send(t, s, "POST", "/login", "username=admin&password=correct+horse&next=/links", func(r *http.Request) { r.Header.Set("Content-Type", typed) })
	if cookies := res.Cookies(); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/links" || len(cookies) != 2 {
		t.Fatalf("login: got status %d, %v", res.StatusCode, res.Header)
	}
	if got := send(t, s, "GET", "/links", "", func(r *http.Request) { r.AddCookie(res.Cookies()[0]) }); got.StatusCode != 200 {
		t.Errorf("with the session: got %d, want 200", got.StatusCode)
	}
	if strings.Contains(s.log(), "correct horse") || strings.Contains(s.log(), res.Cookies()[0].Value) {
		t.Error("the log contains the password")
	}
}

// The server does not fetch private addresses unless the operator allows them.
func TestPrivateAddressesAreRefused(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t, "OUTBOUND_ALLOW_CIDRS=")
	var p problem
	if status := s.Call("POST", "/v1/links", map[string]any{"url": web.URL + "/page"}, &p); status != 422 || !strings.HasSuffix(p.Type, "/probs/blocked-address") {
		t.Errorf("loopback address: got %d %s, want 422 blocked-address", status, p.Type)
	}
	if n := web.requests("/page"); n != 0 {
		t.Errorf("got %d fetches, want 0", n)
	}
}

// A client that sends its request too slowly is disconnected.
func TestSlowClients(t *testing.T) {
	t.Parallel() // waits 15 s for timeouts
	s := Start(t)
	for name, c := range map[string]struct{ sent, want string }{
		"body":    {"POST /v1/links HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", " 408 "},
		"headers": {"GET /links HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if _, err := io.WriteString(conn, c.sent); err != nil {
				t.Fatal(err)
			}
			if err := conn.SetDeadline(time.Now().Add(2 * patience)); err != nil {
				t.Fatal(err)
			}
			response, err := io.ReadAll(conn) // returns when the server closes the connection
			if err != nil {
				t.Fatal("the connection was not closed: ", err)
			}
			if !strings.Contains(string(response), c.want) {
				t.Errorf("got response %q, want one with %q", response, c.want)
			}
		})
	}
}

// Swagger UI lists the operations. Its content policy allows no inline script, and a violation fails the test.
func TestAPIDocPage(t *testing.T) {
	t.Parallel()
	b := browse(t, Start(t), wide, "/apidoc")
	b.has(".opblock")
	b.see("/v1/links")
}
