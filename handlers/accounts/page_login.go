package accounts

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/mileusna/useragent"

	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
	views "linkwatch/views/accounts"
)

// Pages is the pages of accounts.
type Pages struct{ *Deps }

func (d *Deps) loginRequired() bool { return !d.Open && (d.Closed || d.Accounts.InUse()) }

// LoginPage is the login page. While there is no account, it offers to add the first one.
func (p Pages) LoginPage(c *gin.Context) {
	next := localNext(c.Query("next"))
	switch {
	case p.Open:
		p.Frame.SeeOther(c, next)
	case !p.loginRequired():
		if !isLocal(c.Request) {
			p.Frame.Fail(c, middleware.NewProblem(models.CodeForbidden, "The first account can be added only from the machine that runs the server."))
			return
		}
		p.Frame.Show(c, http.StatusOK, views.SetupPage(views.Setup{}))
	case p.signedIn(c):
		p.Frame.SeeOther(c, next)
	default:
		v := views.Login{Next: nextField(next), SSOName: p.ssoName()}
		switch {
		case c.Query("out") != "":
			v.Notice = "You have signed out."
		case p.SSO != nil && p.isDueInBrowser(c):
			v.Notice, v.Recheck = "The identity provider must confirm your session.", true
		}
		p.Frame.Show(c, http.StatusOK, views.LoginPage(v))
	}
}

func (p Pages) ssoName() string {
	if p.SSO == nil {
		return ""
	}
	return p.Name
}

// signedIn reports whether the browser has a session.
func (p Pages) signedIn(c *gin.Context) bool {
	o, ok := p.session(c)
	return ok && p.Accounts.Check(o.Session) == accounts.CheckNone
}

// isDueInBrowser reports whether the browser must return to the identity provider, which then confirms its session.
func (p Pages) isDueInBrowser(c *gin.Context) bool {
	o, ok := p.session(c)
	return ok && p.Accounts.Check(o.Session) == accounts.CheckBrowser
}

// isLocal reports whether a request comes from this machine, without a proxy.
func isLocal(r *http.Request) bool {
	return isLocalAddress(middleware.ClientAddress(r), r.Header.Get("X-Forwarded-For")+r.Header.Get("Forwarded"))
}

// isLocalAddress is isLocal for the API. address is the client, forwarded the headers that proxies add.
func isLocalAddress(address, forwarded string) bool {
	from, err := netip.ParseAddr(address)
	return err == nil && from.IsLoopback() && forwarded == ""
}

// Setup adds the first account and signs it in.
func (p Pages) Setup(c *gin.Context) {
	if p.Open || p.Closed && !p.Accounts.InUse() || !isLocal(c.Request) {
		p.Frame.Fail(c, middleware.NewProblem(models.CodeForbidden, "The first account can be added only if there are no accounts, and from the machine that runs the server."))
		return
	}
	username := c.PostForm("username")
	p.setActor(c, models.Actor{Name: models.SystemOwner})
	u, err := p.Accounts.AddFirst(c.Request.Context(), username, c.PostForm("password"))
	if err != nil {
		e, ok := pages.FormErrors(err, "username", map[string]string{"username": "Username", "password": "Password"})
		if !ok {
			p.Frame.Fail(c, err)
			return
		}
		p.Frame.Show(c, p.Frame.FormStatus(c, err), views.SetupPage(views.Setup{Username: username, Errors: e}))
		return
	}
	p.signIn(c, c.Request, u, "/")
}

// Login signs a user in.
func (p Pages) Login(c *gin.Context) {
	next := localNext(c.PostForm("next"))
	if !p.loginRequired() {
		p.Frame.SeeOther(c, "/login")
		return
	}
	ctx, submitted := c.Request.Context(), c.Request
	login := accounts.Login{
		Username: c.PostForm("username"), Password: c.PostForm("password"), Code: c.PostForm("code"), Pending: c.PostForm("pending"),
	}
	v := views.Login{Username: models.Truncate(models.CleanLine(login.Username), maxShown), Next: nextField(next), SSOName: p.ssoName(), Form: p.kept(c)}
	switch c.PostForm("start") {
	case "over":
		v.Username = ""
		p.Frame.Show(c, http.StatusOK, views.LoginPage(v))
		return
	case "signed-in":
		p.goOn(c, v)
		return
	}
	if login.Pending != "" {
		v.Username = p.Accounts.PendingName(ctx, login.Pending)
	}
	name := strings.ToLower(v.Username)
	address := middleware.ClientAddress(c.Request)
	attempt := models.Actor{Name: name, Via: "password", Address: address, Request: middleware.RequestID(ctx)}
	device := p.Accounts.Device(p.Cookies.Device(c.Request), name)
	known := sync.OnceValue(func() bool {
		if device != "" {
			return true
		}
		known, err := p.Accounts.HasSessionFrom(ctx, name, address)
		return err == nil && known
	})
	wait, succeed := p.Guesses.Login(c.Request, name, device, known)
	if wait > 0 {
		if p.Guesses.Refuses(c.Request) { // one entry for all usernames that the network tries
			attempt.Name, attempt.Address = "", middleware.ClientNetwork(c.Request)
		}
		p.recordRefused(ctx, attempt, "login.throttled")
		err := middleware.RateLimited("Too many failed logins.", wait)
		v.Problem = err.Detail
		p.Frame.Show(c, p.Frame.FormStatus(c, err), views.LoginPage(v))
		return
	}
	p.setActor(c, attempt) // for the audit entries of Verify
	login.Known, login.By = login.Pending == "" && known(), middleware.ClientNetwork(c.Request)
	if device != "" { // all browsers of an account share
		login.By = name
	}
	u, err := p.Accounts.Verify(c.Request.Context(), login)
	status := http.StatusUnauthorized
	needed, _ := errors.AsType[*accounts.CodeNeeded](err)
	switch {
	case err == nil:
		succeed()
		p.signIn(c, submitted, u, next)
		return
	case needed != nil:
		v.Pending = needed.Pending
		v.Username = p.Accounts.PendingName(ctx, needed.Pending)
		if needed.Wrong {
			v.Problem = "This code is wrong or was already used."
			p.recordRefused(ctx, attempt, "login.failed")
		} else {
			succeed() // the password was right
		}
	case errors.Is(err, accounts.ErrWrongLogin):
		v.Pending = ""
		v.Problem = "Wrong username or password."
		if login.Pending != "" {
			v.Problem = "The login has expired. Sign in again."
		}
		p.recordRefused(ctx, attempt, "login.failed")
	case models.CodeOf(err) == models.CodeUnavailable:
		succeed()
		status, v.Problem = p.Frame.FormStatus(c, err), p.Frame.Errors.Problem(ctx, err).Detail
	default:
		succeed()
		p.Frame.Fail(c, err)
		return
	}
	p.Frame.Show(c, status, views.LoginPage(v))
}

// goOn shows the form that a login page kept, after a login in another tab.
func (p Pages) goOn(c *gin.Context, v views.Login) {
	secret := p.Cookies.Session(c.Request)
	o, ok, err := p.Accounts.BySession(c.Request.Context(), secret)
	switch {
	case err != nil:
		p.Frame.Fail(c, err)
	case !ok || p.Accounts.Check(o.Session) != accounts.CheckNone:
		v.Problem = "You are not signed in yet."
		p.Frame.Show(c, http.StatusUnauthorized, views.LoginPage(v))
	case !p.showKept(c, c.Request, o.User, secret):
		p.Frame.SeeOther(c, localNext(v.Next))
	}
}

// recordRefused records a failed login. The username is left out if there is no such account: it may be a password in
// the wrong field.
func (p Pages) recordRefused(ctx context.Context, attempt models.Actor, action string) {
	if attempt.Name != "" {
		if _, err := p.Accounts.ByNameWithDeleted(ctx, attempt.Name); err != nil {
			attempt.Name = ""
		}
	}
	p.Accounts.Refused(attempt, action, audit.Subject{}, nil)
}

// maxShown is the maximum number of characters of a username that the form shows again.
const maxShown = 64

// setActor sets the actor of a request to a public route.
func (p Pages) setActor(c *gin.Context, actor models.Actor) {
	ctx := c.Request.Context()
	actor.Address, actor.Request = middleware.ClientAddress(c.Request), middleware.RequestID(ctx)
	c.Request = c.Request.WithContext(models.WithActor(ctx, actor))
}

// signIn starts a session and redirects to next, or shows the form that the login form kept. The browser gets a new secret
// each time. submitted is the request as it came.
func (p Pages) signIn(c *gin.Context, submitted *http.Request, u accounts.User, next string) {
	start := func(ctx context.Context, from accounts.Client, old string) (string, error) {
		return p.Accounts.StartSession(ctx, u, from, old)
	}
	p.signInBy(c, submitted, u, accounts.MethodPassword, next, start)
}

// starter starts a session in a browser that had the session of the secret old.
type starter func(ctx context.Context, from accounts.Client, old string) (secret string, err error)

// signInBy is signIn by another method.
func (p Pages) signInBy(c *gin.Context, submitted *http.Request, u accounts.User, method, next string, start starter) {
	p.setActor(c, models.Actor{ID: u.ID, Name: u.Username, Role: string(u.Role), Via: method, SeesAll: u.SeesAll()})
	from := accounts.Client{Address: middleware.ClientAddress(c.Request), Device: device(c.Request.UserAgent())}
	secret, err := start(c.Request.Context(), from, p.Cookies.Session(c.Request))
	if errors.Is(err, accounts.ErrWrongLogin) { // the account was changed after Verify
		p.Frame.Show(c, http.StatusUnauthorized, views.LoginPage(views.Login{Next: nextField(next), SSOName: p.ssoName(), Form: p.kept(c), Problem: "Your account has just been changed. Sign in again."}))
		return
	}
	if err != nil {
		p.Frame.Fail(c, err)
		return
	}
	p.Cookies.SetSession(c, secret, p.MaxAge)
	p.Cookies.SetDevice(c, p.Accounts.NewDevice(u), accounts.DeviceMaxAge)
	if p.showKept(c, submitted, u, secret) {
		return
	}
	c.Header("Cache-Control", "no-store")
	p.Frame.SeeOther(c, next)
}

// device describes a browser: "Firefox on Linux"; "" = unknown.
func device(header string) string {
	ua := useragent.Parse(models.Truncate(header, 400))
	switch {
	case ua.Name == "" || len(ua.Name) > 40:
		return ""
	case ua.OS == "" || len(ua.OS) > 40:
		return models.CleanLine(ua.Name)
	}
	return models.CleanLine(ua.Name + " on " + ua.OS)
}

// Logout ends the session of the browser. A check at the identity provider may be due: it is not needed for this.
func (p Pages) Logout(c *gin.Context) {
	o, ok, err := p.Accounts.BySession(c.Request.Context(), p.Cookies.Session(c.Request))
	if err != nil {
		p.Frame.Fail(c, err)
		return
	}
	away := ""
	if ok {
		p.setActor(c, models.Actor{
			ID: o.ID, Name: o.Username, Role: string(o.Role), Via: "session", CredentialID: o.Session.ID, SeesAll: o.SeesAll(),
		})
		ctx := c.Request.Context()
		byProvider, idToken, err := p.Accounts.SignOut(ctx)
		if err != nil {
			p.Frame.Fail(c, err)
			return
		}
		if byProvider && p.SSO != nil {
			away = p.endAtProvider(ctx, idToken, p.Frame.Base(c)+signedOut)
		}
	}
	p.clearSession(c, away)
}

const (
	signedOut   = "/login?out=1"  // also the page to which the provider redirects after signing out
	awayTimeout = 3 * time.Second // for the provider to say where to sign out there
)

// endAtProvider returns the page of the identity provider that signs the user out there; "" = none, or the provider is
// unavailable.
func (p Pages) endAtProvider(ctx context.Context, idToken, returnURL string) string {
	ctx, cancel := context.WithTimeout(ctx, awayTimeout)
	defer cancel()
	page, err := p.SSO.EndSession(ctx, idToken, returnURL)
	if err != nil { // the provider has logged it, and the user is signed out here
		return ""
	}
	return page
}

// clearSession removes the session cookie and shows the login page. away is the page of the identity provider that
// signs the user out there. It is a link, because browsers do not follow redirects of forms to other servers (CSP
// form-action).
func (p Pages) clearSession(c *gin.Context, away string) {
	p.Cookies.EndSession(c)
	c.Header("Clear-Site-Data", `"cache"`) // the browser may have cached pages of the account
	c.Header("Cache-Control", middleware.NoStore)
	if away == "" {
		p.Frame.SeeOther(c, signedOut)
		return
	}
	v := views.Login{SSOName: p.Name, SSOAway: away, Notice: "You have signed out of Linkwatch."}
	p.Frame.Show(c, http.StatusOK, views.LoginPage(v))
}

// localNext returns address if it is a page of this server to return to after the login, else "/". Login pages are
// excluded, and so are short links, which redirect to other servers. Backslashes and control characters are refused,
// because browsers treat "\" as "/" and drop tabs and line breaks.
func localNext(address string) string {
	u, err := url.Parse(address)
	if err != nil || len(address) > maxNext || !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") ||
		u.Scheme != "" || u.Host != "" || u.User != nil || strings.ContainsFunc(address, func(r rune) bool { return r < '!' || r == '\\' || r == 0x7f }) {
		return "/"
	}
	to := path.Clean(u.Path)
	for _, excluded := range []string{"/login", "/logout", "/s"} {
		if to == excluded || strings.HasPrefix(to, excluded+"/") {
			return "/"
		}
	}
	return address
}

const maxNext = 2000 // bytes

// nextField returns the value of the form field next.
func nextField(next string) string {
	if next == "/" {
		return ""
	}
	return next
}
