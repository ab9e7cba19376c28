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

// managed reports whether there are accounts to manage. If not, the page says why.
func (p Pages) managed(c *gin.Context) bool {
	if p.mustSignIn() {
		return true
	}
	p.closed(c, models.Actor{})
	return false
}

// UsersPage lists the accounts.
func (p Pages) UsersPage(c *gin.Context) {
	if p.managed(c) {
		p.showUsers(c, http.StatusOK, views.UserForm{Role: accounts.Editor})
	}
}

func (p Pages) showUsers(c *gin.Context, status int, form views.UserForm) {
	v := views.Users{Form: form, Token: c.Query("page_token")}
	var after models.Cursor
	var flash ui.Flash
	if !p.Frame.Read(c,
		func() (err error) { after, err = models.ParseToken(v.Token); return },
		func() (err error) { v.Users, err = p.Accounts.List(c.Request.Context(), after, usersSize); return },
		func() (err error) { flash, err = p.Frame.Flash(c, views.UsersPath); return },
	) {
		return
	}
	v.Page = p.Frame.Page("Users", ui.SettingsSection, flash)
	p.Frame.Show(c, status, views.UsersPage(v))
}

// AddUser adds an account.
func (p Pages) AddUser(c *gin.Context) {
	if !p.managed(c) {
		return
	}
	form := views.UserForm{Username: models.Truncate(models.CleanLine(c.PostForm("username")), maxTyped), Role: accounts.Role(c.PostForm("role"))}
	_, err := p.Accounts.Add(c.Request.Context(), accounts.New{Username: form.Username, Role: form.Role, Password: c.PostForm("password")})
	if errs, ok := formErrors(err, "username"); ok {
		form.Errors = errs
		p.showUsers(c, p.Frame.FormStatus(c, err), form)
		return
	}
	p.Frame.Done(c, err, views.UsersPath, "user_added")
}

// UserPage is one account.
func (p Pages) UserPage(c *gin.Context) {
	if !p.managed(c) {
		return
	}
	if u, ok := p.user(c); ok {
		p.showUser(c, http.StatusOK, u, views.User{Role: u.Role})
	}
}

// user returns the account of a path. If ok is false, the response is already written.
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
	v.User, v.Self, v.Sessions, v.Tokens = u, isSelf(c, u.ID), len(sessions), tokens.Items
	v.Page = p.Frame.Page(u.Username, ui.SettingsSection, p.Frame.Notice(c))
	p.Frame.Show(c, status, views.OneUserPage(v))
}

// isSelf reports whether an account is the reader's own.
func isSelf(c *gin.Context, id string) bool {
	actor, _ := models.ActorOf(c.Request.Context())
	return actor.ID == id
}

// edit changes the account of a path. An error that the reader can correct is shown at field.
func (p Pages) edit(c *gin.Context, e accounts.Edit, field, notice string) {
	if !p.managed(c) {
		return
	}
	u, ok := p.user(c)
	if !ok {
		return
	}
	_, err := p.Accounts.Edit(c.Request.Context(), u.ID, e)
	if p.userRefused(c, u, e.Role, err, field) {
		return
	}
	p.Frame.Done(c, err, views.UserPath(u.ID), notice)
}

// userRefused shows the page of an account again if the reader can correct the error.
func (p Pages) userRefused(c *gin.Context, u accounts.User, role *accounts.Role, err error, field string) bool {
	errs, ok := formErrors(err, field)
	if !ok {
		return false
	}
	v := views.User{Role: u.Role, Errors: errs}
	models.Set(&v.Role, role)
	p.showUser(c, p.Frame.FormStatus(c, err), u, v)
	return true
}

// SetRole gives an account another role.
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

// SetPassword gives the account of somebody else a new password. One's own needs the present
// one: see ChangePassword.
func (p Pages) SetPassword(c *gin.Context) {
	if !p.isOwn(c) {
		p.edit(c, accounts.Edit{Password: new(c.PostForm("password"))}, "password", "user_password")
	}
}

// isOwn sends the reader to the settings if the account is the reader's own.
func (p Pages) isOwn(c *gin.Context) bool {
	if !isSelf(c, c.Param("id")) {
		return false
	}
	p.Frame.SeeOther(c, views.SettingsPath)
	return true
}

// ClearTwoFactor turns the second factor of somebody else off.
func (p Pages) ClearTwoFactor(c *gin.Context) {
	if p.managed(c) && !p.isOwn(c) {
		p.Frame.Done(c, p.Accounts.ClearTOTP(c.Request.Context(), c.Param("id")), views.UserPath(c.Param("id")), "user_two_factor_off")
	}
}

// EndUserSessions signs an account out everywhere.
func (p Pages) EndUserSessions(c *gin.Context) {
	if !p.managed(c) {
		return
	}
	if u, ok := p.user(c); ok {
		p.Frame.Done(c, p.Accounts.EndAll(c.Request.Context(), u), views.UserPath(u.ID), "user_signed_out")
	}
}

// RevokeUserToken revokes an API token of an account.
func (p Pages) RevokeUserToken(c *gin.Context) {
	if !p.managed(c) {
		return
	}
	if u, ok := p.user(c); ok {
		p.Frame.Done(c, p.Accounts.Revoke(c.Request.Context(), &u, c.Param("token")), views.UserPath(u.ID), "token_revoked")
	}
}

// DeleteUser deletes an account. The list then offers to undo it.
func (p Pages) DeleteUser(c *gin.Context) {
	if !p.managed(c) {
		return
	}
	u, ok := p.user(c)
	if !ok {
		return
	}
	err := p.Accounts.Delete(c.Request.Context(), u.ID)
	if p.userRefused(c, u, nil, err, "access") {
		return
	}
	if err != nil {
		p.Frame.Fail(c, err)
		return
	}
	p.Frame.SeeOther(c, pages.With(views.UsersPath, paramDeleted, u.ID))
}

// RestoreUser takes the deletion of an account back.
func (p Pages) RestoreUser(c *gin.Context) {
	if p.managed(c) {
		_, err := p.Accounts.Restore(c.Request.Context(), c.Param("id"))
		p.Frame.Done(c, err, views.UsersPath, "user_restored")
	}
}
