package accounts

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/models/accounts"
	views "linkwatch/views/accounts"
)

// recheckTimeout limits a check at the identity provider, for which a request waits.
const recheckTimeout = 10 * time.Second

// recheck checks a session again at the identity provider if that is due. It returns the account as it is then. ok is false
// if the session cannot be used: if browser is true, until the browser has returned to the provider.
func (d *Deps) recheck(ctx context.Context, o accounts.Principal) (u accounts.User, ok, browser bool, err error) {
	switch d.Accounts.Check(o.Session) {
	case accounts.CheckNone:
		return o.User, true, false, nil
	case accounts.CheckBrowser:
		return u, false, d.SSO != nil, nil
	case accounts.CheckFailed:
		return u, false, false, errUnconfirmed()
	}
	token, claimed, err := d.Accounts.ClaimRecheck(ctx, o.Session)
	switch {
	case err != nil:
		return u, false, false, err
	case !claimed: // another request makes the check
		return o.User, true, false, nil
	case token == "" || d.SSO == nil:
		return u, false, d.SSO != nil, d.Accounts.ForgetRefreshToken(ctx, o.Session)
	}
	// The client may leave, but a refresh token can be used once. Its successor must be stored.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recheckTimeout)
	defer cancel()
	ctx = models.WithActor(ctx, models.Actor{ID: o.ID, Name: o.Username, Role: string(o.Role), Via: accounts.MethodOIDC, CredentialID: o.Session.ID})
	id, grant, err := d.SSO.Refresh(ctx, token)
	return d.settle(ctx, o, id, grant, err)
}

// settle stores the result of a refresh.
func (d *Deps) settle(
	ctx context.Context, o accounts.Principal, id Identity, grant accounts.Grant, result error,
) (u accounts.User, ok, browser bool, err error) {
	refusal, known := errors.AsType[*Refusal](result)
	switch {
	case result != nil && !known:
		return u, false, false, result
	case known && refusal.Undecided && d.Accounts.Lasts(o.Session):
		return o.User, true, false, nil
	case known && !refusal.isFinal(), !isUser(o.User, id), id.lacksClaims() && (known || id.Mapped && id.Role != o.Role):
		return u, false, true, d.Accounts.ForgetRefreshToken(ctx, o.Session)
	}
	if result == nil {
		if u, result = d.syncRole(ctx, o.User, id); result == nil {
			ok, err = d.Accounts.Confirm(ctx, o.Session.ID, grant)
			return u, ok, false, err
		}
	}
	if _, known = errors.AsType[*Refusal](result); !known {
		return u, false, false, result
	}
	_, err = d.recordRefusal(ctx, result)
	return u, false, false, errors.Join(err, d.end(ctx, o))
}

// lacksClaims reports whether the provider sent no email address or no roles. Some providers send them only at a sign-in.
func (id Identity) lacksClaims() bool {
	return id.Email == "" || id.RoleClaim != "" && len(id.RoleValues) == 0
}

// isUser reports whether an identity is that of the user of an account.
func isUser(u accounts.User, id Identity) bool {
	return u.OIDCIssuer == id.Issuer && u.OIDCSubject == id.Subject && id.Subject != ""
}

// end ends a session, unless it has ended.
func (d *Deps) end(ctx context.Context, o accounts.Principal) error {
	if err := d.Accounts.EndSession(ctx, o.User, o.Session.ID); models.CodeOf(err) != models.CodeNotFound {
		return err
	}
	return nil
}

func errUnconfirmed() error {
	return &models.Error{Code: models.CodeUnavailable, Detail: "Your session must be checked, but the identity provider is unavailable. Try again in a minute.", RetryAfter: time.Minute}
}

// session returns the session of the browser. ok is false if it has none.
func (p Pages) session(c *gin.Context) (o accounts.Principal, ok bool) {
	secret := p.Cookies.Session(c.Request)
	if secret == "" {
		return o, false
	}
	o, ok, err := p.Accounts.BySession(c.Request.Context(), secret)
	return o, err == nil && ok
}

// postpone redirects to next if a check of a session failed because the provider has said nothing about the user. The session
// lasts a little longer. It returns false if that is not so, has been so for too long, or is known from the browser alone.
func (p Pages) postpone(c *gin.Context, o accounts.Principal, err error, next string) bool {
	if refusal, ok := errors.AsType[*Refusal](err); !ok || !refusal.Undecided || refusal.ByBrowser {
		return false
	}
	if ok, err := p.Accounts.Postpone(c.Request.Context(), o.Session); err != nil || !ok {
		return false
	}
	p.Frame.SeeOther(c, next)
	return true
}

// finishSilent stores the result of a silent login: the session goes on, or the user must sign in.
func (p Pages) finishSilent(c *gin.Context, o accounts.Principal, id Identity, grant accounts.Grant, err error, next string) {
	p.setActor(c, models.Actor{ID: o.ID, Name: o.Username, Role: string(o.Role), Via: accounts.MethodOIDC, CredentialID: o.Session.ID})
	ctx := c.Request.Context()
	if err == nil && !isUser(o.User, id) {
		err = &Refusal{Reason: OtherUser, Detail: "Another user has signed in at the identity provider. Sign in again.", Identity: id}
	}
	if err == nil {
		_, err = p.syncRole(ctx, o.User, id)
	}
	if err == nil {
		if _, err = p.Accounts.Confirm(ctx, o.Session.ID, grant); err == nil {
			p.Frame.SeeOther(c, next)
			return
		}
	}
	if p.postpone(c, o, err, next) {
		return
	}
	refusal, ok := errors.AsType[*Refusal](err)
	if ok && refusal.Undecided { // the session stays, for when the provider is back
		p.showSSOError(c, err, next)
		return
	}
	if endErr := p.end(ctx, o); endErr != nil {
		p.Frame.Fail(c, endErr)
		return
	}
	p.Cookies.EndSession(c)
	if ok && refusal.Identity.Subject == "" { // the session at the provider has ended: no failed login
		p.Frame.Show(c, http.StatusUnauthorized, views.LoginPage(views.Login{SSOName: p.Name, Next: nextField(next), Notice: refusal.Detail}))
		return
	}
	p.showSSOError(c, err, next)
}
