package outbound

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"time"
)

// NewService returns a client for the library of a service that the operator configured, such as an object store or a search
// engine. With Options.Endpoint it connects to nothing but that host and port; without one the address guard applies. Of
// Options it also takes Timeout (of an exchange, its body included), MaxConcurrent (connections to a host) and MaxBytes. It
// follows no redirects, keeps no cookies, takes no proxy from the environment, and reads at most MaxBytes of a body: one that
// has more ends with an error.
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
		DialContext:            t.connect,
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

// RoundTrip implements http.RoundTripper, with a limit on the body.
func (t serviceTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.Transport.RoundTrip(r)
	if err == nil && res.StatusCode != http.StatusSwitchingProtocols {
		res.Body = &limitedBody{ReadCloser: res.Body, left: t.limit}
	}
	return res, err
}

var errServiceBody = &Error{Kind: KindProtocol, text: "the response is too large"}

// ServiceError says why a client of NewService gave no response, or not all of its body, as Fetch would.
func ServiceError(err error) *Error { return classify(err) }

// limitedBody fails once more than left bytes are read of it.
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
