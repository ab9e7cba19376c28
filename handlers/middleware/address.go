package middleware

import (
	"net/http"
	"strings"
)

// Base returns the base URL of this server for the client: "https://links.example". It may have a path. publicURL is
// PUBLIC_URL without a trailing slash; "" = the Host of the request.
func Base(publicURL string, r *http.Request) string {
	switch {
	case publicURL != "":
		return publicURL
	case isHTTPS(r):
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// IsHost reports whether a request's Host, without the port, is host. It is false for "".
func IsHost(r *http.Request, host string) bool {
	return host != "" && strings.EqualFold(hostname(r.Host), host)
}
