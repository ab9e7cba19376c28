package config

import (
	"fmt"
	"net/netip"
	"strings"
)

// CheckOpen refuses to serve other machines if nobody has to sign in: HTTPHost is not loopback, there is neither an
// account (hasAccounts) nor a setting by which somebody can sign in, and AUTH_DISABLED=true does not say that this is meant.
// Only the command that serves asks it.
func (c Config) CheckOpen(hasAccounts bool) error {
	if isLoopback(c.HTTPHost) || hasAccounts || c.AdminPassword != "" || c.OIDCIssuer != "" || c.AuthProxyHeader != "" || c.AuthDisabled {
		return nil
	}
	return fmt.Errorf("HTTP_HOST=%q would serve other machines without a login: add an account with \"linkwatch user add NAME --role admin --password-stdin\", "+
		"or set ADMIN_PASSWORD, or AUTH_DISABLED=true if everyone may read and change everything, or HTTP_HOST=127.0.0.1 for this machine only", c.HTTPHost)
}

// isLoopback takes any other host name for reachable: where it leads is known only to the resolver.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return strings.EqualFold(host, "localhost")
	}
	return addr.Unmap().IsLoopback()
}
