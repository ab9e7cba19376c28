package outbound

import (
	"net/netip"
	"syscall"

	"code.dny.dev/ssrf"
)

// guard returns a net.Dialer.Control that refuses every address that is not public, except those in allow
// (OUTBOUND_ALLOW_CIDRS). Not public are private, loopback, link-local, CGNAT, NAT64, multicast, unspecified and the other
// special ranges of the IANA registries. It checks the address after name resolution, right before the connection, which
// prevents DNS rebinding. All ports are allowed.
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

// addressGuard returns a function that returns an error for addresses that are not public and not in allow.
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
	// ::ffff:10.0.0.1 is 10.0.0.1, and fe80::1%eth0 is in fe80::/10, but netip does not treat them so.
	return func(ip netip.Addr) error { return g.SafeAddr(ip.Unmap().WithZone("")) }
}
