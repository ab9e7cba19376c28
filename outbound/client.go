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
	// DefaultUserAgent is the User-Agent of a Client whose Options name none.
	DefaultUserAgent = "Linkwatch"
	// DefaultTimeout bounds a whole exchange when neither Options nor Request say otherwise.
	DefaultTimeout = 10 * time.Second
	// DefaultConcurrent is how many exchanges a Client has under way at a time when Options do not say.
	DefaultConcurrent = 16
	// PageLimit is how many bytes of a page are kept when Request.MaxBytes is 0: 5 MiB.
	PageLimit int64 = 5 << 20

	bodyLimit = 1 << 30 // what a Request may ask for at most
)

// Options configure a Client. The zero value is ready to use and refuses every address that is not public.
type Options struct {
	UserAgent     string           // empty = DefaultUserAgent
	AllowCIDRs    []netip.Prefix   // addresses allowed although private, loopback, … (OUTBOUND_ALLOW_CIDRS)
	Timeout       time.Duration    // of a whole exchange, redirects and body included; 0 = DefaultTimeout
	MaxConcurrent int              // exchanges under way at a time, others wait for their turn; 0 = DefaultConcurrent; see Budget
	Clock         func() time.Time // tells when a host may be asked again; nil = time.Now
	MaxBytes      int64            // of a body, for NewService only; 0 = PageLimit
	// Proxies carry every connection when there are any: http, https or socks5, with a host and optionally a port and
	// user:password. Each connection takes the next one, and each request makes a connection of its own.
	Proxies []*url.URL
	// Endpoint is a service that the operator configured, nil = none. The client connects to exactly its host and port then,
	// whatever address that has, and to nothing else.
	Endpoint *url.URL
}

// Client fetches pages. It is safe for concurrent use, keeps no cookies, no visited URLs and no other trace of what it
// fetched except which hosts are throttled, and ignores the environment (no proxy, no COLLY_*).
//
// Fetches need memory for MaxConcurrent bodies and their conversions to UTF-8, and for as many as each Budget has,
// however many are asked for at once.
type Client struct {
	collector *colly.Collector
	pages     *sync.Pool  // of its clones, each for one Fetch at a time
	header    http.Header // of every request; Colly and net/http only read it
	transport *transport
	timeout   time.Duration
	slots     chan struct{} // holds a value for each exchange under way
	wait      time.Duration // for a slot; 0 = as long as the context lasts
}

// New returns a Client with connections of its own. Close it when it is no longer needed.
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

	// Init rather than NewCollector, which would let COLLY_* variables change the settings below.
	c := &colly.Collector{}
	c.Init()
	c.AllowURLRevisit = true // otherwise every URL is remembered for ever
	c.ParseHTTPErrorResponse = true
	c.MaxBodySize = 0                       // Colly counts compressed bytes; the cap is in body.go
	c.SetClient(&http.Client{Transport: t}) // no cookie jar, and no timeout besides the context's
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

// Budget returns a Client that has n exchanges of its own under way at a time, so that those of c cannot take their
// turns, nor the other way round. One that has not got its turn after wait fails with KindBusy; if wait is 0, it waits as
// long as its context lasts. Everything else is shared with c: connections, pauses of hosts, options, and Close.
func (c *Client) Budget(n int, wait time.Duration) *Client {
	b := *c
	b.slots, b.wait = make(chan struct{}, n), wait
	return &b
}

// acquire takes a slot, which the caller releases.
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

// Close drops the idle connections. Fetches under way are not disturbed.
func (c *Client) Close() {
	if c != nil {
		c.transport.base.CloseIdleConnections()
	}
}

// exchange is what one Fetch and the transport tell each other about the hop under way.
type exchange struct {
	Request
	ctx    context.Context // ends when the whole exchange does
	conn   *conn           // of the current hop; nil without one
	stop   func() bool     // of conn.use
	dials  atomic.Int32    // for the current hop
	hops   int             // followed so far
	jar    *cookiejar.Jar  // sites that set a cookie and redirect to themselves loop without it; forgotten after the Fetch
	sent   bool            // whether the current hop reached the transport
	next   *url.URL        // where the answer sends us, if it is to be followed
	status int
	header http.Header
	url    *url.URL             // of the current hop
	tls    *tls.ConnectionState // nil without TLS
	began  time.Time
	reader *body
}

type exchangeKey struct{}

// Fetch makes one request and follows its redirects. An answer of any status is a Response; everything else is an
// *Error.
//
// While MaxConcurrent exchanges are under way it waits for one to end, as long as ctx or the Budget's wait lasts. The timeout begins after
// that, so that a page is not called slow because others were. Fetch returns within a second of the end of either,
// whatever the server sends, and leaves no dial, connection or goroutine of the exchange behind.
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
	r.Discard = r.Discard || r.Stream != nil // which discards all bodies that are not for it
	if err := c.acquire(ctx); err != nil {
		return nil, err
	}
	defer func() { <-c.slots }()
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()

	x := &exchange{Request: r, ctx: ctx}
	res, err := c.run(x, u)
	if err != nil {
		cancel() // closes the connection: what failed is not used again
	}
	x.releaseConn()
	return res, err
}

// run makes the requests of an exchange, from u on.
func (c *Client) run(x *exchange, u *url.URL) (*Response, error) {
	page := c.pages.Get().(*colly.Collector)
	page.Context = httptrace.WithClientTrace(context.WithValue(x.ctx, exchangeKey{}, x), &httptrace.ClientTrace{GotConn: x.gotConn})
	defer func() {
		page.Context = nil // holds the exchange, and with it the body
		c.pages.Put(page)
	}()

	start := time.Now()
	res, header := &Response{}, x.Request.header(c.header)
	for {
		x.sent, x.url, x.next = false, u, nil
		if err := page.Request(x.Method, href(u), nil, nil, header); err != nil {
			if !x.sent { // Colly's own URL parser is stricter here and there
				return nil, &Error{Kind: KindInvalid, text: "invalid URL", err: err}
			}
			if ended := x.ctx.Err(); ended != nil { // err is what that did to the connection
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
	res.StatusCode, res.Header, res.URL = x.status, x.header, href(x.url)
	res.Latency = x.began.Sub(start)
	res.Truncated = x.reader.truncated
	if wantsPause(x.status) {
		res.RetryAfter = parseRetryAfter(x.header.Get("Retry-After"), c.transport.polite.clock())
	}
	if x.tls != nil && len(x.tls.PeerCertificates) > 0 {
		res.TLSExpiresAt = x.tls.PeerCertificates[0].NotAfter
	}
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
