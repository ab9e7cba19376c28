package middleware

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
)

// Access lets a request pass if the caller has the role that its route needs.
type Access struct {
	routes   *Table
	errs     *Errors
	password string
	tokens   *tokens // nil: no JWT is accepted
	failures *failures
}

// NewAccess guards routes by password (ADMIN_PASSWORD), which is sent as the
// password of HTTP Basic under any user name, or as a bearer token; "" guards none.
// jwtSecret (AUTH_JWT_SECRET) guards the API by JWTs that are signed with it, and
// leaves the pages as they are; "" accepts no JWT.
func NewAccess(errs *Errors, routes *Table, password, jwtSecret string) *Access {
	a := &Access{routes: routes, errs: errs, password: password, failures: newFailures(errs.Log, time.Now)}
	if jwtSecret != "" {
		a.tokens = newTokens(jwtSecret, time.Now)
	}
	return a
}

// Check is the middleware. Unknown routes pass: they are answered 404 or 405.
func (a *Access) Check(c *gin.Context) {
	if c.FullPath() == "" {
		return
	}
	switch need := a.routes.Of(c).Needs; {
	case need == 0:
		a.errs.Write(c, NewProblem(models.CodeForbidden, "No role may use this route."))
	case need == Public: // credentials are not looked at: that takes longer than a redirect
	case !a.Guards(c):
		act(c, models.Actor{Name: models.SystemOwner, SeesAll: true})
	default:
		actor, role, err := a.authenticate(c)
		if err != nil {
			if err.Status == http.StatusUnauthorized {
				a.challenge(c)
			}
			a.errs.Write(c, err)
		} else if role < need {
			a.errs.Write(c, NewProblem(models.CodeForbidden, fmt.Sprintf("The role of your token is %s. This needs a token with the role %s.", role, need)))
		} else {
			actor.SeesAll = role == Admin
			act(c, actor)
		}
	}
}

// act sets the actor of a request, unless it has one already.
func act(c *gin.Context, actor models.Actor) {
	ctx := c.Request.Context()
	if _, ok := models.ActorOf(ctx); ok {
		return
	}
	actor.Address, actor.Request = peer(c.Request).String(), RequestID(ctx)
	c.Request = c.Request.WithContext(models.WithActor(ctx, actor))
}

// Guards says whether the route of a request needs credentials, unless it is public.
func (a *Access) Guards(c *gin.Context) bool { return a.password != "" || a.takesTokens(c) }

// takesTokens goes by the route, not by the path that was sent: there is one way to read it.
func (a *Access) takesTokens(c *gin.Context) bool { return a.tokens != nil && isCall(c.FullPath()) }

func (a *Access) challenge(c *gin.Context) {
	if a.password != "" {
		c.Writer.Header().Add("WWW-Authenticate", `Basic realm="Linkwatch", charset="UTF-8"`)
	}
	c.Writer.Header().Add("WWW-Authenticate", `Bearer realm="Linkwatch"`)
}

// refusal is why credentials open nothing.
type refusal struct {
	detail string
	guess  bool // nothing shows that the caller knows the password or the key
}

// authenticate returns the caller and its role, or the problem to answer with. The
// credentials are compared first and the limit is looked at then, so that parallel
// guesses gain nothing.
func (a *Access) authenticate(c *gin.Context) (models.Actor, Role, *Problem) {
	given, basic, ok := credentials(c.Request)
	if !ok {
		return models.Actor{}, 0, NewProblem(CodeUnauthorized, a.wanted(c))
	}
	actor, role, refused := a.judge(c, given, basic)
	client := clientAt(peer(c.Request))
	var wait time.Duration
	if refused != nil && refused.guess {
		wait = a.failures.add(c.Request.Context(), client)
	} else {
		wait = a.failures.wait(client)
	}
	switch {
	case wait > 0:
		return models.Actor{}, 0, rateLimited("Too many wrong passwords or tokens from your address.", wait)
	case refused == nil:
		return actor, role, nil
	case refused.guess:
		return models.Actor{}, 0, NewProblem(CodeUnauthorized, refused.detail+" "+a.wanted(c))
	}
	return models.Actor{}, 0, NewProblem(CodeUnauthorized, refused.detail)
}

// judge returns whose credentials they are, and the role that they open. The password opens every role.
func (a *Access) judge(c *gin.Context, given string, basic bool) (models.Actor, Role, *refusal) {
	switch {
	case a.password != "" && a.matches(given):
		return models.Actor{Name: "admin", Via: "password"}, Admin, nil
	case a.takesTokens(c) && !basic:
		return a.tokens.role(given)
	}
	return models.Actor{}, 0, &refusal{"The password or token is wrong.", true}
}

// wanted says which credentials the route of a request takes.
func (a *Access) wanted(c *gin.Context) string {
	const send = "Send a JWT that is signed with HS256 and the key of this server, as a bearer token"
	switch {
	case !a.takesTokens(c):
		return "Send the admin password, as the password of HTTP Basic or as a bearer token."
	case a.password == "":
		return send + "."
	}
	return send + ", or the admin password."
}

// credentials returns the password of HTTP Basic or the bearer token; ok is
// false if there is neither.
func credentials(r *http.Request) (given string, basic, ok bool) {
	if _, given, ok = r.BasicAuth(); ok {
		return given, true, true
	}
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), false, ok && strings.EqualFold(scheme, "Bearer")
}

// matches compares hashes, since comparing texts takes longer the more of them is right.
func (a *Access) matches(given string) bool {
	want, have := sha256.Sum256([]byte(a.password)), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(want[:], have[:]) == 1
}
