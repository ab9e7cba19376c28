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
	// relayBody is how many bytes of an answer a library gets.
	relayBody = 64 << 10
	// relayRequests is how many requests one Run may send: a service may want a login and more before the message, and a loop must end.
	relayRequests = 64
)

// RelayOptions configure a Relay. The zero value refuses every address that is not public.
type RelayOptions struct {
	AllowCIDRs []netip.Prefix // as in Options
	UserAgent  string         // of every request; "" = DefaultUserAgent
	// Resolve and Roots lead tests to a stand-in: the host and port to dial in place of another one, and who signed its
	// certificate. The address guard applies to what is dialed. nil = none.
	Resolve func(hostPort string) string
	Roots   *x509.CertPool
}

// Relay sends the requests of libraries that take neither a context nor, often, a client. What they send passes the
// address guard, ends with the context of Run, follows no redirect, and is recorded. It is safe for concurrent use, and
// no Run waits for another one.
type Relay struct {
	agent   string
	safe    func(netip.Addr) error
	dialer  *net.Dialer
	resolve func(string) string
	roots   *x509.CertPool
	base    *http.Client
}

// NewRelay returns a Relay with connections of its own. Close it when it is no longer needed.
func NewRelay(o RelayOptions) *Relay {
	r := &Relay{
		agent: o.UserAgent, safe: addressGuard(o.AllowCIDRs), resolve: o.Resolve, roots: o.Roots,
		dialer: &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second, Control: guard(o.AllowCIDRs)},
	}
	if r.agent == "" {
		r.agent = DefaultUserAgent
	}
	r.base = NewService(Options{Timeout: time.Hour, AllowCIDRs: o.AllowCIDRs}) // each Run has its own, shorter limit
	t := r.base.Transport.(serviceTransport).Transport
	t.DialContext, t.TLSClientConfig.RootCAs = r.Dial, o.Roots
	t.MaxConnsPerHost = 0 // one that hangs must not hold up others at the same host
	return r
}

// Close drops the idle connections.
func (r *Relay) Close() { r.base.CloseIdleConnections() }

// Allows reports whether the address guard lets a connection to ip pass.
func (r *Relay) Allows(ip netip.Addr) bool { return r.safe(ip) == nil }

// Dial connects to an address that the guard allows. It is for protocols other than HTTP.
func (r *Relay) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if r.resolve != nil {
		address = r.resolve(address)
	}
	return r.dialer.DialContext(ctx, network, address)
}

// Exchange is one request of a Run, and what became of it.
type Exchange struct {
	StatusCode int           // 0 = there was no answer
	Header     http.Header   // of the answer
	Body       []byte        // at most 64 KiB of it
	RetryAfter time.Duration // the pause that the answer asks for, at most an hour; 0 = none
	Err        *Error        // why there was no answer; nil = there was one
}

// Failed reports whether the request did not succeed: no answer, or a status other than 2xx.
func (e Exchange) Failed() bool { return e.Err != nil || e.StatusCode/100 != 2 }

// Run calls send, which sends with the RoundTripper that it is given, or with http.DefaultTransport on the goroutine
// that called it. It returns the exchanges, in order, and the error of send. A panic of send is such an error.
//
// A redirect is recorded and fails. A request that has failed is not sent again, as retries are up to the caller. When
// ctx is over every request fails at once, so a library that retries or loops ends soon after.
func (r *Relay) Run(ctx context.Context, send func(http.RoundTripper) error) (_ []Exchange, err error) {
	run := &relayRun{relay: r, ctx: ctx, failed: map[string]bool{}}
	release, err := byGoroutine.hold(run)
	if err != nil {
		return nil, err
	}
	defer release()
	err = run.call(send)
	return run.exchanges, err
}

// relayRun is one call of Run. All of it happens on one goroutine.
type relayRun struct {
	relay     *Relay
	ctx       context.Context
	exchanges []Exchange
	failed    map[string]bool // method and URL of what was not answered with 2xx
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
	errRepeated  = errors.New("outbound: a request that failed is not sent again")
	errTooMany   = errors.New("outbound: too many requests for one message")
	errNoFollow  = &Error{Kind: KindRedirects, text: "redirect not allowed"}
	errNoUpgrade = &Error{Kind: KindProtocol, text: "unexpected protocol switch"}
)

// RoundTrip implements http.RoundTripper. The whole answer is read before it returns, so that nothing of it outlives
// the limits of the Run.
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
	defer context.AfterFunc(req.Context(), cancel)() // the library may have a shorter limit
	sent := req.Clone(ctx)                           //nolint:contextcheck // it ends with the Run, and by AfterFunc with the request
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

// exchange sends the request and reads the answer. An answer that breaks off is as long as it came: its status is known.
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

// TLS is the configuration of TLS on a connection of Dial to host.
func (r *Relay) TLS(host string) *tls.Config {
	return &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, RootCAs: r.roots}
}
