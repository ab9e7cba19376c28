package middleware

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// Role is the role of a caller. Each role includes the ones before it.
type Role int

// The roles. A route with the zero Role refuses all callers.
const (
	Public Role = iota + 1 // no login
	Viewer                 // reads
	Editor                 // changes data
	Admin                  // manages the server
)

// String returns the name of the role; "closed" for the zero Role.
func (r Role) String() string {
	switch r {
	case Public:
		return "public"
	case Viewer:
		return "viewer"
	case Editor:
		return "editor"
	case Admin:
		return "admin"
	}
	return "closed"
}

// RoleNamed returns the role of an account by its name; 0 if there is none.
func RoleNamed(name string) Role {
	for role := Viewer; role <= Admin; role++ {
		if role.String() == name {
			return role
		}
	}
	return 0
}

// Route is a route and who may use it.
type Route struct {
	Method, Path   string // as the router writes them: "GET", "/links/:id"
	Needs          Role
	System         string          // as in scopes of tokens: "links"; "" = none. The router sets it
	OwnCredentials bool            // changes the caller's own credentials: tokens need the scope admin
	Machine        bool            // for programs: without credentials it answers 401, not the login page
	Secret         bool            // shows secrets or settings of an account: the response must not be stored
	Keeps          []string        // fields of its form that the login page keeps if the session has ended; "*" = all but secrets, nil = none
	Handler        gin.HandlerFunc // nil for operations of the API, which are already registered

	Limit   *Limiter                     // rate limit per client; nil = none
	Problem func(*gin.Context, *Problem) // writes a problem of this route as HTML; nil = the default page
	Quick   bool                         // has its own timeout and responses too short to compress
	Stream  bool                         // served by Streams.Serve: no timeout, compression or buffering
}

// Values of Cache-Control.
const (
	NoStore = "no-store"
	// Private is for pages that only this client may store. It asks again before it shows one.
	Private = "private, no-cache"
)

// cacheControl returns the default Cache-Control of a route; "" = its handler sets it. Responses for admins,
// programs and routes with Secret are not stored.
func (r *Route) cacheControl() string {
	switch {
	case r.Needs == Public:
		return ""
	case r.Needs == Admin || r.Machine || r.Secret || isCall(r.Path):
		return NoStore
	}
	return Private
}

// Table holds the routes of a server by method and path. It is filled before the server starts
// and safe for concurrent use after that.
type Table struct{ routes map[methodPath]*Route }

type methodPath struct{ method, path string }

// NewTable returns an empty table.
func NewTable() *Table { return &Table{map[methodPath]*Route{}} }

// Add adds routes. Each GET route is also added for HEAD.
func (t *Table) Add(routes ...Route) {
	for _, r := range routes {
		t.routes[methodPath{r.Method, r.Path}] = &r
		if r.Method == http.MethodGet {
			t.routes[methodPath{http.MethodHead, r.Path}] = &r
		}
	}
}

// closed is the zero Route, which refuses all callers.
var closed Route

// Of returns the route of a request; the zero Route, which refuses all callers, if it is unknown. It must not be changed.
func (t *Table) Of(c *gin.Context) *Route {
	if r := t.routes[methodPath{c.Request.Method, c.FullPath()}]; r != nil {
		return r
	}
	return &closed
}

// QuickPrefixes returns the path prefixes of the quick routes: "/s/".
func (t *Table) QuickPrefixes() []string {
	var all []string
	for _, r := range t.routes {
		if prefix := r.prefix(); r.Quick && !slices.Contains(all, prefix) {
			all = append(all, prefix)
		}
	}
	return all
}

// QuickProblem returns Route.Problem of the quick route with the same path prefix, or nil.
func (t *Table) QuickProblem(path string) func(*gin.Context, *Problem) {
	for _, r := range t.routes {
		if r.Quick && strings.HasPrefix(path, r.prefix()) {
			return r.Problem
		}
	}
	return nil
}

// prefix returns the path before its first parameter.
func (r Route) prefix() string {
	prefix, _, _ := strings.Cut(r.Path, ":")
	return prefix
}
