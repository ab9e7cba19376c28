package config

import (
	"fmt"
	"net/netip"
	"strings"
)

// CheckOpen refuses to serve other machines when nobody would have to log in: HTTPHost is not loopback, there is no
// ADMIN_PASSWORD, and AUTH_DISABLED=true does not say that this is meant. It is asked before anything is opened, and
// only by the command that serves.
func (c Config) CheckOpen() error {
	if isLoopback(c.HTTPHost) || c.AdminPassword != "" || c.AuthDisabled {
		return nil
	}
	return fmt.Errorf("HTTP_HOST=%q would serve other machines without a login: set ADMIN_PASSWORD, "+
		"or AUTH_DISABLED=true if everyone may read and change everything, or HTTP_HOST=127.0.0.1 for this machine only", c.HTTPHost)
}

// isLoopback takes any other host name for reachable: where it leads is known only to the resolver.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return strings.EqualFold(host, "localhost")
	}
	return addr.Unmap().IsLoopback()
}
