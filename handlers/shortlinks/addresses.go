package shortlinks

import (
	"net"
	"strings"
)

func shortURL(base, key string) string { return base + "/s/" + key }

// shortHostURL returns the URL of a short link at SHORT_HOST, with the scheme and port
// of base. It is "" if host is.
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
