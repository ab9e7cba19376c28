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
	api.Register(r, api.Operation(groupAccounts, admin, "GET", "/v1/users", "list-users", "List accounts", "Oldest first."), a.listUsers)
	add := api.Operation(groupAccounts, admin, "POST", "/v1/users", "add-user", "Add an account",
		"From the first account on, everybody has to sign in. The first one must be an admin, and is added from the machine that the server runs on. 409 if the username is taken, or belonged to a deleted account.", models.CodeConflict, models.CodeUnavailable)
	add.DefaultStatus = http.StatusCreated
	api.Register(r, api.Own(add), a.addUser)
	api.Register(r, api.Operation(groupAccounts, admin, "GET", "/v1/users/{id}", "get-user", "Get an account", "Passwords are never returned.", models.CodeNotFound), a.getUser)
	api.Register(r, api.Own(api.Operation(groupAccounts, admin, "PATCH", "/v1/users/{id}", "edit-user", "Change an account",
		"Members that are left out stay as they are. A new password ends all sessions of the account, and disabling it ends them too. 409 if no admin would be left.",
		models.CodeNotFound, models.CodeConflict, models.CodeUnavailable)), a.editUser)
	api.Register(r, api.Own(api.Operation(groupAccounts, admin, "DELETE", "/v1/users/{id}", "delete-user", "Delete an account",
		"Its sessions and tokens end. What it owns stays, and its username is not given to another account. POST /v1/users/{id}/restore restores it within a day. 409 if no admin would be left.",
		models.CodeNotFound, models.CodeConflict)), a.deleteUser)
	api.Register(r, api.Own(api.Operation(groupAccounts, admin, "POST", "/v1/users/{id}/restore", "restore-user", "Restore a deleted account",
		"Without its sessions and tokens. 404 if it was not deleted, or more than a day ago.", models.CodeNotFound)), a.restoreUser)
}

// UserPath names an account.
type UserPath struct {
	ID string `path:"id" example:"u_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the account"`
}

// User is an account in the API.
type User struct {
	ID          string     `json:"id" example:"u_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the account. Ids sort by creation time"`
	Username    string     `json:"username" example:"alice" doc:"Username, in lower case"`
	Role        string     `json:"role" enum:"admin,editor,viewer" doc:"A viewer reads, an editor also changes, an admin also manages accounts and the server"`
	Disabled    bool       `json:"disabled" doc:"Whether the account can neither sign in nor use its tokens"`
	CreatedAt   time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the account was added"`
	LastLoginAt *time.Time `json:"last_login_at" example:"2025-03-24T12:00:00Z" doc:"When somebody last signed in to it. null if never"`
}

func toUser(u accounts.User) User {
	return User{
		ID: u.ID, Username: u.Username, Role: string(u.Role), Disabled: u.Disabled,
		CreatedAt: u.CreatedAt.Time, LastLoginAt: api.Time(u.LastLoginAt),
	}
}

func (a API) listUsers(ctx context.Context, in *api.SliceParams) (*api.Output[api.Slice[User]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Accounts.List(ctx, after, limit)
	return api.AnswerSlice(l, toUser, err)
}

// managed returns CodeForbidden while AUTH_DISABLED is set. A stranger could otherwise change accounts,
// and the change would outlast the setting.
func (a API) managed() error {
	if a.Open {
		return &models.Error{Code: models.CodeForbidden, Detail: "Accounts cannot be changed while AUTH_DISABLED is set. Use the command linkwatch user."}
	}
	return nil
}

type addUserInput struct {
	ForwardedFor string `header:"X-Forwarded-For" hidden:"true"`
	Forwarded    string `header:"Forwarded" hidden:"true"`
	Body         struct {
		Username string `json:"username" example:"alice" doc:"1 to 64 letters from a to z, digits, dots, dashes or underscores. Upper case is served as lower case"`
		Role     string `json:"role" example:"editor" doc:"admin, editor or viewer"`
		Password string `json:"password" example:"correct horse battery staple" doc:"At least 8 characters, and none of the most common passwords"`
	}
}

type userOutput struct {
	Location string `header:"Location" doc:"Path of the account in this API"`
	Body     User
}

func (a API) addUser(ctx context.Context, in *addUserInput) (*userOutput, error) {
	if err := a.managed(); err != nil {
		return nil, err
	}
	if actor, _ := models.ActorOf(ctx); actor.Via == "" && !isHere(actor.Address, in.ForwardedFor+in.Forwarded) {
		return nil, &models.Error{Code: models.CodeForbidden, Detail: "The first account can be added only from the machine that the server runs on."}
	}
	b := in.Body
	u, err := a.Accounts.Add(ctx, accounts.New{Username: b.Username, Role: accounts.Role(b.Role), Password: b.Password})
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
		Role     api.Member[string] `json:"role,omitempty" nullable:"false" example:"viewer" doc:"admin, editor or viewer"`
		Disabled api.Member[bool]   `json:"disabled,omitempty" nullable:"false" example:"true" doc:"Whether the account can neither sign in nor use its tokens"`
		Password api.Member[string] `json:"password,omitempty" nullable:"false" example:"correct horse battery staple" doc:"New password"`
	}
}

func (a API) editUser(ctx context.Context, in *editUserInput) (*api.Output[User], error) {
	if err := a.managed(); err != nil {
		return nil, err
	}
	b := in.Body
	if b.Disabled.Null {
		return nil, models.Invalid("disabled", "must be true or false")
	}
	if actor, _ := models.ActorOf(ctx); b.Password.Given && actor.Via == "session" && actor.ID == in.ID {
		return nil, &models.Error{Code: models.CodeForbidden, Detail: "Your own password is changed at /settings, which asks for the present one."}
	}
	e := accounts.Edit{Disabled: b.Disabled.Pointer(), Password: b.Password.Pointer()}
	if b.Role.Given {
		role := accounts.Role(b.Role.Value)
		e.Role = &role
	}
	u, err := a.Accounts.Edit(ctx, in.ID, e)
	return api.Answer(toUser(u), err)
}

func (a API) deleteUser(ctx context.Context, in *UserPath) (*struct{}, error) {
	if err := a.managed(); err != nil {
		return nil, err
	}
	return nil, a.Accounts.Delete(ctx, in.ID)
}

func (a API) restoreUser(ctx context.Context, in *UserPath) (*api.Output[User], error) {
	if err := a.managed(); err != nil {
		return nil, err
	}
	u, err := a.Accounts.Restore(ctx, in.ID)
	return api.Answer(toUser(u), err)
}
