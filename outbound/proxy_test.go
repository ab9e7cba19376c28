package outbound

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// tunneled is a connection that a client requested from a proxy.
type tunneled struct{ by, user, target string }

// proxyPeer listens for one test and gives every connection to serve, which may keep it until the test ends.
func proxyPeer(t *testing.T, scheme string, serve func(net.Conn)) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer func() { _ = raw.Close() }()
				conn := raw
				if scheme == "https" {
					conn = tls.Server(raw, &tls.Config{Certificates: testCertificate(t)})
				}
				serve(conn)
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); conns.Wait() })
	return &url.URL{Scheme: scheme, Host: l.Addr().String()}
}

// startProxy starts a proxy that connects to any address and reports the connections to seen.
func startProxy(t *testing.T, scheme string, seen chan<- tunneled) *url.URL {
	t.Helper()
	return proxyPeer(t, scheme, func(conn net.Conn) {
		r, accept := bufio.NewReader(conn), acceptCONNECT
		if scheme == "socks5" {
			accept = acceptSOCKS
		}
		user, target, reply, err := accept(conn, r)
		if err != nil {
			return // the client disconnected
		}
		seen <- tunneled{scheme, user, target}
		to, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", target)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = to.Close() }()
		if _, err := conn.Write(reply); err != nil {
			return
		}
		go func() {
			_, _ = io.Copy(to, r)
			_ = to.Close()
		}()
		_, _ = io.Copy(conn, to)
		_ = conn.Close()
	})
}

func acceptCONNECT(_ net.Conn, r *bufio.Reader) (user, target string, reply []byte, err error) {
	req, err := http.ReadRequest(r)
	if err != nil {
		return "", "", nil, err
	}
	credentials, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(req.Header.Get("Proxy-Authorization"), "Basic "))
	return string(credentials), req.Host, []byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), nil
}

func acceptSOCKS(conn net.Conn, r *bufio.Reader) (user, target string, reply []byte, err error) {
	read := func(n byte) []byte {
		b := make([]byte, n)
		if err == nil {
			_, err = io.ReadFull(r, b)
		}
		return b
	}
	methods := read(read(2)[1])
	if strings.Contains(string(methods), "\x02") { // user and password
		_, _ = conn.Write([]byte{5, 2})
		name := read(read(2)[1])
		user = string(name) + ":" + string(read(read(1)[0]))
		_, _ = conn.Write([]byte{1, 0})
	} else {
		_, _ = conn.Write([]byte{5, 0})
	}
	if head := read(4); head[3] != 1 {
		return "", "", nil, fmt.Errorf("address type %d, want IPv4", head[3])
	}
	ip, port := read(4), read(2)
	target = fmt.Sprintf("%s:%d", net.IP(ip), binary.BigEndian.Uint16(port))
	return user, target, []byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0}, err
}

// trustProxies makes c accept the certificate of https proxies.
func trustProxies(c *Client) {
	c.transport.tunnel.tls = &tls.Config{InsecureSkipVerify: true}
}

func TestProxiesTakeTurns(t *testing.T) {
	for _, secure := range []bool{false, true} {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/from" {
				http.Redirect(w, r, "/to", http.StatusFound)
			}
			_, _ = fmt.Fprint(w, r.Proto, " ", r.Host)
		}))
		srv.EnableHTTP2 = true
		proto := "HTTP/1.1 "
		if secure {
			proto = "HTTP/2.0 "
			srv.StartTLS()
		} else {
			srv.Start()
		}
		t.Cleanup(srv.Close)
		seen := make(chan tunneled, 1)
		c := testClient(t, Options{Proxies: []*url.URL{startProxy(t, "http", seen), startProxy(t, "socks5", seen), startProxy(t, "https", seen)}})
		trustProxies(c)
		c.transport.base.TLSClientConfig.InsecureSkipVerify = true
		target := srv.Listener.Addr().String()
		byName := strings.Replace(target, "127.0.0.1", "localhost", 1)
		for range 2 {
			for _, by := range []string{"http", "socks5", "https"} {
				res := get(t, c, Request{URL: strings.Replace(srv.URL, target, byName, 1)})
				if string(res.Body) != proto+byName {
					t.Errorf("got %s", res.Body)
				}
				if got := <-seen; got != (tunneled{by, "", target}) {
					t.Errorf("got %+v, want %s to %s", got, by, target)
				}
			}
		}
		done := make(chan []string)
		go func() { done <- []string{(<-seen).by, (<-seen).by} }()
		get(t, c, Request{URL: srv.URL + "/from", MaxRedirects: 1})
		if got := <-done; got[0] != "http" || got[1] != "socks5" {
			t.Errorf("a redirect goes through %v", got)
		}
	}
}

func TestProxyPassword(t *testing.T) {
	srv := serve(t, func(http.ResponseWriter, *http.Request) {})
	for _, scheme := range []string{"http", "https", "socks5"} {
		seen := make(chan tunneled, 1)
		proxy := startProxy(t, scheme, seen)
		proxy.User = url.UserPassword("me", "s3cret@:/")
		c := testClient(t, Options{Proxies: []*url.URL{proxy}})
		trustProxies(c)
		res := get(t, c, Request{URL: srv.URL})
		if got := <-seen; got.user != "me:s3cret@:/" || res.StatusCode != http.StatusOK {
			t.Errorf("%s got %+v", scheme, got)
		}
	}
}

// The guard applies to the target, as without a proxy.
func TestProxyKeepsTheGuard(t *testing.T) {
	proxy := proxyPeer(t, "http", func(net.Conn) { t.Error("the proxy was asked") })
	c := New(Options{Proxies: []*url.URL{proxy}})
	defer c.Close()
	for _, u := range []string{"http://" + proxy.Host, "https://" + proxy.Host, "http://localhost", "http://10.0.0.1", "http://[::1]", "http://[::ffff:7f00:1]"} {
		_, err := c.Fetch(t.Context(), Request{URL: u})
		fails(t, err, KindBlocked, "address not allowed")
	}
}

// The name is resolved once, and the proxy gets the address that the guard has checked.
func TestProxyGetsTheCheckedAddress(t *testing.T) {
	srv := serve(t, func(http.ResponseWriter, *http.Request) {})
	dns, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	answer := make(chan byte, 1)
	answer <- 1
	go nameServer(dns, answer)
	t.Cleanup(func() { _ = dns.Close() })
	seen := make(chan tunneled, 1)
	c := testClient(t, Options{Proxies: []*url.URL{startProxy(t, "socks5", seen)}})
	c.transport.dialer.Resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("udp", dns.LocalAddr().String())
	}}
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	get(t, c, Request{URL: "http://rebind.example.:" + port})
	if got := <-seen; got.target != "127.0.0.1:"+port {
		t.Errorf("got %+v", got)
	}
	<-answer
	answer <- 2 // 127.0.0.2 is not allowed
	_, err = c.Fetch(t.Context(), Request{URL: "http://rebind.example.:" + port})
	fails(t, err, KindBlocked, "address not allowed")
	<-answer
	answer <- 0 // no such name
	_, err = c.Fetch(t.Context(), Request{URL: "http://rebind.example.:" + port})
	fails(t, err, KindDNS, "host not found")
}

func TestProxyKeepsTLSVerification(t *testing.T) {
	now := time.Now()
	cert, leaf := certificate(t, "10.0.0.1", now.Add(-time.Hour), now.Add(time.Hour))
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	seen := make(chan tunneled, 1)
	c := testClient(t, Options{Proxies: []*url.URL{startProxy(t, "http", seen)}})
	c.transport.base.TLSClientConfig.RootCAs = x509.NewCertPool()
	c.transport.base.TLSClientConfig.RootCAs.AddCert(leaf)
	_, err := c.Fetch(t.Context(), Request{URL: srv.URL})
	fails(t, err, KindTLS, "TLS: certificate is for another host")
}

func TestHangingProxy(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "https", "socks5"} {
		asked := make(chan struct{}, 2)
		proxy := proxyPeer(t, scheme, func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 1))
			asked <- struct{}{}
			_, _ = io.Copy(io.Discard, conn) // until the client closes it
		})
		c := testClient(t, Options{Proxies: []*url.URL{proxy}})
		trustProxies(c)
		_, err := c.Fetch(t.Context(), Request{URL: "http://127.0.0.1:1/", Timeout: 100 * time.Millisecond})
		fails(t, err, KindTimeout, "timed out")
		<-asked
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-asked; cancel() }()
		_, err = c.Fetch(ctx, Request{URL: "http://127.0.0.1:1/", Timeout: time.Minute})
		fails(t, err, KindCanceled, "canceled")
	}
}

func TestProxyRefuses(t *testing.T) {
	reply := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = io.WriteString(conn, text)
			_, _ = io.Copy(io.Discard, conn)
		}
	}
	closed := func(conn net.Conn) { _, _ = conn.Read(make([]byte, 1)) }
	endless := func(conn net.Conn) {
		for err := error(nil); err == nil; {
			_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+strings.Repeat("X: y\r\n", 1000))
		}
	}
	for name, proxy := range map[string]*url.URL{
		"password":    proxyPeer(t, "http", reply("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")),
		"unreachable": proxyPeer(t, "http", reply("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 100000\r\n\r\n")),
		"garbage":     proxyPeer(t, "http", reply("SSH-2.0-x\r\n\r\n")),
		"too early":   proxyPeer(t, "http", reply("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")),
		"closed":      proxyPeer(t, "http", closed),
		"endless":     proxyPeer(t, "http", endless),
		"methods":     proxyPeer(t, "socks5", reply("\x05\xff")),
		"socks 4":     proxyPeer(t, "socks5", reply("\x04\x00")),
		"rules":       proxyPeer(t, "socks5", reply("\x05\x00\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00")),
		"socks ends":  proxyPeer(t, "socks5", closed),
	} {
		proxy.User = url.UserPassword("me", "s3cret")
		c := testClient(t, Options{Proxies: []*url.URL{proxy}})
		_, err := c.Fetch(t.Context(), Request{URL: "http://127.0.0.1:1/"})
		if err == nil || err.Error() != "proxy refused the connection" {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		fails(t, err, KindProxy, "proxy refused the connection")
	}
}

func TestProxyUnavailable(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	untrusted := proxyPeer(t, "https", func(conn net.Conn) { _, _ = conn.Read(make([]byte, 1)) })
	for _, proxy := range []*url.URL{
		{Scheme: "http", Host: strings.TrimPrefix(gone.URL, "http://"), User: url.UserPassword("me", "s3cret")},
		{Scheme: "socks5", Host: strings.TrimPrefix(gone.URL, "http://")},
		{Scheme: "ftp", Host: "127.0.0.1"},
		untrusted,
	} {
		c := testClient(t, Options{Proxies: []*url.URL{proxy}})
		_, err := c.Fetch(t.Context(), Request{URL: "http://127.0.0.1:1/"})
		fails(t, err, KindProxy, "proxy unavailable")
		if all := fmt.Sprintf("%+v %#v", err, err); strings.Contains(all, "s3cret") || strings.Contains(all, proxy.Host) {
			t.Errorf("the error tells of the proxy: %s", all)
		}
	}
}

func TestLookupPrefersIPv4(t *testing.T) {
	tr := newTransport(Options{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("::1/128")}, Clock: time.Now})
	for address, want := range map[string]string{"localhost:80": "127.0.0.1:80", "[::1]:443": "[::1]:443", "[::ffff:127.0.0.1]:8": "127.0.0.1:8"} {
		if got, err := tr.lookup(t.Context(), address); err != nil || got.String() != want {
			t.Errorf("%s: got %v, %v", address, got, err)
		}
	}
}
