package oidc

import (
	"net/url"
	"reflect"
	"strings"
	"testing"

	"linkwatch/outbound/oidc/standin"
)

// A refresh returns the user as the provider knows the user now, and the next refresh token.
func TestRefresh(t *testing.T) {
	w := start(t, func(s *standin.Server, _ *Options) { s.Refreshes = true })
	w.SetUser(standin.User{Subject: "1", Email: "ann@example.com", Verified: true, Claims: map[string]any{"groups": "staff"}})
	l, err := w.Begin(t.Context(), redirectURL)
	if err != nil {
		t.Fatal(err)
	}
	code, err := w.followLogin(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	_, first, err := w.Finish(t.Context(), l, code, redirectURL)
	if err != nil || first.RefreshToken == "" || strings.Count(first.IDToken, ".") != 2 {
		t.Fatalf("got %+v, %v", first, err)
	}
	w.SetUser(standin.User{Subject: "1", Email: "ann@example.com", Verified: true, Claims: map[string]any{"groups": "ops"}})
	id, next, err := w.Refresh(t.Context(), first.RefreshToken)
	want := Identity{Issuer: w.URL, Subject: "1", Email: "ann@example.com", EmailVerified: true, RoleValues: []string{"ops"}}
	if err != nil || !reflect.DeepEqual(id, want) || next.RefreshToken == first.RefreshToken || next.IDToken == "" {
		t.Errorf("got %+v, %+v, %v", id, next, err)
	}
	for _, token := range []string{first.RefreshToken, "unknown"} {
		_, _, err = w.Refresh(t.Context(), token)
		w.wantKind("no longer valid", err, KindExpired)
		if strings.Contains(w.log.String(), token) && token != "unknown" {
			t.Errorf("the log has a refresh token: %s", w.log.String())
		}
	}
	w.SetFaults(standin.NoIDToken)
	id, last, err := w.Refresh(t.Context(), next.RefreshToken)
	if err != nil || id.Subject != "" || last.RefreshToken == "" {
		t.Errorf("without an ID token: got %+v, %+v, %v", id, last, err)
	}
	w.SetFaults(standin.BrokenSignature)
	_, rotated, err := w.Refresh(t.Context(), last.RefreshToken)
	w.wantKind("wrong signature", err, KindRejected)
	if rotated.RefreshToken == "" || rotated.RefreshToken == last.RefreshToken {
		t.Errorf("wrong signature: got %+v", rotated)
	}
	w.SetFaults(standin.Fail("token"))
	_, _, err = w.Refresh(t.Context(), last.RefreshToken)
	w.wantKind("down", err, KindUnavailable)
}

// A silent sign-in asks the provider to show no page.
func TestBeginSilent(t *testing.T) {
	w := start(t, nil)
	l, err := w.BeginSilent(t.Context(), redirectURL, strings.Repeat("x", maxHint+1))
	if err != nil || strings.Contains(l.URL, "id_token_hint") {
		t.Fatalf("long token: got %s, %v", l.URL, err)
	}
	l, err = w.BeginSilent(t.Context(), redirectURL, "a.b.c")
	if err != nil || !strings.Contains(l.URL, "&prompt=none") || !strings.Contains(l.URL, "id_token_hint=a.b.c") {
		t.Fatalf("got %s, %v", l.URL, err)
	}
	w.SetFaults(standin.SignedOut)
	_, err = w.followLogin(t.Context(), l)
	w.wantKind("no session", err, KindSignedOut)
}

// The page that ends the session of the user is in the discovery document.
func TestEndSession(t *testing.T) {
	w := start(t, nil)
	page, err := w.EndSession(t.Context(), "a.b.c", "https://links.example/login?out=1")
	u, parseErr := url.Parse(page)
	if err != nil || parseErr != nil || u.Path != "/logout" {
		t.Fatalf("got %s, %v", page, err)
	}
	q := u.Query()
	if q.Get("id_token_hint") != "a.b.c" || q.Get("client_id") != standin.ClientID ||
		q.Get("post_logout_redirect_uri") != "https://links.example/login?out=1" {
		t.Errorf("got %s", page)
	}
	page, err = w.EndSession(t.Context(), strings.Repeat("x", maxHint+1), "https://links.example/")
	if err != nil || strings.Contains(page, "id_token_hint") {
		t.Errorf("long token: got %s, %v", page, err)
	}
	for endpoint, want := range map[string]string{
		"https://id.example/out": "https://id.example/out", "http://id.example/out": "", "javascript:alert(1)": "", "": "",
	} {
		m := metadata{Authorization: "https://id.example/a", Token: "https://id.example/t", Keys: "https://id.example/k", EndSession: endpoint}
		if err := m.check("https://id.example"); err != nil || m.EndSession != want {
			t.Errorf("%q: got %q, %v", endpoint, m.EndSession, err)
		}
	}
}
