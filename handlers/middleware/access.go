package middleware

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// Access lets a request pass if the caller has the role that its route needs.
type Access struct {
	routes   *Table
	errs     *Errors
	password string
	failures *failures
}

// NewAccess guards routes by password (ADMIN_PASSWORD), which is sent as the
// password of HTTP Basic under any user name, or as a bearer token. "" opens
// everything.
func NewAccess(errs *Errors, routes *Table, password string) *Access {
	return &Access{routes: routes, errs: errs, password: password, failures: newFailures(errs.Log, time.Now)}
}

// Check is the middleware. Unknown routes pass: they are answered 404 or 405.
func (a *Access) Check(c *gin.Context) {
	if c.FullPath() == "" {
		return
	}
	switch need := a.routes.Of(c).Needs; {
	case need == 0:
		a.errs.Write(c, NewProblem(CodeForbidden, "No role may use this route."))
	case need == Public: // credentials are not looked at: that takes longer than a redirect
	case a.password == "":
	default:
		if err := a.authenticate(c.Request); err != nil {
			if err.Status == http.StatusUnauthorized {
				c.Header("WWW-Authenticate", `Basic realm="Linkwatch", charset="UTF-8"`)
				c.Writer.Header().Add("WWW-Authenticate", `Bearer realm="Linkwatch"`)
			}
			a.errs.Write(c, err)
		}
	}
}

// authenticate returns nil for a request with the password, which opens every
// role, and else the problem to answer with. The credentials are compared first
// and the limit is looked at then, so that parallel guesses gain nothing.
func (a *Access) authenticate(r *http.Request) *Problem {
	given, ok := credentials(r)
	if !ok {
		return NewProblem(CodeUnauthorized, "Send the admin password, as the password of HTTP Basic or as a bearer token.")
	}
	client := clientAt(peer(r))
	var wait time.Duration
	right := a.matches(given)
	if right {
		wait = a.failures.wait(client)
	} else {
		wait = a.failures.add(r.Context(), client)
	}
	switch {
	case wait > 0:
		return rateLimited("Too many wrong passwords or tokens from your address.", wait)
	case !right:
		return NewProblem(CodeUnauthorized, "The password or token is wrong. Send the admin password.")
	}
	return nil
}

// credentials returns the password of HTTP Basic or the bearer token; ok is
// false if there is neither.
func credentials(r *http.Request) (given string, ok bool) {
	if _, given, ok = r.BasicAuth(); ok {
		return given, true
	}
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), ok && strings.EqualFold(scheme, "Bearer")
}

// matches compares hashes, since comparing texts takes longer the more of them is right.
func (a *Access) matches(given string) bool {
	want, have := sha256.Sum256([]byte(a.password)), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(want[:], have[:]) == 1
}
