package middleware

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
)

// AccessOptions are what Access goes by.
type AccessOptions struct {
	Accounts Accounts // nil = there are none
	Guesses  *Guesses // nil = of its own
	Cookies  Cookies

	Password  string // ADMIN_PASSWORD; "" = none
	JWTSecret string // AUTH_JWT_SECRET: the API needs a credential; "" = no JWT is accepted
	Disabled  bool   // AUTH_DISABLED: nothing but JWTSecret guards anything
	Required  bool   // everybody has to sign in, also while there is no account: there is single sign-on, or a proxy that authenticates

	ProxyHeader string         // AUTH_PROXY_HEADER; "" = no header is believed
	ProxyFrom   []netip.Prefix // AUTH_PROXY_FROM
}

// Access lets a request pass if the caller has the role that its route needs, and sets the
// actor of its context.
type Access struct {
	AccessOptions
	routes *Table
	errs   *Errors
	tokens *tokens // nil: no JWT is accepted
}

// NewAccess guards routes.
//
// A caller proves who it is by one of these: the cookie of a session; a personal API token, a
// JWT (in the API) or ADMIN_PASSWORD as a bearer token; ADMIN_PASSWORD as the password of HTTP
// Basic under any user name; the header of a proxy. While nothing of this is set up and
// there is no account, everything is open.
func NewAccess(errs *Errors, routes *Table, o AccessOptions) *Access {
	a := &Access{AccessOptions: o, routes: routes, errs: errs}
	if o.Disabled {
		a.Password, a.Required, a.ProxyHeader = "", false, ""
	}
	if a.Accounts == nil {
		a.Accounts = noAccounts{}
	}
	if a.Guesses == nil {
		a.Guesses = NewGuesses(errs.Log)
	}
	if o.JWTSecret != "" {
		a.tokens = newTokens(o.JWTSecret, time.Now)
	}
	return a
}

// Check is the middleware. Unknown routes pass: they are answered 404 or 405.
func (a *Access) Check(c *gin.Context) {
	if c.FullPath() == "" {
		a.greet(c)
		return
	}
	route := a.routes.Of(c)
	switch {
	case route.Needs == 0:
		a.errs.Write(c, NewProblem(models.CodeForbidden, "No role may use this route."))
	case route.Needs == Public: // credentials are not looked at: that takes longer than a redirect
	case !a.Guards(c):
		actor := models.Actor{Name: models.SystemOwner, SeesAll: true}
		a.watch(c, route, actor, false)
		act(c, actor)
	default:
		caller, err := a.authenticate(c)
		if err != nil {
			a.refuse(c, err)
			return
		}
		actor := caller.actor(c)
		act(c, actor) // also for the page that refuses
		if detail := caller.lacks(route); detail != "" {
			a.Accounts.Refused(actor, "access.denied", route.Method+" "+route.Path)
			a.errs.Write(c, NewProblem(models.CodeForbidden, detail))
			return
		}
		a.watch(c, route, actor, true)
	}
}

// greet sets the actor of a page that does not exist, so that its header is that of whoever is signed in.
func (a *Access) greet(c *gin.Context) {
	secret := a.Cookies.Session(c.Request)
	if secret == "" || !a.Closed() || !WantsPage(c.Request) {
		return
	}
	if u, ok, err := a.Accounts.BySession(c.Request.Context(), secret); err == nil && ok {
		act(c, caller{u, "session"}.actor(c))
	}
}

// errEnded ends a stream whose caller may no longer have what it sends.
var errEnded = NewProblem(CodeUnauthorized, "The credential has changed. Connect again.")

// watch gives a stream what it asks every few seconds: whether its caller would still be let in, as
// the same actor. A session, a token, a role or an account may end while it is open.
func (a *Access) watch(c *gin.Context, route Route, began models.Actor, guarded bool) {
	if !route.Stream {
		return
	}
	c.Set(stillKey, func() error {
		if !a.Guards(c) {
			return nil
		}
		if !guarded { // the first account was added
			return errEnded
		}
		caller, err := a.again(c)
		if err != nil {
			return err
		}
		if is := caller.actor(c); is.ID != began.ID || is.Name != began.Name || is.Of != began.Of || is.Role != began.Role || caller.lacks(route) != "" {
			return errEnded
		}
		return nil
	})
}

// again returns whose the credentials of an open stream are. They were right when it began, so a refusal
// counts as no guess.
func (a *Access) again(c *gin.Context) (caller, error) {
	given, basic, ok := credentials(c.Request)
	if !ok {
		return a.withoutHeader(c)
	}
	u, refused, err := a.judge(c, given, basic)
	if err == nil && refused != nil {
		err = NewProblem(CodeUnauthorized, refused.detail)
	}
	return u, err
}

// stillKey is where watch leaves its function for Streams.
const stillKey = "still"

// Guards says whether the route of a request needs credentials, unless it is public.
func (a *Access) Guards(c *gin.Context) bool { return a.Closed() || a.takesJWTs(c) }

// Closed reports whether everybody has to sign in.
func (a *Access) Closed() bool {
	return !a.Disabled && (a.Password != "" || a.Required || a.Accounts.InUse())
}

// takesJWTs goes by the route, not by the path that was sent: there is one way to read it.
func (a *Access) takesJWTs(c *gin.Context) bool { return a.tokens != nil && isCall(c.FullPath()) }

// act sets the actor of a request, unless it has one already.
func act(c *gin.Context, actor models.Actor) {
	ctx := c.Request.Context()
	if _, ok := models.ActorOf(ctx); ok {
		return
	}
	actor.Address, actor.Request = ClientAddress(c.Request), RequestID(ctx)
	c.Request = c.Request.WithContext(models.WithActor(ctx, actor))
}

// ClientAddress is the address that a request comes from, as the audit log tells it.
func ClientAddress(r *http.Request) string { return peer(r).String() }

// ClientNetwork is the client as limits tell it: the address, or the /64 network of an IPv6 address.
func ClientNetwork(r *http.Request) string { return name(clientAt(peer(r))) }

// caller is who makes a request, and how that was proved.
type caller struct {
	Account
	via string // models.Actor.Via
}

// actor is the actor of what the caller does. An admin's token sees private items of others only with the
// scope admin.
func (u caller) actor(c *gin.Context) models.Actor {
	return models.Actor{
		ID: u.ID, Name: u.Name, Via: u.via, Of: u.Credential, Role: u.Role.String(), SeesAll: u.Role == Admin && (u.Allow == nil || u.Allow("") == Admin),
		Address: ClientAddress(c.Request), Request: RequestID(c.Request.Context()),
	}
}

// lacks says what a caller lacks for a route; "" = nothing.
func (u caller) lacks(r Route) string {
	if u.Role < r.Needs {
		return fmt.Sprintf("Your role is %s. This needs the role %s.", u.Role, r.Needs)
	}
	if u.Allow != nil && r.Own && u.Allow("") < Admin {
		return "A token can do this only with the scope admin. Sign in to do it."
	}
	if u.Allow != nil && u.Allow(r.System) < r.Needs {
		scope := map[Role]string{Viewer: "read", Editor: "write", Admin: "admin"}[r.Needs]
		if r.System != "" && r.Needs < Admin {
			scope += " or " + r.System + ":" + scope
		}
		return fmt.Sprintf("The scopes of your token do not allow this. It needs the scope %s.", scope)
	}
	return ""
}

// refusal is why credentials open nothing.
type refusal struct {
	detail string
	guess  bool // nothing shows that the caller knows the password or the key
}

// authenticate returns the caller, or the problem to answer with. The credentials are
// compared first and the limit is looked at then, so that parallel guesses gain nothing.
func (a *Access) authenticate(c *gin.Context) (caller, error) {
	given, basic, ok := credentials(c.Request)
	if !ok {
		return a.withoutHeader(c)
	}
	u, refused, err := a.judge(c, given, basic)
	if err != nil {
		return caller{}, err
	}
	client := clientAt(peer(c.Request))
	var wait time.Duration
	if refused != nil && refused.guess {
		wait = a.Guesses.add(c.Request.Context(), client)
	} else {
		wait = a.Guesses.wait(client)
	}
	if refused != nil {
		tried, asked := caller{}.actor(c), c.FullPath()
		if wait > 0 { // one entry, whatever it asks for
			tried.Address, asked = name(client), ""
		}
		a.Accounts.Refused(tried, "credential.refused", asked)
	}
	switch {
	case wait > 0:
		return caller{}, RateLimited("Too many wrong passwords or tokens from your address.", wait)
	case refused == nil:
		return u, nil
	case refused.guess:
		return caller{}, NewProblem(CodeUnauthorized, refused.detail+" "+a.wanted(c))
	}
	return caller{}, NewProblem(CodeUnauthorized, refused.detail)
}

// withoutHeader returns who sends a request without the header Authorization: whose session it
// is, or whom a proxy names.
func (a *Access) withoutHeader(c *gin.Context) (caller, error) {
	ctx := c.Request.Context()
	if secret := a.Cookies.Session(c.Request); secret != "" {
		switch u, ok, err := a.Accounts.BySession(ctx, secret); {
		case err != nil:
			return caller{}, err
		case ok:
			return caller{u, "session"}, nil
		}
	}
	name, err := a.proxied(c.Request)
	if err != nil {
		return caller{}, err
	}
	if name != "" {
		u, ok, err := a.Accounts.ByProxy(ctx, name)
		switch {
		case err != nil:
			return caller{}, err
		case ok:
			return caller{u, "proxy"}, nil
		}
		a.Accounts.Refused(caller{Account: Account{Name: name}, via: "proxy"}.actor(c), "login.refused", "")
		return caller{}, NewProblem(models.CodeForbidden, "You have no account here. Ask an admin for one.")
	}
	return caller{}, NewProblem(CodeUnauthorized, a.wanted(c))
}

// proxied returns the user that a proxy names; "" = none. Only the address of the connection
// counts, whatever the headers say of where the request came from.
func (a *Access) proxied(r *http.Request) (string, error) {
	if a.ProxyHeader == "" {
		return "", nil
	}
	from := connection(r)
	if !slices.ContainsFunc(a.ProxyFrom, func(p netip.Prefix) bool { return p.Contains(from) }) {
		return "", nil
	}
	switch values := r.Header.Values(a.ProxyHeader); len(values) {
	case 0:
		return "", nil
	case 1:
		return strings.TrimSpace(values[0]), nil
	default:
		return "", NewProblem(models.CodeForbidden, "The proxy names more than one user.")
	}
}

// judge returns whose credentials they are.
func (a *Access) judge(c *gin.Context, given string, basic bool) (caller, *refusal, error) {
	wrong := &refusal{"The password or token is wrong.", true}
	switch {
	case a.Password != "" && a.matches(given):
		return caller{Account{Name: "admin", Role: Admin}, "password"}, nil, nil
	case basic:
		return caller{}, wrong, nil
	case strings.HasPrefix(given, TokenPrefix):
		switch u, ok, expired, err := a.Accounts.ByToken(c.Request.Context(), given, ClientAddress(c.Request)); {
		case err != nil:
			return caller{}, nil, err
		case expired:
			return caller{}, &refusal{detail: "The token has expired. Create a new one."}, nil
		case ok:
			return caller{u, "token"}, nil, nil
		}
	case a.takesJWTs(c):
		return a.judgeJWT(c, given)
	}
	return caller{}, wrong, nil
}

// judgeJWT returns whom a JWT is for. Its claim sub may name an account: then it opens no more
// than the account may, and nothing if that is disabled or was deleted.
func (a *Access) judgeJWT(c *gin.Context, given string) (caller, *refusal, error) {
	name, role, refused := a.tokens.read(given)
	if refused != nil {
		return caller{}, refused, nil
	}
	u, known, open, err := a.Accounts.ByName(c.Request.Context(), name)
	switch {
	case err != nil:
		return caller{}, nil, err
	case known && !open:
		return caller{}, &refusal{detail: "The account that the token is for is disabled or was deleted."}, nil
	case known:
		u.Role = min(u.Role, role)
	default:
		u = Account{Name: name, Role: role}
	}
	return caller{u, "jwt"}, nil, nil
}

// refuse answers a request without valid credentials. A person who opens a page goes to the login page.
func (a *Access) refuse(c *gin.Context, err error) {
	p := a.errs.Problem(c.Request.Context(), err)
	if p.Status != http.StatusUnauthorized {
		a.errs.Write(c, err)
		return
	}
	route := a.routes.Of(c)
	if !isCall(c.FullPath()) && a.Closed() && c.GetHeader("Authorization") == "" && (!route.Machine || WantsPage(c.Request)) {
		a.toLogin(c)
		return
	}
	if a.Password != "" && !WantsPage(c.Request) { // else the browser would ask for it
		c.Writer.Header().Add("WWW-Authenticate", `Basic realm="Linkwatch", charset="UTF-8"`)
	}
	c.Writer.Header().Add("WWW-Authenticate", `Bearer realm="Linkwatch"`)
	a.errs.Write(c, err)
}

// maxNext is the longest address in bytes to come back to after the login.
const maxNext = 2000

// toLogin sends a browser to the login page, and from there back to where it was. htmx would put
// the login page into a part of the page, so it gets a header to leave it.
func (a *Access) toLogin(c *gin.Context) {
	next := c.Request.URL.RequestURI()
	asks := c.GetHeader("HX-Request") == "true"
	if c.Request.Method != http.MethodGet && c.Request.Method != http.MethodHead || asks {
		next = "/"
		if from, err := url.Parse(c.GetHeader("Referer")); err == nil && strings.EqualFold(from.Host, c.Request.Host) {
			next = from.RequestURI()
		}
	}
	to := "/login"
	if next != "/" && len(next) <= maxNext {
		to += "?next=" + url.QueryEscape(next)
	}
	c.Header("Cache-Control", "no-store")
	if asks {
		c.Header("HX-Redirect", to)
		c.AbortWithStatus(http.StatusUnauthorized)
		return
	}
	c.Redirect(http.StatusSeeOther, to)
	c.Abort()
}

// wanted says which credentials the route of a request takes.
func (a *Access) wanted(c *gin.Context) string {
	var all []string
	if a.Closed() {
		all = append(all, "an API token")
	}
	if a.takesJWTs(c) {
		all = append(all, "a JWT that is signed with HS256 and the key of this server")
	}
	if a.Password != "" {
		all = append(all, "the admin password")
	}
	return "Send " + strings.Join(all, " or ") + " as a bearer token."
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
	want, have := sha256.Sum256([]byte(a.Password)), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(want[:], have[:]) == 1
}
