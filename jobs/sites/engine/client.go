package engine

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"

	"linkwatch/outbound"
)

// connections is how many connections to one endpoint there are at most. HTTP/2 needs one.
const connections = 64

// Client sends requests to one endpoint and to nothing else. It is safe for concurrent use.
type Client struct {
	HTTP *http.Client // for the libraries; it follows no redirect and bounds the body
	once *once
}

// NewClient makes the client of an endpoint, an http:// or https:// URL. timeout bounds
// a request from dial to the last byte of the response.
func NewClient(endpoint string, timeout time.Duration) (*Client, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the endpoint %q is not a URL", endpoint)
	}
	o := outbound.Options{Endpoint: u, Timeout: timeout, MaxConcurrent: connections}
	kept, fresh := outbound.NewService(o), outbound.NewService(o)
	c := *kept
	t := &once{kept: kept.Transport, fresh: fresh.Transport, close: func() { kept.CloseIdleConnections(); fresh.CloseIdleConnections() }}
	c.Transport = t
	return &Client{HTTP: &c, once: t}, nil
}

// Close drops the idle connections.
func (c *Client) Close() { c.once.close() }

// once is a transport that sends each request once. net/http repeats a GET whose
// connection was used before and broke, so a GET gets a connection of its own. It never
// repeats what has a body. (HTTP/2 repeats only what the server says it has not read.)
type once struct {
	kept, fresh http.RoundTripper
	close       func()
}

// RoundTrip implements http.RoundTripper, and notes what became of the request.
func (t *once) RoundTrip(r *http.Request) (*http.Response, error) {
	a, _ := r.Context().Value(attemptKey{}).(*Attempt)
	if a == nil {
		a = &Attempt{}
	}
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.note(0, nil) }}
	ctx := r.Context()
	if at, ok := ctx.Value(deadlineKey{}).(time.Time); ok {
		sending, giveUp := context.WithCancel(ctx)
		if !time.Now().Before(at) { // without a timer, so that nothing begins
			giveUp()
		}
		timer := time.AfterFunc(time.Until(at), giveUp)
		defer timer.Stop()
		trace.WroteRequest = func(httptrace.WroteRequestInfo) { timer.Stop() }
		ctx = sending
	}
	r = r.WithContext(httptrace.WithClientTrace(ctx, trace))
	transport := t.kept
	if r.Method == http.MethodGet {
		transport, r.Close = t.fresh, true
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		a.fail(err)
		return nil, err
	}
	a.note(res.StatusCode, res.Header)
	res.Body = &noted{res.Body, a}
	return res, nil
}

// noted is a body whose reading errors are noted.
type noted struct {
	io.ReadCloser
	attempt *Attempt
}

// Read implements io.Reader.
func (b *noted) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		b.attempt.fail(err)
	}
	return n, err
}

// Attempt is what is known of one request, whatever the library made of it.
type Attempt struct {
	mu     sync.Mutex
	sent   bool // there was a connection, so the service may have got the request
	status int
	header http.Header
	err    error // of the connection or of the body
}

type attemptKey struct{}

type deadlineKey struct{}

// SendBefore returns a context whose requests are given up if they are not written until
// a time. How long their answers take is not limited by it.
func SendBefore(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, deadlineKey{}, at)
}

// Begin returns a context for one request by a Client, and what will be known of it.
func Begin(ctx context.Context) (context.Context, *Attempt) {
	a := &Attempt{}
	return context.WithValue(ctx, attemptKey{}, a), a
}

func (a *Attempt) note(status int, header http.Header) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sent, a.status, a.header = true, status, header
}

func (a *Attempt) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
}

// StatusCode is that of the response; 0 = there was none.
func (a *Attempt) StatusCode() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status
}

// RetryAfter is the pause that the response asks for by its header.
func (a *Attempt) RetryAfter() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return parseRetryAfter(a.header.Get("Retry-After"), time.Now())
}
