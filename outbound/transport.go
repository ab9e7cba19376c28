package outbound

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Limits of one connection. Request.Timeout limits the whole exchange.
const (
	dialTimeout      = 5 * time.Second
	handshakeTimeout = 5 * time.Second
	headerTimeout    = 30 * time.Second
	pingAfter        = 10 * time.Second // of silence on an HTTP/2 connection, which is closed without a response to the ping
	pingTimeout      = 5 * time.Second
	headerLimit      = 128 << 10 // bytes; the default of 1 MiB is more than any server needs
	slurp            = 2 << 10   // bytes of a redirect's body that are read to reuse the connection
)

// transport is the RoundTripper below Colly. It handles redirects, cookies, decompression and limits itself and records
// the result in the exchange. It returns a response without headers, so that Colly and http.Client do not handle them
// again.
type transport struct {
	base   *http.Transport
	dialer *net.Dialer
	safe   func(netip.Addr) error // refuses the same addresses as the guard of dialer
	tunnel *tunnels               // nil without proxies
	// endpoint is the only host and port that may be dialed; "" = all that the guard of dialer allows.
	endpoint string
	polite   *politeness
}

func newTransport(o Options) *transport {
	d := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second, Control: guard(o.AllowCIDRs)}
	t := &transport{dialer: d, safe: addressGuard(o.AllowCIDRs), polite: newPoliteness(o.Clock)}
	if o.Endpoint != nil {
		d.Control, t.endpoint = nil, hostPort(o.Endpoint)
	}
	if len(o.Proxies) > 0 {
		t.tunnel = newTunnels(o.Proxies, o.Clock)
	}
	t.base = &http.Transport{
		Proxy:                  nil, // net/http would let the proxy resolve the name, without the guard
		DialContext:            t.dial,
		DialTLSContext:         t.dialTLS,
		TLSClientConfig:        &tls.Config{NextProtos: []string{"h2", "http/1.1"}},
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      t.tunnel != nil, // so that each request takes the next proxy
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		DisableCompression:     true, // body.go decompresses, with its limit
		ResponseHeaderTimeout:  headerTimeout,
		MaxResponseHeaderBytes: headerLimit,
		MaxIdleConns:           512, // checks of hundreds of hosts repeat every few seconds
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        30 * time.Second,
	}
	return t
}

// RoundTrip makes one hop of the exchange found in the request's context.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x := req.Context().Value(exchangeKey{}).(*exchange)
	resp, err := t.hop(req, x)
	if err != nil {
		return nil, err
	}
	// With Location, Content-Type and Content-Encoding, http.Client and Colly would redirect, convert and decompress again.
	out := *resp
	out.Header, out.Body, out.Uncompressed, out.Request = http.Header{}, x.reader, true, req
	return &out, nil
}

// get makes one hop of an exchange and reads its body.
func (t *transport) get(req *http.Request, x *exchange) error {
	resp, err := t.hop(req, x)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, x.reader)
	return err
}

// hop sends the request of one hop of an exchange. x.reader is then the body of the response.
func (t *transport) hop(req *http.Request, x *exchange) (*http.Response, error) {
	x.sent = true
	x.releaseConn()
	x.dials.Store(0)
	host := hostKey(req.URL)
	if !x.IgnoreBackoff {
		if err := t.polite.allow(host, x.Insist); err != nil {
			return nil, err
		}
	}
	if x.jar != nil {
		if cookies := x.jar.Cookies(inJar(x.url)); len(cookies) > 0 {
			req = req.Clone(req.Context()) // a RoundTripper must not modify its request
			req.Header.Set("Cookie", cookieHeader(cookies))
		}
	}
	resp, err := t.base.RoundTrip(asBrowser(req, x.url))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		resp.Body.Close() // the body is the connection, which net/http no longer closes
		return nil, &Error{Kind: KindProtocol, text: "unexpected protocol switch"}
	}
	if x.conn.refusedByProxy(resp) {
		resp.Body.Close()
		return nil, &Error{Kind: KindProxy, text: "proxy refused the request"}
	}
	x.responded = time.Now()
	if !x.IgnoreBackoff {
		t.polite.note(host, resp.StatusCode, resp.Header.Get("Retry-After"))
	}
	x.status, x.header = resp.StatusCode, resp.Header
	if resp.TLS != nil { // HTTP/2; otherwise gotConn has set it
		x.tls = resp.TLS
	}
	x.certified(x.tls)

	if x.next, err = x.redirect(resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	from := resp.Body
	if x.next != nil {
		if resp.ContentLength >= 0 && resp.ContentLength <= slurp {
			// Best effort: an error only means that the connection is not reused.
			_, _ = io.CopyN(io.Discard, from, resp.ContentLength)
		}
		from.Close()
		from = http.NoBody
	}
	x.reader, err = newBody(from, x, req)
	if err != nil {
		from.Close()
		return nil, err
	}
	if x.Discard && x.reader.stream == nil && resp.ContentLength > min(x.MaxBytes, PageLimit) && req.Method != http.MethodHead {
		x.reader.done, x.reader.truncated = true, true
	}
	return resp, nil
}

// redirect returns the URL of a redirect to follow, nil if resp is final, or an error if the redirect is not allowed.
func (x *exchange) redirect(resp *http.Response) (*url.URL, error) {
	if !isRedirect(resp.StatusCode) {
		return nil, nil
	}
	location := resp.Header.Get("Location")
	if location == "" || x.MaxRedirects <= 0 {
		return nil, nil
	}
	if x.hops >= x.MaxRedirects {
		return nil, &Error{Kind: KindRedirects, text: "too many redirects"}
	}
	to, err := resolveURL(x.url, location)
	if err != nil {
		return nil, &Error{Kind: KindRedirects, text: "redirect not allowed", err: err}
	}
	x.keepCookies(x.url, resp.Header["Set-Cookie"])
	return to, nil
}

// location returns the destination of a redirect that was not followed, or "".
func (x *exchange) location() string {
	location := x.header.Get("Location")
	if location == "" || x.MaxRedirects > 0 {
		return ""
	}
	to, err := resolveURL(x.url, location)
	if err != nil {
		return ""
	}
	return href(to)
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}
