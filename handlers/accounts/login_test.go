package accounts_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"linkwatch/app/apptest"
	"linkwatch/models/accounts"
)

const goodPassword = "correct horse battery"

func TestLogin(t *testing.T) {
	s := apptest.New(t)
	add(s, "alice", accounts.Admin)
	b := newBrowser(s, "192.0.2.1")
	if a := b.send("GET", "/links?q=a+b", nil); a.Code != http.StatusSeeOther || a.location() != "/login?next=%2Flinks%3Fq%3Da%2Bb" {
		t.Fatalf("without a session: got status %d, location %s", a.Code, a.location())
	}
	page := b.send("GET", "/login?next=%2Flinks%3Fq%3Da%2Bb", nil)
	if next, _ := page.Find("input[name=next]").Attr("value"); page.Code != http.StatusOK || next != "/links?q=a+b" {
		t.Fatalf("login page: got status %d, next %q", page.Code, next)
	}
	b.cookies["linkwatch_session"] = "planted secret"
	a := b.login(" Alice", goodPassword, "next", "/links?q=a+b")
	if a.Code != http.StatusSeeOther || a.location() != "/links?q=a+b" || b.cookies["linkwatch_session"] == "planted secret" {
		t.Fatalf("login: got status %d, location %s, cookies %v", a.Code, a.location(), b.cookies)
	}
	if a := b.send("GET", "/links", nil); a.Code != http.StatusOK {
		t.Fatalf("signed in: got status %d", a.Code)
	}
	if a := b.send("GET", "/login?next=/watch", nil); a.Code != http.StatusSeeOther || a.location() != "/watch" {
		t.Errorf("login page with a session: got status %d, location %s", a.Code, a.location())
	}
	before := b.cookies["linkwatch_session"]
	b.login("alice", goodPassword)
	if stolen := newBrowser(s, "192.0.2.1"); before == b.cookies["linkwatch_session"] {
		t.Error("a second login kept the session secret")
	} else if stolen.cookies["linkwatch_session"] = before; stolen.send("GET", "/links", nil).Code != http.StatusSeeOther {
		t.Error("the previous session is active")
	}
	secret := b.cookies["linkwatch_session"]
	if a := b.send("POST", "/logout", nil); a.Code != http.StatusSeeOther || a.location() != "/login?out=1" || b.cookies["linkwatch_session"] != "" {
		t.Errorf("logout: got status %d, location %s, cookies %v", a.Code, a.location(), b.cookies)
	}
	if b.cookies["linkwatch_session"] = secret; b.send("GET", "/links", nil).Code != http.StatusSeeOther {
		t.Error("the session is active after the logout")
	}
	if a := b.send("POST", "/logout", nil); a.Code != http.StatusSeeOther || !strings.HasPrefix(a.location(), "/login") {
		t.Errorf("logout without a session: got status %d, location %s", a.Code, a.location())
	}
	got := strings.Join(actions(s), "\n")
	if want := "logout by alice from 192.0.2.1 x1\nlogin by alice from 192.0.2.1 x1\nlogin by alice from 192.0.2.1 x1"; !strings.HasPrefix(got, want) {
		t.Errorf("audit log:\n%s", got)
	}
}

// An unknown user, a wrong password and a disabled account get the same response.
func TestWrongLogins(t *testing.T) {
	s := apptest.New(t)
	add(s, "alice", accounts.Admin)
	bob := add(s, "bob", accounts.Editor)
	_, err := store(s).Edit(s.Context(), bob.ID, accounts.Edit{Disabled: new(true)})
	s.Must(err)
	var pages []string
	for i, l := range [][2]string{{"alice", "wrong password"}, {"unknown", goodPassword}, {"bob", goodPassword}} {
		b := newBrowser(s, fmt.Sprintf("192.0.2.%d", i))
		a := b.login(l[0], l[1], "next", "/watch")
		if a.Code != http.StatusUnauthorized || len(b.cookies) != 0 || strings.Contains(a.Body.String(), l[1]) {
			t.Errorf("%v: got status %d, cookies %v", l, a.Code, b.cookies)
		}
		if got := a.Find("input[name=username]").AttrOr("value", ""); got != l[0] {
			t.Errorf("username field: got %q, want %q", got, l[0])
		}
		if a.problem() != "Wrong username or password." || a.Find("input[name=next]").AttrOr("value", "") != "/watch" {
			t.Errorf("%v: got error %q", l, a.problem())
		}
		pages = append(pages, strings.ReplaceAll(a.Body.String(), l[0], "NAME"))
	}
	if pages[0] != pages[1] || pages[1] != pages[2] {
		t.Error("the responses differ")
	}
}

func TestNextAfterTheLogin(t *testing.T) {
	s := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "settings password"))
	for next, want := range map[string]string{
		"/watch?state=down#x": "/watch?state=down#x", "": "/", "/": "/", "links": "/", "//evil.example": "/", "///evil.example": "/", `/\evil.example`: "/", `\\evil.example`: "/",
		"https://evil.example": "/", "https:/evil.example": "/", "javascript:alert(1)": "/", "/\t/evil.example": "/", "/\n/evil.example": "/", " /watch": "/",
		"/login": "/", "/login/oidc": "/", "/logout": "/", "/" + strings.Repeat("x", 2000): "/", "/%": "/", "/.//evil.example": "/evil.example", "/s/abc": "/", "/%73/abc": "/", "/x/../s/abc": "/", "/short-links": "/short-links", "/admin/jobs": "/admin/jobs",
	} {
		b := newBrowser(s, "127.0.0.1")
		if a := b.login("admin", "settings password", "next", next); a.Code != http.StatusSeeOther || a.location() != want {
			t.Errorf("login with next %q redirects to %q, want %q", next, a.location(), want)
		}
		page := b.send("GET", "/login?next="+url.QueryEscape(next), nil)
		if page.location() != want {
			t.Errorf("login page with next %q redirects to %q, want %q", next, page.location(), want)
		}
	}
}

// Another site can neither sign a browser in nor sign it out.
func TestLoginFromAnotherSite(t *testing.T) {
	s := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "settings password"))
	b := newBrowser(s, "127.0.0.1")
	b.login("admin", "settings password")
	for _, headers := range []map[string]string{{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "null"}} {
		evil := newBrowser(s, "127.0.0.1")
		evil.headers = headers
		if a := evil.login("admin", "settings password"); a.Code != http.StatusForbidden || len(evil.cookies) > 0 {
			t.Errorf("login with %v: got status %d, cookies %v", headers, a.Code, evil.cookies)
		}
		evil.cookies = b.cookies
		for _, path := range []string{"/logout", "/links", "/v1/links"} {
			if a := evil.send("POST", path, url.Values{"url": {"https://example.com"}}); a.Code != http.StatusForbidden {
				t.Errorf("POST %s with %v: got status %d", path, headers, a.Code)
			}
		}
	}
	if a := b.send("GET", "/links", nil); a.Code != http.StatusOK {
		t.Errorf("the session ended: got status %d", a.Code)
	}
}

// A client with too many failed logins is refused. An account with too many failed logins is locked for unknown addresses.
// The test avoids password hashes, which have a budget: pending logins and too long passwords fail without one.
func TestThrottledLogins(t *testing.T) {
	s := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "settings password"))
	friend := newBrowser(s, "198.51.100.1")
	friend.login("admin", "settings password")
	guesser := newBrowser(s, "192.0.2.1")
	for i := range 12 {
		a := guesser.login("unknown", "", "pending", "x")
		if want := map[bool]int{true: http.StatusUnauthorized, false: http.StatusTooManyRequests}[i < 10]; a.Code != want {
			t.Fatalf("attempt %d: got status %d, want %d", i+1, a.Code, want)
		}
	}
	a := guesser.login("admin", "settings password")
	if a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") == "" || !strings.Contains(a.problem(), "Try again in ") || a.Find("form").Length() != 1 {
		t.Errorf("correct login after ten failures: got status %d, error %q", a.Code, a.problem())
	}
	// 20 failed logins to one account from three addresses.
	for i := range 20 {
		newBrowser(s, fmt.Sprintf("203.0.113.%d", i/8)).login("admin", strings.Repeat("x", 300))
	}
	if a := newBrowser(s, "203.0.113.9").login("Admin ", "settings password"); a.Code != http.StatusTooManyRequests {
		t.Errorf("locked account, unknown address: got status %d", a.Code)
	}
	if a := newBrowser(s, "203.0.113.9").login("other", strings.Repeat("x", 300)); a.Code != http.StatusUnauthorized {
		t.Errorf("other account, unknown address: got status %d", a.Code)
	}
	if a := newBrowser(s, "198.51.100.1").login("admin", "settings password"); a.Code != http.StatusSeeOther {
		t.Errorf("locked account, known address: got status %d", a.Code)
	}
	if a := friend.send("GET", "/links", nil); a.Code != http.StatusOK {
		t.Errorf("session of the locked account: got status %d", a.Code)
	}
	for i := range 5 { // other usernames add no entries
		guesser.login(fmt.Sprint("other", i), "", "pending", "")
	}
	got := strings.Join(actions(s), "\n")
	for _, want := range []string{"login.throttled by  from 192.0.2.1 x8", "login.throttled by admin from 203.0.113.9 x1", "login.failed by admin from 203.0.113.0 x8"} {
		if !strings.Contains(got, want) {
			t.Errorf("audit log: no entry %s in:\n%s", want, got)
		}
	}
}

// During a flood of logins from many networks, a browser that has signed in before signs in again from a new address, and a
// client from an address with a session.
func TestKnownClientsSignInDuringAFlood(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	add(s, "alice", accounts.Admin)
	friend := newBrowser(s, "198.51.100.1")
	if a := friend.login("alice", goodPassword); a.Code != http.StatusSeeOther || friend.cookies["linkwatch_device"] == "" {
		t.Fatalf("first login: got status %d, cookies %v", a.Code, friend.cookies)
	}
	busy := make(chan struct{}, 200)
	var flood sync.WaitGroup
	defer flood.Wait()
	for i := range cap(busy) {
		flood.Go(func() {
			stranger := newBrowser(s, fmt.Sprintf("203.0.113.%d", i))
			if stranger.login(fmt.Sprint("user", i), "wrong password").Code == http.StatusServiceUnavailable {
				busy <- struct{}{}
			}
		})
	}
	go func() {
		flood.Wait()
		close(busy)
	}()
	for range 10 { // the budget of strangers is used up
		<-busy
	}
	delete(friend.cookies, "linkwatch_session")
	friend.address = "198.51.100.2"
	if a := friend.login("alice", goodPassword); a.Code != http.StatusSeeOther {
		t.Errorf("known browser: got status %d, error %q", a.Code, a.problem())
	}
	if a := newBrowser(s, "198.51.100.2").login("alice", goodPassword); a.Code != http.StatusSeeOther {
		t.Errorf("known address: got status %d, error %q", a.Code, a.problem())
	}
}

// A known browser signs in to an account that strangers have locked, from a network that is refused. The cookie of another
// account does not help.
func TestKnownBrowserIsNotLockedOut(t *testing.T) {
	s := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "settings password"))
	add(s, "alice", accounts.Editor)
	friend, other := newBrowser(s, "198.51.100.1"), newBrowser(s, "198.51.100.2")
	friend.login("admin", "settings password")
	other.login("alice", goodPassword)
	friend.send("POST", "/logout", nil) // the browser stays known
	for i := range 20 {                 // from two addresses
		newBrowser(s, fmt.Sprintf("203.0.113.%d", i/10)).login("admin", strings.Repeat("x", 300))
	}
	for _, b := range []*browser{friend, other} {
		b.address = "203.0.113.1"
	}
	if a := other.login("admin", "settings password"); a.Code != http.StatusTooManyRequests {
		t.Errorf("browser of another account: got status %d", a.Code)
	}
	if a := friend.login("admin", "settings password"); a.Code != http.StatusSeeOther {
		t.Errorf("known browser: got status %d, error %q", a.Code, a.problem())
	}
}

// A password that was typed into the username field does not get into the audit log.
func TestFailedLogins_UnknownUsername(t *testing.T) {
	s := apptest.New(t)
	add(s, "alice", accounts.Admin)
	b := newBrowser(s, "192.0.2.1")
	for _, name := range []string{"alice", "typed-by-mistake"} {
		b.login(name, strings.Repeat("x", 300))
	}
	got := strings.Join(actions(s), "\n")
	if !strings.Contains(got, "login.failed by alice from 192.0.2.1 x1") || !strings.Contains(got, "login.failed by  from 192.0.2.1 x1") {
		t.Errorf("audit log:\n%s", got)
	}
}

func TestSecondFactor(t *testing.T) {
	s := apptest.New(t)
	u := add(s, "alice", accounts.Admin)
	setup, err := store(s).PrepareTOTP(s.Context(), u)
	s.Must(err)
	code := func() string {
		c, err := totp.GenerateCode(setup.Secret, s.Clock.Now())
		s.Must(err)
		return c
	}
	_, err = store(s).ConfirmTOTP(s.Context(), u, code())
	s.Must(err)
	s.Clock.Advance(time.Minute)
	b := newBrowser(s, "192.0.2.1")
	a := b.login("alice", goodPassword, "next", "/watch")
	pending := a.Find("input[name=pending]").AttrOr("value", "")
	if a.Code != http.StatusUnauthorized || pending == "" || a.problem() != "" || len(b.cookies) > 0 || strings.Contains(a.Body.String(), goodPassword) ||
		a.Find("input[name=code]").Length() != 1 || a.Find("input[name=password]").Length() != 0 {
		t.Fatalf("got status %d, error %q, cookies %v: %s", a.Code, a.problem(), b.cookies, a.Body)
	}
	a = b.send("POST", "/login", url.Values{"pending": {pending}, "next": {"/watch"}, "code": {"000000"}})
	if a.Code != http.StatusUnauthorized || a.problem() != "This code is wrong or was already used." || a.Find("input[name=code]").Length() != 1 || len(b.cookies) > 0 {
		t.Fatalf("wrong code: got status %d, error %q", a.Code, a.problem())
	}
	a = b.send("POST", "/login", url.Values{"pending": {pending}, "next": {"/watch"}, "code": {code()}})
	if a.Code != http.StatusSeeOther || a.location() != "/watch" || len(b.cookies) != 2 {
		t.Fatalf("right code: got status %d, location %s", a.Code, a.location())
	}
	again := newBrowser(s, "192.0.2.1")
	if a := again.send("POST", "/login", url.Values{"pending": {pending}, "code": {code()}}); a.Code != http.StatusUnauthorized || len(again.cookies) > 0 {
		t.Errorf("reused code: got status %d", a.Code)
	}
	s.Clock.Advance(time.Minute)
	if a := again.login("alice", goodPassword, "code", code()); a.Code != http.StatusSeeOther {
		t.Errorf("password and code in one form: got status %d, error %s", a.Code, a.problem())
	}
	s.Clock.Advance(5 * time.Minute)
	a = b.send("POST", "/login", url.Values{"pending": {pending}, "code": {code()}})
	if a.Code != http.StatusUnauthorized || a.problem() != "The login has expired. Sign in again." || a.Find("input[name=password]").Length() != 1 {
		t.Errorf("after five minutes: got status %d, error %q", a.Code, a.problem())
	}
}

// While no login is required, the first account can be added only from this machine.
func TestFirstAccount(t *testing.T) {
	s := apptest.New(t)
	form := url.Values{"username": {"Alice"}, "password": {goodPassword}}
	stranger := newBrowser(s, "192.0.2.1")
	proxied := newBrowser(s, "127.0.0.1")
	proxied.headers["X-Forwarded-For"] = "192.0.2.1"
	for _, b := range []*browser{stranger, proxied} {
		if a := b.send("GET", "/login", nil); a.Code != http.StatusForbidden {
			t.Errorf("login page from another machine: got status %d", a.Code)
		}
		if a := b.send("POST", "/login/first", form); a.Code != http.StatusForbidden {
			t.Errorf("first account from another machine: got status %d", a.Code)
		}
		r := httptest.NewRequestWithContext(s.Context(), "POST", "/v1/users", strings.NewReader(`{"username": "eve", "role": "admin", "password": "correct horse battery"}`))
		r.RemoteAddr = b.address + ":1"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Forwarded-For", b.headers["X-Forwarded-For"])
		w := httptest.NewRecorder()
		if s.Router.ServeHTTP(w, r); w.Code != http.StatusForbidden {
			t.Errorf("first account by the API from another machine: got status %d, %s", w.Code, w.Body)
		}
	}
	b := newBrowser(s, "127.0.0.1")
	if a := b.send("GET", "/login", nil); a.Code != http.StatusOK || a.Find("form[action='/login/first']").Length() != 1 {
		t.Fatalf("login page: got status %d", a.Code)
	}
	if a := b.send("POST", "/login", form); a.Code != http.StatusSeeOther || a.location() != "/login" {
		t.Errorf("login without accounts: got status %d, location %s", a.Code, a.location())
	}
	a := b.send("POST", "/login/first", url.Values{"username": {"not good"}, "password": {"short"}})
	if a.Code != http.StatusBadRequest || a.Find("#username-error").Text() == "" || a.Find("#password-error").Text() == "" || a.Find("input[name=username]").AttrOr("value", "") != "not good" {
		t.Errorf("invalid form: got status %d, %s", a.Code, a.Find("main").Text())
	}
	if a := b.send("POST", "/login/first", form); a.Code != http.StatusSeeOther || a.location() != "/" || len(b.cookies) != 2 {
		t.Fatalf("first account: got status %d, location %s", a.Code, a.location())
	}
	if a := b.send("GET", "/links", nil); a.Code != http.StatusOK {
		t.Errorf("not signed in after adding the first account: got status %d", a.Code)
	}
	if a := newBrowser(s, "127.0.0.1").send("GET", "/links", nil); a.Code != http.StatusSeeOther {
		t.Errorf("another browser, after the first account: got status %d", a.Code)
	}
	if a := newBrowser(s, "127.0.0.1").send("POST", "/login/first", url.Values{"username": {"eve"}, "password": {goodPassword}}); a.Code != http.StatusConflict {
		t.Errorf("second first account: got status %d", a.Code)
	}
}

// With AUTH_DISABLED, there is no login page and no first account.
func TestAuthDisabled(t *testing.T) {
	s := apptest.New(t, apptest.Set("AUTH_DISABLED", "true"), apptest.Set("ADMIN_PASSWORD", "settings password"))
	b := newBrowser(s, "127.0.0.1")
	if a := b.send("GET", "/login?next=/watch", nil); a.Code != http.StatusSeeOther || a.location() != "/watch" {
		t.Errorf("login page: got status %d, location %s", a.Code, a.location())
	}
	if a := b.send("POST", "/login/first", url.Values{"username": {"eve"}, "password": {goodPassword}}); a.Code != http.StatusForbidden {
		t.Errorf("first account: got status %d", a.Code)
	}
	if a := b.send("GET", "/admin/jobs", nil); a.Code != http.StatusOK {
		t.Errorf("admin page: got status %d", a.Code)
	}
}

// For an htmx request, the whole browser page is redirected to the login page.
func TestHTMXRedirectsToLogin(t *testing.T) {
	s := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "settings password"))
	b := newBrowser(s, "127.0.0.1")
	b.headers["HX-Request"], b.headers["Referer"] = "true", "http://127.0.0.1:8080/watch?state=down"
	if a := b.send("GET", "/watch?state=up", nil); a.Code != http.StatusUnauthorized || a.Header().Get("HX-Redirect") != "/login?next=%2Fwatch%3Fstate%3Ddown" || a.Body.Len() > 0 {
		t.Errorf("got status %d, header %v", a.Code, a.Header())
	}
	b.headers["Referer"] = "http://evil.example/watch"
	if a := b.send("POST", "/watch", nil); a.Code != http.StatusUnauthorized || a.Header().Get("HX-Redirect") != "/login" {
		t.Errorf("got status %d, header %v", a.Code, a.Header())
	}
}

// Only a proxy at an address in AUTH_PROXY_FROM can send usernames.
func TestProxyLogin(t *testing.T) {
	s := apptest.New(t, apptest.Set("AUTH_PROXY_HEADER", "Remote-User"), apptest.Set("AUTH_PROXY_FROM", "192.0.2.1"), apptest.Set("AUTH_PROXY_ROLE", "editor"), apptest.Set("TRUSTED_PROXIES", "192.0.2.0/24"))
	requestAs := func(from, user string, headers ...string) response {
		b := newBrowser(s, from)
		b.headers["Remote-User"] = user
		for i := 0; i < len(headers); i += 2 {
			b.headers[headers[i]] = headers[i+1]
		}
		return b.send("GET", "/links", nil)
	}
	if a := requestAs("192.0.2.1", "Carol"); a.Code != http.StatusOK {
		t.Fatalf("new user: got status %d, %s", a.Code, a.Body)
	}
	u, err := store(s).ByName(s.Context(), "carol")
	if err != nil || u.Role != accounts.Editor {
		t.Fatalf("account: got %+v, %v", u, err)
	}
	for name, a := range map[string]response{
		"other address of TRUSTED_PROXIES": requestAs("192.0.2.2", "carol"),
		"address in X-Forwarded-For":       requestAs("192.0.2.2", "carol", "X-Forwarded-For", "192.0.2.1"),
		"unknown address":                  requestAs("203.0.113.1", "carol"),
		"empty user":                       requestAs("192.0.2.1", " "),
	} {
		if a.Code != http.StatusSeeOther {
			t.Errorf("%s: got status %d", name, a.Code)
		}
	}
	if a := requestAs("192.0.2.1", "carol", "X-Forwarded-For", "203.0.113.1"); a.Code != http.StatusOK {
		t.Errorf("forwarded client: got status %d", a.Code)
	}
	_, err = store(s).Edit(s.Context(), u.ID, accounts.Edit{Disabled: new(true)})
	s.Must(err)
	for _, user := range []string{"carol", "not a username!", "system"} {
		if a := requestAs("192.0.2.1", user); a.Code != http.StatusForbidden {
			t.Errorf("user %q: got status %d", user, a.Code)
		}
	}
	b := newBrowser(s, "192.0.2.1")
	b.headers["Remote-User"], b.headers["Sec-Fetch-Site"] = "carol", "cross-site"
	if a := b.send("POST", "/links", nil); a.Code != http.StatusForbidden {
		t.Errorf("cross-site write: got status %d", a.Code)
	}
	s = apptest.New(t, apptest.Set("AUTH_PROXY_HEADER", "Remote-User"), apptest.Set("AUTH_PROXY_FROM", "192.0.2.1"))
	if a := requestAs("192.0.2.1", "dave"); a.Code != http.StatusForbidden {
		t.Errorf("without AUTH_PROXY_ROLE: got status %d", a.Code)
	}
}
