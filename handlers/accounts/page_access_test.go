package accounts_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models/accounts"
)

// Routes of the settings and admin pages. %s is the ID of an account.
var (
	ownPages   = []string{"/settings", "/settings/two-factor", "/settings/tokens"}
	adminPages = []string{"/settings/users", "/settings/users/%s", "/admin/audit", "/admin/audit.csv"}
	ownForms   = []string{
		"/logout", "/settings/password", "/settings/sessions/end", "/settings/sessions/%s/end", "/settings/two-factor/setup", "/settings/two-factor/confirm",
		"/settings/two-factor/off", "/settings/tokens", "/settings/tokens/%s/revoke",
	}
	adminForms = []string{
		"/settings/users", "/settings/users/%s/role", "/settings/users/%s/disabled", "/settings/users/%s/password", "/settings/users/%s/two-factor/off",
		"/settings/users/%s/sessions/end", "/settings/users/%s/tokens/%s/revoke", "/settings/users/%s/delete", "/settings/users/%s/restore",
	}
)

func TestSettings_NoLoginRequired(t *testing.T) {
	for name, set := range map[string][]func(*apptest.Setup){
		"no account":    nil,
		"AUTH_DISABLED": {apptest.Set("AUTH_DISABLED", "true")},
	} {
		t.Run(name, func(t *testing.T) {
			s := apptest.New(t, set...)
			for _, path := range append(ownPages, "/settings/users", "/settings/users/u_0000000000000000000000") {
				a := s.Get(path)
				apptest.WantStatus(t, a, http.StatusOK)
				apptest.WantText(t, a, ".empty", "veryone who can reach this server has full access")
				if name == "no account" {
					apptest.WantCount(t, a, `.empty a[href="/login"]`, 1)
				} else {
					apptest.WantText(t, a, ".empty", "AUTH_DISABLED is set")
					apptest.WantCount(t, a, `.empty a[href="/login"]`, 0)
				}
			}
			a := s.Get("/settings")
			apptest.WantText(t, a, `.top a[href="/settings"][aria-current="page"]`, "Settings")
			apptest.WantCount(t, a, "body[data-role]", 0)
			apptest.WantText(t, s.Get("/admin/audit"), ".empty", "No entries yet")
			for _, path := range append(ownForms[1:], adminForms...) {
				path = strings.ReplaceAll(path, "%s", "u_0000000000000000000000")
				if to := s.Post(path, form("username", "eve", "role", "admin", "password", password)).Header.Get("Location"); to != "/settings" {
					t.Errorf("POST %s redirects to %q", path, to)
				}
			}
			if s.Systems.Accounts.Store.InUse() {
				t.Error("an account was added")
			}
		})
	}
}

func TestPages_WithoutSession(t *testing.T) {
	s := apptest.New(t)
	u := s.AddUser("alice", accounts.Admin)
	for _, path := range append(ownPages, adminPages...) {
		path = strings.ReplaceAll(path, "%s", u.ID)
		a := s.Get(path)
		if to := a.Header.Get("Location"); a.StatusCode != http.StatusSeeOther || to != "/login?next="+url.QueryEscape(path) {
			t.Errorf("GET %s: got status %d, location %q", path, a.StatusCode, to)
		}
	}
	for _, path := range append(ownForms, adminForms...) {
		path = strings.ReplaceAll(path, "%s", u.ID)
		got := s.Post(path, form("role", "viewer", "disabled", "true", "password", password))
		if path == "/settings/users" { // the login page keeps the form, without the password
			apptest.WantStatus(t, got, http.StatusUnauthorized)
			apptest.WantCount(t, got, `form[action="/login"] input[name=form]`, 1)
			continue
		}
		wantLogin(t, got, "POST "+path)
	}
	apptest.WantText(t, s.Get("/login"), "h1", "Sign in")
	if now, err := s.Systems.Accounts.Store.Get(t.Context(), u.ID); err != nil || now.Role != u.Role || now.Disabled || now.HasPassword() {
		t.Errorf("account changed: got %+v, want %+v (%v)", now, u, err)
	}
}

func TestAdminPages_OtherRoles(t *testing.T) {
	s := apptest.New(t)
	admin := s.AddUser("alice", accounts.Admin)
	for _, role := range []accounts.Role{accounts.Viewer, accounts.Editor} {
		as := s.SignIn(s.AddUser("a-"+string(role), role))
		for _, path := range adminPages {
			apptest.WantStatus(t, as.Get(strings.ReplaceAll(path, "%s", admin.ID)), http.StatusForbidden)
		}
		for _, path := range adminForms {
			apptest.WantStatus(t, as.Post(strings.ReplaceAll(path, "%s", admin.ID), form("disabled", "true", "role", "viewer")), http.StatusForbidden)
		}
		a := as.Get("/settings")
		apptest.WantStatus(t, a, http.StatusOK)
		apptest.WantCount(t, a, `body[data-role="`+string(role)+`"]`, 1)
		apptest.WantCount(t, a, `a[href="/settings/users"]`, 0)
		apptest.WantCount(t, a, `nav[aria-label="Main"] a[href^="/admin"]`, 0)
	}
	as := s.SignIn(admin)
	a := as.Get("/")
	apptest.WantCount(t, a, `nav[aria-label="Main"] a[href^="/admin"]`, 1)
	apptest.WantText(t, a, `.top a[href="/settings"]:not([aria-current])`, "alice")
	if _, err := s.Systems.Accounts.Store.Get(t.Context(), admin.ID); err != nil {
		t.Error(err)
	}
}

// ADMIN_PASSWORD as the HTTP Basic password allows everything, but has no account.
func TestSettings_WithoutAccount(t *testing.T) {
	s := apptest.New(t, apptest.Set("ADMIN_PASSWORD", password))
	u := s.AddUser("bob", accounts.Editor)
	request := func(method, path string) apptest.Page {
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		r.SetBasicAuth("x", password)
		return s.Browse(r)
	}
	for _, path := range ownPages {
		a := request("GET", path)
		apptest.WantStatus(t, a, http.StatusOK)
		apptest.WantText(t, a, ".empty", "You are using the admin password of the server, without an account.")
	}
	if to := request("POST", "/settings/password").Header.Get("Location"); to != "/settings" {
		t.Errorf("the form redirects to %q", to)
	}
	for _, path := range adminPages {
		apptest.WantStatus(t, request("GET", strings.ReplaceAll(path, "%s", u.ID)), http.StatusOK)
	}
}

// Only the scope admin allows pages that change how the owner of a token signs in.
func TestSettings_WithToken(t *testing.T) {
	s := apptest.New(t)
	u := s.AddUser("alice", accounts.Admin)
	store := s.Systems.Accounts.Store
	send := func(token, method, path string) apptest.Page {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(""))
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return s.Browse(r)
	}
	_, narrow, err := store.AddToken(t.Context(), u, accounts.NewToken{Name: "narrow", Scopes: []string{"write"}})
	s.Must(err)
	for _, path := range append(ownForms[1:], adminForms...) {
		apptest.WantStatus(t, send(narrow, "POST", strings.ReplaceAll(path, "%s", u.ID)), http.StatusForbidden)
	}
	apptest.WantStatus(t, send(narrow, "GET", "/settings/users"), http.StatusForbidden)
	_, wide, err := store.AddToken(t.Context(), u, accounts.NewToken{Name: "wide", Scopes: []string{"admin"}})
	s.Must(err)
	a := send(wide, "GET", "/settings")
	apptest.WantText(t, a, ".facts", "Signed in with API token")
	apptest.WantCount(t, a, `form[action="/logout"]`, 0)
	if to := send(wide, "POST", "/settings/sessions/end").Header.Get("Location"); to != "/settings?done=sessions_ended" {
		t.Errorf("the form redirects to %q", to)
	}
	wantNoSecrets(s, narrow, wide)
}
