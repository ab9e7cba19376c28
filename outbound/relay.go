package outbound

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"
)

const (
	// relayBody is the maximum size of a response body in bytes.
	relayBody = 64 << 10
	// relayRequests is the maximum number of requests of one Run. A service may need a login before the message.
	relayRequests = 64
)

// RelayOptions configure a Relay. The zero value allows only public addresses.
type RelayOptions struct {
	AllowCIDRs []netip.Prefix // as in Options
	UserAgent  string         // of every request; "" = DefaultUserAgent
	// Resolve and Roots are for tests: Resolve returns the host and port to dial instead, Roots are the root certificates. The
	// address guard applies to the dialed address. nil = none.
	Resolve func(hostPort string) string
	Roots   *x509.CertPool
}

// Relay sends the requests of libraries that accept no context and often no client. It applies the address guard and the
// context of Run, follows no redirects, and records the requests. It is safe for concurrent use: no Run waits for another.
type Relay struct {
	agent   string
	safe    func(netip.Addr) error
	dialer  *net.Dialer
	resolve func(string) string
	roots   *x509.CertPool
	base    *http.Client
}

// NewRelay returns a Relay with its own connections. Call Close when done.
func NewRelay(o RelayOptions) *Relay {
	r := &Relay{
		agent: o.UserAgent, safe: addressGuard(o.AllowCIDRs), resolve: o.Resolve, roots: o.Roots,
		dialer: &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second, Control: guard(o.AllowCIDRs)},
	}
	if r.agent == "" {
		r.agent = DefaultUserAgent
	}
	r.base = NewService(Options{Timeout: time.Hour, AllowCIDRs: o.AllowCIDRs}) // each Run has a shorter timeout
	t := r.base.Transport.(serviceTransport).Transport
	t.DialContext, t.TLSClientConfig.RootCAs = r.Dial, o.Roots
	t.MaxConnsPerHost = 0 // a hanging request must not block others to the same host
	return r
}

// Close closes the idle connections.
func (r *Relay) Close() { r.base.CloseIdleConnections() }

// Allows reports whether the address guard allows a connection to ip.
func (r *Relay) Allows(ip netip.Addr) bool { return r.safe(ip) == nil }

// Dial connects to an address that the guard allows. It is for protocols other than HTTP.
func (r *Relay) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if r.resolve != nil {
		address = r.resolve(address)
	}
	return r.dialer.DialContext(ctx, network, address)
}

// Exchange is one request of a Run and its result.
type Exchange struct {
	StatusCode int           // 0 = no response
	Header     http.Header   // of the response
	Body       []byte        // at most 64 KiB
	RetryAfter time.Duration // from the header Retry-After, at most an hour; 0 = none
	Err        *Error        // why there was no response; nil = there was one
}

// Failed reports whether there was no response, or a status other than 2xx.
func (e Exchange) Failed() bool { return e.Err != nil || e.StatusCode/100 != 2 }

// Run calls send, which sends with its RoundTripper argument, or with http.DefaultTransport on the same goroutine. Run returns
// the exchanges in order and the error of send. A panic of send becomes an error.
//
// A redirect is recorded and fails. A failed request is not sent again: retries are up to the caller. When ctx ends, every
// request fails immediately, so a library that retries or loops ends soon.
func (r *Relay) Run(ctx context.Context, send func(http.RoundTripper) error) (_ []Exchange, err error) {
	run := &relayRun{relay: r, ctx: ctx, failed: map[string]bool{}}
	release, err := byGoroutine.bind(run)
	if err != nil {
		return nil, err
	}
	defer release()
	err = run.call(send)
	return run.exchanges, err
}

// relayRun is one call of Run. It uses one goroutine.
type relayRun struct {
	relay     *Relay
	ctx       context.Context
	exchanges []Exchange
	failed    map[string]bool // by method and URL
}

func (x *relayRun) call(send func(http.RoundTripper) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("outbound: the library panicked: %v", p)
		}
	}()
	return send(x)
}

var (
	errRepeated  = errors.New("outbound: failed request is not sent again")
	errTooMany   = errors.New("outbound: too many requests for one message")
	errNoFollow  = &Error{Kind: KindRedirects, text: "redirect not allowed"}
	errNoUpgrade = &Error{Kind: KindProtocol, text: "unexpected protocol switch"}
)

// RoundTrip implements http.RoundTripper. It reads the whole response before it returns, so that the body does not outlive
// the context of the Run.
func (x *relayRun) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	key := req.Method + " " + req.URL.String()
	switch {
	case x.ctx.Err() != nil:
		return nil, x.ctx.Err()
	case x.failed[key]:
		return nil, errRepeated
	case len(x.exchanges) == relayRequests:
		return nil, errTooMany
	}
	ctx, cancel := context.WithCancel(x.ctx)
	defer cancel()
	defer context.AfterFunc(req.Context(), cancel)() // the library may have a shorter timeout
	sent := req.Clone(ctx)                           //nolint:contextcheck // ctx ends with the Run, and by AfterFunc with the request
	sent.Header.Set("User-Agent", x.relay.agent)
	resp, e, err := x.exchange(sent)
	if err != nil {
		if own := req.Context().Err(); own != nil && x.ctx.Err() == nil {
			err = own
		}
		e = Exchange{Err: classify(err)}
	}
	x.exchanges = append(x.exchanges, e)
	if e.Failed() {
		x.failed[key] = true
	}
	if err != nil {
		return nil, e.Err
	}
	if e.StatusCode/100 == 3 {
		return nil, errNoFollow
	}
	resp.Body, resp.ContentLength, resp.Request = io.NopCloser(bytes.NewReader(e.Body)), int64(len(e.Body)), req
	return resp, nil
}

// exchange sends the request and reads the response. A response that ends early counts, because its status is known.
func (x *relayRun) exchange(req *http.Request) (*http.Response, Exchange, error) {
	resp, err := x.relay.base.Transport.RoundTrip(req)
	if err != nil {
		return nil, Exchange{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return nil, Exchange{}, errNoUpgrade // its body is the connection
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, relayBody))
	return resp, Exchange{
		StatusCode: resp.StatusCode, Header: resp.Header, Body: body, RetryAfter: parseRetryAfter(resp.Header.Get("Retry-After"), time.Now()),
	}, nil
}

// TLS returns the TLS configuration for a connection of Dial to host.
func (r *Relay) TLS(host string) *tls.Config {
	return &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, RootCAs: r.roots}
}
