package accounts

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
	"linkwatch/models"
	"linkwatch/models/accounts"
)

// API is the operations of accounts, tokens and the audit log.
type API struct{ *Deps }

// Groups of operations in the OpenAPI document.
const (
	groupAccounts = "Accounts"
	groupTokens   = "API tokens"
	groupAudit    = "Audit log"
)

// Groups returns the groups of the operations.
func Groups() []*huma.Tag {
	return []*huma.Tag{
		{Name: groupAccounts, Description: "Manage accounts and roles. For admins."},
		{Name: groupTokens, Description: "Manage API tokens of your account. Send a token as a bearer token. Its scopes and the role of its account limit its access."},
		{Name: groupAudit, Description: "See who did what, when and from where. For admins."},
	}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) {
	a.registerUsers(r)
	a.registerTokens(r)
	a.registerAudit(r)
}

// ownAccount returns the account of the request. CodeConflict if the credential does not belong to an account.
func (d *Deps) ownAccount(ctx context.Context) (accounts.User, error) {
	actor, _ := models.ActorOf(ctx)
	var u accounts.User
	var err error
	switch {
	case actor.ID != "":
		u, err = d.Accounts.Get(ctx, actor.ID)
	case actor.Via == "password":
		u, err = d.Accounts.EnsureAdmin(ctx)
	default:
		return u, models.Conflict("This requires an account. Sign in with one. \"linkwatch user add NAME\" adds an account.")
	}
	return u, err
}
