package middleware

import (
	"net/http"
	"strings"
)

// Base is the base URL by which the client reaches this server: "https://links.example".
// publicURL is PUBLIC_URL, without a slash at its end; "" = the host that the
// request came to.
func Base(publicURL string, r *http.Request) string {
	switch {
	case publicURL != "":
		return publicURL
	case isHTTPS(r):
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// IsHost says whether a request's Host, with any port, is a host; "" is none.
func IsHost(r *http.Request, host string) bool {
	return host != "" && strings.EqualFold(hostname(r.Host), host)
}
