package config

import (
	"maps"
	"strings"
	"testing"
)

// Some access settings require others. The error names the missing one.
func TestAccessRequirements(t *testing.T) {
	issuer := []string{"OIDC_ISSUER", "https://id.example"}
	with := func(more ...string) []string { return append(issuer[:2:2], more...) }
	for _, tt := range []struct {
		want string // the variable with the error; "" = none
		set  []string
	}{
		{"", with("OIDC_CLIENT_ID", "x", "PUBLIC_URL", "https://links.example")},
		{"OIDC_CLIENT_ID", with("PUBLIC_URL", "https://links.example")},
		{"PUBLIC_URL", with("OIDC_CLIENT_ID", "x")},
		{"", []string{"OIDC_ISSUER", "http://127.0.0.1:5556", "OIDC_CLIENT_ID", "x"}}, // for development
		{"", []string{"OIDC_CLIENT_ID", "x", "OIDC_CLIENT_SECRET", "hunter2", "OIDC_ALLOWED_DOMAINS", "example.com"}},
		{"OIDC_ROLES", []string{"OIDC_ROLES", "staff=editor"}},
		{"", []string{"OIDC_ROLE_CLAIM", "groups"}},
		{"AUTH_PROXY_FROM", []string{"AUTH_PROXY_HEADER", "Remote-User"}},
		{"AUTH_PROXY_FROM", []string{"AUTH_PROXY_FROM", "127.0.0.1"}},
		{"AUTH_JWT_ISSUER", []string{"AUTH_JWT_ISSUER", "https://id.example"}},
		{"AUTH_JWT_AUDIENCE", []string{"AUTH_JWT_AUDIENCE", "linkwatch"}},
		{"AUTH_JWT_MAX_AGE", []string{"AUTH_JWT_MAX_AGE", "1h"}},
	} {
		_, err := load(tt.set...)
		if tt.want == "" && err != nil {
			t.Errorf("%q: %v", tt.set, err)
		}
		if tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want+"=") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q: got %v, want an error for %s", tt.set, err, tt.want)
		}
	}
	if _, err := load("OIDC_ISSUER", "https://u:hunter2@id.example"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("password shown: %v", err)
	}
}

func TestOIDCRoleMap(t *testing.T) {
	c, err := load("OIDC_ROLE_CLAIM", "groups", "OIDC_ROLES", "staff=editor, cn=ops = admin")
	if want := map[string]string{"staff": "editor", "cn=ops": "admin"}; err != nil || !maps.Equal(c.OIDCRoleMap(), want) {
		t.Errorf("got %v, %v", c.OIDCRoleMap(), err)
	}
	if c.OIDCClientSecret = "hunter2"; strings.Contains(setting(c, "OIDC_CLIENT_SECRET").Value, "hunter2") {
		t.Error("secret shown")
	}
}
