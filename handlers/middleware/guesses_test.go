package middleware

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
)

const (
	basicWrong  = "Basic YTp3cm9uZw==" // a:wrong
	bearerWrong = "Bearer wrong"
	bearerRight = "Bearer right"
)

// guarded is a server with the password "right", one private and one public route, and a test
// clock.
type guarded struct {
	*gin.Engine
	now time.Time
	log *bytes.Buffer
}

func newGuarded(known ...Accounts) *guarded {
	g := &guarded{now: time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC), log: &bytes.Buffer{}}
	routes := NewTable()
	log := slog.New(slog.NewTextHandler(g.log, nil)) // a handler locks its writer
	guesses := NewGuesses(log)
	guesses.now = func() time.Time { return g.now }
	o := AccessOptions{Guesses: guesses, Password: "right"}
	if len(known) > 0 {
		o.Accounts = known[0]
	}
	a := NewAccess(&Errors{Log: log}, routes, o)
	gin.SetMode(gin.ReleaseMode)
	g.Engine = gin.New()
	g.Use(Identify(routes), a.Check)
	g.Any("/private", func(c *gin.Context) { c.Status(http.StatusOK) })
	g.Any("/public", func(c *gin.Context) { c.Status(http.StatusOK) })
	for _, method := range []string{"GET", "POST"} { // also for HEAD
		routes.Add(Route{Method: method, Path: "/private", Needs: Viewer}, Route{Method: method, Path: "/public", Needs: Public})
	}
	return g
}

// ask sends a request from an address; auth "" = without credentials.
func (g *guarded) ask(from, method, path, auth string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.RemoteAddr = from
	if auth != "" {
		r.Header.Set("Authorization", auth)
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

func (g *guarded) want(t *testing.T, status int, from, method, path, auth string) *httptest.ResponseRecorder {
	t.Helper()
	w := g.ask(from, method, path, auth)
	if w.Code != status {
		t.Errorf("%s %s from %s with %q: %d, want %d", method, path, from, auth, w.Code, status)
	}
	return w
}

const guesser, other = "203.0.113.7:1000", "203.0.113.8:1000"

func TestGuessing(t *testing.T) {
	g := newGuarded()
	for i := range maxFailures {
		g.want(t, 401, guesser, "GET", "/private", []string{basicWrong, bearerWrong}[i%2])
		g.now = g.now.Add(time.Second)
	}
	began := g.now.Add(-maxFailures * time.Second)
	for _, method := range []string{"GET", "HEAD", "POST"} { // correct credentials are refused too, from any port
		w := g.want(t, 429, "203.0.113.7:2000", method, "/private", bearerRight)
		if got := w.Header().Get("Retry-After"); got != "50" || w.Header().Get("WWW-Authenticate") != "" {
			t.Errorf("%s: %v", method, w.Header())
		}
		if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
			t.Errorf("%s: %s", method, got)
		}
		if body := w.Body.String(); method == "GET" && (!strings.Contains(body, "/probs/rate-limited") || !strings.Contains(body, "Try again in 50 seconds.")) {
			t.Error(body)
		}
	}
	g.want(t, 303, guesser, "GET", "/private", "") // still redirects to the login
	g.want(t, 401, guesser, "GET", "/private", "Digest x")
	g.want(t, 200, guesser, "GET", "/public", "")
	g.want(t, 200, guesser, "GET", "/public", bearerWrong)
	g.want(t, 200, other, "GET", "/private", bearerRight)
	g.want(t, 401, other, "GET", "/private", bearerWrong)

	g.now = began.Add(failureWindow - time.Nanosecond)
	if got := g.want(t, 429, guesser, "GET", "/private", bearerRight).Header().Get("Retry-After"); got != "1" {
		t.Errorf("got Retry-After %q", got)
	}
	g.now = began.Add(failureWindow)
	g.want(t, 200, guesser, "GET", "/private", bearerRight)
	g.want(t, 401, guesser, "GET", "/private", bearerWrong) // only the first of ten is a minute old
	g.want(t, 429, guesser, "GET", "/private", bearerRight)
}

// Refused attempts do not extend the wait, so that other users of the same address can log in
// later.
func TestRefusedAttemptsDoNotCount(t *testing.T) {
	g := newGuarded()
	for range maxFailures {
		g.want(t, 401, guesser, "GET", "/private", basicWrong)
	}
	for _, left := range []string{"60", "50", "40", "30", "20", "10"} {
		if got := g.want(t, 429, guesser, "GET", "/private", bearerWrong).Header().Get("Retry-After"); got != left {
			t.Errorf("got Retry-After %q, want %q", got, left)
		}
		g.now = g.now.Add(10 * time.Second)
	}
	g.want(t, 200, guesser, "GET", "/private", bearerRight)
}

// An IPv6 client is a whole network.
func TestGuessingByNetwork(t *testing.T) {
	g := newGuarded()
	for i := range maxFailures {
		g.want(t, 401, fmt.Sprintf("[2001:db8:0:1::%x]:1", i+1), "GET", "/private", bearerWrong)
	}
	g.want(t, 429, "[2001:db8:0:1:ffff::1]:1", "GET", "/private", bearerRight)
	g.want(t, 200, "[2001:db8:0:2::1]:1", "GET", "/private", bearerRight)
	if !strings.Contains(g.log.String(), "client=2001:db8:0:1::/64") {
		t.Error(g.log)
	}
}

// Of many concurrent guesses, ten get 401.
func TestConcurrentGuesses(t *testing.T) {
	g := newGuarded()
	var mu sync.Mutex
	answers := map[int]int{}
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			w := g.ask(guesser, "GET", "/private", bearerWrong)
			if w.Code == 429 && g.ask(guesser, "GET", "/private", bearerRight).Code != 429 {
				t.Error("a correct guess of a refused client gets another response")
			}
			if g.ask(other, "GET", "/private", bearerRight).Code != 200 {
				t.Error("another client is refused")
			}
			mu.Lock()
			defer mu.Unlock()
			answers[w.Code]++
		})
	}
	wg.Wait()
	if answers[401] != maxFailures || answers[429] != 200-maxFailures {
		t.Errorf("%v", answers)
	}
	if n := strings.Count(g.log.String(), "client refused after failed logins"); n != 1 {
		t.Errorf("got %d lines: %s", n, g.log)
	}
}

func TestGuessingIsLogged(t *testing.T) {
	g := newGuarded()
	var id string
	for i := range 2 * maxFailures {
		w := g.ask(guesser, "GET", "/private", "Bearer hunter2")
		if i == maxFailures-1 {
			id = w.Header().Get("X-Request-Id")
		}
	}
	want := `level=WARN msg="client refused after failed logins" client=203.0.113.7 failures=10 request_id=` + id + "\n"
	if lines := g.log.String(); strings.Count(lines, "\n") != 1 || !strings.HasSuffix(lines, want) || strings.Contains(lines, "hunter2") {
		t.Errorf("%s", lines)
	}
	g.now = g.now.Add(failureWindow) // the refusal ends and starts again
	for range maxFailures {
		g.want(t, 401, guesser, "GET", "/private", bearerWrong)
	}
	if lines := g.log.String(); strings.Count(lines, "\n") != 2 {
		t.Errorf("%s", lines)
	}
}

// Guesses from many clients are logged once per minute, and no client is refused.
func TestGuessesOfManyClients(t *testing.T) {
	g := newGuarded()
	const line = `msg="many failed logins" failures=100 window=1m0s request_id=`
	guess := func(n int) {
		for i := range n {
			g.want(t, 401, fmt.Sprintf("10.0.%d.%d:1", i/256, i%256), "GET", "/private", bearerWrong)
		}
	}
	guess(maxAllFailures - 1)
	if g.log.Len() != 0 {
		t.Errorf("logged too early: %s", g.log)
	}
	for i, after := range []time.Duration{0, failureWindow - 1, 1} {
		g.now = g.now.Add(after)
		guess(maxAllFailures)
		if n, want := strings.Count(g.log.String(), line), []int{1, 1, 2}[i]; n != want {
			t.Errorf("got %d lines, want %d: %s", n, want, g.log)
		}
	}
	g.want(t, 200, other, "GET", "/private", bearerRight)
}

// The table has no entries of successful clients and a limited number of entries of failed ones.
func TestFailuresAreLimited(t *testing.T) {
	f := NewGuesses(slog.New(slog.DiscardHandler))
	for i := range 3 * maxClients {
		from := clientAt(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
		f.wait(from)
		if i%2 == 0 {
			f.add(t.Context(), from)
		}
		if n := len(f.clients.entries); n > maxClients || n > i/2+1 {
			t.Fatalf("got %d clients in the table after %d", n, i+1)
		}
	}
}

// A flood of other usernames does not unlock a locked account, and a flood of other addresses does not
// unblock a refused client.
func TestFloodUnlocksNothing(t *testing.T) {
	g := NewGuesses(slog.New(slog.DiscardHandler))
	now := time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC)
	g.now = func() time.Time { return now }
	from := func(i int) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/login", nil)
		r.RemoteAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 1).String()
		return r
	}
	stranger := func() bool { return false }
	for i := range 2 * maxFailures {
		g.Login(from(i/10), "alice", "", stranger)
	}
	for i := range 5 * maxClients {
		g.Login(from(100+i), fmt.Sprint("user", i), "", stranger)
	}
	if wait, _ := g.Login(from(5), "alice", "", stranger); wait == 0 {
		t.Error("the account is unlocked")
	}
	if !g.Refuses(from(0)) {
		t.Error("the client is unblocked")
	}
	if n := len(g.accounts.entries); n > maxClients {
		t.Errorf("got %d accounts in the table", n)
	}
}

// credentialed implements Accounts with the API token lw_valid, the expired token lw_expired, and the session "valid".
type credentialed struct{ Accounts }

func (credentialed) InUse() bool                          { return true }
func (credentialed) Refused(models.Actor, string, string) {}
func (credentialed) ByToken(_ context.Context, secret, _ string) (a Account, ok, expired bool, err error) {
	return Account{ID: "u_1", Name: "alice", Role: Admin}, secret == "lw_valid", secret == "lw_expired", nil
}

func (credentialed) BySession(_ context.Context, secret string) (Account, bool, error) {
	return Account{ID: "u_1", Name: "alice", Role: Admin}, secret == "valid", nil
}

// A client that is refused after wrong credentials can use a valid token and a valid session. ADMIN_PASSWORD waits, as a
// bearer token and with HTTP Basic, because it can be guessed.
func TestRefusedClientUsesValidCredentials(t *testing.T) {
	g := newGuarded(credentialed{noAccounts{}})
	for range maxFailures {
		g.want(t, 401, guesser, "GET", "/private", "Bearer lw_wrong")
	}
	for auth, want := range map[string]int{
		"Bearer lw_valid": 200, "Bearer lw_expired": 401, "Bearer lw_wrong": 429, bearerWrong: 429, bearerRight: 429,
		"Basic YTpyaWdodA==": 429, basicWrong: 429, "Basic YTpsd192YWxpZA==": 429, // a:right, a:wrong, a:lw_valid
	} {
		g.want(t, want, guesser, "GET", "/private", auth)
	}
	r := httptest.NewRequest(http.MethodGet, "/private", nil)
	r.RemoteAddr = guesser
	r.Header.Set("Cookie", sessionCookie+"=valid")
	w := httptest.NewRecorder()
	if g.ServeHTTP(w, r); w.Code != http.StatusOK {
		t.Errorf("valid session: got %d", w.Code)
	}
}

// A known browser is counted for itself: neither failures of its network nor a locked account keep it from signing in, and
// its own failures do not refuse its network.
func TestKnownBrowsersAreCountedForThemselves(t *testing.T) {
	g := NewGuesses(slog.New(slog.DiscardHandler))
	now := time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC)
	g.now = func() time.Time { return now }
	from := func(i int) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/login", nil)
		r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", i)
		return r
	}
	stranger := func() bool { return false }
	for i := range 3 * maxFailures {
		g.Login(from(i/maxFailures), "alice", "", stranger)
	}
	if wait, _ := g.Login(from(9), "alice", "", stranger); wait == 0 || !g.Refuses(from(0)) {
		t.Fatal("the account is not locked, or the network not refused")
	}
	for range 3 { // right passwords do not open the account to strangers
		_, right := g.Login(from(8), "alice", "desktop", stranger)
		right()
	}
	if wait, _ := g.Login(from(9), "alice", "", stranger); wait == 0 {
		t.Error("a login of a known browser unlocks the account")
	}
	for range maxFailures {
		if wait, _ := g.Login(from(0), "alice", "laptop", stranger); wait > 0 {
			t.Fatalf("known browser: has to wait %s", wait)
		}
	}
	if wait, _ := g.Login(from(5), "alice", "laptop", stranger); wait != failureWindow {
		t.Errorf("known browser after ten failures: has to wait %s", wait)
	}
	if wait, _ := g.Login(from(0), "alice", "phone", stranger); wait > 0 {
		t.Errorf("another known browser: has to wait %s", wait)
	}
	now = now.Add(accountWindow)
	for range maxFailures {
		g.Login(from(1), "alice", "laptop", stranger)
	}
	if g.Refuses(from(1)) {
		t.Error("failures of a known browser refuse its network")
	}
	for i := range 2 * maxClients {
		g.Login(from(2), "alice", fmt.Sprint("device ", i), stranger)
	}
	if n := len(g.devices.entries); n > maxClients {
		t.Errorf("got %d devices in the table", n)
	}
}
