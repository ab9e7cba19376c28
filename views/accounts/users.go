package accounts

import (
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/views/ui"
)

// Users is the list of accounts.
type Users struct {
	ui.Page
	Users   models.Slice[accounts.User]
	Token   string // page token; "" = first page
	Deleted bool   // the deleted accounts instead of the others
	Form    UserForm
}

// UserForm is the form for a new account, as submitted.
type UserForm struct {
	Username string
	Role     accounts.Role
	Errors   ui.Errors
}

// User is the page of one account, for admins.
type User struct {
	ui.Page
	User     accounts.User
	Self     bool          // the admin's own account
	Role     accounts.Role // selected in the form
	RoleFrom string        // name of the identity provider that decides the role; "" = admins decide
	Sessions int
	Tokens   []accounts.Token
	Errors   ui.Errors
}

// origin returns how the account was added: "" = in Linkwatch.
func origin(u accounts.User) string {
	return map[accounts.Origin]string{accounts.OriginProvider: "single sign-on", accounts.OriginProxy: "proxy"}[u.Origin()]
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// nextUsersPage returns the path of the next page of the list.
func nextUsersPage(v Users) string {
	if v.Deleted {
		return DeletedUsersPath + "&page_token=" + v.Users.Next.Token()
	}
	return UsersPath + "?page_token=" + v.Users.Next.Token()
}
