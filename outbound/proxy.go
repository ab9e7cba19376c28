package outbound

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"code.dny.dev/ssrf"
	"golang.org/x/net/proxy"
)

// connectLimit is the maximum size of a proxy's response to CONNECT in bytes.
const connectLimit = 16 << 10

// forwardFor is how long a proxy that refused CONNECT gets http pages without it.
const forwardFor = 10 * time.Minute

const opensTunnels = -1

// proxyPorts are the default ports of proxies by scheme.
var proxyPorts = map[string]string{"http": "80", "https": "443", "socks5": "1080"}

// hostPort returns the host and port of a proxy or an Endpoint.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = proxyPorts[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// tunnels connects through proxies in turn.
type tunnels struct {
	proxies []*url.URL
	tls     *tls.Config // for https proxies; nil = system roots
	next    atomic.Uint64
	now     func() time.Time
	// forwards has for each proxy until when it gets http pages without CONNECT, in nanoseconds since 1970. A proxy that has opened
	// a tunnel for such a page has opensTunnels: if it refuses CONNECT later, it refuses it for one host.
	forwards []atomic.Int64
}

func newTunnels(proxies []*url.URL, now func() time.Time) *tunnels {
	return &tunnels{proxies: proxies, now: now, forwards: make([]atomic.Int64, len(proxies))}
}

// lookup resolves the host of address and returns the first IP address that the guard allows. The proxy gets this address
// instead of the name, so that it cannot resolve the name differently. IPv4 is preferred, because a proxy may lack IPv6.
func (t *transport) lookup(ctx context.Context, address string) (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return netip.AddrPort{}, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return netip.AddrPort{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	found, err := t.dialer.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	var to netip.Addr
	refused := ssrf.ErrProhibitedIP
	for _, ip := range found {
		ip = ip.Unmap()
		if err := t.safe(ip); err != nil {
			refused = err
		} else if !to.IsValid() || to.Is6() && ip.Is4() {
			to = ip
		}
	}
	if !to.IsValid() {
		return netip.AddrPort{}, refused
	}
	return netip.AddrPortFrom(to, uint16(number)), nil
}

// connect connects to an address through the next proxy and stops when ctx ends. The guard does not apply to the proxy,
// which the operator configured. Errors contain neither the proxy's address nor its password.
//
// page is the host and port of a page without TLS, else "". If the proxy refuses CONNECT, it gets the request for such a
// page in absolute form. Then it resolves the name again.
func (t *tunnels) connect(ctx context.Context, to netip.AddrPort, page string) (net.Conn, error) {
	i := (t.next.Add(1) - 1) % uint64(len(t.proxies))
	by, forwards := t.proxies[i], &t.forwards[i]
	if page != "" && t.now().UnixNano() < forwards.Load() {
		return t.forward(ctx, by, page)
	}
	raw, err := t.dial(ctx, by)
	if err != nil {
		return nil, proxyError(ctx, "proxy unavailable")
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	c := raw
	if by.Scheme == "socks5" {
		c, err = connectSOCKS(ctx, raw, by.User, to)
	} else {
		err = connectHTTP(raw, by.User, to)
	}
	if stop() && err == nil {
		if page != "" {
			forwards.Store(opensTunnels)
		}
		return c, nil
	}
	_ = raw.Close()
	if page != "" && errors.Is(err, errNoConnect) {
		if forwards.Load() != opensTunnels {
			forwards.Store(t.now().Add(forwardFor).UnixNano())
		}
		return t.forward(ctx, by, page)
	}
	return nil, proxyError(ctx, "proxy refused the connection")
}

// forward connects to a proxy that gets the request for a page in absolute form.
func (t *tunnels) forward(ctx context.Context, by *url.URL, page string) (net.Conn, error) {
	raw, err := t.dial(ctx, by)
	if err != nil {
		return nil, proxyError(ctx, "proxy unavailable")
	}
	return &forwardConn{Conn: raw, page: page, user: by.User}, nil
}

// proxyError returns the error of ctx if it has ended, and else a KindProxy error without a cause, which would contain the
// proxy's address. A connection may reach the deadline of ctx shortly before ctx ends.
func proxyError(ctx context.Context, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		return context.DeadlineExceeded
	}
	return &Error{Kind: KindProxy, text: text}
}

// dial connects to a proxy.
func (t *tunnels) dial(ctx context.Context, by *url.URL) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	raw, err := d.DialContext(ctx, "tcp", hostPort(by))
	if err != nil || by.Scheme != "https" {
		return raw, err
	}
	config := &tls.Config{}
	if t.tls != nil {
		config = t.tls.Clone()
	}
	config.ServerName = by.Hostname()
	c := tls.Client(raw, config)
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	if err := c.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, err
	}
	return &tlsTunnel{Conn: c, raw: raw}, nil
}

// tlsTunnel is a TLS connection to a proxy. Close does not wait for a last write, as tls.Conn does.
type tlsTunnel struct {
	net.Conn
	raw net.Conn
}

func (t *tlsTunnel) Close() error { return t.raw.Close() }

// connectSOCKS opens a tunnel by SOCKS5 (RFC 1928, RFC 1929).
func connectSOCKS(ctx context.Context, raw net.Conn, user *url.Userinfo, to netip.AddrPort) (net.Conn, error) {
	var auth *proxy.Auth
	if user != nil {
		password, _ := user.Password()
		auth = &proxy.Auth{User: user.Username(), Password: password}
	}
	d, err := proxy.SOCKS5("tcp", "", auth, connected{raw})
	if err != nil {
		return nil, err
	}
	return d.(proxy.ContextDialer).DialContext(ctx, "tcp", to.String())
}

// connected is a dialer that returns an existing connection.
type connected struct{ net.Conn }

// Dial implements proxy.Dialer, which proxy.SOCKS5 requires. SOCKS5 only calls DialContext.
func (c connected) Dial(string, string) (net.Conn, error) { return c.Conn, nil }

// DialContext implements proxy.ContextDialer.
func (c connected) DialContext(context.Context, string, string) (net.Conn, error) { return c.Conn, nil }

// connectHTTP opens a tunnel by CONNECT (RFC 9110, 9.3.6).
func connectHTTP(raw net.Conn, user *url.Userinfo, to netip.AddrPort) error {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: to.String()}, Host: to.String(), Header: http.Header{}}
	req.Header.Set("User-Agent", "") // not the default of net/http
	if user != nil {
		req.Header.Set("Proxy-Authorization", basicAuth(user))
	}
	if err := req.Write(raw); err != nil {
		return err
	}
	r := bufio.NewReader(io.LimitReader(raw, connectLimit))
	resp, err := http.ReadResponse(r, req) //nolint:bodyclose // its body is the connection
	if err != nil {
		return err
	}
	if refusesConnect(resp.StatusCode) {
		return errNoConnect
	}
	// Bytes after the header would be lost. No target sends data before the client does.
	if resp.StatusCode/100 != 2 || r.Buffered() > 0 {
		return errors.New("outbound: CONNECT refused")
	}
	return nil
}

func basicAuth(user *url.Userinfo) string {
	password, _ := user.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password))
}

// errNoConnect is the error of a proxy that refuses CONNECT, as Squid does by default for ports other than 443.
var errNoConnect = errors.New("outbound: CONNECT not allowed")

// refusesConnect reports whether a proxy that answers CONNECT with status may still accept the request in absolute form. Not so
// if it asks for a password (407) or failed to connect (5xx).
func refusesConnect(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	}
	return false
}
