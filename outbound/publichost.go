package outbound

import (
	"net/netip"
	"strings"
)

// publicAddress is the address guard without exceptions. OUTBOUND_ALLOW_CIDRS does not apply: it is about the network of
// this program, not of a browser.
var publicAddress = addressGuard(nil)

// privateZones are the top-level names that no public DNS has: for names in a local network, or for this machine.
var privateZones = map[string]bool{
	"localhost": true, "local": true, "localdomain": true, "internal": true, "intranet": true, "private": true,
	"lan": true, "home": true, "corp": true,
}

// publicHost reports whether a browser that loads the URL sends the request to the public internet, as far as the host
// tells. It is false for addresses that the address guard refuses, for names without a dot, and for names in private
// zones. Names are not resolved, since they may lead elsewhere for the browser and at another time: a public name may
// stand for a private address.
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
