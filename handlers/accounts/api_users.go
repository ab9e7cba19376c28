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

func (a API) registerUsers(r *api.API) {
	const admin = middleware.Admin
	api.Register(r, api.Sorts(api.Operation(groupAccounts, admin, "GET", "/v1/users", "list-users", "List accounts",
		"Oldest first. With `deleted=true`, only the deleted accounts."), accounts.ListOrders.Fields()...), a.listUsers)
	add := api.Operation(groupAccounts, admin, "POST", "/v1/users", "add-user", "Add an account",
		"Once an account exists, every request needs a login. The first account must be an admin, and the request must come from the machine that runs the server. 409 if the username is taken, or belonged to a deleted account.", models.CodeConflict, models.CodeUnavailable)
	add.DefaultStatus = http.StatusCreated
	api.Register(r, api.Own(add), a.addUser)
	api.Register(r, api.Item(api.Operation(groupAccounts, admin, "GET", "/v1/users/{id}", "get-user", "Get an account", "Never returns a password.", models.CodeNotFound),
		"id", "username", "role", "disabled"), a.getUser)
	api.Register(r, api.Own(api.Operation(groupAccounts, admin, "PATCH", "/v1/users/{id}", "edit-user", "Edit an account",
		"Omitted members stay as they are. A new password or disabling the account ends its sessions. `revoke_tokens` also revokes its API tokens, which stay valid otherwise. 409 if no admin would remain, or if the identity provider decides the role of the account: see OIDC_ROLE_SYNC.",
		models.CodeNotFound, models.CodeConflict, models.CodeUnavailable)), a.editUser)
	api.Register(r, api.Own(api.Operation(groupAccounts, admin, "DELETE", "/v1/users/{id}", "delete-user", "Delete an account",
		"Ends its sessions and revokes its tokens. Its items stay, and its username cannot be used for another account. Its user cannot sign in, also not by single sign-on or a reverse proxy, until POST /v1/users/{id}/restore. 409 if no admin would remain.",
		models.CodeNotFound, models.CodeConflict)), a.deleteUser)
	api.Register(r, api.Own(api.Operation(groupAccounts, admin, "POST", "/v1/users/{id}/restore", "restore-user", "Restore a deleted account",
		"Sessions and tokens are not restored. After a day, neither are the password and two-factor authentication: then its user signs in by single sign-on or a reverse proxy, or an admin sets a password. 404 if the account is not deleted.", models.CodeNotFound)), a.restoreUser)
}

// UserPath is the path parameter of an account.
type UserPath struct {
	ID string `path:"id" example:"u_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the account"`
}

// User is an account in the API.
type User struct {
	ID          string     `json:"id" example:"u_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the account. Ids sort by creation time"`
	Username    string     `json:"username" example:"alice" doc:"Username, in lower case"`
	Role        string     `json:"role" enum:"admin,editor,viewer" doc:"Role. Viewers can read, editors can also change, admins can also manage accounts and the server"`
	Disabled    bool       `json:"disabled" doc:"Whether the account is disabled: it cannot sign in or use its tokens"`
	Origin      string     `json:"origin" enum:"local,oidc,proxy" example:"local" doc:"How the account was added: local by an admin, oidc by the first single sign-on of its user, proxy by the first request through an authenticating proxy"`
	RefusedAt   *time.Time `json:"refused_at" doc:"When the identity provider refused the user. Since then the account cannot sign in or use its tokens, until the provider accepts the user again or disabled is set to false. null if it is not refused"`
	CreatedAt   time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the account was created"`
	LastLoginAt *time.Time `json:"last_login_at" example:"2025-03-24T12:00:00Z" doc:"When the account was last used to sign in. null if never"`
	DeletedAt   *time.Time `json:"deleted_at" doc:"When the account was deleted. null if it is not deleted"`

	passwordChangedAt time.Time
}

// Edited implements api.Edited.
func (u User) Edited() []any { return []any{u.passwordChangedAt} }

func toUser(u accounts.User) User {
	return User{
		ID: u.ID, Username: u.Username, Role: string(u.Role), Disabled: u.Disabled,
		Origin: string(u.Origin()), RefusedAt: api.Time(u.RefusedAt),
		CreatedAt: u.CreatedAt.Time, LastLoginAt: api.Time(u.LastLoginAt), DeletedAt: api.Time(u.DeletedAt), passwordChangedAt: u.PasswordChangedAt.Time,
	}
}

type listUsersInput struct {
	Deleted bool `query:"deleted" example:"true" doc:"true lists the deleted accounts instead of the others"`
	api.SliceParams
}

func (a API) listUsers(ctx context.Context, in *listUsersInput) (*api.Output[api.Slice[User]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	list := a.Accounts.List
	if in.Deleted {
		list = a.Accounts.Deleted
	}
	l, err := list(ctx, after, limit)
	return api.AnswerSlice(l, toUser, err)
}

// checkManageable returns CodeForbidden if AUTH_DISABLED is set. Otherwise a stranger could change accounts, and the
// change would remain when the setting is removed.
func (a API) checkManageable() error {
	if a.Open {
		return &models.Error{Code: models.CodeForbidden, Detail: "Accounts cannot be changed while AUTH_DISABLED is set. Use the command linkwatch user."}
	}
	return nil
}

type addUserInput struct {
	ForwardedFor string `header:"X-Forwarded-For" hidden:"true"`
	Forwarded    string `header:"Forwarded" hidden:"true"`
	Body         struct {
		Username string `json:"username" example:"alice" doc:"1 to 64 characters: a-z, 0-9, dots, dashes and underscores. Stored in lower case"`
		Role     string `json:"role" example:"editor" doc:"Role: admin, editor or viewer"`
		Password string `json:"password" example:"correct horse battery staple" doc:"Password, at least 8 characters, not a common password"`
	}
}

type userOutput struct {
	Location string `header:"Location" doc:"Path of the account in this API"`
	Body     User
}

func (a API) addUser(ctx context.Context, in *addUserInput) (*userOutput, error) {
	if err := a.checkManageable(); err != nil {
		return nil, err
	}
	if actor, _ := models.ActorOf(ctx); actor.Via == "" && !isLocalAddress(actor.Address, in.ForwardedFor+in.Forwarded) {
		return nil, &models.Error{Code: models.CodeForbidden, Detail: "The first account can be added only from the machine that runs the server."}
	}
	b := in.Body
	u, err := a.Accounts.Add(ctx, accounts.NewUser{Username: b.Username, Role: accounts.Role(b.Role), Password: b.Password})
	if err != nil {
		return nil, err
	}
	return &userOutput{"/v1/users/" + u.ID, toUser(u)}, nil
}

func (a API) getUser(ctx context.Context, in *UserPath) (*api.Output[User], error) {
	u, err := a.Accounts.Get(ctx, in.ID)
	return api.Answer(toUser(u), err)
}

type editUserInput struct {
	UserPath
	Body struct {
		Role     api.Member[string] `json:"role,omitempty" nullable:"false" example:"viewer" doc:"Role: admin, editor or viewer"`
		Disabled api.Member[bool]   `json:"disabled,omitempty" nullable:"false" example:"true" doc:"Whether the account is disabled: it cannot sign in or use its tokens"`
		Password api.Member[string] `json:"password,omitempty" nullable:"false" example:"correct horse battery staple" doc:"New password"`
		Revoke   api.Member[bool]   `json:"revoke_tokens,omitempty" nullable:"false" example:"true" doc:"true also revokes all API tokens of the account"`
	}
}

func (a API) editUser(ctx context.Context, in *editUserInput) (*api.Output[User], error) {
	if err := a.checkManageable(); err != nil {
		return nil, err
	}
	b := in.Body
	switch {
	case b.Disabled.Null:
		return nil, models.Invalid("disabled", "must be true or false")
	case b.Revoke.Null:
		return nil, models.Invalid("revoke_tokens", "must be true or false")
	}
	if actor, _ := models.ActorOf(ctx); b.Password.Given && actor.Via == "session" && actor.ID == in.ID {
		return nil, &models.Error{Code: models.CodeForbidden, Detail: "Change your own password at /settings, which asks for the current password."}
	}
	e := accounts.Edit{Disabled: b.Disabled.Pointer(), Password: b.Password.Pointer(), RevokeTokens: b.Revoke.Value}
	if b.Role.Given {
		role := accounts.Role(b.Role.Value)
		e.Role = &role
	}
	u, err := a.Accounts.Edit(ctx, in.ID, e)
	return api.Answer(toUser(u), err)
}

func (a API) deleteUser(ctx context.Context, in *UserPath) (*struct{}, error) {
	if err := a.checkManageable(); err != nil {
		return nil, err
	}
	return nil, a.Accounts.Delete(ctx, in.ID)
}

func (a API) restoreUser(ctx context.Context, in *UserPath) (*api.Output[User], error) {
	if err := a.checkManageable(); err != nil {
		return nil, err
	}
	u, err := a.Accounts.Restore(ctx, in.ID)
	return api.Answer(toUser(u), err)
}
