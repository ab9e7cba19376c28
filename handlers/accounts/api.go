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

// The groups of operations in the OpenAPI document.
const (
	groupAccounts = "Accounts"
	groupTokens   = "API tokens"
	groupAudit    = "Audit log"
)

// Groups are the groups of the operations.
func Groups() []*huma.Tag {
	return []*huma.Tag{
		{Name: groupAccounts, Description: "Who can sign in, and what they may do. For admins."},
		{Name: groupTokens, Description: "API tokens of your account. A token is sent as a bearer token. Its scopes and the role of its account limit what it can do."},
		{Name: groupAudit, Description: "Who did what, when and from where. For admins."},
	}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) {
	a.registerUsers(r)
	a.registerTokens(r)
	a.registerAudit(r)
}

// own is the account of the caller. A caller without one is CodeConflict.
func (d *Deps) own(ctx context.Context) (accounts.User, error) {
	actor, _ := models.ActorOf(ctx)
	var u accounts.User
	var err error
	switch {
	case actor.ID != "":
		u, err = d.Accounts.Get(ctx, actor.ID)
	case actor.Via == "password":
		u, err = d.Accounts.EnsureAdmin(ctx)
	default:
		return u, models.Conflict("Your credential belongs to no account. Sign in with an account.")
	}
	return u, err
}
