package accounts

import (
	"context"
	"fmt"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
	views "linkwatch/views/accounts"
)

// ssoAccount returns the account of an identity. The first login adds it. An existing account with the same username
// is never used.
func (p Pages) ssoAccount(ctx context.Context, id Identity) (accounts.User, error) {
	u, err := p.Accounts.BySubject(ctx, id.Issuer, id.Subject)
	switch {
	case models.CodeOf(err) == models.CodeNotFound:
		return p.addSSO(ctx, id)
	case err != nil:
		return u, err
	case !u.DeletedAt.IsZero():
		return u, &Refusal{
			Reason: Deleted, Identity: id, Detail: "Your account was deleted. Ask an admin to restore it.",
		}
	case u.Disabled:
		return u, &Refusal{Reason: Disabled, Detail: "Your account is disabled. Ask an admin.", Identity: id}
	}
	return p.syncRole(ctx, u, id)
}

// syncRole gives an account the role of its user at the identity provider.
func (d *Deps) syncRole(ctx context.Context, u accounts.User, id Identity) (accounts.User, error) {
	if !id.Mapped || u.Role == id.Role {
		return u, nil
	}
	actor, _ := models.ActorOf(ctx)
	actor.ID, actor.Name, actor.Via = u.ID, u.Username, accounts.MethodOIDC // the account's name, not the provider's
	changed, err := d.Accounts.Edit(models.WithActor(ctx, actor), u.ID, accounts.Edit{Role: &id.Role, ByProvider: true})
	if models.CodeOf(err) == models.CodeConflict {
		err = &Refusal{
			Reason: LastAdmin, Identity: id,
			Detail: "The identity provider gives you the role " + string(id.Role) +
				", but yours is the only admin account. Add another one on the server first, with " +
				"linkwatch user add NAME --role admin.",
		}
	}
	return changed, err
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

// showSSOError shows why a user could not sign in, and records it.
func (p Pages) showSSOError(c *gin.Context, err error, next string) {
	ctx := c.Request.Context()
	if models.CodeOf(err) == "" {
		p.Frame.Fail(c, err)
		return
	}
	actor := models.Actor{
		Via: accounts.MethodOIDC, Address: middleware.ClientAddress(c.Request), Request: middleware.RequestID(ctx),
	}
	u, recordErr := p.recordRefusal(ctx, err)
	if recordErr != nil {
		p.Frame.Fail(c, recordErr)
		return
	}
	var subject audit.Subject
	if u.ID != "" {
		actor.ID, actor.Name = u.ID, u.Username
		subject = audit.Subject{Kind: "user", ID: u.ID, Name: u.Username}
	}
	p.Accounts.Refused(actor, "login.failed", subject, why(err))
	v := views.Login{SSOName: p.Name, Next: nextField(next), Problem: p.Frame.Errors.Problem(ctx, err).Detail}
	p.Frame.Show(c, p.Frame.FormStatus(c, err), views.LoginPage(v))
}
