package accounts_test

import (
	"net/http"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models/accounts"
	"linkwatch/outbound/oidc/standin"
)

// newIssuer is an identity provider and a program that trusts it. change may set more.
func newIssuer(t *testing.T, change ...func(*apptest.Setup)) (*standin.Server, *apptest.App) {
	t.Helper()
	idp := standin.New()
	t.Cleanup(idp.Close)
	settings := map[string]string{
		"OIDC_ISSUER": idp.URL, "OIDC_CLIENT_ID": standin.ClientID, "OIDC_CLIENT_SECRET": standin.ClientSecret, "OIDC_NAME": "Example ID",
		"OIDC_ROLE_CLAIM": "groups", "OIDC_ROLES": "staff=editor,ops=admin", "OIDC_DEFAULT_ROLE": "viewer", "OIDC_ALLOWED_DOMAINS": "example.com",
		"OUTBOUND_ALLOW_CIDRS": "127.0.0.0/8", "PUBLIC_URL": "http://127.0.0.1:8080",
	}
	var all []func(*apptest.Setup)
	for name, value := range settings {
		all = append(all, apptest.Set(name, value))
	}
	s := apptest.New(t, append(all, change...)...)
	idp.Clock = s.Clock.Now
	return idp, s
}

// signIn signs a browser in by the identity provider.
func signIn(t *testing.T, idp *standin.Server, b *browser, next string) answer {
	t.Helper()
	a := b.send("GET", "/login/oidc?next="+next, nil)
	if a.Code != http.StatusSeeOther || !strings.HasPrefix(a.to(), idp.URL+"/authorize?") {
		return a
	}
	back, err := idp.SignIn(t.Context(), a.to())
	if err != nil {
		t.Fatal(err)
	}
	if back.Scheme+"://"+back.Host+back.Path != "http://127.0.0.1:8080/login/oidc/callback" {
		t.Fatalf("the provider sends the browser to %s", back)
	}
	return b.send("GET", back.RequestURI(), nil)
}

func TestSingleSignOn(t *testing.T) {
	idp, s := newIssuer(t)
	b := newBrowser(s, "192.0.2.1")
	if a := b.send("GET", "/links", nil); a.Code != http.StatusSeeOther {
		t.Fatalf("open without an account: %d", a.Code)
	}
	if a := b.send("GET", "/login?next=/watch", nil); a.Find("a[href='/login/oidc?next=%2Fwatch']").Text() != "Sign in with Example ID" {
		t.Errorf("the login page: %s", a.Body)
	}
	a := signIn(t, idp, b, "/watch")
	if a.Code != http.StatusSeeOther || a.to() != "/watch" || len(b.cookies) != 1 {
		t.Fatalf("%d %s %v %s", a.Code, a.to(), b.cookies, a.problem())
	}
	if a := b.send("GET", "/links", nil); a.Code != http.StatusOK {
		t.Errorf("signed in: %d", a.Code)
	}
	u, err := store(s).ByName(s.Context(), "ann")
	if err != nil || u.Role != accounts.Viewer || u.OIDCSubject != "248289761001" || u.HasPassword() {
		t.Fatalf("%+v %v", u, err)
	}
	for claims, want := range map[string]accounts.Role{"staff": accounts.Editor, "ops": accounts.Admin, "others": accounts.Viewer} {
		if want == accounts.Viewer {
			_, err := store(s).Add(s.Context(), accounts.New{Username: "root", Role: accounts.Admin, Issuer: "i", Subject: "root"})
			s.Must(err)
		}
		idp.Become(standin.User{Subject: "248289761001", Username: "renamed", Email: "ann@example.com", Verified: true, Claims: map[string]any{"groups": []string{claims}}})
		if a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/"); a.Code != http.StatusSeeOther {
			t.Errorf("%s: %d %s", claims, a.Code, a.problem())
		}
		u, err := store(s).Get(s.Context(), u.ID)
		if err != nil || u.Role != want || u.Username != "ann" {
			t.Errorf("%s: %+v %v", claims, u, err)
		}
		if want == accounts.Admin { // another one, so that the role can go
			_, err := store(s).Add(s.Context(), accounts.New{Username: "root2", Role: accounts.Admin, Issuer: "i", Subject: "root2"})
			s.Must(err)
		}
	}
}

// A user who has another name at the provider by now is recorded by that of the account.
func TestSingleSignOnIsRecordedByAccount(t *testing.T) {
	idp, s := newIssuer(t)
	add(s, "root", accounts.Admin)
	signIn(t, idp, newBrowser(s, "192.0.2.1"), "/")
	idp.Become(standin.User{Subject: "248289761001", Username: "root", Email: "ann@example.com", Verified: true, Claims: map[string]any{"groups": []string{"staff"}}})
	signIn(t, idp, newBrowser(s, "192.0.2.1"), "/")
	if got := strings.Join(actions(s), "\n"); !strings.Contains(got, "user.edit by ann from 192.0.2.1") {
		t.Errorf("the audit log:\n%s", got)
	}
}

// Somebody else of the same username gets an account of its own, and never that of another.
func TestSingleSignOnTakesNoAccount(t *testing.T) {
	idp, s := newIssuer(t)
	ann := add(s, "ann", accounts.Admin)
	b := newBrowser(s, "192.0.2.1")
	if a := signIn(t, idp, b, "/"); a.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Code, a.problem())
	}
	other, err := store(s).ByName(s.Context(), "ann-2")
	if err != nil || other.ID == ann.ID || other.Role != accounts.Viewer {
		t.Errorf("%+v %v", other, err)
	}
	_, err = store(s).Edit(s.Context(), other.ID, accounts.Edit{Disabled: new(true)})
	s.Must(err)
	if a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/"); a.Code != http.StatusForbidden || a.problem() == "" {
		t.Errorf("disabled: %d", a.Code)
	}
	s.Must(store(s).Delete(s.Context(), other.ID))
	if a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/"); a.Code != http.StatusForbidden {
		t.Errorf("deleted: %d", a.Code)
	}
}

// TestSingleSignOnRefuses: what the provider sends must be right, and come back to the browser
// that asked, once.
func TestSingleSignOnRefuses(t *testing.T) {
	for _, fault := range []standin.Fault{
		standin.WrongIssuer, standin.WrongAudience, standin.WrongNonce, standin.NoNonce, standin.WrongKey, standin.UnknownKey, standin.BrokenSignature, standin.Expired,
		standin.AlgorithmNone, standin.ClientSecretHMAC, standin.PublicKeyHMAC, standin.BadAccessHash, standin.WrongState, standin.WrongCallbackIssuer, standin.Denied,
		standin.BadClient, standin.OtherIssuer,
	} {
		t.Run(string(fault), func(t *testing.T) {
			idp, s := newIssuer(t)
			idp.Break(fault)
			b := newBrowser(s, "192.0.2.1")
			a := signIn(t, idp, b, "/")
			if a.Code != http.StatusForbidden && a.Code != http.StatusServiceUnavailable || a.problem() == "" || b.cookies["linkwatch_session"] != "" {
				t.Errorf("%d %q %v", a.Code, a.problem(), b.cookies)
			}
			if l, err := store(s).ByName(s.Context(), "ann"); err == nil {
				t.Errorf("an account was added: %+v", l)
			}
			if got := strings.Join(actions(s), "\n"); !strings.Contains(got, "login.failed by  from 192.0.2.1 x1") {
				t.Errorf("the audit log: %s", got)
			}
		})
	}
	idp, s := newIssuer(t)
	for name, u := range map[string]standin.User{
		"another domain":     {Subject: "1", Username: "eve", Email: "eve@evil.example", Verified: true},
		"a subdomain":        {Subject: "1", Username: "eve", Email: "eve@x.example.com", Verified: true},
		"not verified":       {Subject: "1", Username: "eve", Email: "eve@example.com"},
		"no e-mail address":  {Subject: "1", Username: "eve"},
		"two at signs":       {Subject: "1", Username: "eve", Email: "eve@evil.example@example.com", Verified: true},
		"a name for a group": {Subject: "1", Username: "eve", Email: "eve@evil.example", Verified: true, Claims: map[string]any{"groups": "ops"}},
	} {
		idp.Become(u)
		if a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/"); a.Code != http.StatusForbidden {
			t.Errorf("%s: %d", name, a.Code)
		}
	}
	idp, s = newIssuer(t, apptest.Set("OIDC_DEFAULT_ROLE", "none"))
	if a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/"); a.Code != http.StatusForbidden || a.problem() != "You have no role here. Ask an admin." {
		t.Errorf("without a role: %d %q", a.Code, a.problem())
	}

	// The callback belongs to the browser that began, for ten minutes, once.
	victim, mallory := newBrowser(s, "192.0.2.1"), newBrowser(s, "192.0.2.9")
	idp.Become(standin.User{Subject: "2", Username: "mal", Email: "mal@example.com", Verified: true, Claims: map[string]any{"groups": "staff"}})
	begun := mallory.send("GET", "/login/oidc?next=//evil.example", nil)
	back, err := idp.SignIn(t.Context(), begun.to())
	if err != nil {
		t.Fatal(err)
	}
	if a := victim.send("GET", back.RequestURI(), nil); a.Code != http.StatusForbidden || len(victim.cookies) > 0 {
		t.Errorf("in another browser: %d", a.Code)
	}
	victim.send("GET", "/login/oidc", nil)
	if a := victim.send("GET", back.RequestURI(), nil); a.Code != http.StatusForbidden || victim.cookies["linkwatch_session"] != "" {
		t.Errorf("in another browser that signs in too: %d", a.Code)
	}
	cookie := mallory.cookies["linkwatch_sso"]
	if a := mallory.send("GET", back.RequestURI(), nil); a.Code != http.StatusSeeOther || a.to() != "/" {
		t.Fatalf("in the browser that began: %d %s %s", a.Code, a.to(), a.problem())
	}
	if mallory.cookies["linkwatch_sso"] != "" {
		t.Error("the cookie stays")
	}
	again := newBrowser(s, "192.0.2.9")
	again.cookies["linkwatch_sso"] = cookie
	if a := again.send("GET", back.RequestURI(), nil); a.Code != http.StatusForbidden {
		t.Errorf("the code a second time: %d", a.Code)
	}
	late := newBrowser(s, "192.0.2.9")
	begun = late.send("GET", "/login/oidc", nil)
	if back, err = idp.SignIn(t.Context(), begun.to()); err != nil {
		t.Fatal(err)
	}
	s.Clock.Advance(11 * 60 * 1e9)
	if a := late.send("GET", back.RequestURI(), nil); a.Code != http.StatusForbidden {
		t.Errorf("after eleven minutes: %d", a.Code)
	}
	for _, forged := range []string{"", "x", cookie[:len(cookie)-2], "AQ" + cookie[2:] + "A"} {
		b := newBrowser(s, "192.0.2.9")
		b.cookies["linkwatch_sso"] = forged
		if a := b.send("GET", "/login/oidc/callback?state=x&code=y", nil); a.Code != http.StatusForbidden {
			t.Errorf("a forged cookie: %d", a.Code)
		}
	}
}

// Without the settings there is no single sign-on.
func TestNoSingleSignOn(t *testing.T) {
	s := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "of the settings"))
	b := newBrowser(s, "192.0.2.1")
	for _, path := range []string{"/login/oidc", "/login/oidc/callback?state=x&code=y"} {
		if a := b.send("GET", path, nil); a.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.Code)
		}
	}
	if a := b.send("GET", "/login", nil); strings.Contains(a.Body.String(), "/login/oidc") {
		t.Error("the login page offers it")
	}
}
