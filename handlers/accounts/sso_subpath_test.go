package accounts_test

import (
	"net/http"
	"testing"

	"linkwatch/app/apptest"
)

// With a path in PUBLIC_URL, the provider redirects to a URL below it.
func TestSingleSignOn_BelowAPath(t *testing.T) {
	idp, s := newIssuer(t, apptest.Set("PUBLIC_URL", "http://127.0.0.1:8080/linkwatch"))
	b := newBrowser(s, "192.0.2.1")
	if a := b.send("GET", "/linkwatch/login?next=%2Fwatch", nil); a.Find("a[href='/linkwatch/login/oidc?next=%2Fwatch']").Length() != 1 {
		t.Errorf("login page: got %s", a.Body)
	}
	a := b.send("GET", "/linkwatch/login/oidc?next=%2Fwatch", nil)
	back, err := idp.SignIn(t.Context(), a.location())
	s.Must(err)
	if back.Path != "/linkwatch/login/oidc/callback" {
		t.Errorf("the provider redirects to %s", back)
	}
	a = b.send("GET", back.RequestURI(), nil)
	if a.Code != http.StatusSeeOther || a.location() != "/linkwatch/watch" {
		t.Errorf("got status %d, location %s, error %s", a.Code, a.location(), a.problem())
	}
	if a := b.send("GET", "/linkwatch/links", nil); a.Code != http.StatusOK {
		t.Errorf("signed in: got status %d", a.Code)
	}
}
