//go:build e2e

package e2e

import (
	"net/http"
	"strings"
	"testing"

	"linkwatch/models/modelstest"
)

// command runs a subcommand on the database of a server and returns its standard output. It fails the test if the
// command fails.
func command(t *testing.T, s *Server, stdin string, args ...string) string {
	t.Helper()
	out, log, code := runCommand(t, stdin, args, "DATABASE_URL="+s.store)
	if code != 0 {
		t.Fatalf("%v: %s%s", args, out, log)
	}
	return out
}

// The first account closes a running server that all local users could use. Changes by commands to accounts and tokens take
// effect at once.
func TestAccountsByCommands(t *testing.T) {
	t.Parallel()
	s := Start(t)
	ask := func(path string, headers ...string) int {
		t.Helper()
		return send(t, s, "GET", path, "", func(r *http.Request) {
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
		}).StatusCode
	}
	if got := ask("/v1/links"); got != 200 {
		t.Fatalf("without an account: got status %d", got)
	}
	if out, code := CommandWith(t, "", []string{"user", "add", "alice", "--role", "boss", "--password-stdin"}, "DATABASE_URL="+s.store); code == 0 || !strings.Contains(out, "role: must be admin, editor or viewer") {
		t.Errorf("invalid role: exit %d, %s", code, out)
	}
	command(t, s, "correct horse battery\n", "user", "add", "Alice", "--role", "admin", "--password-stdin")
	modelstest.Eventually(t, "the server notices the account", func() bool { return ask("/v1/links") == http.StatusUnauthorized })
	out := command(t, s, "", "user", "add", "--role=editor", "bob")
	_, password, ok := strings.Cut(out, "Password: ")
	if password, _, _ = strings.Cut(password, "\n"); !ok || len(password) != 20 {
		t.Fatalf("got no password: %s", out)
	}
	for name, want := range map[string]string{"alice": "correct horse battery", "bob": password} {
		res := send(t, s, "POST", "/login", "username="+name+"&password="+strings.ReplaceAll(want, " ", "+"), func(r *http.Request) {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		})
		if res.StatusCode != http.StatusSeeOther {
			t.Errorf("login of %s: got status %d", name, res.StatusCode)
		}
	}
	token := strings.TrimSpace(command(t, s, "", "token", "add", "bob", "--scope", "links:read", "--expires", "1h", "--name", "Script"))
	bearer := "Bearer " + token
	if got := ask("/v1/links", "Authorization", bearer); got != 200 {
		t.Errorf("token: got status %d", got)
	}
	if got := ask("/v1/targets", "Authorization", bearer); got != http.StatusForbidden {
		t.Errorf("token outside its scope: got status %d", got)
	}
	if out := command(t, s, "", "user", "list"); !strings.Contains(out, "alice") || !strings.Contains(out, "editor") || strings.Contains(out, "argon2") {
		t.Errorf("unexpected user list: %s", out)
	}
	tokens := command(t, s, "", "token", "list", "bob")
	if !strings.Contains(tokens, "Script") || strings.Contains(tokens, token) {
		t.Errorf("unexpected token list: %s", tokens)
	}
	command(t, s, "", "user", "disable", "bob")
	if got := ask("/v1/links", "Authorization", bearer); got != http.StatusUnauthorized {
		t.Errorf("token of a disabled user: got status %d", got)
	}
	command(t, s, "", "user", "enable", "bob")
	if got := ask("/v1/links", "Authorization", bearer); got != 200 {
		t.Errorf("token of a user that was enabled again: got status %d", got)
	}
	id := strings.Fields(tokens[strings.Index(tokens, "y_"):])[0]
	command(t, s, "", "token", "revoke", id)
	if got := ask("/v1/links", "Authorization", bearer); got != http.StatusUnauthorized {
		t.Errorf("revoked token: got status %d", got)
	}
	if out, code := CommandWith(t, "", []string{"user", "disable", "alice"}, "DATABASE_URL="+s.store); code == 0 || !strings.Contains(out, "only admin") {
		t.Errorf("disable the last admin: exit %d, %s", code, out)
	}
	for _, secret := range []string{"correct horse battery", password, token} {
		if strings.Contains(s.log(), secret) {
			t.Error("the log contains a secret")
		}
	}

	// After kill -9 the server still requires a login, and may listen on other addresses.
	s.Kill()
	again := Start(t, "DATABASE_URL="+s.store, "HTTP_HOST=0.0.0.0")
	again.URL = "http://127.0.0.1" + again.URL[strings.LastIndex(again.URL, ":"):]
	if res := send(t, again, "GET", "/v1/links", "", func(*http.Request) {}); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("after a restart: got status %d", res.StatusCode)
	}
}

// Acknowledged logins and logouts survive kill -9.
func TestLoginsSurviveKills(t *testing.T) {
	t.Parallel()
	s := Start(t, "ADMIN_PASSWORD=correct horse")
	login := func(s *Server) *http.Cookie {
		t.Helper()
		res := send(t, s, "POST", "/login", "username=admin&password=correct+horse", func(r *http.Request) {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		})
		if len(res.Cookies()) != 2 { // of the session, and of the known browser
			t.Fatalf("login: got status %d", res.StatusCode)
		}
		return res.Cookies()[0]
	}
	cookie := login(s)
	s.Kill()
	again := Start(t, "DATABASE_URL="+s.store, "ADMIN_PASSWORD=correct horse")
	if res := send(t, again, "GET", "/links", "", func(r *http.Request) { r.AddCookie(cookie) }); res.StatusCode != 200 {
		t.Errorf("session after kill -9: got status %d", res.StatusCode)
	}
	if res := send(t, again, "POST", "/logout", "", func(r *http.Request) { r.AddCookie(cookie) }); res.StatusCode != http.StatusSeeOther {
		t.Errorf("logout: got status %d", res.StatusCode)
	}
	again.Kill()
	last := Start(t, "DATABASE_URL="+s.store, "ADMIN_PASSWORD=correct horse")
	if res := send(t, last, "GET", "/links", "", func(r *http.Request) { r.AddCookie(cookie) }); res.StatusCode != http.StatusSeeOther {
		t.Errorf("closed session after kill -9: got status %d", res.StatusCode)
	}
}
