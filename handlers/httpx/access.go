package httpx

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// Role is what a caller may do (contract §2). Each includes the ones before it.
type Role int

// The roles. The zero Role is none of them: a route without a role is closed.
const (
	Public Role = iota + 1 // needs no login
	Viewer                 // reads
	Editor                 // changes links and what belongs to them
	Admin                  // sees and runs the machinery
)

// Access lets a request pass if the caller has the role that its route needs.
type Access struct {
	Errors *Errors
	Needs  map[string]Role // by "METHOD /route/:template"
	// Password opens everything (ADMIN_PASSWORD), as the password of HTTP Basic
	// under any user name or as a bearer token. "": everything is open.
	Password string
}

// Check is the middleware. Unknown routes pass: they are answered 404 or 405.
func (a *Access) Check(c *gin.Context) {
	if c.FullPath() == "" {
		return
	}
	switch need := a.Needs[c.Request.Method+" "+c.FullPath()]; {
	case need == 0:
		a.Errors.Write(c, NewProblem(CodeForbidden, "This route is open to nobody."))
	case need == Public: // whoever it is: finding that out takes longer than a redirect
	case a.role(c.Request) >= need:
	default:
		c.Header("WWW-Authenticate", `Basic realm="Linkwatch", charset="UTF-8"`)
		c.Writer.Header().Add("WWW-Authenticate", `Bearer realm="Linkwatch"`)
		a.Errors.Write(c, NewProblem(CodeUnauthorized,
			"Send the admin password, as the password of HTTP Basic or as a bearer token."))
	}
}

func (a *Access) role(r *http.Request) Role {
	if a.Password == "" {
		return Admin
	}
	_, given, basic := r.BasicAuth()
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); !basic && ok && strings.EqualFold(scheme, "Bearer") {
		given = strings.TrimSpace(token)
	}
	// Hashed, since the comparison takes its time by the length.
	want, have := sha256.Sum256([]byte(a.Password)), sha256.Sum256([]byte(given))
	if subtle.ConstantTimeCompare(want[:], have[:]) == 1 {
		return Admin
	}
	return Public
}
