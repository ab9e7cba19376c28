package outbound

import (
	"net/netip"
	"strings"
)

// publicAddress returns an error for an address that is not public. OUTBOUND_ALLOW_CIDRS does not apply, because it is for
// the network of this program, not of a browser.
var publicAddress = addressGuard(nil)

// privateZones are the top-level names of local networks and this machine, which are not in the public DNS.
var privateZones = map[string]bool{
	"localhost": true, "local": true, "localdomain": true, "internal": true, "intranet": true, "private": true,
	"lan": true, "home": true, "corp": true,
}

// publicHost reports whether the host of a URL is public. Special addresses, names without a dot and names in a private zone
// are not. Names are not resolved, because the browser may get another address: a public name may resolve to a private
// address.
func publicHost(rawURL string) bool {
	u, err := browserURLs.Parse(rawURL)
	if err != nil {
		return false
	}
	host := strings.TrimRight(u.Hostname(), ".")
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return publicAddress(ip) == nil
	}
	dot := strings.LastIndexByte(host, '.')
	return dot > 0 && !privateZones[host[dot+1:]] && host != "home.arpa" && !strings.HasSuffix(host, ".home.arpa")
}
