package outbound

import (
	"net/netip"
	"syscall"

	"code.dny.dev/ssrf"
)

// guard returns a net.Dialer.Control that refuses every address outside the public internet, except those in allow:
// private, loopback, link-local, CGNAT, NAT64, multicast, unspecified and the other special ranges of the IANA
// registries (OUTBOUND_ALLOW_CIDRS). It sees the address about to be connected to, after name resolution,
// so that a name which resolves differently the second time gains nothing. Any port may be dialed.
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
