package accounts

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/mileusna/useragent"

	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
	views "linkwatch/views/accounts"
)

// Pages are the pages of accounts.
type Pages struct{ *Deps }

// mustSignIn reports whether everybody has to sign in.
func (d *Deps) mustSignIn() bool { return !d.Open && (d.Closed || d.Accounts.InUse()) }

// LoginPage asks who somebody is. While there is no account, it offers to add the first one.
func (p Pages) LoginPage(c *gin.Context) {
	next := localNext(c.Query("next"))
	switch {
	case p.Open:
		p.Frame.SeeOther(c, next)
	case !p.mustSignIn():
		if !isLocal(c.Request) {
			p.Frame.Fail(c, middleware.NewProblem(models.CodeForbidden, "The first account can be added only from the machine that the server runs on."))
			return
		}
		p.Frame.Show(c, http.StatusOK, views.SetupPage(views.Setup{}))
	case p.signedIn(c):
		p.Frame.SeeOther(c, next)
	default:
		v := views.Login{Next: keepNext(next), SSOName: p.ssoName()}
		if c.Query("out") != "" {
			v.Notice = "You are signed out."
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
	secret := p.Cookies.Session(c.Request)
	if secret == "" {
		return false
	}
	_, ok, err := p.Accounts.BySession(c.Request.Context(), secret)
	return err == nil && ok
}

// isLocal reports whether a request comes from this machine, and no proxy sent it.
func isLocal(r *http.Request) bool {
	return isHere(middleware.ClientAddress(r), r.Header.Get("X-Forwarded-For")+r.Header.Get("Forwarded"))
}

// isHere is isLocal for the API, which has no request: address is that of the client, forwarded the headers
// that proxies add.
func isHere(address, forwarded string) bool {
	from, err := netip.ParseAddr(address)
	return err == nil && from.IsLoopback() && forwarded == ""
}

// Setup adds the first account and signs it in.
func (p Pages) Setup(c *gin.Context) {
	if p.Open || p.mustSignIn() || !isLocal(c.Request) {
		p.Frame.Fail(c, middleware.NewProblem(models.CodeForbidden, "The first account can be added only while there is none, and from the machine that the server runs on."))
		return
	}
	username := c.PostForm("username")
	p.as(c, models.Actor{Name: models.SystemOwner})
	u, err := p.Accounts.AddFirst(c.Request.Context(), username, c.PostForm("password"))
	if err != nil {
		e, ok := pages.LabelledErrors(err, "username", map[string]string{"username": "Username", "password": "Password"})
		if !ok {
			p.Frame.Fail(c, err)
			return
		}
		p.Frame.Show(c, p.Frame.FormStatus(c, err), views.SetupPage(views.Setup{Username: username, Errors: e}))
		return
	}
	p.begin(c, u, accounts.MethodPassword, "/")
}

// Login signs somebody in.
func (p Pages) Login(c *gin.Context) {
	next := localNext(c.PostForm("next"))
	if !p.mustSignIn() {
		p.Frame.SeeOther(c, "/login")
		return
	}
	ctx := c.Request.Context()
	login := accounts.Login{
		Username: c.PostForm("username"), Password: c.PostForm("password"), Code: c.PostForm("code"), Pending: c.PostForm("pending"),
	}
	v := views.Login{Username: models.Truncate(models.CleanLine(login.Username), maxShown), Next: keepNext(next), SSOName: p.ssoName()}
	if login.Pending != "" {
		v.Username = p.Accounts.PendingName(ctx, login.Pending)
	}
	name := strings.ToLower(v.Username)
	address := middleware.ClientAddress(c.Request)
	tried := models.Actor{Name: name, Via: "password", Address: address, Request: middleware.RequestID(ctx)}
	wait, right := p.Guesses.Login(c.Request, name, func() bool {
		known, err := p.Accounts.KnownFrom(ctx, name, address)
		return err == nil && known
	})
	if wait > 0 {
		if p.Guesses.Refuses(c.Request) { // one entry, whatever usernames it sends
			tried.Name, tried.Address = "", middleware.ClientNetwork(c.Request)
		}
		p.refused(ctx, tried, "login.throttled")
		err := middleware.RateLimited("Too many failed logins.", wait)
		v.Problem = err.Detail
		p.Frame.Show(c, p.Frame.FormStatus(c, err), views.LoginPage(v))
		return
	}
	p.as(c, tried) // what verifying changes is recorded as done by who tries
	u, err := p.Accounts.Verify(c.Request.Context(), login)
	status := http.StatusUnauthorized
	needed, _ := errors.AsType[*accounts.CodeNeeded](err)
	switch {
	case err == nil:
		right()
		p.begin(c, u, accounts.MethodPassword, next)
		return
	case needed != nil:
		v.Pending = needed.Pending
		v.Username = p.Accounts.PendingName(ctx, needed.Pending)
		if needed.Wrong {
			v.Problem = "This code is wrong or was used before."
			p.refused(ctx, tried, "login.failed")
		} else {
			right() // the password was
		}
	case errors.Is(err, accounts.ErrWrongLogin):
		v.Pending = ""
		v.Problem = "Username or password is wrong."
		if login.Pending != "" {
			v.Problem = "This took too long. Sign in again."
		}
		p.refused(ctx, tried, "login.failed")
	case models.CodeOf(err) == models.CodeUnavailable:
		right()
		status, v.Problem = p.Frame.FormStatus(c, err), p.Frame.Errors.Problem(ctx, err).Detail
	default:
		right()
		p.Frame.Fail(c, err)
		return
	}
	p.Frame.Show(c, status, views.LoginPage(v))
}

// refused records a login that failed. The username is left out if no account has it: it may be a
// password that was typed into the wrong field.
func (p Pages) refused(ctx context.Context, tried models.Actor, action string) {
	if tried.Name != "" {
		if _, err := p.Accounts.Known(ctx, tried.Name); err != nil {
			tried.Name = ""
		}
	}
	p.Accounts.Refused(tried, action, audit.Subject{})
}

// maxShown is how many characters of what was typed a form shows again.
const maxShown = 64

// as sets the actor of a request of a public route.
func (p Pages) as(c *gin.Context, actor models.Actor) {
	ctx := c.Request.Context()
	actor.Address, actor.Request = middleware.ClientAddress(c.Request), middleware.RequestID(ctx)
	c.Request = c.Request.WithContext(models.WithActor(ctx, actor))
}

// begin signs an account in and goes on to a page. The browser gets a new secret each time.
func (p Pages) begin(c *gin.Context, u accounts.User, method, next string) {
	p.as(c, models.Actor{ID: u.ID, Name: u.Username, Role: string(u.Role), Via: method, SeesAll: u.SeesAll()})
	from := accounts.Client{Address: middleware.ClientAddress(c.Request), Device: device(c.Request.UserAgent())}
	secret, err := p.Accounts.Begin(c.Request.Context(), u, method, from, p.Cookies.Session(c.Request))
	if errors.Is(err, accounts.ErrWrongLogin) { // the account has changed since it was verified
		p.Frame.Show(c, http.StatusUnauthorized, views.LoginPage(views.Login{Next: keepNext(next), SSOName: p.ssoName(), Problem: "This account has just been changed. Sign in again."}))
		return
	}
	if err != nil {
		p.Frame.Fail(c, err)
		return
	}
	p.Cookies.SetSession(c, secret, p.MaxAge)
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

// Logout ends the session of the browser.
func (p Pages) Logout(c *gin.Context) {
	if actor, _ := models.ActorOf(c.Request.Context()); actor.Via == "session" {
		if err := p.Accounts.End(c.Request.Context()); err != nil {
			p.Frame.Fail(c, err)
			return
		}
	}
	p.leave(c)
}

// leave takes the session from the browser and goes to the login page.
func (p Pages) leave(c *gin.Context) {
	p.Cookies.EndSession(c)
	c.Header("Clear-Site-Data", `"cache"`) // pages of the account in the browser's cache
	p.Frame.SeeOther(c, "/login?out=1")
}

// localNext returns an address if it is a page of this server to come back to after the login, else "/".
// The login page is not, and a short link redirects to other servers. Browsers take "\" for "/" and drop
// tabs and line breaks, so neither may be in it.
func localNext(address string) string {
	u, err := url.Parse(address)
	if err != nil || len(address) > maxNext || !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") ||
		u.Scheme != "" || u.Host != "" || u.User != nil || strings.ContainsFunc(address, func(r rune) bool { return r < '!' || r == '\\' || r == 0x7f }) {
		return "/"
	}
	to := path.Clean(u.Path)
	for _, of := range []string{"/login", "/logout", "/s"} {
		if to == of || strings.HasPrefix(to, of+"/") {
			return "/"
		}
	}
	return address
}

const maxNext = 2000 // bytes

// keepNext is what the form keeps of an address to come back to.
func keepNext(next string) string {
	if next == "/" {
		return ""
	}
	return next
}
