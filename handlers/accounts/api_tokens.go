package accounts

import (
	"context"
	"net/http"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/accounts"
)

func (a API) registerTokens(r *api.API) {
	const viewer = middleware.Viewer
	api.Register(r, api.Sorts(api.Operation(groupTokens, viewer, "GET", "/v1/tokens", "list-tokens", "List your API tokens",
		"Oldest first, without secrets. 409 if your credential does not belong to an account.", models.CodeConflict), "created_at"), a.listTokens)
	api.Register(r, api.Item(api.Operation(groupTokens, viewer, "GET", "/v1/tokens/{id}", "get-token", "Get an API token",
		"Without its secret. Admins can get tokens of all accounts. 409 if your credential does not belong to an account.", models.CodeNotFound, models.CodeConflict),
		"id", "name", "scopes", "expires_at"), a.getToken)
	add := api.Operation(groupTokens, viewer, "POST", "/v1/tokens", "add-token", "Create an API token",
		"The member `token` is returned only once: store it. A scope cannot allow more than your role. With an API token, this requires the scope admin. "+
			"409 if your account has 100 tokens, or your credential does not belong to an account.", models.CodeConflict)
	add.DefaultStatus = http.StatusCreated
	api.Register(r, api.Own(add), a.addToken)
	api.Register(r, api.Own(api.Operation(groupTokens, viewer, "DELETE", "/v1/tokens/{id}", "revoke-token", "Revoke an API token",
		"The token stops working at once. Admins can revoke tokens of all accounts. With an API token, this requires the scope admin. 409 if your credential does not belong to an account.", models.CodeNotFound, models.CodeConflict)), a.revokeToken)
}

// TokenPath is the path parameter of a token.
type TokenPath struct {
	ID string `path:"id" example:"y_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the token"`
}

// Token is an API token, without its secret.
type Token struct {
	ID         string     `json:"id" example:"y_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the token. Ids sort by creation time"`
	Name       string     `json:"name" example:"Backup script" doc:"Name of the token"`
	Scopes     []string   `json:"scopes" nullable:"false" example:"[\"links:write\"]" doc:"Scopes: read, write or admin, or SYSTEM:read and SYSTEM:write for links, targets, shortlinks, crawl, sites and alerts"`
	CreatedAt  time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the token was created"`
	ExpiresAt  *time.Time `json:"expires_at" example:"2026-03-24T12:00:00Z" doc:"When the token expires. null: never"`
	LastUsedAt *time.Time `json:"last_used_at" example:"2025-03-25T08:30:00Z" doc:"When the token was last used, to the minute. null if never"`
}

// NewToken is a token with its secret, in the response that creates it.
type NewToken struct {
	Token
	Secret string `json:"token" example:"lw_ABCDEFGHIJKLMNOPQRSTUVWXYZ" doc:"Secret to send as a bearer token. Returned only once"`
}

func toToken(t accounts.Token) Token {
	return Token{
		ID: t.ID, Name: t.Name, Scopes: t.Scopes, CreatedAt: t.CreatedAt.Time, ExpiresAt: api.Time(t.ExpiresAt), LastUsedAt: api.Time(t.LastUsedAt),
	}
}

func (a API) listTokens(ctx context.Context, in *api.SliceParams) (*api.Output[api.Slice[Token]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	u, err := a.ownAccount(ctx)
	if err != nil {
		return nil, err
	}
	l, err := a.Accounts.Tokens(ctx, &u, after, limit)
	return api.AnswerSlice(l, toToken, err)
}

type addTokenInput struct {
	Body struct {
		Name      string                `json:"name" example:"Backup script" doc:"Name, at most 100 characters"`
		Scopes    []string              `json:"scopes" nullable:"false" example:"[\"links:write\"]" doc:"Scopes, at least one"`
		ExpiresAt api.Member[time.Time] `json:"expires_at,omitempty" example:"2026-03-24T12:00:00Z" doc:"When the token expires. Default: never"`
	}
}

type tokenOutput struct {
	Location string `header:"Location" doc:"Path of the token in this API"`
	Body     NewToken
}

func (a API) addToken(ctx context.Context, in *addTokenInput) (*tokenOutput, error) {
	u, err := a.ownAccount(ctx)
	if err != nil {
		return nil, err
	}
	actor, _ := models.ActorOf(ctx)
	if actor.Via == "jwt" && accounts.Role(actor.Role) != u.Role { // a token has the role of the account, not of the JWT
		return nil, &models.Error{Code: models.CodeForbidden, Detail: "Your JWT has the role " + actor.Role + ", but your account has the role " + string(u.Role) + ". Sign in to create a token."}
	}
	t, secret, err := a.Accounts.AddToken(ctx, u, accounts.NewToken{
		Name: in.Body.Name, Scopes: in.Body.Scopes, ExpiresAt: models.At(in.Body.ExpiresAt.Value), By: accounts.Role(actor.Role),
	})
	if err != nil {
		return nil, err
	}
	return &tokenOutput{"/v1/tokens/" + t.ID, NewToken{toToken(t), secret}}, nil
}

// tokenOwner returns the account whose tokens the caller can get and revoke by id; nil = all accounts.
func (a API) tokenOwner(ctx context.Context) (*accounts.User, error) {
	if actor, _ := models.ActorOf(ctx); actor.SeesAll && actor.Via != "" {
		return nil, nil
	}
	u, err := a.ownAccount(ctx)
	return &u, err
}

func (a API) getToken(ctx context.Context, in *TokenPath) (*api.Output[Token], error) {
	u, err := a.tokenOwner(ctx)
	if err != nil {
		return nil, err
	}
	t, err := a.Accounts.Token(ctx, u, in.ID)
	return api.Answer(toToken(t), err)
}

func (a API) revokeToken(ctx context.Context, in *TokenPath) (*struct{}, error) {
	u, err := a.tokenOwner(ctx)
	if err != nil {
		return nil, err
	}
	return nil, a.Accounts.Revoke(ctx, u, in.ID)
}
