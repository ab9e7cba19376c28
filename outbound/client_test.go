package outbound

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFetch(t *testing.T) {
	t.Setenv("COLLY_USER_AGENT", "from the environment")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Method", r.Method)
		w.Header().Set("X-Agent", r.UserAgent())
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("X-Cookie", r.Header.Get("Cookie"))
		w.WriteHeader(http.StatusTeapot)
		_, _ = fmt.Fprint(w, "short and stout")
	})
	c := testClient(t, Options{})
	for range 2 { // the same URL can be fetched twice, without cookies
		res := get(t, c, Request{URL: srv.URL + "/p?q=1"})
		if res.StatusCode != http.StatusTeapot || string(res.Body) != "short and stout" || res.Truncated || res.URL != srv.URL+"/p?q=1" ||
			res.Permanent() || res.Latency <= 0 || res.Header.Get("X-Agent") != DefaultUserAgent || res.Header.Get("X-Cookie") != "" {
			t.Fatalf("got %+v", res)
		}
	}
	res := get(t, c, Request{URL: srv.URL, Method: http.MethodHead})
	if res.Header.Get("X-Method") != "HEAD" || len(res.Body) != 0 || res.StatusCode != http.StatusTeapot {
		t.Errorf("HEAD: got %+v", res)
	}
	if seen, err := c.collector.HasVisited(srv.URL + "/p?q=1"); seen || err != nil {
		t.Errorf("Colly remembers a visit: %v %v", seen, err)
	}
	if (*Response)(nil).Permanent() {
		t.Error("nothing has moved permanently")
	}
	(*Client)(nil).Close()
}

func TestInvalidRequests(t *testing.T) {
	c := testClient(t, Options{})
	for _, u := range []string{"", "example.com", "ftp://example.com", "http://", "http://u:p@example.com", "http://exa mple.com",
		"http://example.com:99999/", "http://example.com:0/", "http://a.com/" + strings.Repeat("a", 2048), "javascript:alert(1)",
		"http://[::1", "http://a%00b/", "file:///etc/passwd", "http://a^b/"} {
		_, err := c.Fetch(t.Context(), Request{URL: u})
		fails(t, err, KindInvalid, "invalid URL")
	}
	_, err := c.Fetch(t.Context(), Request{URL: "http://example.com", Method: "POST"})
	fails(t, err, KindInvalid, "method not allowed")
}

func TestRedirects(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var n, status int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d/%d", &n, &status); err != nil || n == 0 {
			_, _ = fmt.Fprint(w, r.Method, " end")
			return
		}
		http.Redirect(w, r, fmt.Sprintf("/%d/%d", n-1, status), status)
	})
	c := testClient(t, Options{})

	for _, tc := range []struct {
		hops, max, status int
		permanent         bool
	}{{4, 4, 301, true}, {1, 4, 308, true}, {3, 4, 302, false}, {1, 1, 307, false}, {2, 2, 303, false}, {0, 0, 301, false}} {
		res := get(t, c, Request{URL: fmt.Sprintf("%s/%d/%d", srv.URL, tc.hops, tc.status), MaxRedirects: tc.max})
		if res.StatusCode != http.StatusOK || string(res.Body) != "GET end" || len(res.Hops) != tc.hops || res.Permanent() != tc.permanent ||
			res.URL != fmt.Sprintf("%s/0/%d", srv.URL, tc.status) {
			t.Errorf("%+v: got %+v", tc, res)
		}
		for i, h := range res.Hops {
			if want := (Hop{URL: fmt.Sprintf("%s/%d/%d", srv.URL, tc.hops-i, tc.status), Status: tc.status}); h != want {
				t.Errorf("hop %d: got %+v, want %+v", i, h, want)
			}
		}
	}
	_, err := c.Fetch(t.Context(), Request{URL: srv.URL + "/5/302", MaxRedirects: 4})
	fails(t, err, KindRedirects, "too many redirects")

	if res := get(t, c, Request{URL: srv.URL + "/1/302"}); res.StatusCode != http.StatusFound || len(res.Hops) != 0 || res.Header.Get("Location") != "/0/302" {
		t.Errorf("without following: got %+v", res)
	}
	if res := get(t, c, Request{URL: srv.URL + "/1/302", Method: http.MethodHead, MaxRedirects: 1}); res.StatusCode != http.StatusOK || len(res.Hops) != 1 {
		t.Errorf("HEAD: got %+v", res)
	}
}

func TestRedirectTargets(t *testing.T) {
	asked := 0
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Location", strings.Replace(r.URL.Query().Get("to"), "LONG", strings.Repeat("a", 2048), 1))
		w.WriteHeader(http.StatusFound)
	})
	c := testClient(t, Options{})
	to := func(where string) error {
		_, err := c.Fetch(t.Context(), Request{URL: srv.URL + "/?to=" + where, MaxRedirects: 4})
		return err
	}
	if res := get(t, c, Request{URL: srv.URL + "/?to=/nowhere", MaxRedirects: 4}); res.StatusCode != http.StatusFound || len(res.Hops) != 1 {
		t.Errorf("a redirect without Location is the answer: got %+v", res)
	}
	for _, bad := range []string{"ftp://example.com/", "file:///etc/passwd", "http://u:p@example.com/", "http://", "http://%25zz/",
		"javascript:alert(1)", "http://example.com/LONG"} {
		fails(t, to(bad), KindRedirects, "redirect not allowed")
	}
	asked = 0
	for _, private := range []string{"http://10.0.0.1/", "http://169.254.169.254/latest/", "http://127.0.0.2/", "http://[::1]/", "http://0x7f000002/", "http://2130706434/"} {
		fails(t, to(private), KindBlocked, "address not allowed")
	}
	if asked != 6 {
		t.Errorf("%d requests reached the server", asked)
	}
}

func TestRedirectLoop(t *testing.T) {
	asked := 0
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "/", http.StatusFound)
	})
	_, err := testClient(t, Options{}).Fetch(t.Context(), Request{URL: srv.URL, MaxRedirects: 4})
	fails(t, err, KindRedirects, "too many redirects")
	if asked != 5 {
		t.Errorf("asked %d times, want 5", asked)
	}
}

// Some sites set a cookie and redirect to themselves until the client sends it.
func TestCookieWithinRedirects(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("seen"); err != nil {
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
			http.Redirect(w, r, "/", http.StatusFound)
		}
	})
	c := testClient(t, Options{})
	for range 2 {
		if res := get(t, c, Request{URL: srv.URL, MaxRedirects: 4}); res.StatusCode != http.StatusOK || len(res.Hops) != 1 {
			t.Errorf("got %+v", res)
		}
	}
}

// Cookies come back as they were set, also those that RFC 6265 forbids.
func TestOddCookies(t *testing.T) {
	for _, tc := range []struct{ path, set, want string }{
		{"/", `js={"a":1}; path=/`, `js={"a":1}`},
		{"/", "a[b]=1; path=/", "a[b]=1"},
		{"/", "u8=é; path=/", "u8=é"},
		{"/", "latin1=\xe9\xff; path=/", "latin1=\xe9\xff"},
		{"/", "sid=a b,c; path=/", "sid=a b,c"},
		{"/", `quoted="1"; path=/`, `quoted="1"`},
		{"/", `half="1; path=/`, `half="1`},
		{"/", `back=\1; path=/`, `back=\1`},
		{"/", "  spaces \t=  1\t ; path=/", "spaces=1"},
		{"/", "é=1", "é=1"},
		{"/", "a b=1=2==; Path=/", "a b=1=2=="},
		{"/", "empty=; HttpOnly", "empty="},
		{"/", "=1", "1"},
		{"/", "1; path=/", "1"},
		{"/", "a=1; =; ;; é=ü; expires=soon; max-age=", "a=1"},
		{"/", "a=1; SameSite=odd; path=nowhere", "a=1"},
		{"/", "a=1; Max-Age=31536000000", "a=1"},
		{"/", "a=1; Max-Age=9223372036854775807", "a=1"},
		{"/", "a=1; Expires=Thu, 1 Jan 2099 00:00:01 GMT", "a=1"},
		{"/deep/page", "a=1; Path = /deep", "a=1"},
		{"/a%20b", "a=1; Path=/a%20b", "a=1"},
		{"/caf%C3%A9/x", "a=1; Path=/caf%C3%A9/", "a=1"},
		{"/a%2Fb/x", "a=1; Path=/a%2Fb/", "a=1"},
	} {
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if sent := r.Header.Values("Cookie"); slices.Equal(sent, []string{tc.want}) {
				return
			} else if len(sent) > 0 {
				t.Errorf("%q: got %q", tc.set, sent)
			}
			w.Header().Set("Set-Cookie", tc.set)
			http.Redirect(w, r, r.URL.EscapedPath(), http.StatusFound)
		})
		c := testClient(t, Options{})
		if res := get(t, c, Request{URL: srv.URL + tc.path, MaxRedirects: 1}); res.StatusCode != http.StatusOK {
			t.Errorf("%q: got %+v", tc.set, res)
		}
		// The same by hand, as a crawler follows redirects.
		first := get(t, c, Request{URL: srv.URL + tc.path})
		res := get(t, c, Request{URL: first.Location, Cookies: first.Cookies()})
		if res.StatusCode != http.StatusOK {
			t.Errorf("%q: by hand, got %+v", tc.set, res)
		}
	}
	for _, set := range []string{
		"", ";", " ; path=/", "=", "=; path=/", "a=1; domain=example.com", "a=1; path=/elsewhere",
		"a=1; max-age=0", "a=1; Max-Age = 0", `a=1; max-age="0"`,
		"a=1; expires=Thu, 01 Jan 1970 00:00:01 GMT", "a=1; Expires=Thu, 1 Jan 1970 00:00:01 GMT", "a=1; expires=Thu, 01-Jan-70 00:00:01 GMT",
	} {
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header["Cookie"] != nil {
				t.Errorf("%q: got %q", set, r.Header["Cookie"])
			}
			w.Header().Set("Set-Cookie", set)
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		})
		_, err := testClient(t, Options{}).Fetch(t.Context(), Request{URL: srv.URL, MaxRedirects: 1})
		fails(t, err, KindRedirects, "too many redirects")
	}
}

// A cookie with a control character, or for a public suffix, is not kept.
func TestRefusedCookies(t *testing.T) {
	for _, set := range []string{"a=\x01", "a=1; domain=co.uk", "a=1; domain=github.io"} {
		var x exchange
		x.keepCookies(&url.URL{Scheme: "https", Host: "a.co.uk"}, []string{set})
		x.keepCookies(&url.URL{Scheme: "https", Host: "a.github.io"}, []string{set})
		for _, host := range []string{"a.co.uk", "b.co.uk", "a.github.io", "b.github.io"} {
			if x.jar != nil && len(x.jar.Cookies(&url.URL{Scheme: "https", Host: host, Path: "/"})) > 0 {
				t.Errorf("%q is sent to %s", set, host)
			}
		}
	}
}

func TestTimeouts(t *testing.T) {
	release := make(chan struct{})
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" { // slow-loris: a head, then a byte now and then
			_, _ = fmt.Fprint(w, "<title>Slow</title></head><meta property=og:title content=x></head>")
			w.(http.Flusher).Flush()
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	c := testClient(t, Options{Timeout: 50 * time.Millisecond})
	for _, path := range []string{"/header", "/body"} {
		_, err := c.Fetch(t.Context(), Request{URL: srv.URL + path})
		fails(t, err, KindTimeout, "timed out")
	}
	// When Until is true, the client does not wait for the rest.
	res := get(t, c, Request{URL: srv.URL + "/body", Timeout: time.Minute, Until: NewHeadEnd()})
	if !res.Truncated || !bytes.Contains(res.Body, []byte("Slow")) {
		t.Errorf("got %+v", res)
	}

	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	_, err := c.Fetch(ctx, Request{URL: srv.URL + "/header", Timeout: time.Minute})
	fails(t, err, KindCanceled, "canceled")
	ctx, cancel = context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	_, err = c.Fetch(ctx, Request{URL: srv.URL + "/header", Timeout: time.Minute})
	fails(t, err, KindTimeout, "timed out")
}

// rawServer answers every connection with reply and closes it.
func rawServer(t *testing.T, reply string, reset bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = conn.Write([]byte(reply))
			if reset {
				_ = conn.(*net.TCPConn).SetLinger(0)
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return "http://" + l.Addr().String()
}

func TestBrokenServers(t *testing.T) {
	c := testClient(t, Options{})
	fetch := func(u string) error {
		_, err := c.Fetch(t.Context(), Request{URL: u})
		return err
	}
	fails(t, fetch(rawServer(t, "", false)), KindReset, "connection closed early")
	fails(t, fetch(rawServer(t, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", false)), KindProtocol, "unexpected protocol switch")
	fails(t, fetch(rawServer(t, "HTTP/1.1 101 Switching Protocols\r\n\r\n", false)), KindProtocol, "unexpected protocol switch")
	fails(t, fetch(rawServer(t, "SSH-2.0-OpenSSH\r\n\r\n", false)), KindProtocol, "bad HTTP response")
	fails(t, fetch(rawServer(t, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", false)), KindReset, "connection closed early")
	fails(t, fetch(rawServer(t, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", headerLimit+4096)+"\r\n\r\n", false)), KindProtocol, "bad HTTP response")
	fails(t, fetch(rawServer(t, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8bnot gzip", false)), KindProtocol, "bad compression")
	fails(t, fetch(rawServer(t, "HTTP/1.1 200 OK\r\nContent-Encoding: compress\r\n\r\nx", false)), KindProtocol, "unsupported content encoding")
	fails(t, fetch(rawServer(t, "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nnot brotli", false)), KindProtocol, "bad compression")
	fails(t, fetch(rawServer(t, "HTTP/1.1 200 OK\r\nContent-Encoding: "+strings.Repeat("gzip, ", 6)+"\r\n\r\nx", false)), KindProtocol, "too many content encodings")

	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	fails(t, fetch(gone.URL), KindRefused, "connection refused")
}

func TestResetMidBody(t *testing.T) {
	sent := make(chan struct{})
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100000")
		_, _ = fmt.Fprint(w, "half")
		w.(http.Flusher).Flush()
		<-sent
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	})
	_, err := testClient(t, Options{}).Fetch(t.Context(), Request{URL: srv.URL, Until: func(b []byte) bool {
		close(sent) // the client has the first half
		return false
	}})
	fails(t, err, KindReset, "connection reset")
}

// A caller that follows redirects itself passes their cookies on, and gets the same pages as with MaxRedirects.
func TestCookiesOfFollowedRedirects(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, r.Header.Get("Cookie")) }
	other := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	_ = other.Listener.Close()
	var err error
	if other.Listener, err = net.Listen("tcp", "127.0.0.2:0"); err != nil {
		t.Fatal(err)
	}
	other.Start()
	t.Cleanup(other.Close)
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "1"})
			w.Header().Add("Set-Cookie", "; not a cookie")
			http.SetCookie(w, &http.Cookie{Name: "b", Value: "2", Path: "/other"})
			http.Redirect(w, r, "/deep/page", http.StatusFound)
		case "/deep/page":
			http.SetCookie(w, &http.Cookie{Name: "c", Value: strings.Repeat("3", 20)})
			http.Redirect(w, r, "/deep/end", http.StatusFound)
		case "/away":
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "1"})
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/large":
			w.Header().Set("Set-Cookie", "a="+strings.Repeat("x", cookiesLimit))
		default:
			echo(w, r)
		}
	})
	c := testClient(t, Options{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}})
	by := func(path string) string {
		res := get(t, c, Request{URL: srv.URL + path})
		for res.Location != "" {
			res = get(t, c, Request{URL: res.Location, Cookies: res.Cookies()})
		}
		return string(res.Body)
	}
	for path, want := range map[string]string{"/": "c=" + strings.Repeat("3", 20) + "; a=1", "/away": ""} {
		if got := by(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
		if res := get(t, c, Request{URL: srv.URL + path, MaxRedirects: 4}); string(res.Body) != want {
			t.Errorf("%s, followed: got %q, want %q", path, res.Body, want)
		}
	}
	if got := get(t, c, Request{URL: srv.URL + "/large"}).Cookies(); got != "" {
		t.Errorf("%d bytes of cookies", len(got))
	}
	if res := get(t, c, Request{URL: srv.URL + "/end", Cookies: "no URL\nhttp://[ a=1\n" + srv.URL + " =\n\n"}); len(res.Body) > 0 {
		t.Errorf("invalid cookies: got %q", res.Body)
	}
}
