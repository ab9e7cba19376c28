package outbound

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"time"
)

// NewService returns a client for the library of a service that the operator configured, such as an object store or a search
// engine. With Options.Endpoint it connects only to that host and port. Without one the address guard applies. Other options
// are Timeout (of an exchange, including the body), MaxConcurrent (connections per host) and MaxBytes (a longer body fails).
// The client follows no redirects, stores no cookies and uses no proxy from the environment.
func NewService(o Options) *http.Client {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxConcurrent <= 0 {
		o.MaxConcurrent = DefaultConcurrent
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = PageLimit
	}
	d := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second, Control: guard(o.AllowCIDRs)}
	t := &transport{dialer: d}
	if o.Endpoint != nil {
		d.Control, t.endpoint = nil, hostPort(o.Endpoint)
	}
	base := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return t.connect(ctx, network, address, "")
		},
		TLSClientConfig:        &tls.Config{NextProtos: []string{"h2", "http/1.1"}},
		ForceAttemptHTTP2:      true,
		ResponseHeaderTimeout:  o.Timeout,
		TLSHandshakeTimeout:    handshakeTimeout,
		MaxResponseHeaderBytes: headerLimit,
		MaxConnsPerHost:        o.MaxConcurrent,
		MaxIdleConnsPerHost:    o.MaxConcurrent,
		IdleConnTimeout:        30 * time.Second,
	}
	return &http.Client{
		Timeout: o.Timeout, Transport: serviceTransport{base, o.MaxBytes},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type serviceTransport struct {
	*http.Transport
	limit int64 // of a body
}

// RoundTrip implements http.RoundTripper and limits the body.
func (t serviceTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.Transport.RoundTrip(r)
	if err == nil && res.StatusCode != http.StatusSwitchingProtocols {
		res.Body = &limitedBody{ReadCloser: res.Body, left: t.limit}
	}
	return res, err
}

var errServiceBody = &Error{Kind: KindProtocol, text: "response too large"}

// ServiceError converts an error of a client of NewService, or of reading its response body, into an *Error.
func ServiceError(err error) *Error { return classify(err) }

// limitedBody fails when more than left bytes are read.
type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errServiceBody
	}
	return n, err
}
