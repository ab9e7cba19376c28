package models

import (
	"net/url"
	"strings"
	"unicode/utf8"
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
		u.fragment = "#" + escapeBytes(fragment, func(i int) bool {
			return fragment[i] <= ' ' || fragment[i] >= 0x7f || strings.IndexByte("\"<>`", fragment[i]) >= 0
		})
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

// HostPort returns the host of a canonical URL, with its port if that is not the
// scheme's own. A canonical URL that net/url refuses is returned whole: it
// cannot be requested.
func HostPort(canonical string) string {
	u, err := url.Parse(canonical)
	if err != nil { // net/url refuses a few hosts that browsers accept
		return canonical
	}
	return u.Host
}
