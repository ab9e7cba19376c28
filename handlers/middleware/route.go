package middleware

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// Role is what a caller may do. Each includes the ones before it.
type Role int

// The roles. The zero Role is none of them: a route without a role is closed.
const (
	Public Role = iota + 1 // needs no login
	Viewer                 // reads
	Editor                 // changes links and what belongs to them
	Admin                  // sees and runs the machinery
)

// String is the role as the list of all routes writes it.
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

// RoleNamed is the role of an account by its name; 0 if there is none.
func RoleNamed(name string) Role {
	for role := Viewer; role <= Admin; role++ {
		if role.String() == name {
			return role
		}
	}
	return 0
}

// Route is one route and who may call it.
type Route struct {
	Method, Path string // as the router writes them: "GET", "/links/:id"
	Needs        Role
	System       string          // that scopes of tokens name: "links"; "" = none. The router sets it
	Own          bool            // changes how the caller itself signs in: tokens need the scope admin
	Machine      bool            // programs ask for it: without credentials it answers 401 and no login page
	Handler      gin.HandlerFunc // nil: an operation that the API has registered

	Limit   *Limiter                     // how often a client may call it; nil = as often as it likes
	Problem func(*gin.Context, *Problem) // shows a problem of this route to a person; nil = the page of the frame
	Quick   bool                         // it limits its own time, and its answers are too short to be compressed
	Stream  bool                         // it answers by Streams.Serve: for any time, neither compressed nor buffered
}

// Table is the routes of a server by method and path. It is filled before the
// server starts, and safe for concurrent use from then on.
type Table struct{ routes map[string]Route }

// NewTable makes an empty table.
func NewTable() *Table { return &Table{map[string]Route{}} }

// Add adds routes. A HEAD request is a GET whose body is left out, so each GET
// stands for HEAD as well.
func (t *Table) Add(routes ...Route) {
	for _, r := range routes {
		t.routes[r.Method+" "+r.Path] = r
		if r.Method == http.MethodGet {
			t.routes[http.MethodHead+" "+r.Path] = r
		}
	}
}

// Of is the route of a request; the zero Route, which is closed, if it is none
// of the table.
func (t *Table) Of(c *gin.Context) Route { return t.routes[c.Request.Method+" "+c.FullPath()] }

// QuickPrefixes are what the paths of the quick routes begin with: "/s/".
func (t *Table) QuickPrefixes() []string {
	var all []string
	for _, r := range t.routes {
		if prefix := r.prefix(); r.Quick && !slices.Contains(all, prefix) {
			all = append(all, prefix)
		}
	}
	return all
}

// QuickProblem shows a problem at a path that begins as that of a quick route
// does; nil if none does.
func (t *Table) QuickProblem(path string) func(*gin.Context, *Problem) {
	for _, r := range t.routes {
		if r.Quick && strings.HasPrefix(path, r.prefix()) {
			return r.Problem
		}
	}
	return nil
}

// prefix is what comes before the first parameter of the path.
func (r Route) prefix() string {
	prefix, _, _ := strings.Cut(r.Path, ":")
	return prefix
}
