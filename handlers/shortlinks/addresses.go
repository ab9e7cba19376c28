package shortlinks

import (
	"net"
	"strings"
)

// shortURL is the address of a short link below a base.
func shortURL(base, key string) string { return base + "/s/" + key }

// shortHostURL is the address of a short link at a host (SHORT_HOST), with the
// scheme and the port of a base: it is the same server; "" without a host.
func shortHostURL(host, base, key string) string {
	if host == "" {
		return ""
	}
	scheme, authority, _ := strings.Cut(base, "://")
	if _, port, err := net.SplitHostPort(authority); err == nil {
		host = net.JoinHostPort(host, port)
	} else if strings.Contains(host, ":") { // an IPv6 address
		host = "[" + host + "]"
	}
	return scheme + "://" + host + "/" + key
}
