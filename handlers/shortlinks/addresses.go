package shortlinks

import (
	"net"
	"strings"
)

// Addresses are the ways to a short link from outside.
type Addresses struct {
	PublicURL string // PUBLIC_URL, without a slash at its end; "" = the host that a request came to
	ShortHost string // SHORT_HOST; "" = none
}

// Short is the address of a short link below a base.
func (a Addresses) Short(base, key string) string { return base + "/s/" + key }

// ShortHostURL is the address of a short link at SHORT_HOST, with the scheme and
// the port of a base: it is the same server; "" without a SHORT_HOST.
func (a Addresses) ShortHostURL(base, key string) string {
	if a.ShortHost == "" {
		return ""
	}
	scheme, authority, _ := strings.Cut(base, "://")
	host := a.ShortHost
	if _, port, err := net.SplitHostPort(authority); err == nil {
		host = net.JoinHostPort(host, port)
	} else if strings.Contains(host, ":") { // an IPv6 address
		host = "[" + host + "]"
	}
	return scheme + "://" + host + "/" + key
}
