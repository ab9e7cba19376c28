package accounts_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/pquerna/otp/totp"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/accounts"
)

const goodPassword = "correct horse battery"

// browser keeps cookies as a browser does.
type browser struct {
	*apptest.App
	from    string // address
	cookies map[string]string
	headers map[string]string
}

func newBrowser(s *apptest.App, from string) *browser {
	return &browser{App: s, from: from, cookies: map[string]string{}, headers: map[string]string{"Accept": "text/html"}}
}

// answer is a response to a browser.
type answer struct {
	*httptest.ResponseRecorder
	*goquery.Document
}

func (a answer) to() string { return a.Header().Get("Location") }

// problem is what the login page says.
func (a answer) problem() string { return strings.TrimSpace(a.Find(".field-error").Text()) }

func (b *browser) send(method, path string, form url.Values) answer {
	b.Helper()
	r := httptest.NewRequestWithContext(b.Context(), method, path, strings.NewReader(form.Encode()))
	r.Host, r.RemoteAddr = "127.0.0.1:8080", b.from+":1"
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range b.headers {
		r.Header.Set(name, value)
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	b.Router.ServeHTTP(w, r)
	for _, k := range w.Result().Cookies() {
		if b.cookies[k.Name] = k.Value; k.MaxAge < 0 {
			delete(b.cookies, k.Name)
		}
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(w.Body.String()))
	if err != nil {
		b.Fatal(err)
	}
	return answer{w, doc}
}

func (b *browser) login(username, password string, more ...string) answer {
	b.Helper()
	form := url.Values{"username": {username}, "password": {password}}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return b.send("POST", "/login", form)
}

// store is that of the accounts of a program.
func store(s *apptest.App) *accounts.Store { return s.Systems.Accounts.Store }

func add(s *apptest.App, name string, role accounts.Role) accounts.User {
	s.Helper()
	u, err := store(s).Add(s.Context(), accounts.New{Username: name, Role: role, Password: goodPassword})
	s.Must(err)
	return u
}

// actions are those of the audit log, the newest first.
func actions(s *apptest.App) (all []string) {
	s.Helper()
	s.Must(store(s).Flush(s.Context()))
	l, err := store(s).Audit(s.Context(), accounts.AuditFilter{}, models.Cursor{}, 100)
	s.Must(err)
	for _, e := range l.Items {
		all = append(all, fmt.Sprintf("%s by %s from %s x%d", e.Action, e.Actor, e.Address, e.Attempts))
	}
	return all
}

func TestLogin(t *testing.T) {
	s := apptest.New(t)
	add(s, "alice", accounts.Admin)
	b := newBrowser(s, "192.0.2.1")
	if a := b.send("GET", "/links?q=a+b", nil); a.Code != http.StatusSeeOther || a.to() != "/login?next=%2Flinks%3Fq%3Da%2Bb" {
		t.Fatalf("without a session: %d %s", a.Code, a.to())
	}
	page := b.send("GET", "/login?next=%2Flinks%3Fq%3Da%2Bb", nil)
	if next, _ := page.Find("input[name=next]").Attr("value"); page.Code != http.StatusOK || next != "/links?q=a+b" {
		t.Fatalf("the page: %d, next %q", page.Code, next)
	}
	b.cookies["linkwatch_session"] = "put there by somebody else"
	a := b.login(" Alice", goodPassword, "next", "/links?q=a+b")
	if a.Code != http.StatusSeeOther || a.to() != "/links?q=a+b" || b.cookies["linkwatch_session"] == "put there by somebody else" {
		t.Fatalf("%d %s %v", a.Code, a.to(), b.cookies)
	}
	if a := b.send("GET", "/links", nil); a.Code != http.StatusOK {
		t.Fatalf("signed in: %d", a.Code)
	}
	if a := b.send("GET", "/login?next=/watch", nil); a.Code != http.StatusSeeOther || a.to() != "/watch" {
		t.Errorf("the login page for somebody who is signed in: %d %s", a.Code, a.to())
	}
	before := b.cookies["linkwatch_session"]
	b.login("alice", goodPassword)
	if stolen := newBrowser(s, "192.0.2.1"); before == b.cookies["linkwatch_session"] {
		t.Error("the secret stays the same")
	} else if stolen.cookies["linkwatch_session"] = before; stolen.send("GET", "/links", nil).Code != http.StatusSeeOther {
		t.Error("the session before is open")
	}
	kept := b.cookies["linkwatch_session"]
	if a := b.send("POST", "/logout", nil); a.Code != http.StatusSeeOther || a.to() != "/login?out=1" || b.cookies["linkwatch_session"] != "" {
		t.Errorf("logout: %d %s %v", a.Code, a.to(), b.cookies)
	}
	if b.cookies["linkwatch_session"] = kept; b.send("GET", "/links", nil).Code != http.StatusSeeOther {
		t.Error("the session is open after the logout")
	}
	if a := b.send("POST", "/logout", nil); a.Code != http.StatusSeeOther || !strings.HasPrefix(a.to(), "/login") {
		t.Errorf("logout without a session: %d %s", a.Code, a.to())
	}
	got := strings.Join(actions(s), "\n")
	if want := "logout by alice from 192.0.2.1 x1\nlogin by alice from 192.0.2.1 x1\nlogin by alice from 192.0.2.1 x1"; !strings.HasPrefix(got, want) {
		t.Errorf("the audit log:\n%s", got)
	}
}

// An unknown user, a wrong password, and an account that is disabled are answered alike.
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
			t.Errorf("%v: %d %v", l, a.Code, b.cookies)
		}
		if got := a.Find("input[name=username]").AttrOr("value", ""); got != l[0] {
			t.Errorf("the username that was typed is %q", got)
		}
		if a.problem() != "Wrong username or password." || a.Find("input[name=next]").AttrOr("value", "") != "/watch" {
			t.Errorf("%v: %q", l, a.problem())
		}
		pages = append(pages, strings.ReplaceAll(a.Body.String(), l[0], "NAME"))
	}
	if pages[0] != pages[1] || pages[1] != pages[2] {
		t.Error("the answers differ")
	}
}

func TestNextAfterTheLogin(t *testing.T) {
	s := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "of the settings"))
	for next, want := range map[string]string{
		"/watch?state=down#x": "/watch?state=down#x", "": "/", "/": "/", "links": "/", "//evil.example": "/", "///evil.example": "/", `/\evil.example`: "/", `\\evil.example`: "/",
		"https://evil.example": "/", "https:/evil.example": "/", "javascript:alert(1)": "/", "/\t/evil.example": "/", "/\n/evil.example": "/", " /watch": "/",
		"/login": "/", "/login/oidc": "/", "/logout": "/", "/" + strings.Repeat("x", 2000): "/", "/%": "/", "/.//evil.example": "/evil.example", "/s/abc": "/", "/%73/abc": "/", "/x/../s/abc": "/", "/short-links": "/short-links", "/admin/jobs": "/admin/jobs",
	} {
		b := newBrowser(s, "127.0.0.1")
		if a := b.login("admin", "of the settings", "next", next); a.Code != http.StatusSeeOther || a.to() != want {
			t.Errorf("next %q leads to %q, want %q", next, a.to(), want)
		}
		page := b.send("GET", "/login?next="+url.QueryEscape(next), nil)
		if page.to() != want {
			t.Errorf("signed in, next %q leads to %q, want %q", next, page.to(), want)
		}
	}
}

// Another site can neither sign a browser in nor out.
func TestLoginFromAnotherSite(t *testing.T) {
	s := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "of the settings"))
	b := newBrowser(s, "127.0.0.1")
	b.login("admin", "of the settings")
	for _, headers := range []map[string]string{{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "null"}} {
		evil := newBrowser(s, "127.0.0.1")
		evil.headers = headers
		if a := evil.login("admin", "of the settings"); a.Code != http.StatusForbidden || len(evil.cookies) > 0 {
			t.Errorf("login with %v: %d %v", headers, a.Code, evil.cookies)
		}
		evil.cookies = b.cookies
		for _, path := range []string{"/logout", "/links", "/v1/links"} {
			if a := evil.send("POST", path, url.Values{"url": {"https://example.com"}}); a.Code != http.StatusForbidden {
				t.Errorf("POST %s with %v: %d", path, headers, a.Code)
			}
		}
	}
	if a := b.send("GET", "/links", nil); a.Code != http.StatusOK {
		t.Errorf("the session has ended: %d", a.Code)
	}
}

// A client that guesses is refused, and an account that is guessed at is closed to all but those
// that it knows. What is refused takes no hash.
func TestThrottledLogins(t *testing.T) {
	s := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "of the settings"))
	friend := newBrowser(s, "198.51.100.1")
	friend.login("admin", "of the settings")
	guesser := newBrowser(s, "192.0.2.1")
	for i := range 12 {
		a := guesser.login("unknown", "", "pending", "x")
		if want := map[bool]int{true: http.StatusUnauthorized, false: http.StatusTooManyRequests}[i < 10]; a.Code != want {
			t.Fatalf("attempt %d: %d, want %d", i+1, a.Code, want)
		}
	}
	a := guesser.login("admin", "of the settings")
	if a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") == "" || !strings.Contains(a.problem(), "Try again in ") || a.Find("form").Length() != 1 {
		t.Errorf("a right login after ten wrong ones: %d %q", a.Code, a.problem())
	}
	// 20 attempts at one account from three addresses. A username that is too long costs no hash.
	for i := range 20 {
		newBrowser(s, fmt.Sprintf("203.0.113.%d", i/8)).login("admin", strings.Repeat("x", 300))
	}
	if a := newBrowser(s, "203.0.113.9").login("Admin ", "of the settings"); a.Code != http.StatusTooManyRequests {
		t.Errorf("a stranger at a closed account: %d", a.Code)
	}
	if a := newBrowser(s, "203.0.113.9").login("other", strings.Repeat("x", 300)); a.Code != http.StatusUnauthorized {
		t.Errorf("a stranger at another account: %d", a.Code)
	}
	if a := newBrowser(s, "198.51.100.1").login("admin", "of the settings"); a.Code != http.StatusSeeOther {
		t.Errorf("a known address at a closed account: %d", a.Code)
	}
	if a := friend.send("GET", "/links", nil); a.Code != http.StatusOK {
		t.Errorf("the session of the account: %d", a.Code)
	}
	for i := range 5 { // other usernames are no further entries
		guesser.login(fmt.Sprint("other", i), "", "pending", "")
	}
	got := strings.Join(actions(s), "\n")
	for _, want := range []string{"login.throttled by  from 192.0.2.1 x8", "login.throttled by admin from 203.0.113.9 x1", "login.failed by admin from 203.0.113.0 x8"} {
		if !strings.Contains(got, want) {
			t.Errorf("the audit log lacks %s:\n%s", want, got)
		}
	}
}

// A password that was typed as the username is not in the audit log.
func TestFailedLoginsAreRecordedByAccount(t *testing.T) {
	s := apptest.New(t)
	add(s, "alice", accounts.Admin)
	b := newBrowser(s, "192.0.2.1")
	for _, name := range []string{"alice", "typed-by-mistake"} {
		b.login(name, strings.Repeat("x", 300))
	}
	got := strings.Join(actions(s), "\n")
	if !strings.Contains(got, "login.failed by alice from 192.0.2.1 x1") || !strings.Contains(got, "login.failed by  from 192.0.2.1 x1") {
		t.Errorf("the audit log:\n%s", got)
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
		t.Fatalf("%d %q %v: %s", a.Code, a.problem(), b.cookies, a.Body)
	}
	a = b.send("POST", "/login", url.Values{"pending": {pending}, "next": {"/watch"}, "code": {"000000"}})
	if a.Code != http.StatusUnauthorized || a.problem() != "This code is wrong or was already used." || a.Find("input[name=code]").Length() != 1 || len(b.cookies) > 0 {
		t.Fatalf("a wrong code: %d %q", a.Code, a.problem())
	}
	a = b.send("POST", "/login", url.Values{"pending": {pending}, "next": {"/watch"}, "code": {code()}})
	if a.Code != http.StatusSeeOther || a.to() != "/watch" || len(b.cookies) != 1 {
		t.Fatalf("the code: %d %s", a.Code, a.to())
	}
	again := newBrowser(s, "192.0.2.1")
	if a := again.send("POST", "/login", url.Values{"pending": {pending}, "code": {code()}}); a.Code != http.StatusUnauthorized || len(again.cookies) > 0 {
		t.Errorf("a code a second time: %d", a.Code)
	}
	s.Clock.Advance(time.Minute)
	if a := again.login("alice", goodPassword, "code", code()); a.Code != http.StatusSeeOther {
		t.Errorf("all at once: %d %s", a.Code, a.problem())
	}
	s.Clock.Advance(5 * time.Minute)
	a = b.send("POST", "/login", url.Values{"pending": {pending}, "code": {code()}})
	if a.Code != http.StatusUnauthorized || a.problem() != "The login has expired. Sign in again." || a.Find("input[name=password]").Length() != 1 {
		t.Errorf("too late: %d %q", a.Code, a.problem())
	}
}

// The first account can be added on this machine while everything is open, and nowhere else.
func TestFirstAccount(t *testing.T) {
	s := apptest.New(t)
	form := url.Values{"username": {"Alice"}, "password": {goodPassword}}
	stranger := newBrowser(s, "192.0.2.1")
	proxied := newBrowser(s, "127.0.0.1")
	proxied.headers["X-Forwarded-For"] = "192.0.2.1"
	for _, b := range []*browser{stranger, proxied} {
		if a := b.send("GET", "/login", nil); a.Code != http.StatusForbidden {
			t.Errorf("the page for a stranger: %d", a.Code)
		}
		if a := b.send("POST", "/login/first", form); a.Code != http.StatusForbidden {
			t.Errorf("a stranger adds the first account: %d", a.Code)
		}
		r := httptest.NewRequestWithContext(s.Context(), "POST", "/v1/users", strings.NewReader(`{"username": "eve", "role": "admin", "password": "correct horse battery"}`))
		r.RemoteAddr = b.from + ":1"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Forwarded-For", b.headers["X-Forwarded-For"])
		w := httptest.NewRecorder()
		if s.Router.ServeHTTP(w, r); w.Code != http.StatusForbidden {
			t.Errorf("a stranger adds the first account by the API: %d %s", w.Code, w.Body)
		}
	}
	b := newBrowser(s, "127.0.0.1")
	if a := b.send("GET", "/login", nil); a.Code != http.StatusOK || a.Find("form[action='/login/first']").Length() != 1 {
		t.Fatalf("the page: %d", a.Code)
	}
	if a := b.send("POST", "/login", form); a.Code != http.StatusSeeOther || a.to() != "/login" {
		t.Errorf("a login while there is no account: %d %s", a.Code, a.to())
	}
	a := b.send("POST", "/login/first", url.Values{"username": {"not good"}, "password": {"short"}})
	if a.Code != http.StatusBadRequest || a.Find("#username-error").Text() == "" || a.Find("#password-error").Text() == "" || a.Find("input[name=username]").AttrOr("value", "") != "not good" {
		t.Errorf("a bad form: %d %s", a.Code, a.Find("main").Text())
	}
	if a := b.send("POST", "/login/first", form); a.Code != http.StatusSeeOther || a.to() != "/" || len(b.cookies) != 1 {
		t.Fatalf("%d %s", a.Code, a.to())
	}
	if a := b.send("GET", "/links", nil); a.Code != http.StatusOK {
		t.Errorf("who added it is not signed in: %d", a.Code)
	}
	if a := newBrowser(s, "127.0.0.1").send("GET", "/links", nil); a.Code != http.StatusSeeOther {
		t.Errorf("still open: %d", a.Code)
	}
	if a := newBrowser(s, "127.0.0.1").send("POST", "/login/first", url.Values{"username": {"eve"}, "password": {goodPassword}}); a.Code != http.StatusForbidden {
		t.Errorf("a second first account: %d", a.Code)
	}
}

// With AUTH_DISABLED there is no login, and strangers cannot add an account.
func TestAuthDisabled(t *testing.T) {
	s := apptest.New(t, apptest.Set("AUTH_DISABLED", "true"), apptest.Set("ADMIN_PASSWORD", "of the settings"))
	b := newBrowser(s, "127.0.0.1")
	if a := b.send("GET", "/login?next=/watch", nil); a.Code != http.StatusSeeOther || a.to() != "/watch" {
		t.Errorf("the login page: %d %s", a.Code, a.to())
	}
	if a := b.send("POST", "/login/first", url.Values{"username": {"eve"}, "password": {goodPassword}}); a.Code != http.StatusForbidden {
		t.Errorf("the first account: %d", a.Code)
	}
	if a := b.send("GET", "/admin/jobs", nil); a.Code != http.StatusOK {
		t.Errorf("a page: %d", a.Code)
	}
}

// htmx is sent to the login page as a whole, not into a part of the page.
func TestPartsLeadToTheLogin(t *testing.T) {
	s := apptest.New(t, apptest.Set("ADMIN_PASSWORD", "of the settings"))
	b := newBrowser(s, "127.0.0.1")
	b.headers["HX-Request"], b.headers["Referer"] = "true", "http://127.0.0.1:8080/watch?state=down"
	if a := b.send("GET", "/watch?state=up", nil); a.Code != http.StatusUnauthorized || a.Header().Get("HX-Redirect") != "/login?next=%2Fwatch%3Fstate%3Ddown" || a.Body.Len() > 0 {
		t.Errorf("%d %v", a.Code, a.Header())
	}
	b.headers["Referer"] = "http://evil.example/watch"
	if a := b.send("POST", "/watch", nil); a.Code != http.StatusUnauthorized || a.Header().Get("HX-Redirect") != "/login" {
		t.Errorf("%d %v", a.Code, a.Header())
	}
}

// TestProxyLogin: only a proxy at a listed address names users.
func TestProxyLogin(t *testing.T) {
	s := apptest.New(t, apptest.Set("AUTH_PROXY_HEADER", "Remote-User"), apptest.Set("AUTH_PROXY_FROM", "192.0.2.1"), apptest.Set("AUTH_PROXY_ROLE", "editor"), apptest.Set("TRUSTED_PROXIES", "192.0.2.0/24"))
	as := func(from, user string, more ...string) answer {
		b := newBrowser(s, from)
		b.headers["Remote-User"] = user
		for i := 0; i < len(more); i += 2 {
			b.headers[more[i]] = more[i+1]
		}
		return b.send("GET", "/links", nil)
	}
	if a := as("192.0.2.1", "Carol"); a.Code != http.StatusOK {
		t.Fatalf("a new user: %d %s", a.Code, a.Body)
	}
	u, err := store(s).ByName(s.Context(), "carol")
	if err != nil || u.Role != accounts.Editor {
		t.Fatalf("%+v %v", u, err)
	}
	for name, a := range map[string]answer{
		"another address":              as("192.0.2.2", "carol"),
		"an address that a header has": as("192.0.2.2", "carol", "X-Forwarded-For", "192.0.2.1"),
		"a stranger":                   as("203.0.113.1", "carol"),
		"no user":                      as("192.0.2.1", " "),
	} {
		if a.Code != http.StatusSeeOther {
			t.Errorf("%s: %d", name, a.Code)
		}
	}
	if a := as("192.0.2.1", "carol", "X-Forwarded-For", "203.0.113.1"); a.Code != http.StatusOK {
		t.Errorf("by the proxy for a client elsewhere: %d", a.Code)
	}
	_, err = store(s).Edit(s.Context(), u.ID, accounts.Edit{Disabled: new(true)})
	s.Must(err)
	for _, user := range []string{"carol", "not a username!", "system"} {
		if a := as("192.0.2.1", user); a.Code != http.StatusForbidden {
			t.Errorf("%q: %d", user, a.Code)
		}
	}
	b := newBrowser(s, "192.0.2.1")
	b.headers["Remote-User"], b.headers["Sec-Fetch-Site"] = "carol", "cross-site"
	if a := b.send("POST", "/links", nil); a.Code != http.StatusForbidden {
		t.Errorf("a write from another site: %d", a.Code)
	}
	s = apptest.New(t, apptest.Set("AUTH_PROXY_HEADER", "Remote-User"), apptest.Set("AUTH_PROXY_FROM", "192.0.2.1"))
	if a := as("192.0.2.1", "dave"); a.Code != http.StatusForbidden {
		t.Errorf("without AUTH_PROXY_ROLE: %d", a.Code)
	}
}
