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

const connections = 64 // maximum per endpoint; HTTP/2 needs one

// Client sends requests to one endpoint only. It is safe for concurrent use.
type Client struct {
	HTTP      *http.Client // for client libraries; follows no redirects and limits the body
	transport *singleAttempt
}

// NewClient returns the client of an endpoint, an http:// or https:// URL. timeout covers the request from dial to the last
// byte of the response.
func NewClient(endpoint string, timeout time.Duration) (*Client, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("invalid endpoint URL %q", endpoint)
	}
	o := outbound.Options{Endpoint: u, Timeout: timeout, MaxConcurrent: connections}
	kept, fresh := outbound.NewService(o), outbound.NewService(o)
	c := *kept
	t := &singleAttempt{pooled: kept.Transport, fresh: fresh.Transport, close: func() { kept.CloseIdleConnections(); fresh.CloseIdleConnections() }}
	c.Transport = t
	return &Client{HTTP: &c, transport: t}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.transport.close() }

// singleAttempt is a transport that sends each request once. net/http retries a GET if a reused connection broke, so each GET
// gets a new connection. net/http never retries requests with a body. HTTP/2 retries only requests that the server rejected
// unread.
type singleAttempt struct {
	pooled, fresh http.RoundTripper
	close         func()
}

// RoundTrip implements http.RoundTripper. It records the result in the Attempt of the context.
func (t *singleAttempt) RoundTrip(r *http.Request) (*http.Response, error) {
	a, _ := r.Context().Value(attemptKey{}).(*Attempt)
	if a == nil {
		a = &Attempt{}
	}
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.note(0, nil) }}
	ctx := r.Context()
	if at, ok := ctx.Value(deadlineKey{}).(time.Time); ok {
		sending, giveUp := context.WithCancel(ctx)
		if !time.Now().Before(at) { // cancel before anything is sent
			giveUp()
		}
		timer := time.AfterFunc(time.Until(at), giveUp)
		defer timer.Stop()
		trace.WroteRequest = func(httptrace.WroteRequestInfo) { timer.Stop() }
		ctx = sending
	}
	r = r.WithContext(httptrace.WithClientTrace(ctx, trace))
	transport := t.pooled
	if r.Method == http.MethodGet {
		transport, r.Close = t.fresh, true
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		a.fail(err)
		return nil, err
	}
	a.note(res.StatusCode, res.Header)
	res.Body = &trackedBody{res.Body, a}
	return res, nil
}

// trackedBody records read errors of a response body.
type trackedBody struct {
	io.ReadCloser
	attempt *Attempt
}

// Read implements io.Reader.
func (b *trackedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		b.attempt.fail(err)
	}
	return n, err
}

// Attempt has what is known about one request, independent of the client library.
type Attempt struct {
	mu     sync.Mutex
	sent   bool // a connection was made, so the request may have arrived
	status int
	header http.Header
	err    error // of the connection or the body
}

type attemptKey struct{}

type deadlineKey struct{}

// SendBefore returns a context that cancels requests not completely written by a deadline. It does not limit the wait for the
// response.
func SendBefore(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, deadlineKey{}, at)
}

// NewAttempt returns a context for one request of a Client, and the Attempt that records it.
func NewAttempt(ctx context.Context) (context.Context, *Attempt) {
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

// StatusCode returns the status code of the response; 0 = none.
func (a *Attempt) StatusCode() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status
}

// RetryAfter returns the delay in the Retry-After header; 0 = none.
func (a *Attempt) RetryAfter() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return parseRetryAfter(a.header.Get("Retry-After"), time.Now())
}
