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

const (
	recheckTimeout = 10 * time.Second       // for a request to the identity provider, and for a check elsewhere
	recheckPoll    = 150 * time.Millisecond // between two looks at a check that another instance makes
)

// checked is the result of a check of a session.
type checked struct {
	user    accounts.User // the account as it is then
	ok      bool          // the session can be used
	browser bool          // if not, until the browser has returned to the provider
}

// recheck checks the session of a secret again at the identity provider if that is due. Concurrent requests of the
// session on this instance share a check, and wait for it.
func (d *Deps) recheck(ctx context.Context, secret string, o accounts.Principal) (checked, error) {
	if d.Accounts.IsConfirmed(o.Session) {
		return checked{user: o.User, ok: true}, nil
	}
	result, err, _ := d.checks.Do(o.Session.ID, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recheckTimeout) // others wait for it too
		defer cancel()
		return d.check(ctx, secret)
	})
	if err != nil {
		return checked{}, err
	}
	return result.(checked), nil //nolint:forcetypeassert // the function returns it
}

// check makes the check of a session, or waits while another instance makes it.
func (d *Deps) check(ctx context.Context, secret string) (checked, error) {
	for {
		o, ok, err := d.Accounts.BySession(ctx, secret) // again: another request may have just made the check
		if err != nil || !ok {
			return checked{}, err
		}
		switch d.Accounts.Check(o.Session) {
		case accounts.CheckNone:
			return checked{user: o.User, ok: true}, nil
		case accounts.CheckBrowser:
			return checked{browser: d.SSO != nil}, nil
		case accounts.CheckFailed:
			return checked{}, errUnconfirmed()
		case accounts.CheckRefresh:
			token, claimed, err := d.Accounts.ClaimRecheck(ctx, o)
			switch {
			case err != nil:
				return checked{}, err
			case claimed:
				return d.refresh(ctx, o, token)
			}
		}
		select {
		case <-ctx.Done():
			return checked{}, errUnconfirmed()
		case <-time.After(recheckPoll):
		}
	}
}

// refresh makes the check of a session that this request has claimed.
func (d *Deps) refresh(ctx context.Context, o accounts.Principal, token string) (checked, error) {
	if token == "" || d.SSO == nil {
		return checked{browser: d.SSO != nil}, d.Accounts.ForgetRefreshToken(ctx, o.Session)
	}
	// Without the time that passed before: a refresh token can be used once, so the response must not be missed.
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), recheckTimeout)
	defer cancel()
	id, grant, err := d.SSO.Refresh(asking, token)
	storing, cancel := context.WithTimeout(context.WithoutCancel(ctx), recheckTimeout)
	defer cancel()
	if grant.RefreshToken != "" && grant.RefreshToken != token {
		if err := d.Accounts.KeepRefreshToken(storing, o.Session, grant.RefreshToken); err != nil {
			return checked{}, err
		}
	}
	return d.settle(models.WithActor(storing, actorOf(o)), o, id, grant, err)
}

// settle stores the result of a refresh.
func (d *Deps) settle(
	ctx context.Context, o accounts.Principal, id Identity, grant accounts.Grant, result error,
) (checked, error) {
	refusal, known := errors.AsType[*Refusal](result)
	switch {
	case result != nil && !known:
		return checked{}, result
	case known && refusal.Undecided && (refusal.Reason == Unavailable || d.Accounts.Lasts(o.Session)):
		ok, err := d.Accounts.Postpone(ctx, o.Session)
		if err == nil && !ok {
			err = errUnconfirmed()
		}
		return checked{user: o.User, ok: ok}, err
	case known && !refusal.isFinal(), !isUser(o.User, id),
		id.lacksClaims() && (known || id.Mapped && id.Role != o.Role):
		return checked{browser: true}, d.Accounts.ForgetRefreshToken(ctx, o.Session)
	}
	if result == nil {
		var u accounts.User
		if u, result = d.syncRole(ctx, o.User, id); result == nil {
			ok, err := d.Accounts.Confirm(ctx, o.Session.ID, grant)
			return checked{user: u, ok: ok}, err
		}
	}
	if _, known = errors.AsType[*Refusal](result); !known {
		return checked{}, result
	}
	_, err := d.recordRefusal(ctx, result)
	return checked{}, errors.Join(err, d.end(ctx, o))
}

// lacksClaims reports whether the provider sent no email address or no roles. Some providers send them only at a
// sign-in.
func (id Identity) lacksClaims() bool {
	return id.Email == "" || id.RoleClaim != "" && len(id.RoleValues) == 0
}

// actorOf returns the user of a session whose check changes the account.
func actorOf(o accounts.Principal) models.Actor {
	return models.Actor{
		ID: o.ID, Name: o.Username, Role: string(o.Role), Via: accounts.MethodOIDC, CredentialID: o.Session.ID,
	}
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
	return &models.Error{
		Code: models.CodeUnavailable, RetryAfter: time.Minute,
		Detail: "Your session must be checked, but the identity provider is unavailable. Try again in a minute.",
	}
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

// postpone redirects to next if a check of a session failed because the provider has said nothing about the user. The
// session lasts a little longer. It returns false if that is not so, has been so for too long, or is known from the
// browser alone.
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
func (p Pages) finishSilent(
	c *gin.Context, o accounts.Principal, id Identity, grant accounts.Grant, err error, next string,
) {
	p.setActor(c, actorOf(o))
	ctx := c.Request.Context()
	if err == nil && !isUser(o.User, id) {
		err = &Refusal{
			Reason: OtherUser, Identity: id,
			Detail: "Another user has signed in at the identity provider. Sign in again.",
		}
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
		v := views.Login{SSOName: p.Name, Next: nextField(next), Notice: refusal.Detail}
		p.Frame.Show(c, http.StatusUnauthorized, views.LoginPage(v))
		return
	}
	p.showSSOError(c, err, next)
}
