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

func TestStrangersAreKeptOut(t *testing.T) {
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
		"a rebound name reads a page":        {"GET", "/links", "", as("Host", "evil.example"), 403},
		"a rebound name reads the API":       {"GET", "/v1/links", "", as("Host", "evil.example:8080"), 403},
		"a rebound name writes":              {"POST", "/v1/links", "{}", as("Host", "evil.example", "Content-Type", "application/json"), 403},
		"another site posts a form":          {"POST", "/links", form, as("Content-Type", typed, "Origin", "https://evil.example"), 403},
		"another site, told by the browser":  {"POST", "/links", form, as("Content-Type", typed, "Sec-Fetch-Site", "cross-site"), 403},
		"another site in a frame of nowhere": {"POST", "/links", form, as("Content-Type", typed, "Origin", "null", "Sec-Fetch-Site", "cross-site"), 403},
		"a name of this machine":             {"GET", "/links", "", as("Host", "localhost:1"), 200},
	} {
		t.Run(name, func(t *testing.T) {
			res := send(t, s, c.method, c.path, c.body, c.with)
			if res.StatusCode != c.want {
				t.Errorf("status %d, want %d", res.StatusCode, c.want)
			}
			if res.Header.Get("X-Request-Id") == "" || res.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("a response lacks its request id or content policy: %v", res.Header)
			}
		})
	}
	if _, total := s.found("/v1/links"); total != 0 {
		t.Errorf("%d links were stored for strangers", total)
	}
	if n := web.requests("/page"); n != 0 {
		t.Errorf("strangers made the program fetch %d times", n)
	}
	own := send(t, s, "POST", "/links", form, as("Content-Type", typed, "Origin", s.URL, "Sec-Fetch-Site", "same-origin"))
	if own.StatusCode != http.StatusSeeOther {
		t.Errorf("the own form is answered %d, want 303", own.StatusCode)
	}
}

// With ADMIN_PASSWORD set, the program may listen for other machines. Pages lead to the login, and programs need
// the password.
func TestPassword(t *testing.T) {
	t.Parallel()
	s := Start(t, "HTTP_HOST=127.0.0.1", "ADMIN_PASSWORD=correct horse")
	open := func(*http.Request) {}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/login": 200, "/": 303, "/links": 303, "/v1/links": 401, "/metrics": 401, "/admin/settings": 303} {
		if res := send(t, s, "GET", path, "", open); res.StatusCode != want {
			t.Errorf("GET %s without the password: %d, want %d", path, res.StatusCode, want)
		}
	}
	login := func(r *http.Request) { r.SetBasicAuth("anyone", "correct horse") }
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer correct horse") }
	for _, with := range []func(*http.Request){login, bearer} {
		if res := send(t, s, "GET", "/v1/links", "", with); res.StatusCode != 200 {
			t.Errorf("with the password: %d, want 200", res.StatusCode)
		}
	}
	const typed = "application/x-www-form-urlencoded"
	res := send(t, s, "POST", "/login", "username=admin&password=correct+horse&next=/links", func(r *http.Request) { r.Header.Set("Content-Type", typed) })
	if cookies := res.Cookies(); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/links" || len(cookies) != 1 {
		t.Fatalf("the login is answered %d %v", res.StatusCode, res.Header)
	}
	if got := send(t, s, "GET", "/links", "", func(r *http.Request) { r.AddCookie(res.Cookies()[0]) }); got.StatusCode != 200 {
		t.Errorf("with the session: %d, want 200", got.StatusCode)
	}
	if strings.Contains(s.log(), "correct horse") || strings.Contains(s.log(), res.Cookies()[0].Value) {
		t.Error("the log shows the password")
	}
}

// The program does not fetch addresses of this machine and its network, unless the operator allows them.
func TestPrivateAddressesAreRefused(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t, "OUTBOUND_ALLOW_CIDRS=")
	var p problem
	if status := s.Call("POST", "/v1/links", map[string]any{"url": web.URL + "/page"}, &p); status != 422 || !strings.HasSuffix(p.Type, "/probs/blocked-address") {
		t.Errorf("a loopback address is answered %d %s, want 422 blocked-address", status, p.Type)
	}
	if n := web.requests("/page"); n != 0 {
		t.Errorf("it was fetched %d times", n)
	}
}

// A client that sends too slowly is disconnected.
func TestSlowSenders(t *testing.T) {
	t.Parallel() // it waits for time-outs, for 15 s
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
			answer, err := io.ReadAll(conn) // ends when the program closes the connection
			if err != nil {
				t.Fatal("the connection was not closed: ", err)
			}
			if !strings.Contains(string(answer), c.want) {
				t.Errorf("answered %q, want%q", answer, c.want)
			}
		})
	}
}
