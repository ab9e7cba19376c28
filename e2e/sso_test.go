//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models/modelstest"
)

// account is an account in the API.
type account struct {
	ID, Username, Role, Origin string
	RefusedAt                  *time.Time `json:"refused_at"`
}

const ssoAdmin = "the admin password of the test"

// asAdmin sends a request with ADMIN_PASSWORD.
func asAdmin(r *http.Request) {
	r.Header.Set("Authorization", "Bearer "+ssoAdmin)
	r.Header.Set("Content-Type", "application/json")
}

func (s *Server) accounts(t *testing.T) map[string]account {
	t.Helper()
	var l struct{ Items []account }
	if err := json.NewDecoder(send(t, s, "GET", "/v1/users", "", asAdmin).Body).Decode(&l); err != nil {
		t.Fatal(err)
	}
	all := map[string]account{}
	for _, a := range l.Items {
		all[a.Username] = a
	}
	return all
}

// makeDue lets OIDC_RECHECK pass for all sessions.
func (s *Server) makeDue(t *testing.T) {
	t.Helper()
	db, closeDB := OpenDatabase(t, s.store)
	defer closeDB()
	err := db.Write(t.Context(), func(tx *gorm.DB) error {
		return tx.Exec("UPDATE sessions SET confirmed_at = confirmed_at - ?", time.Hour.Microseconds()).Error
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Users sign in at a certified provider from another project. Their role follows the provider, and who was removed
// there is out here, with a refresh token and without one.
func TestSingleSignOn(t *testing.T) {
	t.Parallel()
	folder := installProvider(t)
	for _, client := range []string{"refreshing", "plain"} {
		t.Run(client, func(t *testing.T) { testSingleSignOn(t, folder, client) })
	}
}

func testSingleSignOn(t *testing.T, folder, client string) {
	idp := startProvider(t, folder)
	s := Start(t, "OIDC_ISSUER="+idp.URL, "OIDC_CLIENT_ID="+client, "OIDC_CLIENT_SECRET=a secret of the test", "OIDC_NAME=Example ID",
		"OIDC_SCOPES=profile,email,groups", "OIDC_ROLE_CLAIM=groups", "OIDC_ROLES=staff=editor,ops=admin", "ADMIN_PASSWORD="+ssoAdmin)
	idp.set(s, map[string][]string{"ann": {"staff"}, "bob": {"guests"}})
	ann := newPerson(t)
	page, _ := ann.signIn(s, "ann")
	if page.status != http.StatusOK || page.url.Path != "/links" {
		t.Fatalf("signing in: got status %d at %s: %s", page.status, page.url, page.Find(".field-error").Text())
	}
	u := s.accounts(t)["ann"]
	if u.Role != "editor" || u.Origin != "oidc" || u.RefusedAt != nil {
		t.Errorf("got account %+v", u)
	}
	if res := send(t, s, "PATCH", "/v1/users/"+u.ID, `{"role": "admin"}`, asAdmin); res.StatusCode != http.StatusConflict {
		t.Errorf("changing the role: got status %d", res.StatusCode)
	}

	// Refused, and explained.
	page, _ = newPerson(t).signIn(s, "bob")
	if page.status != http.StatusForbidden || !strings.Contains(page.Find(".field-error").Text(), "You have no role in Linkwatch.") {
		t.Errorf("without a role: got status %d, %s", page.status, page.Find(".field-error").Text())
	}
	for _, want := range []string{`"msg":"single sign-on refused"`, `"reason":"no_role","subject":"bob","username":"bob","role_claim":"groups","role_values":["guests"]`} {
		modelstest.Eventually(t, "the log has "+want, func() bool { return strings.Contains(s.log(), want) })
	}

	// The role follows the provider, without a sign-in. Only without a refresh token does the browser return to the
	// provider.
	idp.set(s, map[string][]string{"ann": {"ops"}})
	s.makeDue(t)
	page = ann.open(s.URL+"/settings/users", nil)
	passed := strings.Contains(strings.Join(ann.passed, " "), strings.TrimPrefix(idp.URL, "http://"))
	if page.status != http.StatusOK || page.url.Path != "/settings/users" || passed != (client == "plain") {
		t.Errorf("as an admin: got status %d at %s, by %v", page.status, page.url, ann.passed)
	}
	if ann.open(s.URL+"/links", nil); len(ann.passed) > 0 {
		t.Errorf("the session is checked again, by %v", ann.passed)
	}

	// Signing out here offers signing out there.
	page = ann.open(s.URL+"/logout", url.Values{})
	away := page.Find("a[href^='"+idp.URL+"']").AttrOr("href", "")
	if page = ann.open(away, nil); page.status != http.StatusOK || !strings.Contains(page.Text(), "sign-out") {
		t.Fatalf("signing out at %s: got status %d: %s", away, page.status, page.Text())
	}
	if page = ann.submit(page, url.Values{"logout": {"yes"}}); "http://"+page.url.Host+page.url.RequestURI() != s.URL+"/login?out=1" {
		t.Errorf("after signing out: got %s", page.url)
	}
	page, asked := ann.signIn(s, "ann")
	if page.url.Path != "/links" || !asked {
		t.Errorf("signing in again: got %s, asked for a password: %v", page.url, asked)
	}

	// Removed there, out here.
	idp.set(s, nil)
	s.makeDue(t)
	page = ann.open(s.URL+"/links", nil)
	if page.status == http.StatusOK && page.url.Path == "/links" {
		t.Errorf("removed: got status %d at %s", page.status, page.url)
	}
	if page = ann.open(s.URL+"/settings", nil); "http://"+page.url.Host == s.URL && page.url.Path != "/login" {
		t.Errorf("removed: got %s", page.url)
	}
	if page = ann.open(s.URL+"/v1/links", nil); page.status != http.StatusUnauthorized {
		t.Errorf("removed: the API got status %d", page.status)
	}
}
