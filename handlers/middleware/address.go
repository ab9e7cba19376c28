package middleware

import (
	"net"
	"net/http"
	"strings"
)

// Addresses are the ways to this program from outside.
type Addresses struct {
	PublicURL string // PUBLIC_URL, without a slash at its end; "" = whatever host a request came to
	ShortHost string // SHORT_HOST; "" = none
}

// Base is where whoever sent r reaches this program: "https://links.example".
func (a Addresses) Base(r *http.Request) string {
	switch {
	case a.PublicURL != "":
		return a.PublicURL
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// Short is the address of a short link below a base (contract §5).
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

// IsShortHost says whether a request's Host, with any port, is SHORT_HOST.
func (a Addresses) IsShortHost(host string) bool {
	return a.ShortHost != "" && strings.EqualFold(hostname(host), a.ShortHost)
}
