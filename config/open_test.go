package config

import (
	"strings"
	"testing"
)

func TestCheckOpen(t *testing.T) {
	tests := []struct {
		name    string
		vars    []string
		account bool
		refused bool
	}{
		{name: "default"},
		{name: "all of IPv4", vars: []string{"HTTP_HOST", "0.0.0.0"}, refused: true},
		{name: "all of IPv6", vars: []string{"HTTP_HOST", "::"}, refused: true},
		{name: "private address", vars: []string{"HTTP_HOST", "192.168.1.2"}, refused: true},
		{name: "host name", vars: []string{"HTTP_HOST", "links.example"}, refused: true},
		{name: "name like localhost", vars: []string{"HTTP_HOST", "localhost.example"}, refused: true},
		{name: "localhost", vars: []string{"HTTP_HOST", "LocalHost"}},
		{name: "other loopback address", vars: []string{"HTTP_HOST", "127.9.9.9"}},
		{name: "IPv6 loopback", vars: []string{"HTTP_HOST", "::1"}},
		{name: "mapped loopback", vars: []string{"HTTP_HOST", "::ffff:127.0.0.1"}},
		{name: "password", vars: []string{"HTTP_HOST", "0.0.0.0", "ADMIN_PASSWORD", "x"}},
		{name: "account", vars: []string{"HTTP_HOST", "0.0.0.0"}, account: true},
		{name: "single sign-on", vars: []string{"HTTP_HOST", "0.0.0.0", "OIDC_ISSUER", "https://id.example", "OIDC_CLIENT_ID", "x", "PUBLIC_URL", "https://links.example"}},
		{name: "reverse proxy", vars: []string{"HTTP_HOST", "0.0.0.0", "AUTH_PROXY_HEADER", "Remote-User", "AUTH_PROXY_FROM", "127.0.0.1"}},
		{name: "JWTs, which leave the pages open", vars: []string{"HTTP_HOST", "0.0.0.0", "AUTH_JWT_SECRET", "0123456789abcdef"}, refused: true},
		{name: "disabled", vars: []string{"HTTP_HOST", "0.0.0.0", "AUTH_DISABLED", "true"}},
		{name: "not disabled", vars: []string{"HTTP_HOST", "0.0.0.0", "AUTH_DISABLED", "false"}, refused: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := load(tt.vars...)
			if err != nil {
				t.Fatal(err)
			}
			err = c.CheckOpen(tt.account)
			if (err != nil) != tt.refused {
				t.Fatalf("got %v, want refused %v", err, tt.refused)
			}
			if err == nil {
				return
			}
			for _, fix := range []string{"linkwatch user add NAME --role admin --password-stdin", "ADMIN_PASSWORD", "AUTH_DISABLED=true", "HTTP_HOST=127.0.0.1"} {
				if !strings.Contains(err.Error(), fix) {
					t.Errorf("%q does not name %s", err, fix)
				}
			}
		})
	}
}
