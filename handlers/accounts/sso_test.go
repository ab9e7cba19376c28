package accounts_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/accounts"
	"linkwatch/outbound/oidc/standin"
)

// newIssuer starts an identity provider and an app that uses it.
func newIssuer(t *testing.T, options ...func(*apptest.Setup)) (*standin.Server, *apptest.App) {
	t.Helper()
	idp := standin.New()
	t.Cleanup(idp.Close)
	s := apptest.New(t, append(issuerSettings(idp), options...)...)
	idp.Clock = s.Clock.Now
	return idp, s
}

func issuerSettings(idp *standin.Server) (all []func(*apptest.Setup)) {
	settings := map[string]string{
		"OIDC_ISSUER": idp.URL, "OIDC_CLIENT_ID": standin.ClientID, "OIDC_CLIENT_SECRET": standin.ClientSecret, "OIDC_NAME": "Example ID",
		"OIDC_ROLE_CLAIM": "groups", "OIDC_ROLES": "staff=editor,ops=admin", "OIDC_DEFAULT_ROLE": "viewer", "OIDC_ALLOWED_DOMAINS": "example.com",
		"OUTBOUND_ALLOW_CIDRS": "127.0.0.0/8", "PUBLIC_URL": "http://127.0.0.1:8080",
	}
	for name, value := range settings {
		all = append(all, apptest.Set(name, value))
	}
	return all
}

// signIn signs a browser in with the identity provider.
func signIn(t *testing.T, idp *standin.Server, b *browser, next string) response {
	t.Helper()
	a := b.send("GET", "/login/oidc?next="+next, nil)
	if a.Code != http.StatusSeeOther || !strings.HasPrefix(a.location(), idp.URL+"/authorize?") {
		return a
	}
	back, err := idp.SignIn(t.Context(), a.location())
	if err != nil {
		t.Fatal(err)
	}
	if back.Scheme+"://"+back.Host+back.Path != "http://127.0.0.1:8080/login/oidc/callback" {
		t.Fatalf("the provider redirects to %s", back)
	}
	return b.send("GET", back.RequestURI(), nil)
}

func TestSingleSignOn(t *testing.T) {
	idp, s := newIssuer(t)
	b := newBrowser(s, "192.0.2.1")
	if a := b.send("GET", "/links", nil); a.Code != http.StatusSeeOther {
		t.Fatalf("page without a session: got status %d", a.Code)
	}
	if a := b.send("GET", "/login?next=/watch", nil); a.Find("a[href='/login/oidc?next=%2Fwatch']").Text() != "Sign in with Example ID" {
		t.Errorf("login page: got %s", a.Body)
	}
	a := signIn(t, idp, b, "/watch")
	if a.Code != http.StatusSeeOther || a.location() != "/watch" || len(b.cookies) != 2 {
		t.Fatalf("got status %d, location %s, cookies %v, error %s", a.Code, a.location(), b.cookies, a.problem())
	}
	if a := b.send("GET", "/links", nil); a.Code != http.StatusOK {
		t.Errorf("signed in: got status %d", a.Code)
	}
	u, err := store(s).ByName(s.Context(), "ann")
	if err != nil || u.Role != accounts.Viewer || u.OIDCSubject != "248289761001" || u.HasPassword() {
		t.Fatalf("account: got %+v, %v", u, err)
	}
	for group, want := range map[string]accounts.Role{"staff": accounts.Editor, "ops": accounts.Admin, "others": accounts.Viewer} {
		if want == accounts.Viewer {
			_, err := store(s).Add(s.Context(), accounts.NewUser{Username: "root", Role: accounts.Admin, Issuer: "i", Subject: "root"})
			s.Must(err)
		}
		idp.SetUser(standin.User{Subject: "248289761001", Username: "renamed", Email: "ann@example.com", Verified: true, Claims: map[string]any{"groups": []string{group}}})
		if a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/"); a.Code != http.StatusSeeOther {
			t.Errorf("%s: got status %d, error %s", group, a.Code, a.problem())
		}
		u, err := store(s).Get(s.Context(), u.ID)
		if err != nil || u.Role != want || u.Username != "ann" {
			t.Errorf("%s: got %+v, %v", group, u, err)
		}
		if want == accounts.Admin { // another admin, so that the role can be lowered
			_, err := store(s).Add(s.Context(), accounts.NewUser{Username: "root2", Role: accounts.Admin, Issuer: "i", Subject: "root2"})
			s.Must(err)
		}
	}
}

// The audit log has the username of the account, even if the user has a new name at the provider.
func TestSingleSignOn_AuditUsername(t *testing.T) {
	idp, s := newIssuer(t)
	add(s, "root", accounts.Admin)
	signIn(t, idp, newBrowser(s, "192.0.2.1"), "/")
	idp.SetUser(standin.User{Subject: "248289761001", Username: "root", Email: "ann@example.com", Verified: true, Claims: map[string]any{"groups": []string{"staff"}}})
	signIn(t, idp, newBrowser(s, "192.0.2.1"), "/")
	if got := strings.Join(actions(s), "\n"); !strings.Contains(got, "user.edit by ann from 192.0.2.1") {
		t.Errorf("audit log:\n%s", got)
	}
}

// A login with the provider in another tab keeps a form that was submitted without a session: its tab shows it again. The
// form is not stored, and another account does not get it.
func TestSingleSignOn_KeepsForms(t *testing.T) {
	idp, s := newIssuer(t)
	add(s, "root", accounts.Admin)
	idp.SetUser(standin.User{Subject: "1", Username: "ann", Email: "ann@example.com", Verified: true, Claims: map[string]any{"groups": []string{"staff"}}})
	b := newBrowser(s, "192.0.2.1")
	signIn(t, idp, b, "/")
	s.Clock.Advance(90 * 24 * time.Hour)
	page := b.send("POST", "/short", url.Values{"title": {"My title"}, "long_url": {"https://kept.test/"}})
	link := page.Find(`a[href="/login/oidc"]`)
	again := url.Values{"start": {page.Find("button[name=start]").AttrOr("value", "")}, "form": {page.Find("form:has(button[name=start]) input[name=form]").AttrOr("value", "")}}
	if page.Code != http.StatusUnauthorized || link.AttrOr("target", "") != "_blank" || again.Get("form") == "" {
		t.Fatalf("got status %d, %s", page.Code, page.Body)
	}
	if a := b.send("POST", "/login", again); a.Code != http.StatusUnauthorized || a.problem() != "You are not signed in yet." || a.Find("input[name=form]").Length() == 0 {
		t.Errorf("not signed in: got status %d, %q", a.Code, a.problem())
	}
	signIn(t, idp, b, "/")
	a := b.send("POST", "/login", again)
	if a.Code != http.StatusOK || a.Find(`input[name="title"]`).AttrOr("value", "") != "My title" || !strings.Contains(a.Find(".flash").Text(), "not saved yet") {
		t.Errorf("got status %d, %s", a.Code, a.Body)
	}
	if n := b.send("GET", "/short", nil).Find(`a[href^="https://kept.test"]`).Length(); n != 0 {
		t.Errorf("got %d short links", n)
	}
	idp.SetUser(standin.User{Subject: "2", Username: "eve", Email: "eve@example.com", Verified: true, Claims: map[string]any{"groups": []string{"staff"}}})
	eve := newBrowser(s, "192.0.2.1")
	signIn(t, idp, eve, "/")
	if a := eve.send("POST", "/login", again); a.Code != http.StatusSeeOther {
		t.Errorf("another account: got status %d, %s", a.Code, a.Body)
	}
}

// A user of the provider with the username of an existing account gets a new account.
func TestSingleSignOn_UsernameTaken(t *testing.T) {
	idp, s := newIssuer(t)
	ann := add(s, "ann", accounts.Admin)
	b := newBrowser(s, "192.0.2.1")
	if a := signIn(t, idp, b, "/"); a.Code != http.StatusSeeOther {
		t.Fatalf("got status %d, error %s", a.Code, a.problem())
	}
	other, err := store(s).ByName(s.Context(), "ann-2")
	if err != nil || other.ID == ann.ID || other.Role != accounts.Viewer {
		t.Errorf("account: got %+v, %v", other, err)
	}
	_, err = store(s).Edit(s.Context(), other.ID, accounts.Edit{Disabled: new(true)})
	s.Must(err)
	if a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/"); a.Code != http.StatusForbidden || a.problem() == "" {
		t.Errorf("disabled: got status %d", a.Code)
	}
	s.Must(store(s).Delete(s.Context(), other.ID))
	if a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/"); a.Code != http.StatusForbidden {
		t.Errorf("deleted: got status %d", a.Code)
	}
}

// Invalid responses of the provider are rejected. A valid response is accepted once, in the browser that started the login.
func TestSingleSignOn_Rejected(t *testing.T) {
	t.Parallel()
	for _, fault := range []standin.Fault{
		standin.WrongIssuer, standin.WrongAudience, standin.WrongNonce, standin.NoNonce, standin.WrongKey, standin.UnknownKey, standin.BrokenSignature, standin.Expired,
		standin.AlgorithmNone, standin.ClientSecretHMAC, standin.PublicKeyHMAC, standin.BadAccessHash, standin.WrongState, standin.WrongCallbackIssuer, standin.Denied,
		standin.BadClient, standin.OtherIssuer,
	} {
		t.Run(string(fault), func(t *testing.T) {
			idp, s := newIssuer(t)
			idp.SetFaults(fault)
			b := newBrowser(s, "192.0.2.1")
			a := signIn(t, idp, b, "/")
			if a.Code != http.StatusForbidden && a.Code != http.StatusServiceUnavailable || a.problem() == "" || b.cookies["linkwatch_session"] != "" {
				t.Errorf("got status %d, error %q, cookies %v", a.Code, a.problem(), b.cookies)
			}
			if l, err := store(s).ByName(s.Context(), "ann"); err == nil {
				t.Errorf("an account was added: %+v", l)
			}
			if got := strings.Join(actions(s), "\n"); !strings.Contains(got, "login.failed by  from 192.0.2.1 x1") {
				t.Errorf("audit log: %s", got)
			}
		})
	}
	idp, s := newIssuer(t)
	for name, u := range map[string]standin.User{
		"another domain":    {Subject: "1", Username: "eve", Email: "eve@evil.example", Verified: true},
		"a subdomain":       {Subject: "1", Username: "eve", Email: "eve@x.example.com", Verified: true},
		"not verified":      {Subject: "1", Username: "eve", Email: "eve@example.com"},
		"no email address":  {Subject: "1", Username: "eve"},
		"two at signs":      {Subject: "1", Username: "eve", Email: "eve@evil.example@example.com", Verified: true},
		"group, not a list": {Subject: "1", Username: "eve", Email: "eve@evil.example", Verified: true, Claims: map[string]any{"groups": "ops"}},
	} {
		idp.SetUser(u)
		if a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/"); a.Code != http.StatusForbidden {
			t.Errorf("%s: got status %d", name, a.Code)
		}
	}
	idp, s = newIssuer(t, apptest.Set("OIDC_DEFAULT_ROLE", "none"))
	if a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/"); a.Code != http.StatusForbidden || a.problem() != "You have no role in Linkwatch. Ask an admin." {
		t.Errorf("without a role: got status %d, error %q", a.Code, a.problem())
	}

	// The callback is valid once, for ten minutes, in the browser that started the login.
	victim, mallory := newBrowser(s, "192.0.2.1"), newBrowser(s, "192.0.2.9")
	idp.SetUser(standin.User{Subject: "2", Username: "mal", Email: "mal@example.com", Verified: true, Claims: map[string]any{"groups": "staff"}})
	started := mallory.send("GET", "/login/oidc?next=//evil.example", nil)
	back, err := idp.SignIn(t.Context(), started.location())
	if err != nil {
		t.Fatal(err)
	}
	if a := victim.send("GET", back.RequestURI(), nil); a.Code != http.StatusForbidden || len(victim.cookies) > 0 {
		t.Errorf("in another browser: got status %d", a.Code)
	}
	victim.send("GET", "/login/oidc", nil)
	if a := victim.send("GET", back.RequestURI(), nil); a.Code != http.StatusForbidden || victim.cookies["linkwatch_session"] != "" {
		t.Errorf("in another browser that also started a login: got status %d", a.Code)
	}
	cookie := mallory.cookies["linkwatch_sso"]
	if a := mallory.send("GET", back.RequestURI(), nil); a.Code != http.StatusSeeOther || a.location() != "/" {
		t.Fatalf("in the same browser: got status %d, location %s, error %s", a.Code, a.location(), a.problem())
	}
	if mallory.cookies["linkwatch_sso"] != "" {
		t.Error("the cookie was not removed")
	}
	again := newBrowser(s, "192.0.2.9")
	again.cookies["linkwatch_sso"] = cookie
	if a := again.send("GET", back.RequestURI(), nil); a.Code != http.StatusForbidden {
		t.Errorf("reused callback: got status %d", a.Code)
	}
	late := newBrowser(s, "192.0.2.9")
	started = late.send("GET", "/login/oidc", nil)
	if back, err = idp.SignIn(t.Context(), started.location()); err != nil {
		t.Fatal(err)
	}
	s.Clock.Advance(11 * time.Minute)
	if a := late.send("GET", back.RequestURI(), nil); a.Code != http.StatusForbidden {
		t.Errorf("after eleven minutes: got status %d", a.Code)
	}
	for _, forged := range []string{"", "x", cookie[:len(cookie)-2], "AQ" + cookie[2:] + "A"} {
		b := newBrowser(s, "192.0.2.9")
		b.cookies["linkwatch_sso"] = forged
		if a := b.send("GET", "/login/oidc/callback?state=x&code=y", nil); a.Code != http.StatusForbidden {
			t.Errorf("forged cookie %q: got status %d", forged, a.Code)
		}
	}
}

// Without OIDC_ISSUER, there is no single sign-on.
func TestNoSingleSignOn(t *testing.T) {
	s := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "settings password"))
	b := newBrowser(s, "192.0.2.1")
	for _, path := range []string{"/login/oidc", "/login/oidc/callback?state=x&code=y"} {
		if a := b.send("GET", path, nil); a.Code != http.StatusNotFound {
			t.Errorf("%s: got status %d", path, a.Code)
		}
	}
	if a := b.send("GET", "/login", nil); strings.Contains(a.Body.String(), "/login/oidc") {
		t.Error("the login page has a single sign-on button")
	}
}
