package middleware

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
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

// AccessOptions are the settings of Access.
type AccessOptions struct {
	Accounts Accounts // nil = no accounts
	Guesses  *Guesses // nil = new
	Cookies  Cookies
	// Keep answers a form that was submitted without a session (Route.Keeps) with a login page that keeps it. next is the page
	// that it came from. It returns false if there is nothing to keep. nil = never.
	Keep func(c *gin.Context, keeps []string, next string) bool

	Password  string // ADMIN_PASSWORD; "" = none
	JWTSecret string // AUTH_JWT_SECRET: the API needs a credential; "" = JWTs are not accepted
	JWTRules  JWTRules
	Disabled  bool // AUTH_DISABLED: only JWTSecret protects routes
	Required  bool // sign-in is required even without accounts, because of single sign-on or an authenticating proxy

	ProxyHeader string         // AUTH_PROXY_HEADER; "" = none
	ProxyFrom   []netip.Prefix // AUTH_PROXY_FROM
}

// Access checks that the caller of a request has the role that the route needs, and sets the
// actor of its context.
type Access struct {
	AccessOptions
	routes *Table
	errs   *Errors
	tokens *tokens // nil = JWTs are not accepted
}

// NewAccess returns the Access of routes.
//
// A caller authenticates with a session cookie, a bearer token, HTTP Basic or the header of a
// proxy. A bearer token is a personal API token, a JWT (API only) or ADMIN_PASSWORD. HTTP Basic
// takes any user name and ADMIN_PASSWORD. Without accounts and without these settings,
// everything is open.
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
		a.tokens = newTokens(o.JWTSecret, o.JWTRules, time.Now)
	}
	return a
}

// Check is the middleware. Unknown routes pass, so that they get a 404 or 405.
func (a *Access) Check(c *gin.Context) {
	if c.FullPath() == "" {
		a.greet(c)
		return
	}
	route := a.routes.Of(c)
	switch {
	case route.Needs == 0:
		a.errs.Write(c, NewProblem(models.CodeForbidden, "No role may use this route."))
	case route.Needs == Public: // credentials are not checked: that is slower than a redirect
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
		act(c, actor) // before the check: the error page shows who is signed in
		if detail := caller.lacks(route); detail != "" {
			a.Accounts.Refused(actor, "access.denied", route.Method+" "+route.Path)
			a.errs.Write(c, NewProblem(models.CodeForbidden, detail))
			return
		}
		a.watch(c, route, actor, true)
	}
}

// greet sets the actor of a request without a route, so that the 404 page shows who is signed in.
func (a *Access) greet(c *gin.Context) {
	secret := a.Cookies.Session(c.Request)
	if secret == "" || !a.Closed() || !WantsPage(c.Request) {
		return
	}
	if u, ok, err := a.Accounts.BySession(c.Request.Context(), secret); err == nil && ok {
		act(c, caller{u, "session"}.actor(c))
	}
}

// errEnded ends a stream whose caller has lost access.
var errEnded = NewProblem(CodeUnauthorized, "The credential has changed. Connect again.")

// watch stores a function that a stream calls every few seconds. It returns an error if the
// caller no longer has access as the same actor. A session, token, role or account may change
// while the stream is open.
func (a *Access) watch(c *gin.Context, route *Route, started models.Actor, guarded bool) {
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
		caller, err := a.reauthenticate(c)
		if err != nil {
			return err
		}
		if now := caller.actor(c); now.ID != started.ID || now.Name != started.Name || now.CredentialID != started.CredentialID || now.Role != started.Role || caller.lacks(route) != "" {
			return errEnded
		}
		return nil
	})
}

// reauthenticate returns the caller of an open stream. A refusal does not count as a guess, because
// the credentials were valid when the stream started.
func (a *Access) reauthenticate(c *gin.Context) (caller, error) {
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

// stillKey is the key of watch's function in the gin context.
const stillKey = "still"

// Guards reports whether the route of a request needs credentials, unless it is public.
func (a *Access) Guards(c *gin.Context) bool { return a.Closed() || a.takesJWTs(c) }

// Closed reports whether sign-in is required.
func (a *Access) Closed() bool {
	return !a.Disabled && (a.Password != "" || a.Required || a.Accounts.InUse())
}

// takesJWTs checks the route, not the raw path, which can be written in several ways.
func (a *Access) takesJWTs(c *gin.Context) bool { return a.tokens != nil && isCall(c.FullPath()) }

// act sets the actor of a request, unless it already has one.
func act(c *gin.Context, actor models.Actor) {
	ctx := c.Request.Context()
	if _, ok := models.ActorOf(ctx); ok {
		return
	}
	actor.Address, actor.Request = ClientAddress(c.Request), RequestID(ctx)
	c.Request = c.Request.WithContext(models.WithActor(ctx, actor))
}

// ClientAddress returns the IP address of the client, for the audit log.
func ClientAddress(r *http.Request) string { return peer(r).String() }

// ClientNetwork returns the client as rate limits count it: the IPv4 address or the IPv6 /64 network.
func ClientNetwork(r *http.Request) string { return name(clientAt(peer(r))) }

// caller is the authenticated caller of a request.
type caller struct {
	Account
	via string // models.Actor.Via
}

// actor returns the caller as an actor. An admin's token sees private items of others only with
// the scope admin.
func (u caller) actor(c *gin.Context) models.Actor {
	return models.Actor{
		ID: u.ID, Name: u.Name, Via: u.via, CredentialID: u.Credential, Role: u.Role.String(), SeesAll: u.Role == Admin && (u.Allow == nil || u.Allow("") == Admin),
		Address: ClientAddress(c.Request), Request: RequestID(c.Request.Context()),
	}
}

// lacks returns why a caller may not use a route; "" = it may.
func (u caller) lacks(r *Route) string {
	if u.Role < r.Needs {
		return fmt.Sprintf("Your role is %s. This action requires the role %s.", u.Role, r.Needs)
	}
	if u.Allow != nil && r.OwnCredentials && u.Allow("") < Admin {
		return "This action requires a token with the scope admin. Use such a token or sign in."
	}
	if u.Allow != nil && u.Allow(r.System) < r.Needs {
		scope := map[Role]string{Viewer: "read", Editor: "write", Admin: "admin"}[r.Needs]
		if r.System != "" && r.Needs < Admin {
			scope += " or " + r.System + ":" + scope
		}
		return fmt.Sprintf("This action requires a token with the scope %s. Create a new token.", scope)
	}
	return ""
}

// refusal is the reason why credentials are not accepted.
type refusal struct {
	detail string
	guess  bool // counts as a guess: the caller may not know the password or key
}

// authenticate returns the caller, or a problem. It verifies the credentials before it checks
// the limit, so that parallel guesses cannot exceed the limit. The limit refuses wrong credentials and
// ADMIN_PASSWORD, but no valid token: tokens are random or signed, so a guess cannot find one.
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
	switch {
	case refused != nil && refused.guess:
		wait = a.Guesses.add(c.Request.Context(), client)
	case refused == nil && u.via == "password":
		wait = a.Guesses.wait(client)
	}
	if refused != nil {
		tried, path := caller{}.actor(c), c.FullPath()
		if wait > 0 { // one entry for all paths
			tried.Address, path = name(client), ""
		}
		a.Accounts.Refused(tried, "credential.refused", path)
	}
	switch {
	case wait > 0:
		return caller{}, RateLimited("Too many failed logins from your IP address.", wait)
	case refused == nil:
		return u, nil
	case refused.guess:
		return caller{}, NewProblem(CodeUnauthorized, refused.detail+" "+a.wanted(c))
	}
	return caller{}, NewProblem(CodeUnauthorized, refused.detail)
}

// withoutHeader returns the caller of a request without the Authorization header: the account of
// its session, or the user in the header of a proxy.
func (a *Access) withoutHeader(c *gin.Context) (caller, error) {
	ctx := c.Request.Context()
	if secret := a.Cookies.Session(c.Request); secret != "" {
		switch u, ok, err := a.Accounts.BySession(ctx, secret); {
		case err != nil:
			return caller{}, err
		case ok:
			return caller{u, "session"}, nil
		case u.Recheck:
			return caller{}, errRecheck
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
		return caller{}, NewProblem(models.CodeForbidden, "You have no account on this server. Ask an admin to add one.")
	}
	return caller{}, NewProblem(CodeUnauthorized, a.wanted(c))
}

// proxied returns the user in the header of a proxy; "" = none. It checks the address of the
// connection, not that of X-Forwarded-For.
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
		return "", NewProblem(models.CodeForbidden, "The proxy sent more than one user name.")
	}
}

// judge verifies credentials and returns the caller.
func (a *Access) judge(c *gin.Context, given string, basic bool) (caller, *refusal, error) {
	wrong := &refusal{"Wrong password or token.", true}
	switch {
	case a.Password != "" && a.matches(given):
		return caller{Account{Name: adminName, Role: Admin}, "password"}, nil, nil
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

// judgeJWT verifies a JWT and returns the caller. If its claim sub is the name of an account, the
// JWT has at most the role of the account. It is refused if the account is disabled or deleted, and
// if sub is a reserved name or another form of a username.
func (a *Access) judgeJWT(c *gin.Context, given string) (caller, *refusal, error) {
	subject, role, refused := a.tokens.read(given)
	if refused != nil {
		return caller{}, refused, nil
	}
	if subject == "" {
		return caller{Account{Name: models.SystemOwner, Role: role}, "jwt"}, nil, nil
	}
	folded := foldSubject(subject)
	if folded == models.SystemOwner || folded == adminName && a.Password != "" {
		return caller{}, &refusal{detail: "The claim sub of the token is a reserved name. Get a token with another one."}, nil
	}
	u, known, open, err := a.Accounts.ByName(c.Request.Context(), subject)
	if err == nil && !known && folded != subject {
		_, known, _, err = a.Accounts.ByName(c.Request.Context(), folded)
		if known {
			return caller{}, &refusal{detail: "The claim sub of the token is another form of a username. Get a token with the exact username."}, nil
		}
	}
	switch {
	case err != nil:
		return caller{}, nil, err
	case known && !open:
		return caller{}, &refusal{detail: "The account of this token is disabled or deleted."}, nil
	case known:
		u.Role = min(u.Role, role)
	default:
		u = Account{Name: models.Truncate(subject, maxSubject), Role: role}
	}
	return caller{u, "jwt"}, nil, nil
}

// adminName is the user that ADMIN_PASSWORD signs in.
const adminName = "admin"

// foldSubject returns the form in which a subject is compared with usernames. Unlike FoldName, it ignores joiners.
func foldSubject(subject string) string {
	return models.FoldName(strings.NewReplacer("\u200c", "", "\u200d", "").Replace(subject))
}

// errRecheck is the error of a session that the identity provider must confirm.
var errRecheck = NewProblem(CodeUnauthorized,
	"The identity provider must confirm your session. Open a page of this server in the browser.")

// refuse answers a request without valid credentials. Browsers are redirected to the login page.
func (a *Access) refuse(c *gin.Context, err error) {
	p := a.errs.Problem(c.Request.Context(), err)
	if p.Status != http.StatusUnauthorized {
		a.errs.Write(c, err)
		return
	}
	route := a.routes.Of(c)
	if !isCall(c.FullPath()) && a.Closed() && c.GetHeader("Authorization") == "" && (!route.Machine || WantsPage(c.Request)) {
		a.toLogin(c, errors.Is(err, errRecheck) && opensPage(c.Request, route))
		return
	}
	if a.Password != "" && !WantsPage(c.Request) { // not for pages: the browser would show its own dialog
		c.Writer.Header().Add("WWW-Authenticate", `Basic realm="Linkwatch", charset="UTF-8"`)
	}
	c.Writer.Header().Add("WWW-Authenticate", `Bearer realm="Linkwatch"`)
	a.errs.Write(c, err)
}

// maxNext is the maximum length of the parameter next in bytes.
const maxNext = 2000

// opensPage reports whether a request opens a page in a tab. It can be redirected to another server and back: after a
// form, the browser would not follow (CSP form-action), and a stream or an image would fail.
func opensPage(r *http.Request, route *Route) bool {
	dest := r.Header.Get("Sec-Fetch-Dest")
	inTab := dest == "" || dest == "document" || r.Header.Get("HX-Request") == "true"
	return r.Method == http.MethodGet && !route.Stream && inTab
}

// toLogin redirects a browser to the login page, which returns it to the current page, or silently to the identity
// provider. Requests of htmx get HX-Redirect, because htmx would insert the login page into the current one.
func (a *Access) toLogin(c *gin.Context, silently bool) {
	next := c.Request.URL.RequestURI()
	fromHTMX := c.GetHeader("HX-Request") == "true"
	if c.Request.Method != http.MethodGet && c.Request.Method != http.MethodHead || fromHTMX {
		next = ""
		if from, err := url.Parse(c.GetHeader("Referer")); err == nil && strings.EqualFold(from.Host, c.Request.Host) {
			next = withoutSubpath(subpath(c.Request.Context()), from).RequestURI()
		}
	}
	if len(next) > maxNext {
		next, _, _ = strings.Cut(next, "?") // the same page without filters
	}
	to, query := "/login", url.Values{}
	if silently {
		to = "/login/oidc"
		query.Set("silent", "1")
	}
	if next != "" && len(next) <= maxNext {
		query.Set("next", next)
	}
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	if keeps := a.routes.Of(c).Keeps; !fromHTMX && len(keeps) > 0 && a.Keep != nil && a.Keep(c, keeps, next) {
		c.Abort()
		return
	}
	c.Header("Cache-Control", "no-store")
	if fromHTMX {
		c.Header("HX-Redirect", to)
		c.AbortWithStatus(http.StatusUnauthorized)
		return
	}
	c.Redirect(http.StatusSeeOther, to)
	c.Abort()
}

// wanted returns which credentials the route of a request accepts.
func (a *Access) wanted(c *gin.Context) string {
	var all []string
	if a.Closed() {
		all = append(all, "an API token")
	}
	if a.takesJWTs(c) {
		all = append(all, "a JWT signed with HS256 and the key of this server")
	}
	if a.Password != "" {
		all = append(all, "the admin password")
	}
	return "Send " + strings.Join(all, " or ") + " as a bearer token."
}

// credentials returns the password of HTTP Basic or the bearer token. ok is false if there is
// neither.
func credentials(r *http.Request) (given string, basic, ok bool) {
	if _, given, ok = r.BasicAuth(); ok {
		return given, true, true
	}
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), false, ok && strings.EqualFold(scheme, "Bearer")
}

// matches compares hashes in constant time, so that the duration reveals nothing about the password.
func (a *Access) matches(given string) bool {
	want, have := sha256.Sum256([]byte(a.Password)), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(want[:], have[:]) == 1
}
