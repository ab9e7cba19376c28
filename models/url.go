package models

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// MaxURL is how long a URL may be, in bytes: as it is written, and as it is requested.
const MaxURL = 2048

// URL is a web address that was checked. Make one with ParseURL.
type URL struct {
	// Given is the URL as it was written, without space around it, without tabs
	// and line breaks, and with control characters and every stray % escaped.
	Given string
	// Requested is what a browser requests for it, without the fragment:
	// "http://example.com/a%20b" for "HTTP://Example.com:80/x/../a b#top".
	Requested string
	// Canonical is equal for two URLs of the same page: Requested without the
	// slashes at the end of the path.
	Canonical string
	// Host is what a browser connects to: a lower-case name, in punycode if it is
	// international, or an IP address. It has no port and no brackets.
	Host string

	fragment string // escaped, with its #; "" = none
}

// ParseURL checks a URL and reads it as a browser does, by the WHATWG URL standard.
// It must begin with http:// or https://, have a host, no user or password, and be
// at most MaxURL bytes long. Whatever else a browser accepts is accepted: spaces and
// other letters in the path, backslashes, tabs and line breaks, IPv4 shorthand, dot
// segments. Parsing a Canonical gives the same Canonical.
//
// It departs from the standard in three places. A % that begins no escape becomes
// %25, since many servers refuse it. White space of any kind around the URL, or
// before its fragment, does not belong to the URL. More than two slashes before the
// host are refused: the host is missing.
//
// location names the member in the error, which is CodeInvalid and never repeats s.
func ParseURL(location, s string) (URL, error) {
	if !utf8.ValidString(s) {
		return URL{}, Invalid(location, "is not valid UTF-8")
	}
	given := cleanURL(s)
	if given == "" {
		return URL{}, Invalid(location, "is missing; give a URL such as https://example.com/page")
	}
	if len(given) > MaxURL {
		return URL{}, Invalid(location, "is longer than %d bytes", MaxURL)
	}
	scheme, rest, ok := cutWebScheme(given)
	if !ok {
		return URL{}, Invalid(location, "must start with http:// or https://")
	}
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	rest = strings.TrimRightFunc(rest, isAround)
	authority, rest := cutAuthority(rest)
	if strings.Contains(authority, "@") {
		return URL{}, Invalid(location, "must not hold a user name or password")
	}
	name, port := splitPort(authority)
	if name == "" {
		return URL{}, Invalid(location, "has no host")
	}
	host, ok := browserHost(name)
	if !ok {
		return URL{}, Invalid(location, "has a host that is not valid; give a host name or an IP address")
	}
	if authority, ok = joinPort(scheme, host, port); !ok {
		return URL{}, Invalid(location, "has a port that is not a number up to 65535")
	}
	path, query, err := browserPath(rest)
	if err != nil {
		return URL{}, Invalid(location, "is not a URL that can be read; check it for stray characters")
	}
	u := URL{
		Given:     given,
		Requested: scheme + "://" + authority + path + query,
		Canonical: scheme + "://" + authority + strings.TrimRight(path, "/") + query,
		Host:      host,
	}
	if hasFragment {
		u.fragment = "#" + escapeBytes(fragment, func(c byte) bool { return c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>`", c) >= 0 })
	}
	if len(u.Requested)+len(u.fragment) > MaxURL {
		return URL{}, Invalid(location, "is longer than %d bytes once its special characters are escaped", MaxURL)
	}
	return u, nil
}

// RequestURL returns what is requested for a stored URL: its Requested, or the URL
// itself if it was stored under older rules and ParseURL refuses it now.
func RequestURL(stored string) string {
	u, err := ParseURL("url", stored)
	if err != nil {
		return stored
	}
	return u.Requested
}

// Location returns the URL as a value of the header Location, with its fragment.
// It is Given if that is printable ASCII without a backslash and spells the host as a
// browser does, in any case; else it is what a browser makes of Given.
func (u URL) Location() string {
	if u.tidy() {
		return u.Given
	}
	return u.Requested + u.fragment
}

// tidy reports whether Given may be sent as it is: all clients find the same host in it.
func (u URL) tidy() bool {
	if strings.ContainsFunc(u.Given, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }) {
		return false
	}
	_, rest, _ := cutWebScheme(u.Given)
	authority, _ := cutAuthority(rest)
	authority, _, _ = strings.Cut(authority, "#")
	name, _ := splitPort(authority)
	return strings.EqualFold(strings.Trim(name, "[]"), u.Host)
}

// Origin returns the scheme, the host and a port that is not the scheme's own:
// "https://example.com:8443".
func (u URL) Origin() string {
	scheme, rest, _ := cutWebScheme(u.Requested)
	authority, _ := cutAuthority(rest)
	return scheme + "://" + authority
}

// isAround reports whether r does not belong to a URL where it is around it.
func isAround(r rune) bool { return r <= ' ' || unicode.IsSpace(r) }

// cleanURL removes what is around a URL and the tabs and line breaks in it, and
// escapes what no URL may hold and no database need store.
func cleanURL(s string) string {
	s = strings.TrimFunc(s, isAround)
	if strings.ContainsAny(s, "\t\n\r") {
		s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
	}
	at := -1
	return escapeBytes(s, func(c byte) bool {
		at++
		return c < ' ' || c == 0x7f || c == '%' && !isEscape(s[at:])
	})
}

// isEscape reports whether s begins with a percent-encoded byte.
func isEscape(s string) bool {
	isHex := func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }
	return len(s) >= 3 && s[0] == '%' && isHex(s[1]) && isHex(s[2])
}

// escapeBytes percent-encodes the bytes of s that unfit, which sees each once in order, reports.
func escapeBytes(s string, unfit func(byte) bool) string {
	var b strings.Builder
	done := 0
	for i := range len(s) {
		if unfit(s[i]) {
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

// joinPort is the host with its port, unless that is the scheme's own.
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

// browserPath returns the path, which begins with a slash, and the query, with its
// question mark, as a browser sends them. rest is what follows the authority.
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

// isPlainPath reports whether a path and query, in which no % is stray, are as a
// browser sends them, so that they need no parser: nearly all are.
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
