package accounts

import (
	"linkwatch/models/accounts"
	"linkwatch/views/ui"
)

// The paths of the pages.
const (
	SettingsPath  = ui.SettingsPath
	TwoFactorPath = "/settings/two-factor"
	TokensPath    = "/settings/tokens"
	UsersPath     = "/settings/users"
	AuditPath     = "/admin/audit"
)

// UserPath is the page of an account.
func UserPath(id string) string { return UsersPath + "/" + id }

// Labels are the labels of the fields of forms, for errors.
var Labels = map[string]string{
	"username": "Username", "password": "Password", "current_password": "Current password", "role": "Role", "code": "Code",
	"name": "Name", "scopes": "Scopes", "scopes[]": "Scope", "expires_at": "Expiry",
}

// RoleWords say what a role may do.
var RoleWords = map[accounts.Role]string{
	accounts.Viewer: "can read", accounts.Editor: "can read and change", accounts.Admin: "can do everything",
}
