package outbound

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Kind is the category of an Error.
type Kind string

// The kinds of failure.
const (
	KindInvalid   Kind = "invalid"   // the request's URL or method; nothing was sent
	KindBlocked   Kind = "blocked"   // the address guard refused the host, or the host of a redirect
	KindBusy      Kind = "busy"      // no slot of the Budget in time; nothing was sent, see Error.RetryAfter
	KindThrottled Kind = "throttled" // the host is in a backoff; nothing was sent to it, see Error.RetryAfter
	KindDNS       Kind = "dns"       // the name did not resolve
	KindRefused   Kind = "refused"   // connection refused
	KindReset     Kind = "reset"     // the connection was closed early
	KindNetwork   Kind = "network"   // no route to the host, and other network errors
	KindTLS       Kind = "tls"       // invalid certificate or failed handshake
	KindTimeout   Kind = "timeout"   // the exchange did not end in time
	KindRedirects Kind = "redirects" // more than MaxRedirects, or to a URL that may not be requested
	KindProtocol  Kind = "protocol"  // the response is not valid HTTP
	KindProxy     Kind = "proxy"     // a proxy of Options.Proxies failed to connect
	KindCanceled  Kind = "canceled"  // the caller's context was canceled
	KindStream    Kind = "stream"    // Request.Stream returned an error, which Unwrap returns
)

// Error is the error of a fetch without a Response. Its text is short and the same for the same cause. It contains no
// address, port or path, so it may be stored and shown. Unwrap returns the cause, for logs and errors.Is.
type Error struct {
	Kind       Kind
	RetryAfter time.Duration // with KindThrottled and KindBusy: time until a fetch may succeed; otherwise 0
	text       string
	err        error
}

// Error returns the short text, such as "connection refused".
func (e *Error) Error() string { return e.text }

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.err }

// classify converts an error of net/http, Colly or a body reader into an *Error.
func classify(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	kind, text := describe(err)
	return &Error{Kind: kind, text: text, err: err}
}

func describe(err error) (Kind, string) {
	switch {
	case errors.Is(err, context.Canceled):
		return KindCanceled, "canceled"
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrInvalidHostPort):
		return KindBlocked, "address not allowed"
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return KindTimeout, "timed out"
	}
	if d, ok := errors.AsType[*net.DNSError](err); ok {
		if d.IsNotFound {
			return KindDNS, "host not found"
		}
		return KindDNS, "host lookup failed"
	}
	if text := describeTLS(err); text != "" {
		return KindTLS, "TLS: " + text
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return KindRefused, "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return KindReset, "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return KindReset, "connection closed early"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return KindNetwork, "host unreachable"
	case isCompression(err):
		return KindProtocol, "bad compression"
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return KindNetwork, "network error"
	}
	return KindProtocol, "bad HTTP response"
}

// describeTLS returns "" if err is not about TLS.
func describeTLS(err error) string {
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if e.Reason == x509.Expired && e.Cert != nil && time.Now().Before(e.Cert.NotBefore) {
			return "certificate is not yet valid"
		}
		if e.Reason == x509.Expired {
			return "certificate has expired"
		}
		return "certificate is not valid"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "certificate is for another host"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "certificate is from an unknown authority"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "certificate is not valid"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		return "the server does not support TLS"
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return "handshake failed"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "remote error" || op.Op == "local error") {
		return "handshake failed" // how crypto/tls reports an alert
	}
	return ""
}

func isCompression(err error) bool {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	return corrupt || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, zlib.ErrHeader) || errors.Is(err, zlib.ErrChecksum) || errors.Is(err, zlib.ErrDictionary)
}
