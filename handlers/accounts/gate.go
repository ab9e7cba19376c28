package accounts

import (
	"context"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
)

// Gate looks up credentials for the access guard. It implements middleware.Accounts.
type Gate struct {
	*Deps
	// ProxyRole is the role of new accounts for users that a proxy authenticates (AUTH_PROXY_ROLE); "" = such
	// users need an account.
	ProxyRole accounts.Role
}

// InUse implements middleware.Accounts.
func (g Gate) InUse() bool { return g.Accounts.InUse() }

// BySession implements middleware.Accounts.
func (g Gate) BySession(ctx context.Context, secret string) (middleware.Account, bool, error) {
	o, ok, err := g.Accounts.BySession(ctx, secret)
	if err != nil || !ok {
		return middleware.Account{}, false, err
	}
	now, err := g.recheck(ctx, secret, o)
	if err != nil || !now.ok {
		return middleware.Account{Recheck: now.browser}, false, err
	}
	a := account(now.user)
	a.Credential = o.Session.ID
	return a, true, nil
}

// ByToken implements middleware.Accounts.
func (g Gate) ByToken(ctx context.Context, secret, address string) (a middleware.Account, ok, expired bool, err error) {
	o, ok, expired, err := g.Accounts.ByToken(ctx, secret, address)
	if err != nil || !ok {
		return middleware.Account{}, false, expired, err
	}
	a = account(o.User)
	a.Credential = o.Token.ID
	a.Allow = func(system string) middleware.Role {
		return middleware.RoleNamed(string(o.Token.Scopes.Allow(system)))
	}
	return a, true, false, nil
}

// ByName implements middleware.Accounts.
func (g Gate) ByName(ctx context.Context, name string) (a middleware.Account, known, open bool, err error) {
	if !g.Accounts.InUse() {
		return middleware.Account{}, false, false, nil
	}
	u, err := g.Accounts.ByNameWithDeleted(ctx, name)
	if models.CodeOf(err) == models.CodeNotFound {
		return middleware.Account{}, false, false, nil
	}
	return account(u), err == nil, !u.Blocked() && u.DeletedAt.IsZero(), err
}

// ByProxy implements middleware.Accounts.
func (g Gate) ByProxy(ctx context.Context, name string) (middleware.Account, bool, error) {
	u, err := g.Accounts.ByNameWithDeleted(ctx, name)
	if models.CodeOf(err) == models.CodeNotFound && g.ProxyRole != "" {
		ctx = models.WithActor(ctx, models.Actor{Name: name, Via: "proxy"})
		u, err = g.Accounts.Add(ctx, accounts.NewUser{Username: name, Role: g.ProxyRole, Issuer: accounts.IssuerProxy, Subject: name})
		if models.CodeOf(err) == models.CodeConflict { // another request added it
			u, err = g.Accounts.ByNameWithDeleted(ctx, name)
		}
	}
	switch models.CodeOf(err) {
	case models.CodeNotFound, models.CodeInvalid, models.CodeConflict:
		return middleware.Account{}, false, nil
	}
	return account(u), err == nil && !u.Blocked() && u.DeletedAt.IsZero(), err
}

// Refused implements middleware.Accounts.
func (g Gate) Refused(actor models.Actor, what, subject string) {
	route := audit.Subject{}
	if subject != "" {
		route = audit.Subject{Kind: "route", Name: subject}
	}
	g.Accounts.Refused(actor, what, route, nil)
}

// Read implements middleware.Accounts.
func (g Gate) Read(actor models.Actor, name, value string) bool {
	return g.Accounts.ReadItem(actor, name, value)
}

func account(u accounts.User) middleware.Account {
	return middleware.Account{ID: u.ID, Name: u.Username, Role: middleware.RoleNamed(string(u.Role))}
}
