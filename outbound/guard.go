package outbound

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// guard returns a net.Dialer.Control that refuses every address outside the public internet, except those in allow:
// private, loopback, link-local, CGNAT, NAT64, multicast, unspecified and the other special ranges of the IANA
// registries (contract §8, OUTBOUND_ALLOW_CIDRS). It sees the address about to be connected to, after name resolution,
// so that a name which resolves differently the second time gains nothing. Any port may be dialled.
func guard(allow []netip.Prefix) func(network, address string, _ syscall.RawConn) error {
	safe := addressGuard(allow)
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return ssrf.ErrInvalidHostPort
		}
		return safe(to.Addr())
	}
}

// addressGuard returns the function that refuses an address.
func addressGuard(allow []netip.Prefix) func(netip.Addr) error {
	var v4, v6 []netip.Prefix
	for _, p := range allow {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	g := ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	// ::ffff:10.0.0.1 is 10.0.0.1, and fe80::1%eth0 is in fe80::/10: netip keeps both apart.
	return func(ip netip.Addr) error { return g.SafeAddr(ip.Unmap().WithZone("")) }
}

const urlLimit = 2048 // bytes (contract §1)

// parseURL reads a URL that may be requested: http or https, a host, no user:password, at most 2048 bytes
// (contract §1, URL input).
func parseURL(raw string) (*url.URL, bool) {
	u, err := url.Parse(raw)
	return u, err == nil && len(raw) <= urlLimit && validURL(u)
}

func validURL(u *url.URL) bool {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return (u.Scheme == "http" || u.Scheme == "https") &&
		u.Hostname() != "" && u.User == nil && len(u.String()) <= urlLimit &&
		(u.Port() == "" || err == nil && port > 0)
}

// hostKey names the host of u for politeness: lower case, with the port only if it is not the scheme's own.
func hostKey(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		return host
	}
	return net.JoinHostPort(host, port)
}
