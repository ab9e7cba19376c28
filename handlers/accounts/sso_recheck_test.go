package accounts_test

import (
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/modelstest"
	"linkwatch/outbound/oidc/standin"
)

// ann returns the user who signs in, with groups at the provider.
func ann(groups ...string) standin.User {
	return standin.User{Subject: "1", Username: "Ann", Email: "ann@example.com", Verified: true, Claims: map[string]any{"groups": groups}}
}

// newSession signs ann in as an editor. Without a role, the provider's users are refused.
func newSession(t *testing.T, refreshes bool, options ...func(*apptest.Setup)) (*standin.Server, *apptest.App, *browser) {
	t.Helper()
	idp, s := newIssuer(t, append(options, apptest.Set("OIDC_DEFAULT_ROLE", "none"))...)
	idp.Refreshes = refreshes
	idp.SetUser(ann("staff"))
	b := newBrowser(s, "192.0.2.1")
	if a := signIn(t, idp, b, "/"); a.Code != http.StatusSeeOther {
		t.Fatalf("got status %d, error %s", a.Code, a.problem())
	}
	add(s, "root", accounts.Admin)
	return idp, s, b
}

// follow follows a redirect to the provider and back, and returns the answer to the callback.
func follow(t *testing.T, idp *standin.Server, b *browser, a response) response {
	t.Helper()
	if !strings.HasPrefix(a.location(), "/login/oidc?") {
		t.Fatalf("got status %d, location %s", a.Code, a.location())
	}
	begun := b.send("GET", a.location(), nil)
	if !strings.HasPrefix(begun.location(), idp.URL) {
		return begun
	}
	back, err := idp.SignIn(t.Context(), begun.location())
	if err != nil {
		t.Fatal(err)
	}
	return b.send("GET", back.RequestURI(), nil)
}

func wantStatus(t *testing.T, what string, a response, want int) {
	t.Helper()
	if a.Code != want {
		t.Errorf("%s: got status %d, location %q, error %q; want %d", what, a.Code, a.location(), a.problem(), want)
	}
}

// With a refresh token, a session is checked once in OIDC_RECHECK, without the browser. It gets the role that the
// user has then, and ends when the user was removed or has no role.
func TestRecheck_RefreshToken(t *testing.T) {
	idp, s, b := newSession(t, true)
	s.Clock.Advance(59 * time.Minute)
	for range 3 {
		wantStatus(t, "before the check", b.send("GET", "/links", nil), http.StatusOK)
	}
	if n := idp.Count("token"); n != 1 {
		t.Fatalf("got %d requests for tokens before the check is due", n)
	}
	s.Clock.Advance(time.Minute)
	idp.SetUser(ann("ops"))
	for range 3 {
		wantStatus(t, "as an admin", b.send("GET", "/settings/users", nil), http.StatusOK)
	}
	wantAudited(s, "ann oidc user.edit ann")
	if n := idp.Count("token"); n != 2 {
		t.Errorf("got %d requests for tokens, want 2", n)
	}
	u, err := store(s).ByName(s.Context(), "ann")
	s.Must(err)
	_, token, err := store(s).AddToken(s.Context(), u, accounts.NewToken{Name: "t", Scopes: []string{"read"}})
	s.Must(err)
	api := func() int {
		c := newBrowser(s, "192.0.2.1")
		c.headers["Authorization"] = "Bearer " + token
		return c.send("GET", "/v1/links", nil).Code
	}
	if got := api(); got != http.StatusOK {
		t.Fatalf("API token: got status %d", got)
	}

	s.Clock.Advance(time.Hour)
	idp.SetUser(ann("others"))
	if a := b.send("GET", "/links", nil); a.location() != "/login?next=%2Flinks" {
		t.Errorf("without a role: got status %d, location %q", a.Code, a.location())
	}
	wantAudited(s, `ann oidc user.refuse ann  {"reason":"no_role","role_claim":"groups","role_values":["others"],"subject":"1","username":"Ann"}`)
	if got := api(); got != http.StatusUnauthorized {
		t.Errorf("API token of a refused user: got status %d", got)
	}
	idp.SetUser(ann("staff"))
	wantStatus(t, "accepted again", signIn(t, idp, b, "/"), http.StatusSeeOther)
	if got := api(); got != http.StatusOK {
		t.Errorf("API token of an accepted user: got status %d", got)
	}

	s.Clock.Advance(time.Hour)
	idp.SetFaults(standin.Removed, standin.SignedOut)
	wantStatus(t, "API", b.send("GET", "/v1/links", nil), http.StatusUnauthorized)
	a := follow(t, idp, b, b.send("GET", "/links", nil))
	wantStatus(t, "removed", a, http.StatusUnauthorized)
	if !strings.Contains(a.Find("[role=status]").Text(), "has ended") || b.cookies["linkwatch_session"] != "" {
		t.Errorf("removed: got %s, cookies %v", a.Body, b.cookies)
	}
}

// Concurrent requests of a session that is due share one check. None gets through before its result.
func TestRecheck_Concurrent(t *testing.T) {
	idp, s, b := newSession(t, true)
	s.Clock.Advance(10 * time.Hour) // such as tabs that a browser restores
	before := idp.Count("token")
	var all sync.WaitGroup
	codes := make(chan int, 8)
	request := func() { codes <- b.send("GET", "/links", nil).Code }
	for range cap(codes) {
		all.Go(request)
	}
	all.Wait()
	close(codes)
	for code := range codes {
		if code != http.StatusOK {
			t.Errorf("got status %d", code)
		}
	}
	if n := idp.Count("token") - before; n != 1 {
		t.Errorf("got %d requests for tokens, want 1", n)
	}
}

// Without a refresh token, the browser returns to the provider, which shows no page. A form that is submitted then is
// kept.
func TestRecheck_Browser(t *testing.T) {
	idp, s, b := newSession(t, false)
	secret := b.cookies["linkwatch_session"]
	s.Clock.Advance(time.Hour)
	page := b.send("POST", "/short", url.Values{"title": {"My title"}, "long_url": {"https://kept.test/"}})
	wantStatus(t, "form", page, http.StatusUnauthorized)
	if page.Find("form:has(button[name=start]) input[name=form]").Length() == 0 {
		t.Errorf("the form was not kept: %s", page.Body)
	}
	b.headers["Sec-Fetch-Dest"] = "image"
	if a := b.send("GET", "/links", nil); a.location() != "/login?next=%2Flinks" {
		t.Errorf("not a page: got location %s", a.location())
	}
	delete(b.headers, "Sec-Fetch-Dest")
	login := b.send("POST", "/settings/sessions/end", nil)
	page = b.send("GET", login.location()+"?next=/watch", nil)
	if page.Find("[role=status]").Text() != "The identity provider must confirm your session." ||
		page.Find("a[href='/login/oidc?next=%2Fwatch&silent=1']").Text() != "Continue" {
		t.Errorf("login page: got %s", page.Body)
	}
	idp.SetUser(ann("ops"))
	one, two := b.send("GET", "/links?q=x", nil), b.send("GET", "/watch", nil) // two tabs
	first, second := b.send("GET", one.location(), nil), b.send("GET", two.location(), nil)
	for _, tab := range []struct {
		begun response
		next  string
	}{{second, "/watch"}, {first, "/links?q=x"}} {
		if to := tab.begun.location(); !strings.Contains(to, "prompt=none") || !strings.Contains(to, "id_token_hint=ey") {
			t.Fatalf("got location %s", tab.begun.location())
		}
		back, err := idp.SignIn(t.Context(), tab.begun.location())
		s.Must(err)
		if a := b.send("GET", back.RequestURI(), nil); a.Code != http.StatusSeeOther || a.location() != tab.next {
			t.Errorf("got status %d, location %s, error %s; want %s", a.Code, a.location(), a.problem(), tab.next)
		}
	}
	wantStatus(t, "as an admin", b.send("GET", "/settings/users", nil), http.StatusOK)
	if len(b.cookies) != 2 || b.cookies["linkwatch_session"] != secret {
		t.Errorf("got cookies %v, want the same session and no state", b.cookies)
	}
	if got := strings.Join(actions(s), "\n"); strings.Count(got, "login by ann") != 1 {
		t.Errorf("a check is no login:\n%s", got)
	}
	if a := b.send("GET", "/login/oidc?silent=1&next=/watch", nil); a.location() != "/watch" {
		t.Errorf("checked in another tab: got location %s", a.location())
	}

	s.Clock.Advance(time.Hour)
	begun := b.send("GET", b.send("GET", "/links", nil).location(), nil)
	to, err := url.Parse(begun.location())
	s.Must(err)
	forged := url.Values{"state": {to.Query().Get("state")}, "iss": {idp.URL}, "error": {"temporarily_unavailable"}}
	a := b.send("GET", "/login/oidc/callback?"+forged.Encode(), nil)
	wantStatus(t, "the browser says that the provider is unavailable", a, http.StatusServiceUnavailable)
	if a := b.send("GET", "/links", nil); !strings.HasPrefix(a.location(), "/login/oidc?") {
		t.Errorf("the session lasts longer: got status %d, location %s", a.Code, a.location())
	}
	eve := ann("staff")
	eve.Subject, eve.Username = "2", "eve"
	idp.SetUser(eve)
	wantStatus(t, "another user", follow(t, idp, b, b.send("GET", "/links", nil)), http.StatusForbidden)
	if _, err := store(s).ByName(s.Context(), "eve"); err == nil || b.cookies["linkwatch_session"] != "" {
		t.Errorf("another user: got %v, cookies %v", err, b.cookies)
	}
	if a := b.send("GET", "/login/oidc?silent=1&next=/watch", nil); a.location() != "/login?next=%2Fwatch" {
		t.Errorf("without a session: got location %s", a.location())
	}
}

// If the provider keeps the browser, such as with an error page, the user gets the login page.
func TestRecheck_BrowserDoesNotReturn(t *testing.T) {
	idp, s, b := newSession(t, false)
	s.Clock.Advance(time.Hour)
	for range 2 { // also another tab, or a reload
		if a := b.send("GET", b.send("GET", "/links", nil).location(), nil); !strings.HasPrefix(a.location(), idp.URL) {
			t.Fatalf("got status %d, location %s", a.Code, a.location())
		}
	}
	s.Clock.Advance(10 * time.Second)
	if a := b.send("GET", b.send("GET", "/links", nil).location(), nil); a.location() != "/login?next=%2Flinks" {
		t.Errorf("got status %d, location %s", a.Code, a.location())
	}
	wantStatus(t, "login page", b.send("GET", "/login", nil), http.StatusOK)
	follow(t, idp, b, b.send("GET", "/links", nil))
	wantStatus(t, "returned", b.send("GET", "/links", nil), http.StatusOK)
	if b.cookies["linkwatch_sso_since"] != "" {
		t.Errorf("got cookies %v", b.cookies)
	}
}

// While the provider is unavailable, a session lasts as long again. Then it must wait for the provider.
func TestRecheck_ProviderUnavailable(t *testing.T) {
	for _, refreshes := range []bool{true, false} {
		idp, s, b := newSession(t, refreshes)
		s.Clock.Advance(time.Hour)
		idp.SetFaults(standin.Fail("discovery"), standin.Fail("token"))
		before := idp.Count("discovery") + idp.Count("token")
		a := b.send("GET", "/links", nil)
		if !refreshes {
			a = follow(t, idp, b, a)
			if a.location() != "/links" {
				t.Fatalf("got status %d, location %s", a.Code, a.location())
			}
		}
		for range 5 { // also without the browser
			wantStatus(t, "provider unavailable", b.send("GET", "/links", nil), http.StatusOK)
		}
		if n := idp.Count("discovery") + idp.Count("token") - before; n > 2 {
			t.Errorf("got %d requests to the provider in a minute", n)
		}
		s.Clock.Advance(time.Hour)
		a = b.send("GET", "/links", nil)
		if !refreshes {
			a = follow(t, idp, b, a)
		}
		wantStatus(t, "for too long", a, http.StatusServiceUnavailable)
		idp.SetFaults()
		s.Clock.Advance(time.Minute)
		if !refreshes {
			follow(t, idp, b, b.send("GET", "/links", nil))
		}
		wantStatus(t, "available again", b.send("GET", "/links", nil), http.StatusOK) // with the same refresh token
	}
}

// A response to a refresh token without the claims decides nothing: the browser returns to the provider.
func TestRecheck_RefreshWithoutClaims(t *testing.T) {
	idp, s, b := newSession(t, true)
	idp.SetFaults(standin.BareRefresh)
	s.Clock.Advance(time.Hour)
	a := follow(t, idp, b, b.send("GET", "/links", nil))
	if a.Code != http.StatusSeeOther || a.location() != "/links" {
		t.Errorf("got status %d, location %s, error %s", a.Code, a.location(), a.problem())
	}
	wantStatus(t, "confirmed", b.send("GET", "/links", nil), http.StatusOK)
	if u, err := store(s).ByName(s.Context(), "ann"); err != nil || u.Role != accounts.Editor || u.Blocked() {
		t.Errorf("got %+v, %v", u, err)
	}
}

// The next refresh token is kept even if the rest of the response is invalid.
func TestRecheck_InvalidResponse(t *testing.T) {
	idp, s, b := newSession(t, true)
	s.Clock.Advance(time.Hour)
	idp.SetFaults(standin.BrokenSignature)
	wantStatus(t, "invalid response", b.send("GET", "/links", nil), http.StatusOK)
	idp.SetFaults()
	s.Clock.Advance(time.Minute)
	before := idp.Count("token")
	wantStatus(t, "valid response", b.send("GET", "/links", nil), http.StatusOK)
	if n := idp.Count("token") - before; n != 1 {
		t.Errorf("got %d requests for tokens, want 1", n)
	}
}

// Of several instances, one makes the check of a session that has been idle. The others wait for its result.
func TestRecheck_Instances(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		idp, s, b := newSession(t, true, apptest.On(db))
		other := apptest.New(t, append(issuerSettings(idp), apptest.On(db))...)
		check := func(finish func(accounts.Principal) error, want int) {
			t.Helper()
			s.Clock.Advance(10 * time.Hour)
			other.Clock.Advance(s.Clock.Now().Sub(other.Clock.Now()))
			o, ok, err := store(s).BySession(s.Context(), b.cookies["linkwatch_session"])
			s.Must(err)
			_, claimed, err := store(s).ClaimRecheck(s.Context(), o)
			if err != nil || !ok || !claimed {
				t.Fatalf("got %v, %v, %v", ok, claimed, err)
			}
			elsewhere := newBrowser(other, "192.0.2.1")
			elsewhere.cookies["linkwatch_session"] = b.cookies["linkwatch_session"]
			codes := make(chan int, 1)
			before := other.Queries.Load()
			go func() { codes <- elsewhere.send("GET", "/links", nil).Code }()
			for other.Queries.Load() < before+3 { // it looks again
				select {
				case code := <-codes:
					t.Fatalf("got status %d before the result", code)
				default:
					runtime.Gosched()
				}
			}
			s.Must(finish(o))
			if code := <-codes; code != want {
				t.Errorf("got status %d, want %d", code, want)
			}
		}
		check(func(o accounts.Principal) error {
			_, err := store(s).Confirm(s.Context(), o.Session.ID, accounts.Grant{RefreshToken: "next"})
			return err
		}, http.StatusOK)
		check(func(o accounts.Principal) error {
			_, err := store(s).Postpone(s.Context(), o.Session)
			return err
		}, http.StatusServiceUnavailable)
		check(func(o accounts.Principal) error {
			return store(s).EndSession(s.Context(), o.User, o.Session.ID)
		}, http.StatusSeeOther)
		if n := idp.Count("token"); n != 1 {
			t.Errorf("got %d requests for tokens, want that of the login", n)
		}
	})
}

// Signing out needs no check of the session.
func TestSignOut_Due(t *testing.T) {
	for _, refreshes := range []bool{true, false} {
		idp, s, b := newSession(t, refreshes)
		secret := b.cookies["linkwatch_session"]
		for _, faults := range [][]standin.Fault{nil, {standin.Fail("discovery"), standin.Fail("token")}} {
			s.Clock.Advance(10 * time.Hour)
			idp.SetFaults(faults...)
			before := idp.Count("token")
			a := b.send("POST", "/logout", nil)
			if out := a.Code == http.StatusOK || a.location() == "/login?out=1"; !out || b.cookies["linkwatch_session"] != "" {
				t.Errorf("got status %d, location %s, cookies %v", a.Code, a.location(), b.cookies)
			}
			if faults == nil && a.Find("a[href^='"+idp.URL+"/logout']").Length() != 1 {
				t.Errorf("no link to the provider: %s", a.Body)
			}
			if _, ok, err := store(s).BySession(s.Context(), secret); ok || err != nil || idp.Count("token") > before {
				t.Errorf("the session has not ended: %v, %v", ok, err)
			}
			idp.SetFaults()
			signIn(t, idp, b, "/")
			secret = b.cookies["linkwatch_session"]
		}
		if got := strings.Join(actions(s), "\n"); strings.Count(got, "logout by ann from 192.0.2.1") != 2 {
			t.Errorf("audit log:\n%s", got)
		}
	}
}

// Without single sign-on, its sessions end when they are due.
func TestRecheck_NoProvider(t *testing.T) {
	_, s, b := newSession(t, true)
	other := apptest.New(t, apptest.On(s.DB), apptest.Set("ADMIN_PASSWORD", "settings password"))
	other.Clock.Advance(s.Clock.Now().Add(time.Hour).Sub(other.Clock.Now()))
	b.App = other
	if a := b.send("GET", "/links", nil); a.location() != "/login?next=%2Flinks" {
		t.Errorf("got status %d, location %s", a.Code, a.location())
	}
}

// Signing out ends the session here, and offers to end that at the provider.
func TestSignOut_Provider(t *testing.T) {
	idp, s, b := newSession(t, true)
	a := b.send("POST", "/logout", nil)
	link, err := url.Parse(a.Find("a[href^='"+idp.URL+"/logout']").AttrOr("href", ""))
	s.Must(err)
	q := link.Query()
	if a.Code != http.StatusOK || a.Find("a[href^='"+idp.URL+"']").Length() != 1 ||
		strings.Count(q.Get("id_token_hint"), ".") != 2 || q.Get("post_logout_redirect_uri") != "http://127.0.0.1:8080/login?out=1" {
		t.Errorf("got status %d, link %s", a.Code, link)
	}
	if b.cookies["linkwatch_session"] != "" || a.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got cookies %v, headers %v", b.cookies, a.Header())
	}
	signIn(t, idp, b, "/")
	secret := b.cookies["linkwatch_session"]
	s.Clock.Advance(59 * time.Minute)
	idp.SetFaults(standin.Fail("discovery"))
	s.Clock.Advance(30 * time.Second)
	wantStatus(t, "sign out", b.send("POST", "/logout", nil), http.StatusOK)
	signIn(t, idp, b, "/")
	s.Clock.Advance(30 * time.Minute)
	if a := b.send("POST", "/logout", nil); a.location() != "/login?out=1" {
		t.Errorf("provider unavailable: got status %d, location %s", a.Code, a.location())
	}
	b.cookies["linkwatch_session"] = secret
	if a := b.send("GET", "/links", nil); a.Code != http.StatusSeeOther {
		t.Errorf("signed out: got status %d", a.Code)
	}
}
