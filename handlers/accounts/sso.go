package accounts

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
	views "linkwatch/views/accounts"
)

// SSO is an identity provider (OpenID Connect). Its error messages are shown to the user.
type SSO interface {
	// Begin starts a login and returns the URL at which the user signs in.
	Begin(ctx context.Context, redirectURL string) (SSOLogin, error)
	// Finish returns the user of the callback query. CodeForbidden if the user may not sign in.
	Finish(ctx context.Context, login SSOLogin, query url.Values, redirectURL string) (Identity, error)
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
}

const (
	ssoCookie    = "linkwatch_sso"
	ssoTimeout   = 10 * time.Minute // for the login at the identity provider
	ssoCallback  = "/login/oidc/callback"
	maxNameTries = 20 // usernames to try for a new account
)

// ssoState is the content of the cookie, before encryption.
type ssoState struct {
	Login SSOLogin
	Next  string
	Until time.Time
}

// BeginSSO redirects to the identity provider.
func (p Pages) BeginSSO(c *gin.Context) {
	if p.SSO == nil || p.Open {
		p.Frame.Fail(c, models.NotFound("page"))
		return
	}
	login, err := p.SSO.Begin(c.Request.Context(), p.Frame.Base(c)+ssoCallback)
	if err != nil {
		p.showSSOError(c, err)
		return
	}
	state := ssoState{Login: login, Next: localNext(c.Query("next")), Until: p.Accounts.Now().Add(ssoTimeout).Time}
	state.Login.URL = ""
	sealed, err := p.sealState(state)
	if err != nil {
		p.Frame.Fail(c, err)
		return
	}
	p.Cookies.Set(c, ssoCookie, sealed, ssoTimeout)
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, login.URL)
}

// FinishSSO signs in a user who returns from the identity provider. The state is used once, even if the cookie is copied.
func (p Pages) FinishSSO(c *gin.Context) {
	if p.SSO == nil || p.Open {
		p.Frame.Fail(c, models.NotFound("page"))
		return
	}
	state, ok := p.openState(p.Cookies.Get(c.Request, ssoCookie))
	p.Cookies.Set(c, ssoCookie, "", -time.Second)
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
		p.showSSOError(c, &models.Error{Code: models.CodeForbidden, Detail: "This login has expired, was started in another browser, or was already used. Sign in again."})
		return
	}
	id, err := p.SSO.Finish(ctx, state.Login, c.Request.URL.Query(), p.Frame.Base(c)+ssoCallback)
	if err != nil {
		p.showSSOError(c, err)
		return
	}
	p.setActor(c, models.Actor{Name: id.Username, Via: accounts.MethodOIDC})
	u, err := p.ssoAccount(c.Request.Context(), id)
	if err != nil {
		p.showSSOError(c, err)
		return
	}
	p.signIn(c, c.Request, u, accounts.MethodOIDC, state.Next)
}

// ssoAccount returns the account of an identity. The first login adds it. An existing account with the same username
// is never used.
func (p Pages) ssoAccount(ctx context.Context, id Identity) (accounts.User, error) {
	u, err := p.Accounts.BySubject(ctx, id.Issuer, id.Subject)
	switch {
	case models.CodeOf(err) == models.CodeNotFound:
		return p.addSSO(ctx, id)
	case err != nil:
		return u, err
	case u.Disabled || !u.DeletedAt.IsZero():
		return u, &models.Error{Code: models.CodeForbidden, Detail: "Your account is disabled. Ask an admin."}
	case id.Mapped && u.Role != id.Role:
		if actor, ok := models.ActorOf(ctx); ok { // the account's name, not the provider's
			actor.ID, actor.Name = u.ID, u.Username
			ctx = models.WithActor(ctx, actor)
		}
		return p.Accounts.Edit(ctx, u.ID, accounts.Edit{Role: &id.Role})
	}
	return u, nil
}

func (p Pages) addSSO(ctx context.Context, id Identity) (u accounts.User, err error) {
	for i := range maxNameTries {
		name := id.Username
		if i > 0 {
			name = fmt.Sprintf("%.60s-%d", id.Username, i+1)
		}
		u, err = p.Accounts.Add(ctx, accounts.NewUser{Username: name, Role: id.Role, Issuer: id.Issuer, Subject: id.Subject})
		if code := models.CodeOf(err); code != models.CodeConflict && code != models.CodeInvalid {
			return u, err
		}
	}
	return u, err
}

// showSSOError shows why a user could not sign in.
func (p Pages) showSSOError(c *gin.Context, err error) {
	ctx := c.Request.Context()
	if _, ok := errors.AsType[*models.Error](err); !ok {
		p.Frame.Fail(c, err)
		return
	}
	actor, _ := models.ActorOf(ctx)
	actor.Via, actor.Address, actor.Request = accounts.MethodOIDC, middleware.ClientAddress(c.Request), middleware.RequestID(ctx)
	if actor.Name == models.SystemOwner {
		actor.Name = ""
	}
	p.Accounts.Refused(actor, "login.failed", audit.Subject{})
	v := views.Login{SSOName: p.Name, Problem: p.Frame.Errors.Problem(ctx, err).Detail}
	p.Frame.Show(c, p.Frame.FormStatus(c, err), views.LoginPage(v))
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
