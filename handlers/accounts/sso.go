package accounts

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/models/accounts"
	views "linkwatch/views/accounts"
)

// SSO is an identity provider (OpenID Connect). Errors about the user or the provider are *Refusal.
type SSO interface {
	// Begin starts a login and returns the URL at which the user signs in.
	Begin(ctx context.Context, redirectURL string) (SSOLogin, error)
	// BeginSilent is Begin without a page of the provider. idToken is the last ID token of the user; "" = unknown.
	BeginSilent(ctx context.Context, redirectURL, idToken string) (SSOLogin, error)
	// Finish returns the user of the callback query.
	Finish(ctx context.Context, login SSOLogin, query url.Values, redirectURL string) (Identity, accounts.Grant, error)
	// Refresh returns the user of a refresh token as the provider knows the user now, and the next tokens. An empty
	// Subject means that the provider did not say. The tokens may be given with an error.
	Refresh(ctx context.Context, refreshToken string) (Identity, accounts.Grant, error)
	// EndSession returns the page of the provider that signs the user out there; "" = none.
	EndSession(ctx context.Context, idToken, returnURL string) (string, error)
}

// SSOLogin is a login in progress. The fields other than URL must stay with the browser.
type SSOLogin struct{ URL, State, Nonce, Verifier string }

// Identity is a user at the identity provider. Issuer and Subject identify the account.
type Identity struct {
	Issuer, Subject string
	Username        string        // suggested username for a new account
	Role            accounts.Role // as configured
	// Mapped means that the role comes from a claim. The account then gets it at each login.
	Mapped bool

	// What the provider sent, for the log and the audit log.
	Name, Email string
	RoleClaim   string   // name of the claim; "" = none
	RoleValues  []string // its values
}

const (
	ssoCookie    = "linkwatch_sso"
	ssoTimeout   = 10 * time.Minute // for the login at the identity provider
	ssoCallback  = "/login/oidc/callback"
	maxNameTries = 20 // usernames to try for a new account
	stateLen     = 8  // bytes of the state in the name of the cookie of a silent login
)

// ssoState is the content of the cookie, before encryption.
type ssoState struct {
	Login  SSOLogin
	Next   string
	Silent bool
	Until  time.Time
}

// cookie returns the name of the cookie of a login. Several tabs can check their session silently at the same time.
func (s ssoState) cookie() string {
	if s.Silent {
		return silentCookie(s.Login.State)
	}
	return ssoCookie
}

// silentSince is the cookie with the time of the first silent login that has not returned.
const (
	silentSince    = "linkwatch_sso_since"
	silentPatience = 10 * time.Second
)

// isStuck reports whether a silent login has not returned in time: the provider shows an error page. The user can
// then sign in in another way, and the next silent login is tried again.
func (p Pages) isStuck(c *gin.Context) bool {
	since, err := strconv.ParseInt(p.Cookies.Get(c.Request, silentSince), 10, 64)
	if err != nil || p.Accounts.Now().Unix()-since < int64(silentPatience/time.Second) {
		return false
	}
	p.Cookies.Set(c, silentSince, "", -time.Second)
	return true
}

func silentCookie(state string) string { return ssoCookie + "_" + state[:min(len(state), stateLen)] }

// BeginSSO redirects to the identity provider. With the parameter silent, it checks the session of the browser.
func (p Pages) BeginSSO(c *gin.Context) {
	if p.SSO == nil || p.Open {
		p.Frame.Fail(c, models.NotFound("page"))
		return
	}
	next := localNext(c.Query("next"))
	state := ssoState{Next: next, Until: p.Accounts.Now().Add(ssoTimeout).Time, Silent: c.Query("silent") != ""}
	var session accounts.Principal
	if state.Silent {
		var active bool
		session, active = p.session(c)
		due := active && p.Accounts.Check(session.Session) == accounts.CheckBrowser
		switch {
		case active && !due: // another tab has returned
			p.Frame.SeeOther(c, next)
			return
		case !active || p.isStuck(c):
			p.Frame.SeeOther(c, views.LoginPath("/login", nextField(next)))
			return
		}
	}
	var err error
	if state.Login, err = p.begin(c, session); err != nil {
		if !state.Silent || !p.postpone(c, session, err, next) {
			p.showSSOError(c, err, next)
		}
		return
	}
	to := state.Login.URL
	state.Login.URL = ""
	sealed, err := p.sealState(state)
	if err != nil {
		p.Frame.Fail(c, err)
		return
	}
	p.Cookies.Set(c, state.cookie(), sealed, ssoTimeout)
	if state.Silent && p.Cookies.Get(c.Request, silentSince) == "" {
		p.Cookies.Set(c, silentSince, strconv.FormatInt(p.Accounts.Now().Unix(), 10), ssoTimeout)
	}
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, to)
}

// begin starts a login, silently for a session.
func (p Pages) begin(c *gin.Context, session accounts.Principal) (SSOLogin, error) {
	ctx, back := c.Request.Context(), p.Frame.Base(c)+ssoCallback
	if session.Session.ID == "" {
		return p.SSO.Begin(ctx, back)
	}
	idToken, err := p.Accounts.IDToken(ctx, session)
	if err != nil {
		return SSOLogin{}, err
	}
	return p.SSO.BeginSilent(ctx, back, idToken)
}

// FinishSSO signs in a user who returns from the identity provider. The state is used once, even if the cookie is copied.
func (p Pages) FinishSSO(c *gin.Context) {
	if p.SSO == nil || p.Open {
		p.Frame.Fail(c, models.NotFound("page"))
		return
	}
	state, ok := p.returned(c)
	ctx := c.Request.Context()
	var err error
	if ok {
		ok, err = p.Accounts.UseLogin(ctx, state.Login.State, state.Until)
	}
	switch {
	case err != nil:
		p.Frame.Fail(c, err)
		return
	case !ok:
		p.Frame.Errors.Log.InfoContext(ctx, "single sign-on failed",
			"step", "callback", "kind", string(Expired), "error", "login is unknown, expired or already used")
		p.showSSOError(c, &Refusal{
			Reason: Expired,
			Detail: "This login has expired, was started in another browser, or was already used. Sign in again.",
		}, "/")
		return
	}
	var session accounts.Principal
	if state.Silent {
		if session, ok = p.session(c); !ok { // signed out meanwhile
			p.Frame.SeeOther(c, views.LoginPath("/login", nextField(state.Next)))
			return
		}
	}
	id, grant, err := p.SSO.Finish(ctx, state.Login, c.Request.URL.Query(), p.Frame.Base(c)+ssoCallback)
	if state.Silent {
		p.finishSilent(c, session, id, grant, err, state.Next)
		return
	}
	if err == nil {
		p.setActor(c, models.Actor{Name: id.Username, Via: accounts.MethodOIDC})
		var u accounts.User
		if u, err = p.ssoAccount(c.Request.Context(), id); err == nil {
			start := func(ctx context.Context, from accounts.Client, old string) (string, error) {
				return p.Accounts.StartProviderSession(ctx, u, grant, from, old)
			}
			p.signInBy(c, c.Request, u, accounts.MethodOIDC, state.Next, start)
			return
		}
	}
	p.showSSOError(c, err, state.Next)
}

// returned returns the login that a callback belongs to, and deletes its cookie.
func (p Pages) returned(c *gin.Context) (state ssoState, ok bool) {
	name := ssoCookie
	if given := c.Query("state"); given != "" && p.Cookies.Get(c.Request, silentCookie(given)) != "" {
		name = silentCookie(given)
	}
	state, ok = p.openState(p.Cookies.Get(c.Request, name))
	p.Cookies.Set(c, name, "", -time.Second)
	if state.Silent {
		p.Cookies.Set(c, silentSince, "", -time.Second)
	}
	return state, ok && state.cookie() == name
}

func (p Pages) sealState(s ssoState) (string, error) {
	plain, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("encode login state: %w", err)
	}
	sealed, err := p.Seal(plain, ssoCookie)
	return base64.RawURLEncoding.EncodeToString(sealed), err
}

func (p Pages) openState(text string) (s ssoState, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || text == "" {
		return s, false
	}
	plain, err := p.Unseal(sealed, ssoCookie)
	if err != nil || json.Unmarshal(plain, &s) != nil {
		return s, false
	}
	return s, p.Accounts.Now().Before(s.Until)
}
