package outbound

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// squid is a proxy that allows CONNECT only to its TLS ports, as Squid does. It serves http pages by requests in absolute form.
type squid struct {
	*url.URL
	refusal string   // response to a refused CONNECT
	tls     []string // ports
	mu      sync.Mutex
	seen    []string // request lines, with the user
}

func startSquid(t *testing.T, refusal string, tlsPorts ...string) *squid {
	t.Helper()
	s := &squid{refusal: refusal, tls: tlsPorts}
	s.URL = proxyPeer(t, "http", func(conn net.Conn) { s.serve(t, conn) })
	return s
}

func (s *squid) serve(t *testing.T, conn net.Conn) {
	r := bufio.NewReader(conn)
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	user, _, _ := (&http.Request{Header: http.Header{"Authorization": req.Header["Proxy-Authorization"]}}).BasicAuth()
	s.mu.Lock()
	s.seen = append(s.seen, strings.TrimSpace(req.Method+" "+req.RequestURI+" "+user))
	s.mu.Unlock()
	if s.User != nil && user == "" {
		_, _ = io.WriteString(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
		return
	}
	if req.Method == http.MethodConnect {
		_, port, _ := net.SplitHostPort(req.Host)
		if !strings.Contains(strings.Join(s.tls, " "), port) {
			_, _ = io.WriteString(conn, s.refusal)
			return
		}
	}
	to, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", req.Host)
	if err != nil {
		_, _ = io.WriteString(conn, "HTTP/1.1 503 Service Unavailable\r\nX-Squid-Error: ERR_CONNECT_FAIL 111\r\nContent-Length: 0\r\n\r\n")
		return
	}
	defer func() { _ = to.Close() }()
	if req.Method == http.MethodConnect {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() { _, _ = io.Copy(to, r); _ = to.Close() }()
	} else {
		req.Header.Del("Proxy-Authorization")
		_ = req.Write(to) // in origin form
	}
	_, _ = io.Copy(conn, to)
	_ = conn.Close()
}

// requests returns the requests since its last call.
func (s *squid) requests() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := strings.Join(s.seen, "\n")
	s.seen = nil
	return all
}

func squidRefusal(status string) string {
	return "HTTP/1.1 " + status + "\r\nX-Squid-Error: ERR_ACCESS_DENIED 0\r\nContent-Length: 6\r\n\r\ndenied"
}

// A proxy that refuses CONNECT for a page without TLS gets the request in absolute form. The refusal is remembered for a while.
func TestProxyWithoutCONNECT(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/from" {
			http.Redirect(w, r, "/to?x=%20", http.StatusFound)
		}
		_, _ = fmt.Fprint(w, r.Host, " ", r.RequestURI, r.Header.Get("Proxy-Authorization"))
	})
	for _, status := range []string{"403 Forbidden", "405 Method Not Allowed", "501 Not Implemented"} {
		s, clock := startSquid(t, squidRefusal(status)), newClock()
		s.User = url.UserPassword("me", "s3cret")
		c := testClient(t, Options{Proxies: []*url.URL{s.URL}, Clock: clock.Now})
		for i := range 2 {
			res, err := c.Fetch(t.Context(), Request{URL: srv.URL + "/from", MaxRedirects: 1})
			if err != nil || string(res.Body) != hostPort(mustURL(t, srv.URL))+" /to?x=%20" {
				t.Fatalf("%s: %+v, %v", status, res, err)
			}
			want := "GET " + srv.URL + "/from me\nGET " + srv.URL + "/to?x=%20 me"
			if i == 0 {
				want = "CONNECT " + strings.TrimPrefix(srv.URL, "http://") + " me\n" + want
			}
			if got := s.requests(); got != want {
				t.Errorf("%s: the proxy got\n%s\nwant\n%s", status, got, want)
			}
		}
		clock.Add(forwardFor + time.Second)
		if _, err := c.Fetch(t.Context(), Request{URL: srv.URL, Discard: true}); err != nil || !strings.HasPrefix(s.requests(), "CONNECT ") {
			t.Errorf("%s: CONNECT is not tried again: %v", status, err)
		}
	}
}

// A proxy that has opened a tunnel for a page without TLS refuses CONNECT for one host only: other hosts are fetched by CONNECT.
func TestProxyRefusesCONNECTForOneHost(t *testing.T) {
	allowed, refused := serve(t, func(http.ResponseWriter, *http.Request) {}), serve(t, func(http.ResponseWriter, *http.Request) {})
	s := startSquid(t, squidRefusal("403 Forbidden"), mustURL(t, allowed.URL).Port())
	c := testClient(t, Options{Proxies: []*url.URL{s.URL}})
	for _, srv := range []*httptest.Server{allowed, refused, allowed} {
		c.transport.base.CloseIdleConnections()
		if _, err := c.Fetch(t.Context(), Request{URL: srv.URL}); err != nil {
			t.Fatal(err)
		}
	}
	connect := func(srv *httptest.Server) string { return "CONNECT " + strings.TrimPrefix(srv.URL, "http://") }
	want := connect(allowed) + "\n" + connect(refused) + "\nGET " + refused.URL + "/\n" + connect(allowed)
	if got := s.requests(); got != want {
		t.Errorf("the proxy got\n%s\nwant\n%s", got, want)
	}
}

// Pages with TLS need CONNECT, also after a refusal.
func TestTLSNeedsCONNECT(t *testing.T) {
	plain := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "plain") })
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "secure") }))
	defer secure.Close()
	for _, allowed := range []bool{true, false} {
		var ports []string
		if allowed {
			ports = []string{mustURL(t, secure.URL).Port()}
		}
		s := startSquid(t, squidRefusal("403 Forbidden"), ports...)
		c := testClient(t, Options{Proxies: []*url.URL{s.URL}})
		c.transport.base.TLSClientConfig.InsecureSkipVerify = true
		if res, err := c.Fetch(t.Context(), Request{URL: plain.URL}); err != nil || string(res.Body) != "plain" {
			t.Fatalf("%+v, %v", res, err)
		}
		s.requests()
		res, err := c.Fetch(t.Context(), Request{URL: secure.URL})
		if got := s.requests(); got != "CONNECT "+strings.TrimPrefix(secure.URL, "https://") {
			t.Errorf("the proxy got %s", got)
		}
		if allowed && (err != nil || string(res.Body) != "secure") {
			t.Errorf("%+v, %v", res, err)
		}
		if !allowed {
			fails(t, err, KindProxy, "proxy refused the connection")
		}
	}
}

// A name that resolves to a private address is refused before the proxy is asked, also while CONNECT is skipped.
func TestForwardingKeepsTheGuard(t *testing.T) {
	srv := serve(t, func(http.ResponseWriter, *http.Request) {})
	s := startSquid(t, squidRefusal("403 Forbidden"))
	c := testClient(t, Options{Proxies: []*url.URL{s.URL}})
	if _, err := c.Fetch(t.Context(), Request{URL: srv.URL}); err != nil {
		t.Fatal(err)
	}
	s.requests()
	for _, u := range []string{"http://10.0.0.1", "http://[::1]", "http://127.0.0.2", "http://169.254.169.254/latest"} {
		_, err := c.Fetch(t.Context(), Request{URL: u})
		fails(t, err, KindBlocked, "address not allowed")
	}
	if got := s.requests(); got != "" {
		t.Errorf("the proxy got %s", got)
	}
}

// What a proxy itself answers is no response of the page.
func TestForwardingProxyErrors(t *testing.T) {
	s := startSquid(t, squidRefusal("403 Forbidden"))
	c := testClient(t, Options{Proxies: []*url.URL{s.URL}})
	_, err := c.Fetch(t.Context(), Request{URL: "http://127.0.0.1:1/"})
	fails(t, err, KindProxy, "proxy refused the request")
	asks := proxyPeer(t, "http", func(conn net.Conn) {
		if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil && req.Method == http.MethodConnect {
			_, _ = io.WriteString(conn, squidRefusal("403 Forbidden"))
		} else {
			_, _ = io.WriteString(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
		}
	})
	c = testClient(t, Options{Proxies: []*url.URL{asks}})
	_, err = c.Fetch(t.Context(), Request{URL: "http://127.0.0.1:1/"})
	fails(t, err, KindProxy, "proxy refused the request")
}

// Responses are repaired as without a proxy.
func TestForwardedResponsesAreRepaired(t *testing.T) {
	got := make(chan string, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		got <- req.RequestURI
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nBad name: x\r\nContent-Length: 4, 4\r\n\r\npage")
	}()
	s := startSquid(t, squidRefusal("403 Forbidden"))
	c := testClient(t, Options{Proxies: []*url.URL{s.URL}})
	path := "/" + strings.Repeat("a", 2000)
	res, err := c.Fetch(t.Context(), Request{URL: "http://" + l.Addr().String() + path})
	if err != nil || string(res.Body) != "page" {
		t.Fatalf("%+v, %v", res, err)
	}
	if target := <-got; target != path {
		t.Errorf("the page got %d bytes", len(target))
	}
}

// The request line is changed however it is cut into writes. Default ports are left out, and a target in absolute form stays.
func TestForwardConn(t *testing.T) {
	for _, c := range []struct{ page, request, want string }{
		{"a.test:80", "GET /x?y HTTP/1.1\r\nHost: a.test\r\n\r\n", "GET http://a.test/x?y HTTP/1.1\r\nHost: a.test\r\n\r\n"},
		{"[::1]:8080", "HEAD //x HTTP/1.1\r\n\r\n", "HEAD http://[::1]:8080//x HTTP/1.1\r\n\r\n"},
		{"a.test:80", "GET http://a.test//x HTTP/1.1\r\n\r\n", "GET http://a.test//x HTTP/1.1\r\n\r\n"},
	} {
		near, far := net.Pipe()
		conn := &forwardConn{Conn: near, page: c.page}
		go func() {
			for _, b := range []byte(c.request) {
				_, _ = conn.Write([]byte{b})
			}
			_ = near.Close()
		}()
		if got, err := io.ReadAll(far); err != nil || string(got) != c.want {
			t.Errorf("%q, %v, want %q", got, err, c.want)
		}
	}
}

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
