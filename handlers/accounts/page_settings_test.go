package accounts_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"linkwatch/app/apptest"
	"linkwatch/models/accounts"
)

func TestSettingsPage(t *testing.T) {
	s := apptest.New(t)
	u := s.AddUser("alice", accounts.Viewer)
	other := s.SignIn(u)
	s.Clock.Advance(time.Hour)
	as := s.SignIn(u)
	a := as.Get("/settings")
	apptest.WantText(t, a, ".facts", "Username alice Role viewer can read Last login just now")
	apptest.WantText(t, a, ".top .account-link", "alice")
	apptest.WantCount(t, a, `.top .account-link[aria-label="Settings of alice"][aria-current="page"]`, 1)
	apptest.WantText(t, a, "tbody tr:nth-child(1)", "Firefox on Linux this session 192.0.2.1")
	apptest.WantText(t, a, "tbody tr:nth-child(2)", "Firefox on Linux 192.0.2.1 1 h ago")
	apptest.WantCount(t, a, ".health", 1)
	apptest.WantCount(t, a, ".own form", 5) // app.css hides forms of other pages from viewers

	// End one session, then all.
	a = as.Submit(a, "tbody tr:nth-child(2) form")
	apptest.WantText(t, a, ".flash", "Session ended.")
	apptest.WantCount(t, a, "tbody tr", 1)
	wantLogin(t, other.Get("/settings"), "the other session")
	stranger := s.SignIn(s.AddUser("bob", accounts.Editor))
	mine := a.Find("tbody form").AttrOr("action", "")
	apptest.WantStatus(t, stranger.Post(mine, nil), http.StatusNotFound)
	apptest.WantStatus(t, as.Get("/settings"), http.StatusOK)
	if p := as.Post(mine, nil); p.Header.Get("Location") != "/login?out=1" || !strings.Contains(p.Header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("current session: got location %q, cookie %q", p.Header.Get("Location"), p.Header.Get("Set-Cookie"))
	}
	wantLogin(t, as.Get("/settings"), "current session")

	as, other = s.SignIn(u), s.SignIn(u)
	if p := as.Post("/settings/sessions/end", nil); p.Header.Get("Location") != "/login?out=1" {
		t.Errorf("sign out everywhere: got location %q", p.Header.Get("Location"))
	}
	wantLogin(t, as.Get("/settings"), "this session")
	wantLogin(t, other.Get("/settings"), "the other session")
	apptest.WantStatus(t, stranger.Get("/settings"), http.StatusOK)
	wantAudited(s, "alice session session.end alice")
	wantAudited(s, "alice session session.end_all alice")
	wantNoSecrets(s, as.Session(), other.Session(), stranger.Session())
}

func TestSignOut(t *testing.T) {
	s := apptest.New(t)
	as := s.SignIn(s.AddUser("alice", accounts.Viewer))
	a := as.Submit(as.Get("/settings"), `form[action="/logout"]`)
	apptest.WantText(t, a, "main", "You have signed out.")
	wantLogin(t, as.Get("/settings"), "the session")
}

func TestChangePassword(t *testing.T) {
	s := apptest.New(t)
	u := addWithPassword(s, "alice", accounts.Admin)
	as, other := s.SignIn(u), s.SignIn(u)
	change := func(current, fresh string) apptest.Page {
		return as.Post("/settings/password", form("current_password", current, "password", fresh))
	}
	wantError(t, change(password, "short"), http.StatusBadRequest, "password-error", "Password must have at least 8 characters.")
	wantError(t, change(password, "password1"), http.StatusBadRequest, "password-error", "one of the most common passwords")
	p := change("wrong", newPassword)
	wantError(t, p, http.StatusBadRequest, "current-password-error", "Current password is wrong.")
	if strings.Contains(p.HTML, newPassword) || strings.Contains(p.HTML, `value="wrong"`) {
		t.Error("the page contains a password")
	}
	apptest.WantStatus(t, other.Get("/settings"), http.StatusOK)

	a := as.Follow("/settings/password", form("current_password", password, "password", newPassword))
	apptest.WantText(t, a, ".flash", "Password changed. Your other sessions have ended.")
	wantLogin(t, other.Get("/settings"), "the other session")
	if _, err := s.Systems.Accounts.Store.Verify(t.Context(), accounts.Login{Username: "alice", Password: newPassword}); err != nil {
		t.Error(err)
	}
	wantAudited(s, "alice session password.failed alice")
	wantAudited(s, `alice session user.password alice  {"password":"changed"}`)
	wantNoSecrets(s, as.Session())
}

// An account of single sign-on has no current password.
func TestChangePassword_NoPassword(t *testing.T) {
	s := apptest.New(t)
	as := s.SignIn(s.AddUser("alice", accounts.Viewer))
	a := as.Get("/settings")
	apptest.WantCount(t, a, "input[name=current_password]", 0)
	apptest.WantText(t, a, "form[action='/settings/password']", "This account has no password.")
	apptest.WantText(t, as.Follow("/settings/password", form("password", newPassword)), ".flash", "Password changed")
	wantNoSecrets(s)
}

// A session allows only a few attempts at the current password.
func TestChangePassword_TooManyAttempts(t *testing.T) {
	s := apptest.New(t)
	as := s.SignIn(addWithPassword(s, "alice", accounts.Admin))
	long := strings.Repeat("x", 300) // too long, so it fails without a slow hash
	for range 10 {
		wantError(t, as.Post("/settings/two-factor/off", form("current_password", long)), http.StatusBadRequest, "current-password-error", "Current password is wrong.")
	}
	for _, path := range []string{"/settings/two-factor/off", "/settings/two-factor/setup", "/settings/password"} {
		p := as.Post(path, form("current_password", password, "password", newPassword))
		wantError(t, p, http.StatusTooManyRequests, "current-password-error", "Too many wrong passwords.")
		if p.Header.Get("Retry-After") == "" {
			t.Error("missing Retry-After")
		}
	}
	apptest.WantStatus(t, as.Get("/settings"), http.StatusOK)
	wantAudited(s, "alice session password.throttled alice")
}

// Codes of a new key are limited like passwords, for each session. Others of the same network can go on.
func TestConfirmTwoFactor_TooManyAttempts(t *testing.T) {
	s := apptest.New(t)
	u := s.AddUser("alice", accounts.Admin)
	as, other := s.SignIn(u), s.SignIn(u)
	p := as.Post("/settings/two-factor/setup", nil)
	apptest.WantStatus(t, p, http.StatusOK)
	right, err := totp.GenerateCode(strings.ReplaceAll(apptest.Text(p, "#secret"), " ", ""), s.Clock.Now())
	s.Must(err)
	wrong := "000000"
	if right == wrong {
		wrong = "000001"
	}
	for range 10 {
		wantError(t, as.Post("/settings/two-factor/confirm", form("code", wrong)), http.StatusBadRequest, "code-error", "Code is wrong.")
	}
	p = as.Post("/settings/two-factor/confirm", form("code", right))
	wantError(t, p, http.StatusTooManyRequests, "code-error", "Too many wrong codes. Try again in ")
	if p.Header.Get("Retry-After") == "" {
		t.Error("missing Retry-After")
	}
	wantAudited(s, "alice session code.failed alice")
	wantAudited(s, "alice session code.throttled alice")
	apptest.WantStatus(t, other.Post("/settings/two-factor/confirm", form("code", right)), http.StatusOK)
}

// A new key expires after ten minutes.
func TestConfirmTwoFactor_Late(t *testing.T) {
	s := apptest.New(t)
	as := s.SignIn(s.AddUser("alice", accounts.Admin))
	confirm := func(after time.Duration) apptest.Page {
		p := as.Post("/settings/two-factor/setup", nil)
		s.Clock.Advance(after)
		c, err := totp.GenerateCode(strings.ReplaceAll(apptest.Text(p, "#secret"), " ", ""), s.Clock.Now())
		s.Must(err)
		return as.Post("/settings/two-factor/confirm", form("code", c))
	}
	wantError(t, confirm(10*time.Minute), http.StatusConflict, "code-error", "The key has expired. Set up two-factor authentication again.")
	apptest.WantStatus(t, confirm(10*time.Minute-time.Second), http.StatusOK)
}

func TestTwoFactor(t *testing.T) {
	s := apptest.New(t)
	as := s.SignIn(addWithPassword(s, "alice", accounts.Admin))
	store := s.Systems.Accounts.Store
	apptest.WantText(t, as.Get("/settings"), "[aria-labelledby=factor-title]", "Off.")
	a := as.Get("/settings/two-factor")
	apptest.WantText(t, a, "h1", "Two-factor authentication")
	wantError(t, as.Post("/settings/two-factor/setup", form("current_password", "wrong")), http.StatusBadRequest, "current-password-error", "Current password is wrong.")
	wantError(t, as.Post("/settings/two-factor/confirm", form("code", "123456")), http.StatusConflict, "code-error", "There is no key to confirm. Set up two-factor authentication again.")

	p := as.Post("/settings/two-factor/setup", form("current_password", password))
	apptest.WantStatus(t, p, http.StatusOK)
	if got := p.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control: got %q", got)
	}
	apptest.WantText(t, p, ".key-qr title", "QR code of the key")
	grouped := apptest.Text(p, "#secret")
	if !regexp.MustCompile(`^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$`).MatchString(grouped) {
		t.Errorf("key: got %q", grouped)
	}
	key := strings.ReplaceAll(grouped, " ", "")
	again := as.Get("/settings/two-factor")
	apptest.WantCount(t, again, "#secret, .key-qr", 0)

	p = as.Post("/settings/two-factor/confirm", form("code", "000000"))
	wantError(t, p, http.StatusBadRequest, "code-error", "Code is wrong.")
	if strings.Contains(p.HTML, key) || strings.Contains(p.HTML, grouped) {
		t.Error("the page contains the key")
	}
	code, err := totp.GenerateCode(key, s.Clock.Now())
	s.Must(err)
	p = as.Post("/settings/two-factor/confirm", form("code", code[:3]+" "+code[3:]))
	apptest.WantStatus(t, p, http.StatusOK)
	if got := p.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control: got %q", got)
	}
	codes := strings.Fields(apptest.Text(p, ".codes"))
	if len(codes) != 10 {
		t.Fatalf("got recovery codes %q, want 10", codes)
	}
	if _, err := store.Verify(t.Context(), accounts.Login{Username: "alice", Password: password, Code: codes[0]}); err != nil {
		t.Error(err)
	}
	a = as.Get("/settings")
	apptest.WantText(t, a, "[aria-labelledby=factor-title]", "9 recovery codes left on Manage")
	later := as.Get("/settings/two-factor")
	apptest.WantText(t, later, ".facts", "Recovery codes 9 left")
	for _, secret := range append(codes, key, grouped) {
		if strings.Contains(a.HTML+later.HTML, secret) {
			t.Errorf("a later page contains %q", secret)
		}
	}
	wantError(t, as.Post("/settings/two-factor/setup", form("current_password", password)), http.StatusConflict, "current-password-error", "Two-factor authentication is already on.")
	wantError(t, as.Post("/settings/two-factor/off", form("current_password", "wrong")), http.StatusBadRequest, "current-password-error", "Current password is wrong.")
	a = as.Follow("/settings/two-factor/off", form("current_password", password))
	apptest.WantText(t, a, ".flash", "Two-factor authentication turned off.")
	wantAudited(s, "alice session user.two_factor_on alice")
	wantAudited(s, "alice session user.two_factor_off alice")
	wantNoSecrets(s, append(codes, key, grouped)...)
}
