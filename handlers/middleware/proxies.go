package middleware

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// maxHops is how many addresses of X-Forwarded-For are looked at, from the last one on.
const maxHops = 32

type (
	httpsKey      struct{}
	connectionKey struct{}
)

// BehindProxies believes what trusted proxies (TRUSTED_PROXIES) say about a request: in
// X-Forwarded-For where it comes from, in X-Forwarded-Proto whether that was by HTTPS. Each
// proxy adds an address behind those that it was sent, so the client is the last address that
// is not one of a trusted proxy. All else in these headers may be made up by the client.
// Requests of all others are left as they are.
func BehindProxies(trusted []netip.Prefix, next http.Handler) http.Handler {
	if len(trusted) == 0 {
		return next
	}
	isTrusted := func(a netip.Addr) bool {
		return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from := peer(r); isTrusted(from) {
			ctx := context.WithValue(r.Context(), connectionKey{}, from)
			if lastOf(r.Header["X-Forwarded-Proto"]) == "https" {
				ctx = context.WithValue(ctx, httpsKey{}, true)
			}
			r = r.WithContext(ctx) // a copy: the server's own request stays as it is
			r.RemoteAddr = netip.AddrPortFrom(clientOf(r.Header["X-Forwarded-For"], from, isTrusted), 0).String()
		}
		next.ServeHTTP(w, r)
	})
}

// clientOf is the last address in X-Forwarded-For that is not trusted. Without one, and at
// what is no address, it is the address that was reached so far, first of all that of the connection.
func clientOf(forwarded []string, from netip.Addr, isTrusted func(netip.Addr) bool) netip.Addr {
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for _, hop := range slices.Backward(hops[max(0, len(hops)-maxHops):]) {
		addr, ok := parseHop(strings.TrimSpace(hop))
		if !ok {
			return from
		}
		if from = addr; !isTrusted(from) {
			return from
		}
	}
	return from
}

// parseHop reads an address, which some proxies write with a port.
func parseHop(s string) (netip.Addr, bool) {
	if with, err := netip.ParseAddrPort(s); err == nil {
		return with.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	return addr.Unmap().WithZone(""), err == nil
}

// lastOf is the last value of a header, which is that of the last proxy.
func lastOf(values []string) string {
	all := strings.Split(strings.Join(values, ","), ",")
	return strings.ToLower(strings.TrimSpace(all[len(all)-1]))
}

// isHTTPS says whether the client came by HTTPS, to this server or to a trusted proxy.
func isHTTPS(r *http.Request) bool {
	by, _ := r.Context().Value(httpsKey{}).(bool)
	return by || r.TLS != nil
}

// connection is the address at the other end of the connection: that of the last proxy, if there is one.
func connection(r *http.Request) netip.Addr {
	if from, ok := r.Context().Value(connectionKey{}).(netip.Addr); ok {
		return from
	}
	return peer(r)
}
