package accounts

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/accounts"
	views "linkwatch/views/accounts"
	"linkwatch/views/ui"
)

const usersSize = 50 // accounts on a page of the list

// accountsRequired reports whether a login is required. If not, it writes a page that explains it.
func (p Pages) accountsRequired(c *gin.Context) bool {
	actor, _ := models.ActorOf(c.Request.Context())
	if p.loginRequired() && actor.Via != "" { // without Via, the first account was added after the request was let in
		return true
	}
	p.showNoAccount(c, models.Actor{})
	return false
}

// UsersPage lists the accounts.
func (p Pages) UsersPage(c *gin.Context) {
	if p.accountsRequired(c) {
		p.showUsers(c, http.StatusOK, views.UserForm{Role: accounts.Editor})
	}
}

func (p Pages) showUsers(c *gin.Context, status int, form views.UserForm) {
	v := views.Users{Form: form, Token: c.Query("page_token"), Deleted: c.Query("deleted") == "true" && form.Errors == nil}
	list, here := p.Accounts.List, views.UsersPath
	if v.Deleted {
		list, here = p.Accounts.Deleted, views.DeletedUsersPath
	}
	var after models.Cursor
	var flash ui.Flash
	if !p.Frame.Read(c,
		func() (err error) { after, err = models.ParseToken(v.Token); return },
		func() (err error) { v.Users, err = list(c.Request.Context(), after, usersSize); return },
		func() (err error) { flash, err = p.Frame.Flash(c, here); return },
	) {
		return
	}
	if v.Deleted {
		v.Page = p.Frame.Page("Deleted users", ui.SettingsSection, flash)
		p.Frame.Show(c, status, views.DeletedUsersPage(v))
		return
	}
	v.Page = p.Frame.Page("Users", ui.SettingsSection, flash)
	p.Frame.Show(c, status, views.UsersPage(v))
}

// AddUser adds an account.
func (p Pages) AddUser(c *gin.Context) {
	if !p.accountsRequired(c) {
		return
	}
	form := views.UserForm{Username: models.Truncate(models.CleanLine(c.PostForm("username")), maxTyped), Role: accounts.Role(c.PostForm("role"))}
	_, err := p.Accounts.Add(c.Request.Context(), accounts.NewUser{Username: form.Username, Role: form.Role, Password: c.PostForm("password")})
	if errs, ok := formErrors(err, "username"); ok {
		form.Errors = errs
		p.showUsers(c, p.Frame.FormStatus(c, err), form)
		return
	}
	p.Frame.Done(c, err, views.UsersPath, "user_added")
}

// UserPage is one account.
func (p Pages) UserPage(c *gin.Context) {
	if !p.accountsRequired(c) {
		return
	}
	if u, ok := p.user(c); ok {
		p.showUser(c, http.StatusOK, u, views.User{Role: u.Role})
	}
}

// user returns the account of the path. If ok is false, the response is written.
func (p Pages) user(c *gin.Context) (u accounts.User, ok bool) {
	u, err := p.Accounts.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.Frame.Fail(c, err)
		return u, false
	}
	return u, true
}

func (p Pages) showUser(c *gin.Context, status int, u accounts.User, v views.User) {
	ctx := c.Request.Context()
	var sessions []accounts.Session
	var tokens models.Slice[accounts.Token]
	if !p.Frame.Read(c,
		func() (err error) { sessions, err = p.Accounts.Sessions(ctx, u); return },
		func() (err error) { tokens, err = p.Accounts.Tokens(ctx, &u, models.Cursor{}, tokensShown); return },
	) {
		return
	}
	if p.Accounts.HasProviderRole(u) {
		v.RoleFrom = p.Name
	}
	v.User, v.Self, v.Sessions, v.Tokens = u, isSelf(c, u.ID), len(sessions), tokens.Items
	v.Page = p.Frame.Page(u.Username, ui.SettingsSection, p.Frame.Notice(c))
	p.Frame.Show(c, status, views.OneUserPage(v))
}

// isSelf reports whether id is the user's own account.
func isSelf(c *gin.Context, id string) bool {
	actor, _ := models.ActorOf(c.Request.Context())
	return actor.ID == id
}

// edit changes the account of the path. Errors without a field are shown at field.
func (p Pages) edit(c *gin.Context, e accounts.Edit, field, notice string) {
	if !p.accountsRequired(c) {
		return
	}
	u, ok := p.user(c)
	if !ok {
		return
	}
	_, err := p.Accounts.Edit(c.Request.Context(), u.ID, e)
	if p.showUserErrors(c, u, e.Role, err, field) {
		return
	}
	p.Frame.Done(c, err, views.UserPath(u.ID), notice)
}

// showUserErrors shows the account's page again if the user can correct the error.
func (p Pages) showUserErrors(c *gin.Context, u accounts.User, role *accounts.Role, err error, field string) bool {
	errs, ok := formErrors(err, field)
	if !ok {
		return false
	}
	v := views.User{Role: u.Role, Errors: errs}
	models.Set(&v.Role, role)
	p.showUser(c, p.Frame.FormStatus(c, err), u, v)
	return true
}

// SetRole changes the role of an account.
func (p Pages) SetRole(c *gin.Context) {
	p.edit(c, accounts.Edit{Role: new(accounts.Role(c.PostForm("role")))}, "role", "edited")
}

// DisableUser disables or enables an account.
func (p Pages) DisableUser(c *gin.Context) {
	disabled := c.PostForm("disabled") != ""
	notice := "user_enabled"
	if disabled {
		notice = "user_disabled"
	}
	p.edit(c, accounts.Edit{Disabled: &disabled}, "access", notice)
}

// SetPassword changes the password of another user. For the own password, see ChangePassword.
func (p Pages) SetPassword(c *gin.Context) {
	if !p.redirectSelf(c) {
		e, notice := accounts.Edit{Password: new(c.PostForm("password")), RevokeTokens: c.PostForm("revoke_tokens") != ""}, "user_password"
		if e.RevokeTokens {
			notice = "user_password_tokens"
		}
		p.edit(c, e, "password", notice)
	}
}

// redirectSelf redirects to the settings if the account of the path is the user's own.
func (p Pages) redirectSelf(c *gin.Context) bool {
	if !isSelf(c, c.Param("id")) {
		return false
	}
	p.Frame.SeeOther(c, views.SettingsPath)
	return true
}

// ClearTwoFactor turns off two-factor authentication of another user.
func (p Pages) ClearTwoFactor(c *gin.Context) {
	if p.accountsRequired(c) && !p.redirectSelf(c) {
		p.Frame.Done(c, p.Accounts.ClearTOTP(c.Request.Context(), c.Param("id")), views.UserPath(c.Param("id")), "user_two_factor_off")
	}
}

// EndUserSessions ends all sessions of an account.
func (p Pages) EndUserSessions(c *gin.Context) {
	if !p.accountsRequired(c) {
		return
	}
	if u, ok := p.user(c); ok {
		p.Frame.Done(c, p.Accounts.EndSessions(c.Request.Context(), u), views.UserPath(u.ID), "user_signed_out")
	}
}

// RevokeUserToken revokes an API token of an account.
func (p Pages) RevokeUserToken(c *gin.Context) {
	if !p.accountsRequired(c) {
		return
	}
	if u, ok := p.user(c); ok {
		p.Frame.Done(c, p.Accounts.Revoke(c.Request.Context(), &u, c.Param("token")), views.UserPath(u.ID), "token_revoked")
	}
}

// DeleteUser deletes an account. The list then offers to undo it.
func (p Pages) DeleteUser(c *gin.Context) {
	if !p.accountsRequired(c) {
		return
	}
	u, ok := p.user(c)
	if !ok {
		return
	}
	err := p.Accounts.Delete(c.Request.Context(), u.ID)
	if p.showUserErrors(c, u, nil, err, "access") {
		return
	}
	if err != nil {
		p.Frame.Fail(c, err)
		return
	}
	p.Frame.SeeOther(c, pages.With(views.UsersPath, paramDeleted, u.ID))
}

// RestoreUser restores a deleted account.
func (p Pages) RestoreUser(c *gin.Context) {
	if p.accountsRequired(c) {
		_, err := p.Accounts.Restore(c.Request.Context(), c.Param("id"))
		p.Frame.Done(c, err, views.UsersPath, "user_restored")
	}
}
