package handlers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/accounts"
)

type team struct {
	*apptest.App
	store *accounts.Store
	users map[middleware.Role]accounts.User
	from  string // address of the client
}

func newTeam(t *testing.T, change ...func(*apptest.Setup)) *team {
	t.Helper()
	s := &team{App: apptest.New(t, change...), users: map[middleware.Role]accounts.User{}}
	s.store = s.Systems.Accounts.Store
	for _, role := range []middleware.Role{middleware.Admin, middleware.Editor, middleware.Viewer} {
		s.users[role] = s.user(role.String()+"1", accounts.Role(role.String()))
	}
	return s
}

// user adds an account without a password, because hashing is slow.
func (s *team) user(name string, role accounts.Role) accounts.User {
	s.Helper()
	u, err := s.store.Add(s.Context(), accounts.NewUser{Username: name, Role: role, Issuer: "https://id.example", Subject: name})
	s.Must(err)
	return u
}

// session returns the cookie of a new session of an account.
func (s *team) session(u accounts.User) string {
	s.Helper()
	secret, err := s.store.StartSession(s.Context(), u, accounts.Client{}, "")
	s.Must(err)
	return "linkwatch_session=" + secret
}

// token returns the Authorization header of a new API token of an account.
func (s *team) token(u accounts.User, scopes ...string) string {
	s.Helper()
	_, secret, err := s.store.AddToken(s.Context(), u, accounts.NewToken{Name: "test", Scopes: scopes, By: u.Role})
	s.Must(err)
	return "Bearer " + secret
}

// ask sends a request with headers (pairs of name and value).
func (s *team) ask(method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(s.Context(), method, path, nil)
	r.Host = "127.0.0.1:8080"
	if s.from != "" {
		r.RemoteAddr = s.from + ":1"
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Router.ServeHTTP(w, r)
	return w
}

// isCall reports whether a route belongs to the API.
func isCall(r middleware.Route) bool {
	return strings.HasPrefix(r.Path, "/v1/") || strings.HasPrefix(r.Path, "/sse/") || r.Machine
}

// TestEveryRouteWithEveryRole requests every route with every role, by session and by API token, and
// without credentials.
func TestEveryRouteWithEveryRole(t *testing.T) {
	s := newTeam(t)
	for _, rt := range s.Router.Routes() {
		if rt.Needs == 0 {
			t.Errorf("%s %s has no role", rt.Method, rt.Path)
			continue
		}
		w := s.ask(rt.Method, rt.Path)
		switch {
		case rt.Needs == middleware.Public:
			to := w.Header().Get("Location")
			signedOut := rt.Path == "/logout" && to == "/login?out=1"
			if w.Code == http.StatusUnauthorized && rt.Path != "/login" || strings.HasPrefix(to, "/login") && !signedOut {
				t.Errorf("%s %s without credentials: got %d, %v", rt.Method, rt.Path, w.Code, w.Header())
			}
		case isCall(rt):
			if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != `Bearer realm="Linkwatch"` {
				t.Errorf("%s %s without credentials: got %d, %v", rt.Method, rt.Path, w.Code, w.Header())
			}
		default:
			for path, next := range map[string]string{rt.Path: rt.Path, rt.Path + "?q=a%20b&x=": rt.Path + "?q=a%20b&x=", rt.Path + "?q=" + strings.Repeat("a", 3000): rt.Path} {
				want := "/login?next=" + url.QueryEscape(next)
				if rt.Method != http.MethodGet { // it came from no known page
					want = "/login"
				}
				if w := s.ask(rt.Method, path); w.Code != http.StatusSeeOther || w.Header().Get("Location") != want || w.Body.Len() > 400 {
					t.Errorf("%s %s without credentials: got %d, %v", rt.Method, path, w.Code, w.Header())
				}
			}
		}
		if rt.Needs == middleware.Public || rt.Stream {
			continue
		}
		for role, u := range s.users {
			for face, header := range map[string][]string{
				"session": {"Cookie", s.session(u)}, "token": {"Authorization", s.token(u, scopeOf[role])},
			} {
				w := s.ask(rt.Method, rt.Path, header...)
				refused := role < rt.Needs || face == "token" && rt.OwnCredentials && role < middleware.Admin
				if (w.Code == http.StatusForbidden) != refused || w.Code == http.StatusUnauthorized || strings.HasPrefix(w.Header().Get("Location"), "/login?next") {
					t.Errorf("%s %s as %s by %s: got %d, %s", rt.Method, rt.Path, role, face, w.Code, w.Header().Get("Location"))
				}
			}
			s.revokeAll(u)
		}
	}
}

// scopeOf returns the scope that allows the same as a role.
var scopeOf = map[middleware.Role]string{middleware.Viewer: "read", middleware.Editor: "write", middleware.Admin: "admin"}

// revokeAll deletes all tokens of an account, because an account can have only 100.
func (s *team) revokeAll(u accounts.User) {
	s.Helper()
	l, err := s.store.Tokens(s.Context(), &u, models.Cursor{}, 100)
	s.Must(err)
	for _, t := range l.Items {
		s.Must(s.store.Revoke(s.Context(), nil, t.ID))
	}
}

// TestScopesOnEveryRoute: a token with scopes of one system opens only the routes of that system.
func TestScopesOnEveryRoute(t *testing.T) {
	s := newTeam(t)
	admin := s.users[middleware.Admin]
	tokens := map[string]string{}
	for _, scope := range []string{"read", "write", "links:read", "targets:write", "crawl:read"} {
		tokens[scope] = s.token(admin, scope)
	}
	for _, rt := range s.Router.Routes() {
		if rt.Needs == middleware.Public || rt.Stream {
			continue
		}
		for scope, header := range tokens {
			system, verb, ok := strings.Cut(scope, ":")
			if !ok {
				system, verb = rt.System, scope
			}
			most := map[string]middleware.Role{"read": middleware.Viewer, "write": middleware.Editor}[verb]
			allowed := system == rt.System && rt.Needs <= most && !rt.OwnCredentials
			if w := s.ask(rt.Method, rt.Path, "Authorization", header); (w.Code != http.StatusForbidden) != allowed {
				t.Errorf("%s %s (%q) with %s: got %d", rt.Method, rt.Path, rt.System, scope, w.Code)
			}
		}
	}
}

// TestSystemsOfScopes: each system of a scope has routes, and each system with routes has scopes, except for
// routes that only "read", "write" and "admin" open.
func TestSystemsOfScopes(t *testing.T) {
	have := map[string]bool{}
	for _, rt := range apptest.New(t).Router.Routes() {
		have[rt.System] = true
	}
	for _, system := range accounts.Systems {
		if !have[system] {
			t.Errorf("%s has no routes", system)
		}
		delete(have, system)
	}
	delete(have, "")
	if len(have) > 0 {
		t.Errorf("no scope for %v", have)
	}
}

// TestInvalidCredentials: forged, expired, ended and disabled credentials get 401 in the API and a
// redirect to the login on pages.
func TestInvalidCredentials(t *testing.T) {
	s := newTeam(t, apptest.Set("AUTH_JWT_SECRET", jwtSecret))
	gone, disabled := s.user("gone", accounts.Editor), s.user("disabled", accounts.Editor)
	cookies := map[string]string{"ended": s.session(s.users[middleware.Editor]), "deleted": s.session(gone), "disabled": s.session(disabled), "forged": "linkwatch_session=AAAAAAAAAAAAAAAAAAAAAAAAAA"}
	bearers := map[string]string{
		"revoked": s.token(s.users[middleware.Editor], "write"), "deleted": s.token(gone, "write"), "disabled": s.token(disabled, "write"),
		"forged": "Bearer lw_AAAAAAAAAAAAAAAAAAAAAAAAAA", "JWT alg none": "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbjEiLCJleHAiOjk5OTk5OTk5OTl9.",
		"JWT expired": token(t, jwtSecret, "admin", -time.Hour), "JWT of another key": token(t, "another key, as long", "admin", time.Hour),
	}
	right := map[string]string{"session": s.session(s.users[middleware.Viewer])}
	s.revokeAll(s.users[middleware.Editor])
	s.Must(s.store.EndSessions(s.Context(), s.users[middleware.Editor]))
	s.Must(s.store.Delete(s.Context(), gone.ID))
	_, err := s.store.Edit(s.Context(), disabled.ID, accounts.Edit{Disabled: new(true)})
	s.Must(err)
	for name, cookie := range cookies {
		if w := s.ask("GET", "/v1/links", "Cookie", cookie); w.Code != http.StatusUnauthorized {
			t.Errorf("%s session in the API: got %d", name, w.Code)
		}
		if w := s.ask("GET", "/links?q=x", "Cookie", cookie); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/login?next=%2Flinks%3Fq%3Dx" {
			t.Errorf("%s session on a page: got %d, %v", name, w.Code, w.Header())
		}
	}
	for name, bearer := range bearers {
		for i, path := range []string{"/v1/links", "/links", "/metrics"} {
			s.from = fmt.Sprintf("192.0.2.%d", 100+i) // three clients with ten guesses each
			if w := s.ask("GET", path, "Authorization", bearer); w.Code != http.StatusUnauthorized {
				t.Errorf("%s token at %s: got %d", name, path, w.Code)
			}
		}
	}
	if w := s.ask("GET", "/links", "Cookie", right["session"]+"; linkwatch_session=AAAAAAAAAAAAAAAAAAAAAAAAAA"); w.Code != http.StatusSeeOther {
		t.Errorf("two session cookies: got %d", w.Code)
	}
}

// TestJWTOfAnAccount: a JWT allows at most the role of its account, and nothing if the account is
// disabled or deleted.
func TestJWTOfAnAccount(t *testing.T) {
	s := newTeam(t, apptest.Set("AUTH_JWT_SECRET", jwtSecret))
	bearer := func(sub, role string) string {
		return "Bearer " + signed(t, jwtSecret, sub, role)
	}
	editor := s.users[middleware.Editor]
	for _, c := range []struct {
		sub, role, method, path string
		want                    int
	}{
		{"editor1", "admin", "GET", "/v1/users", 403}, {"editor1", "", "GET", "/v1/users", 403}, {"EDITOR1", "admin", "GET", "/v1/users", 403},
		{"admin1", "viewer", "POST", "/v1/targets", 403}, {"admin1", "admin", "GET", "/v1/users", 200}, {"a service", "admin", "GET", "/v1/users", 200},
		{"a service", "viewer", "POST", "/v1/targets", 403}, {"a service", "admin", "GET", "/v1/tokens", 409},
	} {
		if w := s.ask(c.method, c.path, "Authorization", bearer(c.sub, c.role)); w.Code != c.want {
			t.Errorf("%s %s as %s with the role %q: got %d, want %d", c.method, c.path, c.sub, c.role, w.Code, c.want)
		}
	}
	// A token that it adds would have the role of the account.
	for role, want := range map[string]int{"viewer": 403, "editor": 403, "admin": 201} {
		r := httptest.NewRequestWithContext(s.Context(), "POST", "/v1/tokens", strings.NewReader(`{"name": "n", "scopes": ["read"]}`))
		r.Host = "127.0.0.1:8080"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", bearer("admin1", role))
		w := httptest.NewRecorder()
		if s.Router.ServeHTTP(w, r); w.Code != want {
			t.Errorf("add a token with a JWT of the role %s: got %d, %s", role, w.Code, w.Body)
		}
	}
	_, err := s.store.Edit(s.Context(), editor.ID, accounts.Edit{Disabled: new(true)})
	s.Must(err)
	if w := s.ask("GET", "/v1/links", "Authorization", bearer("editor1", "viewer")); w.Code != http.StatusUnauthorized {
		t.Errorf("JWT of a disabled account: got %d", w.Code)
	}
	s.Must(s.store.Delete(s.Context(), editor.ID))
	if w := s.ask("GET", "/v1/links", "Authorization", bearer("editor1", "viewer")); w.Code != http.StatusUnauthorized {
		t.Errorf("JWT of a deleted account: got %d", w.Code)
	}
}

// TestSessionCostsOneQuery: a page for a signed-in user needs one query more than an open page.
func TestSessionCostsOneQuery(t *testing.T) {
	open := apptest.New(t)
	s := newTeam(t)
	cookie := s.session(s.users[middleware.Admin])
	for _, path := range []string{"/", "/links", "/watch", "/short", "/crawl", "/sites", "/alerts", "/v1/links", "/v1/targets"} {
		before := s.Queries.Load()
		w := s.ask("GET", path, "Cookie", cookie)
		took := s.Queries.Load() - before
		if w.Code != http.StatusOK {
			t.Fatalf("%s: got %d", path, w.Code)
		}
		before = open.Queries.Load()
		open.Request("GET", path)
		if want := open.Queries.Load() - before + 1; took > want {
			t.Errorf("%s: got %d queries for an account, want at most %d", path, took, want)
		}
	}
}

// TestHeadersOfAccounts checks the headers of cookies and HTTPS.
func TestHeadersOfAccounts(t *testing.T) {
	for _, c := range []struct {
		publicURL, host, proto string
		secure, hsts           bool
	}{
		{"", "127.0.0.1:8080", "", false, false},
		{"https://links.example", "links.example", "", true, true},
		{"https://links.example", "127.0.0.1:8080", "", false, true},
		{"http://links.example", "links.example", "", false, false},
		{"http://links.example", "links.example", "https", true, false},
	} {
		s := apptest.New(t, apptest.Set("PUBLIC_URL", c.publicURL), apptest.Set("ADMIN_PASSWORD", "correct horse"), apptest.Set("TRUSTED_PROXIES", "192.0.2.1"))
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/login", strings.NewReader("username=admin&password=correct+horse"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Host, r.RemoteAddr = c.host, "192.0.2.1:1"
		if c.proto != "" {
			r.Header.Set("X-Forwarded-Proto", c.proto)
		}
		w := httptest.NewRecorder()
		s.Router.ServeHTTP(w, r)
		cookies := w.Result().Cookies()
		if w.Code != http.StatusSeeOther || len(cookies) != 2 {
			t.Fatalf("%+v: got %d, %s", c, w.Code, w.Body)
		}
		for i, name := range []string{"linkwatch_session", "linkwatch_device"} {
			if c.secure {
				name = "__Host-" + name
			}
			k, days := cookies[i], []int{30, 365}[i]
			if k.Name != name || k.Secure != c.secure || !k.HttpOnly || k.SameSite != http.SameSiteLaxMode || k.Path != "/" || k.Domain != "" || k.MaxAge != days*24*3600 {
				t.Errorf("%+v: got %s", c, w.Header().Values("Set-Cookie"))
			}
		}
		if got := w.Header().Get("Strict-Transport-Security"); (got == "max-age=31536000") != c.hsts {
			t.Errorf("%+v: got Strict-Transport-Security %q", c, got)
		}
	}
}
