package accounts_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"linkwatch/app/apptest"
	"linkwatch/models/accounts"
)

func TestUsersPage(t *testing.T) {
	s := apptest.New(t)
	as := s.SignIn(s.AddUser("alice", accounts.Admin))
	a := as.Get("/settings/users")
	apptest.WantText(t, a, "tbody", "alice single sign-on admin off just now 1 min ago")
	apptest.WantCount(t, a, `select[name=role] option[value=editor][selected]`, 1)
	p := as.Post("/settings/users", form("username", "Not good", "role", "viewer", "password", "short"))
	wantError(t, p, http.StatusBadRequest, "username-error", "Username must have 1 to 64 characters")
	wantError(t, p, http.StatusBadRequest, "password-error", "Password must have at least 8 characters.")
	apptest.WantCount(t, p, `input[name=username][value="Not good"]`, 1)
	apptest.WantCount(t, p, `option[value=viewer][selected]`, 1)
	wantError(t, as.Post("/settings/users", form("username", "bob", "role", "owner", "password", password)), http.StatusBadRequest, "role-error", "Role must be admin, editor or viewer.")
	wantError(t, as.Post("/settings/users", form("username", "ALICE", "role", "viewer", "password", password)), http.StatusConflict, "username-error", "This username is taken")

	a = as.Follow("/settings/users", form("username", "Bob", "role", "viewer", "password", password))
	apptest.WantText(t, a, ".flash", "User added.")
	apptest.WantText(t, a, "tbody tr:nth-child(2)", "bob viewer off never just now")
	if strings.Contains(p.HTML+a.HTML, password) {
		t.Error("a page contains a password")
	}
	wantAudited(s, `alice session user.add bob  {"disabled":false,"role":"viewer","username":"bob"}`)
	wantNoSecrets(s)

	few := as.Count("/settings/users")
	for i := range 49 {
		s.AddUser(fmt.Sprintf("user-%02d", i), accounts.Viewer)
	}
	if many := as.Count("/settings/users"); many != few || many > 3 {
		t.Errorf("got %d queries with many users, %d with few", many, few)
	}
	a = as.Get("/settings/users")
	apptest.WantCount(t, a, "tbody tr", 50)
	a = as.Get(a.Find("[rel=next]").AttrOr("href", ""))
	apptest.WantText(t, a, "tbody", "user-48")
	apptest.WantCount(t, a, "tbody tr", 1)
	apptest.WantCount(t, a, "[rel=prev]", 1)
	apptest.WantStatus(t, as.Get("/settings/users?page_token=x"), http.StatusBadRequest)
}

func TestUserPage(t *testing.T) {
	s := apptest.New(t)
	as, bob := s.SignIn(s.AddUser("alice", accounts.Admin)), s.AddUser("bob", accounts.Viewer)
	at := "/settings/users/" + bob.ID
	a := as.Get(at)
	apptest.WantText(t, a, "h1", "bob")
	apptest.WantText(t, a, ".facts", "Last login never Two-factor off Sessions 0 Created by single sign-on")
	apptest.WantCount(t, a, `.facts a[href="/admin/audit?actor=bob"]`, 1)
	for _, id := range []string{"u_0000000000000000000000", "unknown"} {
		apptest.WantStatus(t, as.Get("/settings/users/"+id), http.StatusNotFound)
		for _, path := range adminForms[1:] {
			path = strings.Replace(path, "%s", id, 1)
			apptest.WantStatus(t, as.Post(strings.ReplaceAll(path, "%s", "y_0000000000000000000000"), form("role", "viewer", "password", password)), http.StatusNotFound)
		}
	}

	a = as.Follow(at+"/role", form("role", "editor"))
	apptest.WantText(t, a, ".flash", "Saved.")
	apptest.WantCount(t, a, "option[value=editor][selected]", 1)
	wantError(t, as.Post(at+"/role", form("role", "owner")), http.StatusBadRequest, "role-error", "Role must be admin, editor or viewer.")

	bobs := s.SignIn(bob)
	a = as.Follow(at+"/sessions/end", nil)
	apptest.WantText(t, a, ".flash", "Signed out everywhere.")
	wantLogin(t, bobs.Get("/settings"), "after being signed out")

	bobs = s.SignIn(bob)
	a = as.Submit(as.Get(at), `form[action$="/disabled"]`)
	apptest.WantText(t, a, ".flash", "User disabled.")
	apptest.WantText(t, a, ".page-head .disabled", "disabled")
	apptest.WantText(t, as.Get("/settings/users"), "tbody tr:nth-child(2)", "bob disabled")
	wantLogin(t, bobs.Get("/settings"), "a disabled user")
	a = as.Submit(as.Get(at), `form[action$="/disabled"]`)
	apptest.WantText(t, a, ".flash", "User enabled.")
	apptest.WantCount(t, a, ".page-head .disabled", 0)

	wantError(t, as.Post(at+"/password", form("password", "bob")), http.StatusBadRequest, "password-error", "Password must have at least 8 characters.")
	bobs = s.SignIn(bob)
	a = as.Follow(at+"/password", form("password", newPassword))
	apptest.WantText(t, a, ".flash", "Password set.")
	wantLogin(t, bobs.Get("/settings"), "after a new password")
	wantAudited(s, `alice session user.edit bob {"role":"viewer"} {"role":"editor"}`)
	wantAudited(s, `alice session user.edit bob {"disabled":false} {"disabled":true}`)
	wantAudited(s, `alice session user.edit bob  {"password":"changed"}`)
	wantNoSecrets(s, bobs.Session())
}

func TestUserPage_TokensAndTwoFactor(t *testing.T) {
	s := apptest.New(t)
	alice, bob, store := s.AddUser("alice", accounts.Admin), s.AddUser("bob", accounts.Viewer), s.Systems.Accounts.Store
	as := s.SignIn(alice)
	at := "/settings/users/" + bob.ID
	_, secret, err := store.AddToken(t.Context(), bob, accounts.NewToken{Name: "Script", Scopes: []string{"read"}})
	s.Must(err)
	mine, _, err := store.AddToken(t.Context(), alice, accounts.NewToken{Name: "Mine", Scopes: []string{"read"}})
	s.Must(err)
	key, err := store.PrepareTOTP(t.Context(), bob)
	s.Must(err)
	code, err := totp.GenerateCode(key.Secret, s.Clock.Now())
	s.Must(err)
	_, err = store.ConfirmTOTP(t.Context(), bob, code)
	s.Must(err)

	a := as.Get(at)
	apptest.WantText(t, a, ".tokens tbody", "Script read")
	apptest.WantText(t, a, ".facts", "Two-factor on")
	if strings.Contains(a.HTML, secret[5:]) || strings.Contains(a.HTML, key.Secret) {
		t.Error("the page contains a secret")
	}
	apptest.WantStatus(t, as.Post(at+"/tokens/"+mine.ID+"/revoke", nil), http.StatusNotFound)
	a = as.Submit(a, ".revoke form")
	apptest.WantText(t, a, ".flash", "Token revoked.")
	s.Request("GET", "/v1/links", "Authorization", "Bearer "+secret).Want(401)
	a = as.Submit(a, ".confirm form")
	apptest.WantText(t, a, ".flash", "Two-factor authentication turned off for this user.")
	apptest.WantText(t, a, ".facts", "Two-factor off")
	apptest.WantCount(t, a, ".confirm", 0)
	wantAudited(s, "alice session token.revoke Script")
	wantAudited(s, "alice session user.two_factor_off bob")
	wantNoSecrets(s, secret, key.Secret)
}

// An admin who sets a password can revoke the API tokens of the account with it, on the page and by the API.
func TestPasswordRevokesTokens(t *testing.T) {
	s := apptest.New(t)
	as, bob, store := s.SignIn(s.AddUser("alice", accounts.Admin)), s.AddUser("bob", accounts.Viewer), s.Systems.Accounts.Store
	at := "/settings/users/" + bob.ID
	apptest.WantCount(t, as.Get(at), "[name=revoke_tokens]", 0) // bob has no token
	add := func() string {
		_, secret, err := store.AddToken(t.Context(), bob, accounts.NewToken{Name: "Script", Scopes: []string{"read"}})
		s.Must(err)
		return secret
	}
	status := func(secret string, want int) {
		t.Helper()
		s.Request("GET", "/v1/links", "Authorization", "Bearer "+secret).Want(want)
	}
	secret := add()
	apptest.WantText(t, as.Get(at), "label:has([name=revoke_tokens])", "Also revoke 1 API token")
	apptest.WantText(t, as.Follow(at+"/password", form("password", newPassword)), ".flash", "Password set.")
	status(secret, http.StatusOK)
	a := as.Follow(at+"/password", form("password", newPassword, "revoke_tokens", "true"))
	apptest.WantText(t, a, ".flash", "all API tokens are revoked.")
	status(secret, http.StatusUnauthorized)

	secret = add()
	as.Do("PATCH", "/v1/users/"+bob.ID, `{"password": "`+newPassword+`", "revoke_tokens": false}`).Want(http.StatusOK)
	status(secret, http.StatusOK)
	as.Do("PATCH", "/v1/users/"+bob.ID, `{"revoke_tokens": null}`).Problem(http.StatusBadRequest, "invalid-request", "revoke_tokens")
	as.Do("PATCH", "/v1/users/"+bob.ID, `{"password": "`+newPassword+`", "revoke_tokens": true}`).Want(http.StatusOK)
	status(secret, http.StatusUnauthorized)
	wantNoSecrets(s, secret)
}

func TestDeleteUser(t *testing.T) {
	s := apptest.New(t)
	as, bob := s.SignIn(s.AddUser("alice", accounts.Admin)), s.AddUser("bob", accounts.Viewer)
	bobs := s.SignIn(bob)
	at := "/settings/users/" + bob.ID
	a := as.Submit(as.Get(at), `form[action$="/delete"]`)
	apptest.WantText(t, a, ".flash", "User deleted.")
	apptest.WantCount(t, a, "tbody tr", 1)
	apptest.WantStatus(t, as.Get(at), http.StatusNotFound)
	wantLogin(t, bobs.Get("/settings"), "a deleted user")
	a = as.Submit(a, ".flash form")
	apptest.WantText(t, a, ".flash", "User restored, without sessions and API tokens.")
	apptest.WantCount(t, a, "tbody tr", 2)
	wantLogin(t, bobs.Get("/settings"), "a restored user")
	apptest.WantStatus(t, as.Post(at+"/restore", nil), http.StatusNotFound)
	as.Follow(at+"/delete", nil)
	s.Clock.Advance(25 * time.Hour)
	a = as.Get("/settings/users?deleted=true")
	apptest.WantText(t, a, "tbody", "bob")
	a = as.Follow(at+"/restore", nil)
	apptest.WantText(t, a, ".flash", "User restored, without sessions and API tokens.")
	wantAudited(s, `alice session user.delete bob {"disabled":false,"role":"viewer","username":"bob"}`)
	wantAudited(s, "alice session user.restore bob")
	wantNoSecrets(s, bobs.Session())
}

// The last admin cannot be removed. Admins change their own password only at Settings, with the current one.
func TestUserPage_OwnAccount(t *testing.T) {
	s := apptest.New(t)
	u := s.AddUser("alice", accounts.Admin)
	as := s.SignIn(u)
	s.AddUser("bob", accounts.Editor)
	at := "/settings/users/" + u.ID
	a := as.Get(at)
	apptest.WantText(t, a, "[aria-labelledby=login-title]", "This is your account.")
	apptest.WantCount(t, a, "input[type=password], .confirm", 0)
	p := as.Post(at+"/role", form("role", "viewer"))
	wantError(t, p, http.StatusConflict, "role-error", "This is the only admin. Make another account an admin first.")
	apptest.WantCount(t, p, "option[value=viewer][selected]", 1)
	wantError(t, as.Post(at+"/disabled", form("disabled", "true")), http.StatusConflict, "access-error", "This is the only admin.")
	wantError(t, as.Post(at+"/delete", nil), http.StatusConflict, "access-error", "This is the only admin.")
	for _, path := range []string{"/password", "/two-factor/off"} {
		if to := as.Post(at+path, form("password", newPassword)).Header.Get("Location"); to != "/settings" {
			t.Errorf("%s redirects to %q", path, to)
		}
	}
	now, err := s.Systems.Accounts.Store.Get(t.Context(), u.ID)
	if err != nil || now.Role != accounts.Admin || now.Disabled || now.HasPassword() {
		t.Errorf("account: got %+v, %v", now, err)
	}

	s.AddUser("carol", accounts.Admin)
	as.Post(at+"/role", form("role", "viewer"))
	apptest.WantStatus(t, as.Get(at), http.StatusForbidden)
	apptest.WantText(t, as.Get("/settings"), ".facts", "Role viewer")
}

// With AUTH_DISABLED, the API cannot change accounts. Otherwise anyone could add an account for later.
func TestAccountChanges_AuthDisabled(t *testing.T) {
	s := apptest.New(t, apptest.Set("AUTH_DISABLED", "true"))
	u := s.AddUser("alice", accounts.Admin)
	for _, c := range [][3]string{
		{"POST", "/v1/users", `{"username": "mallory", "role": "admin", "password": "correct horse battery"}`},
		{"PATCH", "/v1/users/" + u.ID, `{"password": "correct horse battery"}`}, {"DELETE", "/v1/users/" + u.ID, ""},
		{"POST", "/v1/users/" + u.ID + "/restore", ""},
	} {
		s.Do(c[0], c[1], c[2]).Problem(http.StatusForbidden, "forbidden", "")
	}
}
