package models

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// MaxURL is how long a URL may be, in bytes (contract §1).
const MaxURL = 2048

// URL is a web address that was checked. Make one with ParseURL.
type URL struct {
	Given     string // as it was written, without space around it
	Canonical string // what tells whether two addresses are the same
	Host      string // lower-case, punycode, without the port
}

// ParseURL checks an address as contract §1 says (http or https, a host, no
// user or password, at most MaxURL bytes) and makes its canonical form in the
// order of seed 000: scheme and host in lower case, no default port, no
// fragment, no slashes at the end of the path. The query stays as it is.
// location names the member in the error, which is CodeInvalid.
func ParseURL(location, s string) (URL, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return URL{}, Invalid(location, "is missing; give an address such as https://example.com/page")
	}
	if len(s) > MaxURL {
		return URL{}, Invalid(location, "is longer than %d bytes", MaxURL)
	}
	u, err := url.Parse(s)
	if err != nil || strings.ToValidUTF8(s, "") != s {
		return URL{}, Invalid(location, "is not an address that can be read; check it for stray characters")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return URL{}, Invalid(location, "must start with http:// or https://")
	}
	if u.User != nil {
		return URL{}, Invalid(location, "must not hold a user name or password")
	}
	host, ok := canonicalHost(u.Hostname())
	if !ok {
		return URL{}, Invalid(location, "has no host name that can be used")
	}
	authority, ok := withPort(host, u.Scheme, u.Port())
	if !ok {
		return URL{}, Invalid(location, "has a port that is not a number from 1 to 65535")
	}
	canonical := u.Scheme + "://" + authority + strings.TrimRight(u.EscapedPath(), "/")
	if u.RawQuery != "" || u.ForceQuery {
		canonical += "?" + u.RawQuery
	}
	if len(canonical) > MaxURL {
		return URL{}, Invalid(location, "is longer than %d bytes once its special characters are escaped", MaxURL)
	}
	return URL{Given: s, Canonical: canonical, Host: host}, nil
}

// canonicalHost is a host in lower case, an international one in punycode.
func canonicalHost(h string) (string, bool) {
	h = strings.ToLower(h)
	if strings.Contains(h, ":") { // an IPv6 address
		ip, err := netip.ParseAddr(h)
		return ip.String(), err == nil && ip.Zone() == ""
	}
	if !isASCII(h) {
		var err error
		if h, err = idna.Lookup.ToASCII(h); err != nil {
			return "", false
		}
	}
	// url.Parse lets through what no host has: quotes, brackets, commas.
	const allowed = "abcdefghijklmnopqrstuvwxyz0123456789-._"
	ok := h != "" && len(h) <= 253 && strings.Trim(h, allowed) == "" &&
		!strings.HasPrefix(h, ".") && !strings.Contains(h, "..") // each label has a name
	return h, ok
}

// withPort is the host with its port, unless that is the scheme's own.
func withPort(host, scheme, port string) (string, bool) {
	bare := host
	if strings.Contains(host, ":") {
		bare = "[" + host + "]"
	}
	if port == "" {
		return bare, true
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 65535 {
		return "", false
	}
	if scheme == "http" && n == 80 || scheme == "https" && n == 443 {
		return bare, true
	}
	return net.JoinHostPort(host, strconv.Itoa(n)), true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
