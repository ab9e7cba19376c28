package accounts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/accounts"
)

func TestTokens(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		alice, bob := s.add("alice", accounts.Admin), s.add("bob", accounts.Editor)
		tok, secret, err := s.AddToken(s.ctx(alice), alice, accounts.NewToken{Name: " Backup ", Scopes: []string{"links:write", "read", "read"}, ExpiresAt: s.Now().Add(time.Hour), By: accounts.Admin})
		s.must(err)
		if tok.Name != "Backup" || strings.Join(tok.Scopes, " ") != "links:write read" || !strings.HasPrefix(secret, accounts.TokenPrefix) {
			t.Errorf("token: got %+v", tok)
		}
		o, ok, expired, err := s.ByToken(ctx, secret, "203.0.113.7")
		if err != nil || !ok || expired || o.Username != "alice" || o.Token.ID != tok.ID || strings.Join(o.Token.Scopes, " ") != "links:write read" {
			t.Fatalf("got %+v, %v, %v, %v", o, ok, expired, err)
		}
		for _, wrong := range []string{"", "lw_", secret[3:], secret + "x", secret[:len(secret)-1], "lw_" + strings.Repeat("A", 5000), tok.ID} {
			if _, ok, _, err := s.ByToken(ctx, wrong, ""); ok || err != nil {
				t.Errorf("secret %.40q: got %v, %v; want no account", wrong, ok, err)
			}
		}
		for _, bad := range []accounts.NewToken{
			{Scopes: []string{"read"}, By: accounts.Admin}, {Name: "n", By: accounts.Admin}, {Name: "n", Scopes: []string{"all"}, By: accounts.Admin},
			{Name: "n", Scopes: []string{"admin:read"}, By: accounts.Admin}, {Name: "n", Scopes: []string{"links"}, By: accounts.Admin},
			{Name: strings.Repeat("n", 101), Scopes: []string{"read"}, By: accounts.Admin}, {Name: "n", Scopes: slices.Repeat([]string{"read"}, 21), By: accounts.Admin},
			{Name: "n", Scopes: []string{"read"}, ExpiresAt: s.Now(), By: accounts.Admin},
			{Name: "n", Scopes: []string{"admin"}, By: accounts.Editor}, {Name: "n", Scopes: []string{"links:write"}, By: accounts.Viewer},
		} {
			_, _, err := s.AddToken(s.ctx(alice), alice, bad)
			wantCode(t, err, models.CodeInvalid)
		}
		wantCode(t, s.Revoke(s.ctx(bob), &bob, tok.ID), models.CodeNotFound)
		l, err := s.Tokens(ctx, &bob, models.Cursor{}, 10)
		if err != nil || len(l.Items) != 0 {
			t.Errorf("tokens of bob: got %d, %v; want 0", len(l.Items), err)
		}
		s.must(s.Flush(ctx))
		l, err = s.Tokens(ctx, nil, models.Cursor{}, 10)
		if err != nil || len(l.Items) != 1 || l.Items[0].Username != "alice" || !l.Items[0].LastUsedAt.Equal(s.Now().Time) {
			t.Errorf("all tokens: got %+v, %v", l.Items, err)
		}
		s.clock.Advance(time.Hour)
		if _, ok, expired, err := s.ByToken(ctx, secret, ""); ok || !expired || err != nil {
			t.Errorf("expired token: got %v, %v, %v", ok, expired, err)
		}
		_, noExpiry, err := s.AddToken(s.ctx(bob), bob, accounts.NewToken{Name: "n", Scopes: []string{"read"}, By: accounts.Editor})
		s.must(err)
		_, err = s.Edit(ctx, bob.ID, accounts.Edit{Disabled: new(true)})
		s.must(err)
		if _, ok, _, err := s.ByToken(ctx, noExpiry, ""); ok || err != nil {
			t.Errorf("token of a disabled account: got %v, %v", ok, err)
		}
		_, err = s.Edit(ctx, bob.ID, accounts.Edit{Disabled: new(false)})
		s.must(err)
		if _, ok, _, err := s.ByToken(ctx, noExpiry, ""); !ok || err != nil {
			t.Errorf("token of an account that was enabled again: got %v, %v", ok, err)
		}
		s.must(s.Delete(ctx, bob.ID))
		_, err = s.Restore(ctx, bob.ID)
		s.must(err)
		if _, ok, _, err := s.ByToken(ctx, noExpiry, ""); ok || err != nil {
			t.Errorf("token of a restored account: got %v, %v", ok, err)
		}
		s.must(s.Revoke(s.ctx(alice), &alice, tok.ID))
		wantCode(t, s.Revoke(s.ctx(alice), &alice, tok.ID), models.CodeNotFound)
	})
}

func TestScopes(t *testing.T) {
	for _, c := range []struct {
		scopes string
		want   map[string]accounts.Role
	}{
		{"read", map[string]accounts.Role{"": accounts.Viewer, "links": accounts.Viewer}},
		{"write", map[string]accounts.Role{"": accounts.Editor, "links": accounts.Editor}},
		{"admin", map[string]accounts.Role{"": accounts.Admin, "crawl": accounts.Admin}},
		{"links:read", map[string]accounts.Role{"": "", "links": accounts.Viewer, "targets": ""}},
		{"links:write read", map[string]accounts.Role{"": accounts.Viewer, "links": accounts.Editor, "targets": accounts.Viewer}},
		{"", map[string]accounts.Role{"": "", "links": ""}},
	} {
		for system, want := range c.want {
			if got := accounts.Scopes(strings.Fields(c.scopes)).Allow(system); got != want {
				t.Errorf("scopes %q in system %q: got %q, want %q", c.scopes, system, got, want)
			}
		}
	}
}
