package middleware

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// maxHops is the maximum number of addresses read from X-Forwarded-For, starting at the last.
const maxHops = 32

type (
	httpsKey      struct{}
	connectionKey struct{}
)

// BehindProxies sets the client address and scheme of requests from trusted proxies
// (TRUSTED_PROXIES), from X-Forwarded-For and X-Forwarded-Proto. Each proxy appends an address, so
// the client is the last address that is not a trusted proxy; earlier values may be forged.
// Requests from other addresses are not changed.
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
			r = r.WithContext(ctx) // a copy: the original request must not change
			r.RemoteAddr = netip.AddrPortFrom(clientOf(r.Header["X-Forwarded-For"], from, isTrusted), 0).String()
		}
		next.ServeHTTP(w, r)
	})
}

// clientOf returns the last address in X-Forwarded-For that is not trusted. If there is none, or
// a value is not an address, it returns the last address before it, starting with from.
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

// parseHop parses an address. Some proxies add a port.
func parseHop(s string) (netip.Addr, bool) {
	if with, err := netip.ParseAddrPort(s); err == nil {
		return with.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	return addr.Unmap().WithZone(""), err == nil
}

// lastOf returns the last value of a header, which the nearest proxy has added.
func lastOf(values []string) string {
	all := strings.Split(strings.Join(values, ","), ",")
	return strings.ToLower(strings.TrimSpace(all[len(all)-1]))
}

// isHTTPS reports whether the client uses HTTPS, to this server or to a trusted proxy.
func isHTTPS(r *http.Request) bool {
	by, _ := r.Context().Value(httpsKey{}).(bool)
	return by || r.TLS != nil
}

// connection returns the peer address of the connection: the nearest proxy, or the client.
func connection(r *http.Request) netip.Addr {
	if from, ok := r.Context().Value(connectionKey{}).(netip.Addr); ok {
		return from
	}
	return peer(r)
}
