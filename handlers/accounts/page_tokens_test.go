package accounts_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/accounts"
)

func TestTokens(t *testing.T) {
	s := apptest.New(t)
	as := s.SignIn(s.AddUser("alice", accounts.Editor))
	a := as.Get("/settings/tokens")
	apptest.WantText(t, a, ".empty", "No API tokens yet")
	apptest.WantText(t, a, ".lead", "cannot do more than your role: editor")
	apptest.WantCount(t, a, "input[name=scopes]", len(accounts.AllScopes())-1) // an editor cannot grant admin
	for _, scope := range accounts.AllScopes() {
		if scope == "admin" {
			continue
		}
		apptest.WantCount(t, a, `input[name=scopes][value="`+scope+`"][aria-label]`, 1)
	}

	p := as.Post("/settings/tokens", form("name", "<b>Backup</b>", "scopes", "links:read", "scopes", "crawl:write", "expires", "30"))
	apptest.WantStatus(t, p, http.StatusCreated)
	if got := p.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control: got %q", got)
	}
	secret := apptest.Text(p, "#token")
	if !regexp.MustCompile(`^lw_[A-Z2-7]{26}$`).MatchString(secret) {
		t.Fatalf("token: got %q", secret)
	}
	apptest.WantText(t, p, ".made-token", "Copy the token now. It is shown only once.")
	apptest.WantText(t, p, ".tokens tbody", "<b>Backup</b> crawl:write links:read just now in 4 weeks never")
	s.Request("GET", "/v1/links", "Authorization", "Bearer "+secret).Want(200)
	s.Request("GET", "/v1/targets", "Authorization", "Bearer "+secret).Want(403)

	for _, path := range []string{"/settings/tokens", "/settings", "/"} {
		if strings.Contains(as.Get(path).HTML, secret[5:]) {
			t.Errorf("%s contains the token", path)
		}
	}
	other := s.SignIn(s.AddUser("bob", accounts.Admin))
	apptest.WantCount(t, other.Get("/settings/tokens"), ".tokens", 0)
	a = as.Get("/settings/tokens")
	revoke := a.Find(".revoke form").AttrOr("action", "")
	apptest.WantStatus(t, other.Post(revoke, nil), http.StatusNotFound) // an admin can revoke it on the page of the user
	a = as.Submit(a, ".revoke form")
	apptest.WantText(t, a, ".flash", "Token revoked.")
	apptest.WantCount(t, a, ".tokens", 0)
	s.Request("GET", "/v1/links", "Authorization", "Bearer "+secret).Want(401)
	wantAudited(s, "alice session token.add <b>Backup</b>")
	wantAudited(s, "alice session token.revoke <b>Backup</b>")
	wantNoSecrets(s, secret, secret[3:])
}

func TestTokens_Errors(t *testing.T) {
	s := apptest.New(t)
	u := s.AddUser("alice", accounts.Viewer)
	as := s.SignIn(u)
	p := as.Post("/settings/tokens", form("expires", "365"))
	wantError(t, p, http.StatusBadRequest, "name-error", "Name must not be empty.")
	wantError(t, p, http.StatusBadRequest, "scopes-error", "Choose at least one scope.")
	p = as.Post("/settings/tokens", form("name", "Kept", "scopes", "sites:read", "scopes", "everything", "expires", "365"))
	wantError(t, p, http.StatusBadRequest, "scopes-error", "Scope must be one of")
	apptest.WantCount(t, p, `input[name=name][value=Kept]`, 1)
	apptest.WantCount(t, p, `input[value="sites:read"][checked]`, 1)
	apptest.WantCount(t, p, `option[value="365"][selected]`, 1)
	wantError(t, as.Post("/settings/tokens", form("name", "x", "scopes", "read", "expires", "1000000")), http.StatusBadRequest, "expires-at-error", "Expires must be one of the options.")
	wantError(t, as.Post("/settings/tokens", form("name", strings.Repeat("n", 101), "scopes", "read", "expires", "30")), http.StatusBadRequest, "name-error", "Name must have at most 100 characters.")

	store := s.Systems.Accounts.Store
	for range 100 {
		_, _, err := store.AddToken(t.Context(), u, accounts.NewToken{Name: "n", Scopes: []string{"read"}, ExpiresAt: models.At(s.Clock.Now().Add(time.Hour))})
		s.Must(err)
	}
	wantError(t, as.Post("/settings/tokens", form("name", "x", "scopes", "read", "expires", "never")), http.StatusConflict, "name-error", "The account has the maximum of 100 tokens.")
	s.Clock.Advance(2 * time.Hour)
	a := s.SignIn(u).Get("/settings/tokens")
	apptest.WantCount(t, a, ".tokens tbody tr", 100)
	apptest.WantText(t, a, ".tokens tbody tr:first-child", "expired")
}

// A token can be read by its account and by admins, without its secret.
func TestGetToken_API(t *testing.T) {
	s := apptest.New(t)
	u := s.AddUser("alice", accounts.Viewer)
	made, secret, err := s.Systems.Accounts.Store.AddToken(t.Context(), u, accounts.NewToken{Name: "n", Scopes: []string{"read"}})
	s.Must(err)
	alice, at := s.SignIn(u), "/v1/tokens/"+made.ID
	got := alice.Do("GET", at, "")
	apptest.Has(t, got.Want(200), apptest.Items(alice.Do("GET", "/v1/tokens", "").Want(200))[0])
	if strings.Contains(got.Body, secret) {
		t.Error("the response contains the secret")
	}
	s.SignIn(s.AddUser("bob", accounts.Editor)).Do("GET", at, "").Problem(404, "not-found", "")
	s.SignIn(s.AddUser("root", accounts.Admin)).Do("GET", at, "").Want(200)
	alice.Do("GET", "/v1/tokens/y_1", "").Problem(404, "not-found", "")
}
