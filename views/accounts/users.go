package accounts

import (
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/views/ui"
)

// Users is the list of accounts.
type Users struct {
	ui.Page
	Users models.Slice[accounts.User]
	Token string // the list begins after it; "" = at its beginning
	Form  UserForm
}

// UserForm is what was typed for a new account.
type UserForm struct {
	Username string
	Role     accounts.Role
	Errors   ui.Errors
}

// User is the page of one account, for admins.
type User struct {
	ui.Page
	User     accounts.User
	Self     bool          // it is the reader's own
	Role     accounts.Role // as the form has it
	Sessions int
	Tokens   []accounts.Token
	Errors   ui.Errors
}

// from is how an account signs in if it was made by another program; "" = it was not.
func from(u accounts.User) string {
	switch u.OIDCIssuer {
	case "":
		return ""
	case accounts.IssuerProxy:
		return "proxy"
	}
	return "single sign-on"
}

// onOff says whether something is on.
func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// usersPage is the address of a part of the list.
func usersPage(after models.Cursor) string {
	if after == (models.Cursor{}) {
		return UsersPath
	}
	return UsersPath + "?page_token=" + after.Token()
}
