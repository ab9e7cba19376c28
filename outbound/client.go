package outbound

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocolly/colly/v2"
)

const (
	// DefaultUserAgent is the default of Options.UserAgent.
	DefaultUserAgent = "Linkwatch"
	// DefaultTimeout is the default of Options.Timeout.
	DefaultTimeout = 10 * time.Second
	// DefaultConcurrent is the default of Options.MaxConcurrent.
	DefaultConcurrent = 16
	// PageLimit is the default of Request.MaxBytes: 5 MiB.
	PageLimit int64 = 5 << 20

	bodyLimit = 1 << 30 // maximum of Request.MaxBytes
)

// Options configure a Client. The zero value is ready to use and allows only public addresses.
type Options struct {
	UserAgent     string           // empty = DefaultUserAgent
	AllowCIDRs    []netip.Prefix   // allowed private, loopback and other special addresses (OUTBOUND_ALLOW_CIDRS)
	Timeout       time.Duration    // of a whole exchange, including redirects and body; 0 = DefaultTimeout
	MaxConcurrent int              // concurrent exchanges, others wait; 0 = DefaultConcurrent; see Budget
	Clock         func() time.Time // for the backoff of hosts; nil = time.Now
	MaxBytes      int64            // of a body, only for NewService; 0 = PageLimit
	// Proxies are used in turn for all connections, one connection per request. Schemes: http, https, socks5. A proxy URL
	// has a host, and optionally a port and user:password.
	Proxies []*url.URL
	// Endpoint is a service that the operator configured; nil = none. The client then connects only to its host and port,
	// which may have a private address.
	Endpoint *url.URL
}

// Client fetches pages. It is safe for concurrent use. Between fetches it only remembers throttled hosts: no cookies and
// no visited URLs. It ignores the environment (proxy variables, COLLY_*).
//
// The memory of all fetches is limited to MaxConcurrent bodies and their conversions to UTF-8, plus those of each Budget.
type Client struct {
	collector *colly.Collector
	pages     *sync.Pool  // of clones of collector, each for one Fetch at a time
	header    http.Header // of every request; Colly and net/http only read it
	transport *transport
	timeout   time.Duration
	slots     chan struct{} // has one value per running exchange
	wait      time.Duration // for a slot; 0 = until the context ends
}

// New returns a Client with its own connections. Call Close when done.
func New(o Options) *Client {
	if o.UserAgent == "" {
		o.UserAgent = DefaultUserAgent
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxConcurrent <= 0 {
		o.MaxConcurrent = DefaultConcurrent
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	t := newTransport(o)

	// NewCollector would let COLLY_* variables change the settings below.
	c := &colly.Collector{}
	c.Init()
	c.AllowURLRevisit = true // otherwise Colly stores every URL
	c.ParseHTTPErrorResponse = true
	c.MaxBodySize = 0                       // Colly counts compressed bytes; body.go has the limit
	c.SetClient(&http.Client{Transport: t}) // no cookie jar; the context has the timeout
	return &Client{
		collector: c,
		// A clone shares the HTTP client and has a context of its own.
		pages: &sync.Pool{New: func() any { return c.Clone() }},
		header: http.Header{
			"User-Agent":      {o.UserAgent},
			"Accept":          {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
			"Accept-Encoding": {"gzip"},
		},
		transport: t, timeout: o.Timeout, slots: make(chan struct{}, o.MaxConcurrent),
	}
}

// Budget returns a Client with its own limit of n concurrent exchanges, independent of those of c. A fetch that gets no
// slot within wait fails with KindBusy; wait 0 = until its context ends. Connections, backoff of hosts, options and Close
// are shared with c.
func (c *Client) Budget(n int, wait time.Duration) *Client {
	b := *c
	b.slots, b.wait = make(chan struct{}, n), wait
	return &b
}

func (c *Client) acquire(ctx context.Context) error {
	var over <-chan time.Time
	if c.wait > 0 {
		timer := time.NewTimer(c.wait)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return classify(ctx.Err())
	case <-over:
		return &Error{Kind: KindBusy, RetryAfter: c.wait, text: "too many fetches at a time"}
	}
}

// Close closes the idle connections. Running fetches continue.
func (c *Client) Close() {
	if c != nil {
		c.transport.base.CloseIdleConnections()
	}
}

// exchange is the state that one Fetch shares with the transport.
type exchange struct {
	Request
	ctx       context.Context // ends with the whole exchange
	conn      *conn           // of the current hop; nil without one
	stop      func() bool     // result of conn.use
	dials     atomic.Int32    // for the current hop
	hops      int             // followed so far
	jar       *cookiejar.Jar  // nil without cookies
	cookies   string          // in jar, as in Response.Cookies
	sent      bool            // whether the current hop reached the transport
	next      *url.URL        // redirect to follow; nil = none
	status    int
	header    http.Header
	url       *url.URL             // of the current hop
	tls       *tls.ConnectionState // of the current hop; nil without TLS
	expires   time.Time            // Response.TLSExpiresAt of the hops so far
	responded time.Time            // when the response headers arrived
	reader    *body
}

type exchangeKey struct{}

// Fetch makes one request and follows its redirects. A response with any status is a Response. All other results are an
// *Error.
//
// While MaxConcurrent exchanges run, Fetch waits for a slot, until ctx ends or the Budget's wait is over. The timeout starts
// after that, so that slow pages do not make others look slow. Fetch returns within a second after the timeout or the end
// of ctx, whatever the server sends, and leaves no connection or goroutine behind.
func (c *Client) Fetch(ctx context.Context, r Request) (*Response, error) {
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil, &Error{Kind: KindInvalid, text: "method not allowed"}
	}
	if r.Bearer != "" && (c.transport.endpoint == "" || r.MaxRedirects > 0) {
		return nil, &Error{Kind: KindInvalid, text: "token not allowed"}
	}
	u, ok := parseURL(r.URL)
	if !ok {
		return nil, &Error{Kind: KindInvalid, text: "invalid URL"}
	}
	if r.MaxBytes <= 0 {
		r.MaxBytes = PageLimit
	}
	r.MaxBytes = min(r.MaxBytes, bodyLimit)
	if r.Timeout <= 0 {
		r.Timeout = c.timeout
	}
	r.Discard = r.Discard || r.Stream != nil // bodies that Stream does not get are discarded
	if err := c.acquire(ctx); err != nil {
		return nil, err
	}
	defer func() { <-c.slots }()
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()

	x := &exchange{Request: r, ctx: ctx}
	x.restoreCookies(r.Cookies)
	res, err := c.run(x, u) //nolint:contextcheck // x has the context
	if err != nil {
		cancel() // closes the connection, so that it is not reused
	}
	x.releaseConn()
	return res, err
}

// run makes the requests of an exchange, starting with u.
func (c *Client) run(x *exchange, u *url.URL) (*Response, error) {
	ctx := httptrace.WithClientTrace(context.WithValue(x.ctx, exchangeKey{}, x), &httptrace.ClientTrace{GotConn: x.gotConn})
	send, done := c.sender(ctx, x)
	defer done()

	start := time.Now()
	res := &Response{}
	for {
		x.sent, x.url, x.next = false, u, nil
		if err := send(u); err != nil {
			if !x.sent { // Colly's URL parser is stricter
				return nil, &Error{Kind: KindInvalid, text: "invalid URL", err: err}
			}
			if ended := x.ctx.Err(); ended != nil { // err is a consequence of that
				return nil, classify(ended)
			}
			return nil, classify(err)
		}
		if x.next == nil {
			break
		}
		res.Hops = append(res.Hops, Hop{URL: href(x.url), Status: x.status})
		x.hops++
		u = x.next
	}
	res.StatusCode, res.Header, res.URL, res.cookies = x.status, x.header, href(x.url), x.cookies
	res.Latency, res.Duration = x.responded.Sub(start), time.Since(start)
	res.Truncated = x.reader.truncated
	if isThrottled(x.status) {
		res.RetryAfter = parseRetryAfter(x.header.Get("Retry-After"), c.transport.polite.clock())
	}
	res.TLSExpiresAt = x.expires
	if isRedirect(x.status) {
		res.Location = x.location()
	}
	if x.Discard {
		return res, nil
	}
	var cut bool
	res.Body, cut = toUTF8(x.reader.kept, x.header.Get("Content-Type"), res.Truncated, x.MaxBytes)
	res.Truncated = res.Truncated || cut
	return res, nil
}

// sender returns a function that makes the request of one hop and reads its body, and one to call afterward. Colly makes
// the requests, except those whose body is discarded: checks are many, and Colly would double their CPU time.
func (c *Client) sender(ctx context.Context, x *exchange) (send func(*url.URL) error, done func()) {
	header := x.Request.header(c.header)
	if x.Discard {
		return func(u *url.URL) error {
			return c.transport.get((&http.Request{Method: x.Method, URL: u, Host: u.Host, Header: header}).WithContext(ctx), x)
		}, func() {}
	}
	page := c.pages.Get().(*colly.Collector)
	page.Context = ctx
	return func(u *url.URL) error { return page.Request(x.Method, href(u), nil, nil, header) }, func() {
		page.Context = nil // it refers to the exchange and its body
		c.pages.Put(page)
	}
}
