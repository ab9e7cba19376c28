package outbound

import (
	"io"
	"net/http"
	"time"
)

const headerValueLimit = 1 << 10 // bytes of a header value that a Request sets

// Request says what to fetch and how much of it.
type Request struct {
	Method       string        // GET or HEAD; empty = GET
	URL          string        // http or https, a host, no user:password, at most 2048 bytes
	MaxRedirects int           // this many are followed, one more is KindRedirects; 0 = none, a 3xx is the answer then
	Timeout      time.Duration // of the whole exchange, from when its turn has come; 0 = Options.Timeout
	MaxBytes     int64         // of the body, decompressed; 0 = PageLimit, at most 1 GiB
	// Until, when set, is called with all that was read so far, decompressed but in the page's own charset, after each
	// piece of it; true ends the reading and drops the connection. See NewHeadEnd.
	Until func(body []byte) bool
	// Discard reads the body to its end and keeps nothing of it, for those who want to know only that it comes: no memory,
	// no conversion. One that says it is longer than MaxBytes, or than PageLimit, is not read at all, and Until is not called.
	Discard bool
	// Stream, when set, reads the body of a final 200 while it arrives: decompressed, in its own charset, and at most MaxBytes of
	// it. All other bodies are discarded, and Until is not called. It runs in the goroutine of Fetch, and its time counts for
	// Timeout. The body ends with io.EOF, also at MaxBytes. When the exchange ends early, Read fails, and Stream must return soon.
	// What Stream does not read is not received. Its error ends the exchange as KindStream, unless the body itself has failed.
	Stream func(body io.Reader) error
	// Insist asks even while the host is in a back-off of ours, as the retries of a monitor must (a 5xx is
	// retried after 200 ms). A Retry-After of the host is still respected.
	Insist bool
	// UserAgent replaces Options.UserAgent. IfNoneMatch and IfModifiedSince make the request conditional, and a 304 is then
	// a Response without a body. All redirects get them too. A value with control characters or of more than 1 KiB counts
	// as empty.
	UserAgent, IfNoneMatch, IfModifiedSince string
	// Bearer is a bearer token for Options.Endpoint. Other clients refuse a request that has one.
	Bearer string
}

// Hop is one redirect that was followed: from which URL, and the status that sent us on.
type Hop struct {
	URL    string
	Status int
}

// Response is an answer, whatever its status.
type Response struct {
	StatusCode int
	URL        string        // where it ended
	Hops       []Hop         // the redirects on the way there, in order
	Header     http.Header   // of the final answer, as it was sent
	Body       []byte        // decompressed; text converted to UTF-8; at most Request.MaxBytes; nil with Request.Discard or Stream
	Truncated  bool          // MaxBytes or Until ended the body; with Stream, MaxBytes did
	Latency    time.Duration // from when its turn had come, redirects included, until the final answer began
	RetryAfter time.Duration // the pause that a 429 or 503 asks for, at most an hour; 0 = none
	// Location is the absolute URL that a redirect leads to when it was not followed (MaxRedirects 0). It is empty if there
	// is none, or if a Request may not have it as its URL.
	Location string
	// TLSExpiresAt is when the certificate of the host that gave the final answer ends; zero without TLS.
	TLSExpiresAt time.Time
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

// header returns base, with what r sets. It copies base only if there is something to set.
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
