package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
	"linkwatch/models/accounts"
)

const jwtSecret = "0123456789abcdef"

// token returns a bearer token with a role ("" = none) and a lifetime.
func token(t *testing.T, key, role string, expires time.Duration) string {
	t.Helper()
	return "Bearer " + signedUntil(t, key, "test", role, time.Now().Add(expires))
}

// signed returns a JWT of a subject that expires in an hour.
func signed(t *testing.T, key, sub, role string) string {
	t.Helper()
	return signedUntil(t, key, sub, role, time.Now().Add(time.Hour))
}

func signedUntil(t *testing.T, key, sub, role string, until time.Time) string {
	t.Helper()
	claims := jwt.MapClaims{"sub": sub, "exp": until.Unix()}
	if role != "" {
		claims["role"] = role
	}
	s, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// from sends a request from a client address.
func from(r http.Handler, client, path, auth string) *httptest.ResponseRecorder {
	req := httptest.NewRequest("GET", path, nil)
	req.Host, req.RemoteAddr = "127.0.0.1:8080", client
	req.Header.Set("Authorization", auth)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w
}

// TestJWTIsForTheAPI: with only AUTH_JWT_SECRET set, the operations of /v1 need a token on
// all their paths, and everything else is open.
func TestJWTIsForTheAPI(t *testing.T) {
	r := apptest.New(t, apptest.Set("AUTH_JWT_SECRET", jwtSecret))
	for _, rt := range r.Router.Routes() {
		guarded := rt.Needs != middleware.Public && (middleware.IsAPI(rt.Path) || strings.HasPrefix(rt.Path, "/sse/"))
		w := get(r.Router, rt.Method, rt.Path)
		if (w.Code == http.StatusUnauthorized) != guarded {
			t.Errorf("%s %s without a token: got %d", rt.Method, rt.Path, w.Code)
		}
		if guarded && (w.Header().Get("WWW-Authenticate") != `Bearer realm="Linkwatch"` || w.Header().Get("Content-Type") != "application/problem+json" ||
			rt.Method != "HEAD" && !strings.Contains(w.Body.String(), "/probs/unauthorized")) {
			t.Errorf("%s %s: got %v, %s", rt.Method, rt.Path, w.Header(), w.Body)
		}
	}
	admin := token(t, jwtSecret, "", time.Hour)
	for _, path := range []string{"/v1/links", "/api/v1/links", "/api/admin/cleanup/stats"} {
		for _, method := range []string{"GET", "HEAD"} {
			if w := get(r.Handler, method, path); w.Code != http.StatusUnauthorized {
				t.Errorf("%s %s without a token: got %d", method, path, w.Code)
			}
			if w := get(r.Router, method, path, "Authorization", admin); w.Code == http.StatusUnauthorized {
				t.Errorf("%s %s with a token: got %d, %s", method, path, w.Code, w.Body)
			}
		}
	}
	for path, want := range map[string]int{"/": 200, "/links": 200, "/metrics": 200, "/healthz": 200, "/v1/nothing": 404} {
		if w := get(r.Handler, "GET", path, "Authorization", "Bearer wrong"); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}

func TestJWTRoles(t *testing.T) {
	r := apptest.New(t, apptest.Set("AUTH_JWT_SECRET", jwtSecret))
	for _, rt := range r.Router.Routes() {
		if rt.Needs == middleware.Public || !middleware.IsAPI(rt.Path) {
			continue
		}
		for _, role := range []middleware.Role{middleware.Viewer, middleware.Editor, middleware.Admin} {
			w := get(r.Router, rt.Method, rt.Path, "Authorization", token(t, jwtSecret, role.String(), time.Hour))
			if (w.Code == http.StatusForbidden) != (role < rt.Needs) || w.Code == http.StatusUnauthorized {
				t.Errorf("%s %s as %s: got %d", rt.Method, rt.Path, role, w.Code)
			}
			if w.Code == http.StatusForbidden && (!strings.Contains(w.Body.String(), "/probs/forbidden") || !strings.Contains(w.Body.String(), "role "+rt.Needs.String())) {
				t.Errorf("%s %s: got %s", rt.Method, rt.Path, w.Body)
			}
		}
	}
	if w := get(r.Router, "GET", "/v1/links", "Authorization", token(t, jwtSecret, "root", time.Hour)); w.Code != http.StatusUnauthorized {
		t.Errorf("unknown role: got %d", w.Code)
	}
}

// TestJWTAndPassword: the API accepts both, the pages only the password.
func TestJWTAndPassword(t *testing.T) {
	const basic = "Basic YTpjb3JyZWN0IGhvcnNl" // a:correct horse
	jwt := token(t, jwtSecret, "", time.Hour)
	for _, c := range []struct {
		name     string
		settings []func(*apptest.Setup)
		path     string
		want     map[string]int // keyed by the Authorization header
	}{
		{
			"API with both", []func(*apptest.Setup){apptest.Set("AUTH_JWT_SECRET", jwtSecret), apptest.Set("ADMIN_PASSWORD", "correct horse")}, "/v1/links",
			map[string]int{"": 401, jwt: 200, basic: 200, "Bearer correct horse": 200, "Bearer wrong": 401, "Bearer ": 401},
		},
		{
			"page with both", []func(*apptest.Setup){apptest.Set("AUTH_JWT_SECRET", jwtSecret), apptest.Set("ADMIN_PASSWORD", "correct horse")}, "/links",
			map[string]int{"": 303, jwt: 401, basic: 200, "Bearer correct horse": 200},
		},
		{
			"API with the password", []func(*apptest.Setup){apptest.Set("ADMIN_PASSWORD", "correct horse")}, "/v1/links",
			map[string]int{"": 401, jwt: 401, basic: 200},
		},
		{
			"API with neither", nil, "/v1/links",
			map[string]int{"": 200, jwt: 200, "Bearer wrong": 200},
		},
		{
			"API with a key", []func(*apptest.Setup){apptest.Set("AUTH_JWT_SECRET", jwtSecret)}, "/v1/links",
			map[string]int{"": 401, jwt: 200, basic: 401, "Basic YTo=": 401, "Bearer ": 401, "Bearer": 401, "Bearer " + jwtSecret: 401, jwt[len("Bearer "):]: 401},
		},
		{
			"API of AUTH_DISABLED", []func(*apptest.Setup){apptest.Set("AUTH_JWT_SECRET", jwtSecret), apptest.Set("AUTH_DISABLED", "true")}, "/v1/links",
			map[string]int{"": 401, jwt: 200},
		},
		{
			"page of AUTH_DISABLED", []func(*apptest.Setup){apptest.Set("AUTH_JWT_SECRET", jwtSecret), apptest.Set("AUTH_DISABLED", "true")}, "/links",
			map[string]int{"": 200},
		},
	} {
		r := apptest.New(t, c.settings...)
		for auth, want := range c.want {
			if w := get(r.Handler, "GET", c.path, "Authorization", auth); w.Code != want {
				t.Errorf("%s with %.20q: %d, want %d", c.name, auth, w.Code, want)
			}
		}
	}
}

// TestJWTGuessing: wrong tokens count like wrong passwords. Expired tokens do not, because they
// are not guesses. The response never contains the token.
func TestJWTGuessing(t *testing.T) {
	r := apptest.New(t, apptest.Set("AUTH_JWT_SECRET", jwtSecret))
	const expirer, guesser = "203.0.113.8:1", "203.0.113.7:1"
	right, expired, wrong := token(t, jwtSecret, "", time.Hour), token(t, jwtSecret, "", -time.Minute), token(t, "another key, as long", "", time.Hour)
	for range 20 {
		w := from(r.Handler, expirer, "/v1/links", expired)
		if w.Code != 401 || !strings.Contains(w.Body.String(), "The token has expired. Get a new one.") || strings.Contains(w.Body.String(), expired[len("Bearer "):]) {
			t.Fatalf("got %d, %s", w.Code, w.Body)
		}
	}
	if w := from(r.Handler, expirer, "/v1/links", right); w.Code != 200 {
		t.Errorf("after expired tokens: got %d", w.Code)
	}
	for range 10 {
		if w := from(r.Handler, guesser, "/v1/links", wrong); w.Code != 401 || strings.Contains(w.Body.String(), wrong[len("Bearer "):]) {
			t.Fatalf("got %d, %s", w.Code, w.Body)
		}
	}
	if w := from(r.Handler, guesser, "/v1/links", wrong); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("after wrong tokens: got %d, %v", w.Code, w.Header())
	}
	for auth, want := range map[string]int{right: 200, expired: 401} {
		if w := from(r.Handler, guesser, "/v1/links", auth); w.Code != want {
			t.Errorf("signed token after wrong ones: got %d, want %d", w.Code, want)
		}
	}
}

// TestJWTSubjects: a JWT of a reserved name or of an account that is disabled or deleted is refused, however the name is
// written. One of another form of a username is refused, too.
func TestJWTSubjects(t *testing.T) {
	s := apptest.New(t, apptest.Set("AUTH_JWT_SECRET", jwtSecret))
	store := s.Systems.Accounts.Store
	s.AddUser("alice", accounts.Viewer)
	s.AddUser("root", accounts.Admin)
	_, err := store.Edit(s.Context(), s.AddUser("carol", accounts.Admin).ID, accounts.Edit{Disabled: new(true)})
	s.Must(err)
	s.Must(store.Delete(s.Context(), s.AddUser("dave-1.k", accounts.Admin).ID))
	withPassword := apptest.New(t, apptest.Set("AUTH_JWT_SECRET", jwtSecret), apptest.Set("ADMIN_PASSWORD", "correct horse"))
	for _, c := range []struct {
		s       *apptest.App
		subject string
		path    string
		want    int
	}{
		{s, "alice", "/v1/links", 200}, {s, "Alice ", "/v1/links", 401}, {s, "Alice", "/v1/users", 403},
		{s, "\uff41lice", "/v1/links", 401}, {s, "ali\u200dce", "/v1/users", 401}, {s, "alice\ufe0f", "/v1/users", 401}, {s, "ａｌｉｃｅ", "/v1/users", 401},
		{s, "al\u200bice", "/v1/links", 401}, {s, "\u202ealice", "/v1/links", 401}, {s, "al\U000e0061ice", "/v1/links", 401}, {s, "ali\u00adce", "/v1/links", 401},
		{s, "carol", "/v1/links", 401}, {s, "CAROL", "/v1/links", 401}, {s, "ｃａｒｏｌ", "/v1/links", 401}, {s, "\u24d2arol", "/v1/links", 401},
		{s, "car\u200bol", "/v1/links", 401}, {s, "car\u00adol", "/v1/links", 401}, {s, "car\u034fol", "/v1/links", 401}, {s, "\u00a0carol\u2003", "/v1/links", 401},
		{s, "dave-1.k", "/v1/links", 401}, {s, "ＤＡＶＥ－１．Ｋ", "/v1/links", 401}, {s, "dave-1.\u212a", "/v1/links", 401}, {s, "dave-¹․k", "/v1/links", 401},
		{s, "system", "/v1/links", 401}, {s, "System", "/v1/links", 401}, {s, " sy\u017ftem", "/v1/links", 401}, {s, "ｓystem", "/v1/links", 401},
		{s, "", "/v1/users", 200}, {s, "admin", "/v1/users", 200}, {s, "josé", "/v1/users", 200}, {s, "carol2", "/v1/users", 200}, {s, strings.Repeat("x", 3000), "/v1/users", 200},
		{withPassword, "admin", "/v1/links", 401}, {withPassword, "ADMIN", "/v1/links", 401}, {withPassword, "ａdmin", "/v1/links", 401}, {withPassword, "system", "/v1/links", 401},
		{withPassword, "alice", "/v1/links", 200},
	} {
		w := from(c.s.Handler, "203.0.113.7:1", c.path, "Bearer "+signed(t, jwtSecret, c.subject, ""))
		if w.Code != c.want {
			t.Errorf("subject %.40q, GET %s: got %d, want %d: %s", c.subject, c.path, w.Code, c.want, w.Body)
		}
	}
}
