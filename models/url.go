package models

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// MaxURL is the longest URL in bytes, as written and as requested.
const MaxURL = 2048

// URL is a valid web address. Create it with ParseURL.
type URL struct {
	// Given is the URL as written, without surrounding space, tabs and line breaks,
	// and with control characters and stray % escaped.
	Given string
	// Requested is the URL that a browser requests, without the fragment:
	// "http://example.com/a%20b" for "HTTP://Example.com:80/x/../a b#top".
	Requested string
	// Canonical is equal for URLs of the same page: Requested without trailing slashes
	// in the path, with escapes in upper case.
	Canonical string
	// Host is the host that a browser connects to: a lower-case name, in punycode if it
	// is international, or an IP address. It has no port and no brackets.
	Host string

	fragment string // escaped, with its #; "" = none
}

// ParseURL validates a URL and parses it like a browser, by the WHATWG URL standard. It must start with http:// or
// https://, have a host, no user or password, and at most MaxURL bytes. Everything else that browsers accept is
// accepted: spaces and other letters in the path, backslashes, tabs and line breaks, IPv4 shorthand, dot segments.
// Parsing a Canonical returns the same Canonical.
//
// It deviates from the standard in three ways. A % that starts no escape becomes %25, since many servers refuse
// it. White space of any kind around the URL or before its fragment is removed. More than two slashes before the
// host are refused, since the host is missing.
//
// location names the field in the error, which is CodeInvalid and never contains s.
func ParseURL(location, s string) (URL, error) {
	if !utf8.ValidString(s) {
		return URL{}, Invalid(location, "is not valid UTF-8")
	}
	given := cleanURL(s)
	if given == "" {
		return URL{}, Invalid(location, "is missing; enter a URL such as https://example.com/page")
	}
	if len(given) > MaxURL {
		return URL{}, TooLong(location, MaxURL, "bytes")
	}
	scheme, rest, ok := cutWebScheme(given)
	if !ok {
		return URL{}, Invalid(location, "must start with http:// or https://")
	}
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	rest = strings.TrimRightFunc(rest, isAround)
	authority, rest := cutAuthority(rest)
	if strings.Contains(authority, "@") {
		return URL{}, Invalid(location, "must not contain a user name or password")
	}
	name, port := splitPort(authority)
	if name == "" {
		return URL{}, Invalid(location, "has no host")
	}
	host, ok := browserHost(name)
	if !ok {
		return URL{}, Invalid(location, "has an invalid host; use a host name or an IP address")
	}
	if authority, ok = joinPort(scheme, host, port); !ok {
		return URL{}, Invalid(location, "has an invalid port; use a number up to 65535")
	}
	path, query, err := browserPath(rest)
	if err != nil {
		return URL{}, Invalid(location, "is not a valid URL; check it for stray characters")
	}
	u := URL{
		Given:     given,
		Requested: scheme + "://" + authority + path + query,
		Canonical: scheme + "://" + authority + UpperEscapes(strings.TrimRight(path, "/")+query),
		Host:      host,
	}
	if hasFragment {
		u.fragment = "#" + escapeBytes(fragment, func(i int) bool {
			return fragment[i] <= ' ' || fragment[i] >= 0x7f || strings.IndexByte("\"<>`", fragment[i]) >= 0
		})
	}
	if len(u.Requested)+len(u.fragment) > MaxURL {
		return URL{}, TooLong(location, MaxURL, "bytes once its special characters are escaped")
	}
	return u, nil
}

// UpperEscapes returns a URL with the hexadecimal digits of its percent-encoded bytes in upper case. URLs that differ
// only in them are equal (RFC 3986, 6.2.2.1).
func UpperEscapes(url string) string {
	at := strings.IndexByte(url, '%')
	if at < 0 {
		return url
	}
	out := []byte(url)
	for ; at < len(url); at++ {
		if isEscape(url[at:]) {
			copy(out[at:], strings.ToUpper(url[at:at+3]))
		}
	}
	return string(out)
}

// RequestURL returns the Requested form of a stored URL, or the URL itself if it was stored under older rules and
// ParseURL refuses it now.
func RequestURL(stored string) string {
	u, err := ParseURL("url", stored)
	if err != nil {
		return stored
	}
	return u.Requested
}

// Location returns the URL as the value of a Location header, with its fragment. It is Given if that is printable
// ASCII without a backslash and has the host in the form that browsers use, in any case. Otherwise it is the URL
// as a browser normalizes it.
func (u URL) Location() string {
	if u.tidy() {
		return u.Given
	}
	return u.Requested + u.fragment
}

// tidy reports whether Given can be sent unchanged because all clients find the same host in it.
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

// Origin returns the scheme, the host and any non-default port: "https://example.com:8443".
func (u URL) Origin() string {
	scheme, rest, _ := cutWebScheme(u.Requested)
	authority, _ := cutAuthority(rest)
	return scheme + "://" + authority
}

// HostPort returns the host of a canonical URL with any non-default port. It returns a URL that net/url refuses
// unchanged: it cannot be requested.
func HostPort(canonical string) string {
	u, err := url.Parse(canonical)
	if err != nil { // net/url refuses a few hosts that browsers accept
		return canonical
	}
	return u.Host
}
