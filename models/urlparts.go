package models

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// isAround reports whether r is removed from both ends of a URL.
func isAround(r rune) bool { return r <= ' ' || unicode.IsSpace(r) }

// cleanURL trims a URL, removes tabs and line breaks, and escapes control characters and stray %.
func cleanURL(s string) string {
	s = strings.TrimFunc(s, isAround)
	if strings.ContainsAny(s, "\t\n\r") {
		s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
	}
	return escapeBytes(s, func(i int) bool { return s[i] < ' ' || s[i] == 0x7f || s[i] == '%' && !isEscape(s[i:]) })
}

// isEscape reports whether s begins with a percent-encoded byte.
func isEscape(s string) bool {
	isHex := func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }
	return len(s) >= 3 && s[0] == '%' && isHex(s[1]) && isHex(s[2])
}

// escapeBytes percent-encodes the bytes of s at indexes for which unfit returns true.
func escapeBytes(s string, unfit func(i int) bool) string {
	var b strings.Builder
	done := 0
	for i := range len(s) {
		if unfit(i) {
			b.WriteString(s[done:i])
			fmt.Fprintf(&b, "%%%02X", s[i])
			done = i + 1
		}
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

// cutWebScheme splits off http:// or https://, which may be in any case.
func cutWebScheme(s string) (scheme, rest string, ok bool) {
	for _, scheme := range []string{"http", "https"} {
		if n := len(scheme); len(s) >= n+3 && strings.EqualFold(s[:n], scheme) && s[n:n+3] == "://" {
			return scheme, s[n+3:], true
		}
	}
	return "", "", false
}

// cutAuthority splits off the host with its port.
func cutAuthority(s string) (authority, rest string) {
	if i := strings.IndexAny(s, `/\?`); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// splitPort splits "host", "host:port", "[IPv6]" or "[IPv6]:port"; port has its colon.
func splitPort(authority string) (host, port string) {
	i := 0
	if strings.HasPrefix(authority, "[") {
		i = max(0, strings.IndexByte(authority, ']'))
	}
	if colon := strings.IndexByte(authority[i:], ':'); colon >= 0 {
		return authority[:i+colon], authority[i+colon:]
	}
	return authority, ""
}

// joinPort returns the host with the port, unless it is the scheme's default.
func joinPort(scheme, host, port string) (string, bool) {
	bare := host
	if strings.Contains(host, ":") {
		bare = "[" + host + "]"
	}
	if port = strings.TrimPrefix(port, ":"); port == "" {
		return bare, true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", false
	}
	if scheme == "http" && n == 80 || scheme == "https" && n == 443 {
		return bare, true
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10)), true
}

// pathParser reads paths and queries. The standard added ^ to the path's set after
// the library's last release.
var pathParser = whatwg.NewParser(whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')))

// browserPath returns the path, which starts with a slash, and the query, with its question mark, as a browser
// sends them. rest is the part of the URL after the authority.
func browserPath(rest string) (path, query string, err error) {
	if !isPlainPath(rest) {
		u, err := pathParser.Parse("http://host" + rest)
		if err != nil {
			return "", "", err
		}
		rest = strings.TrimPrefix(u.Href(true), "http://host")
	}
	path, query = rest, ""
	if i := strings.IndexByte(rest, '?'); i >= 0 {
		path, query = rest[:i], rest[i:]
	}
	if path == "" {
		path = "/"
	}
	return path, query, nil
}

// isPlainPath reports whether a path and query without stray % are already in the form that a browser sends. Most
// are, and need no parser.
func isPlainPath(rest string) bool {
	inQuery := false
	for i := range len(rest) {
		switch c := rest[i]; {
		case c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>':
			return false
		case inQuery:
			if c == '\'' {
				return false
			}
		case c == '?':
			inQuery = true
		case c == '\\' || c == '^' || c == '`' || c == '{' || c == '}',
			(c == '.' || c == '%') && rest[i-1] == '/': // may be a dot segment
			return false
		}
	}
	return true
}
