package outbound

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

const urlLimit = 2048 // bytes

// browserURLs parses URLs as a browser does, by the WHATWG URL standard. Hosts are unescaped and mapped by IDNA, and IPv4
// addresses may be short, octal or hexadecimal. Paths and queries are escaped. Unlike in the standard, a % in a path that
// starts no escape becomes %25. The standard added ^ to the path set after the library's last release.
var browserURLs = whatwg.NewParser(
	whatwg.WithPercentEncodeSinglePercentSign(),
	whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')),
)

var errBadURL = errors.New("outbound: bad URL")

// parseURL parses a URL that may be requested: http or https, with a host, no user:password, at most 2048 bytes.
func parseURL(raw string) (*url.URL, bool) {
	if len(raw) > urlLimit {
		return nil, false
	}
	if plain := (&resolver{}).plain(raw); plain != "" {
		u, err := url.Parse(plain)
		return u, err == nil
	}
	u, err := resolveURL(nil, raw)
	return u, err == nil
}

// resolveURL parses ref as a browser does, relative to base unless base is nil. The result has no fragment and may be
// requested.
func resolveURL(base *url.URL, ref string) (*url.URL, error) {
	if base == nil {
		return requestable(browserURLs.Parse(escapeInvalid(ref)))
	}
	from, err := browserURLs.Parse(href(base))
	if err != nil {
		return nil, err
	}
	return requestable(from.Parse(escapeInvalid(ref)))
}

// requestable converts the result of a parser, and returns an error if the URL may not be requested.
func requestable(read *whatwg.Url, err error) (*url.URL, error) {
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(read.Href(true))
	if err != nil {
		return nil, err
	}
	if !validURL(u) {
		return nil, errBadURL
	}
	return u, nil
}

// escapeInvalid percent-encodes bytes that are not UTF-8, as a browser does with those of a Location.
func escapeInvalid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, "%%%02X", s[0])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

func validURL(u *url.URL) bool {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return (u.Scheme == "http" || u.Scheme == "https") &&
		u.Hostname() != "" && u.User == nil && len(href(u)) <= urlLimit &&
		(u.Port() == "" || err == nil && port > 0)
}

// href returns u as a browser writes it. u.String would escape the | in a path.
func href(u *url.URL) string {
	if u.RawPath == "" {
		return u.String()
	}
	to := *u
	to.Opaque = "//" + u.Host + u.RawPath
	return to.String()
}

// asBrowser returns req with the path of u as a browser sends it. Colly and net/http have escaped the | in the path of req.
func asBrowser(req *http.Request, u *url.URL) *http.Request {
	if u.RawPath == "" || u.RawPath == req.URL.EscapedPath() {
		return req
	}
	to := *req.URL
	to.Opaque = u.RawPath
	if strings.HasPrefix(u.RawPath, "//") { // net/http would parse it as a host
		to.Opaque = "//" + to.Host + u.RawPath
	}
	out := *req // a RoundTripper must not modify its request
	out.URL = &to
	return &out
}

// hostKey returns the host of u in lower case, with the port only if it is not the default of the scheme.
func hostKey(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		return host
	}
	return net.JoinHostPort(host, port)
}
