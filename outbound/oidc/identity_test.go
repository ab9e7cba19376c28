package oidc

import (
	"slices"
	"strings"
	"testing"

	"linkwatch/outbound/oidc/standin"
)

func TestRole(t *testing.T) {
	mapping := map[string]string{"staff": "editor", "ops": "admin", "guests": "viewer", "cn=ops": "admin", "odd": "owner"}
	for _, tt := range []struct {
		values   []string
		fallback string
		want     string
	}{
		{nil, "none", ""},
		{nil, "", ""},
		{nil, "viewer", "viewer"},
		{[]string{"staff"}, "none", "editor"},
		{[]string{"guests", "ops", "staff"}, "none", "admin"},
		{[]string{"guests", "unknown"}, "admin", "viewer"}, // the default applies only if no value matches
		{[]string{"Staff", "unknown", ""}, "none", ""},
		{[]string{"Staff"}, "editor", "editor"},
		{[]string{"cn=ops"}, "none", "admin"},
		{[]string{"odd"}, "none", ""},
		{nil, "owner", ""},
	} {
		if got, ok := Role(tt.values, mapping, tt.fallback); got != tt.want || ok != (tt.want != "") {
			t.Errorf("values %q, default %q: got %q, %v; want %q", tt.values, tt.fallback, got, ok, tt.want)
		}
	}
	if role, ok := Role([]string{"admin"}, nil, "none"); ok {
		t.Errorf("without a mapping: got %q", role)
	}
}

func TestAllowedDomain(t *testing.T) {
	domains := []string{"example.com", "other.example", "kiosk.example"}
	for email, want := range map[string]bool{
		"ann@example.com": true, "Ann@EXAMPLE.com": true, "ann@other.example": true,
		"ann@sub.example.com": false, "ann@notexample.com": false, "ann@example.com.evil.example": false, "ann@example.com.": false,
		"ann@evil.example@example.com": false, "ann@example.com@evil.example": false, "@example.com": false, "example.com": false, "": false,
		"ann@": false, "ann@example.com ": false, "ann@\u212aiosk.example": false, "ann@KIOSK.example": true,
	} {
		if got := AllowedDomain(email, true, domains); got != want {
			t.Errorf("%q: got %v, want %v", email, got, want)
		}
		if AllowedDomain(email, false, domains) {
			t.Errorf("unverified %q is allowed", email)
		}
		if !AllowedDomain(email, false, nil) {
			t.Errorf("%q is refused without allowed domains", email)
		}
	}
}

func TestUsername(t *testing.T) {
	for _, tt := range []struct {
		id   Identity
		want string
	}{
		{Identity{Subject: "1", Username: "Ann.Lee_2-x"}, "ann.lee_2-x"},
		{Identity{Subject: "1", Username: "ann@example.com"}, "ann-example.com"},
		{Identity{Subject: "1", Username: "  Ann   Lee  "}, "ann-lee"},
		{Identity{Subject: "1", Username: "Jürgen"}, "j-rgen"},
		{Identity{Subject: "1", Username: "山田", Email: "yamada+x@example.com"}, "yamada-x"},
		{Identity{Subject: "auth0|5f7c", Email: "@example.com"}, "auth0-5f7c"},
		{Identity{Subject: "--"}, "user"},
		{Identity{Subject: "1", Username: strings.Repeat("a", 63) + "..b"}, strings.Repeat("a", 63)},
		{Identity{Subject: "1", Username: "../../etc"}, "etc"},
	} {
		if got := Username(tt.id); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.id, got, tt.want)
		}
	}
}

func FuzzUsername(f *testing.F) {
	f.Add("Ann", "ann@example.com", "1")
	f.Add("山田", "@", "\xff\x00")
	f.Fuzz(func(t *testing.T, name, email, subject string) {
		got := Username(Identity{Username: name, Email: email, Subject: subject})
		if got == "" || len(got) > 64 || strings.Trim(got, "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" || strings.Trim(got, "._-") != got {
			t.Errorf("%q, %q, %q: got %q", name, email, subject, got)
		}
		if again := Username(Identity{Username: got}); again != got {
			t.Errorf("Username of %q: got %q, want no change", got, again)
		}
	})
}

// The role claim is a text or a list of texts. Invalid claims count as missing.
func TestClaims(t *testing.T) {
	w := start(t, nil)
	for _, tt := range []struct {
		claims map[string]any
		want   Identity
	}{
		{map[string]any{"groups": "staff"}, Identity{RoleValues: []string{"staff"}}},
		{map[string]any{"groups": []any{"a", 1, nil, "", []string{"b"}, "c d", "x\n"}}, Identity{RoleValues: []string{"a", "c d"}}},
		{map[string]any{"groups": map[string]any{"staff": true}}, Identity{}},
		{map[string]any{"groups": 7}, Identity{}},
		{map[string]any{"groups": slices.Repeat([]string{"a"}, 1500)}, Identity{RoleValues: slices.Repeat([]string{"a"}, 1000)}},
		{map[string]any{"email": "a@example.com", "email_verified": "true"}, Identity{Email: "a@example.com", EmailVerified: true}},
		{map[string]any{"email": "a@example.com", "email_verified": "false"}, Identity{Email: "a@example.com"}},
		{map[string]any{"email": "a@example.com", "email_verified": 1}, Identity{Email: "a@example.com"}},
		{map[string]any{"email": "a@example.com"}, Identity{Email: "a@example.com"}},
		{map[string]any{"email": []string{"a@example.com"}, "email_verified": true}, Identity{}},
		{map[string]any{"email_verified": true}, Identity{}},
		{map[string]any{"preferred_username": "x\r\ny"}, Identity{}},
		{map[string]any{"preferred_username": strings.Repeat("x", 513)}, Identity{}},
		{map[string]any{"preferred_username": map[string]any{}}, Identity{}},
	} {
		w.SetUser(standin.User{Subject: "1", Claims: tt.claims})
		tt.want.Issuer, tt.want.Subject = w.URL, "1"
		got, err := w.signIn()
		if err != nil || got.Email != tt.want.Email || got.EmailVerified != tt.want.EmailVerified || got.Username != tt.want.Username || !slices.Equal(got.RoleValues, tt.want.RoleValues) {
			t.Errorf("%.80v: got %.200v, %v", tt.claims, got, err)
		}
	}
}
