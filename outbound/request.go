package outbound

import (
	"io"
	"net/http"
	"time"
)

const headerValueLimit = 1 << 10 // bytes of a header value in a Request

// Request describes a fetch.
type Request struct {
	Method       string        // GET or HEAD; empty = GET
	URL          string        // http or https, a host, no user:password, at most 2048 bytes
	MaxRedirects int           // more fail with KindRedirects; 0 = none are followed, the Response has the 3xx
	Timeout      time.Duration // of the whole exchange, without the wait for a slot; 0 = Options.Timeout
	MaxBytes     int64         // of the body, decompressed; 0 = PageLimit, at most 1 GiB
	// Until, if set, is called with the body so far, decompressed but not converted to UTF-8, after each read. true stops
	// reading and closes the connection. See NewHeadEnd.
	Until func(body []byte) bool
	// Discard reads the body to its end without storing it. A body whose Content-Length is more than MaxBytes or PageLimit is
	// not read at all. Until is not called.
	Discard bool
	// Stream, if set, reads the body of a final 200 while it arrives: decompressed, not converted to UTF-8, at most MaxBytes.
	// Other bodies are discarded, and Until is not called. Stream runs in the goroutine of Fetch and its time counts toward
	// Timeout. The body ends with io.EOF, also at MaxBytes. If the exchange ends early, Read fails and Stream must return soon.
	// Bytes that Stream does not read are not received. Its error becomes KindStream, unless reading the body failed.
	Stream func(body io.Reader) error
	// Insist ignores a backoff of the host unless it comes from Retry-After: a user waits.
	Insist bool
	// IgnoreBackoff neither respects nor changes the backoff of hosts. The caller observes Retry-After itself, for each URL
	// of a host.
	IgnoreBackoff bool
	// UserAgent replaces Options.UserAgent. IfNoneMatch and IfModifiedSince make the request conditional: a 304 is a Response
	// without a body. Redirected requests have these headers too. A value with control characters or over 1 KiB counts as empty.
	UserAgent, IfNoneMatch, IfModifiedSince string
	// Cookies continues a fetch whose redirect the caller follows itself. It is the result of Response.Cookies.
	Cookies string
	// Bearer is a bearer token for Options.Endpoint. Clients without an Endpoint refuse the request.
	Bearer string
}

// Hop is a redirect that was followed: the URL that redirected, and its status.
type Hop struct {
	URL    string
	Status int
}

// Response is the final response of a Fetch. It may have any status.
type Response struct {
	StatusCode int
	URL        string        // after redirects
	Hops       []Hop         // the redirects before it, in order
	Header     http.Header   // of the final response, without what net/http cannot read
	Body       []byte        // decompressed; text converted to UTF-8; at most Request.MaxBytes; nil with Request.Discard or Stream
	Truncated  bool          // the body was cut by MaxBytes or Until; with Stream, by MaxBytes
	Latency    time.Duration // until the headers of the final response, including redirects, without the wait for a slot
	Duration   time.Duration // of the whole exchange, without the wait for a slot
	RetryAfter time.Duration // of a 429 or 503, at most an hour; 0 = none
	// Location is the absolute destination of a redirect that was not followed (MaxRedirects 0). It is empty without a redirect,
	// or if the destination is not a valid Request.URL.
	Location string
	// TLSExpiresAt is when the first certificate expires, of all hops and their whole chains; zero without TLS.
	TLSExpiresAt time.Time

	cookies string // of the redirects before it
}

// Permanent reports whether the URL has moved permanently: there were redirects, and all of them were 301 or 308.
func (r *Response) Permanent() bool {
	if r == nil {
		return false
	}
	for _, h := range r.Hops {
		if h.Status != http.StatusMovedPermanently && h.Status != http.StatusPermanentRedirect {
			return false
		}
	}
	return len(r.Hops) > 0
}

// header returns base with the headers of r. It copies base only if r sets one.
func (r *Request) header(base http.Header) http.Header {
	out, copied := base, false
	authorization := ""
	if r.Bearer != "" {
		authorization = "Bearer " + r.Bearer
	}
	for _, h := range [...]struct{ name, value string }{
		{"Authorization", authorization},
		{"User-Agent", r.UserAgent}, {"If-None-Match", r.IfNoneMatch}, {"If-Modified-Since", r.IfModifiedSince},
	} {
		if h.value == "" || !validHeaderValue(h.value) {
			continue
		}
		if !copied {
			out, copied = base.Clone(), true
		}
		out[h.name] = []string{h.value}
	}
	return out
}

func validHeaderValue(v string) bool {
	for i := range len(v) {
		if v[i] < ' ' || v[i] == 0x7f {
			return false
		}
	}
	return len(v) <= headerValueLimit
}
