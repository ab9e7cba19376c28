package config

import (
	"fmt"
	"net/netip"
	"strings"
)

// CheckOpen returns an error if other machines could use the server without a login. That is so if HTTPHost is not
// loopback, there are no accounts (hasAccounts), no setting enables a login, and AUTH_DISABLED is not true.
func (c Config) CheckOpen(hasAccounts bool) error {
	if isLoopback(c.HTTPHost) || hasAccounts || c.AdminPassword != "" || c.OIDCIssuer != "" || c.AuthProxyHeader != "" || c.AuthDisabled {
		return nil
	}
	return fmt.Errorf("HTTP_HOST=%q lets other machines in without a login: add an account with \"linkwatch user add NAME --role admin --password-stdin\", "+
		"set ADMIN_PASSWORD, set AUTH_DISABLED=true if everyone may read and change everything, or set HTTP_HOST=127.0.0.1 for this machine only", c.HTTPHost)
}

// isLoopback reports false for all host names but localhost: only the resolver knows their addresses.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return strings.EqualFold(host, "localhost")
	}
	return addr.Unmap().IsLoopback()
}
