package accounts

import (
	"net/url"

	"linkwatch/models/accounts"
	"linkwatch/views/ui"
)

// Paths of the pages.
const (
	SettingsPath     = ui.SettingsPath
	TwoFactorPath    = "/settings/two-factor"
	TokensPath       = "/settings/tokens"
	UsersPath        = "/settings/users"
	DeletedUsersPath = UsersPath + "?deleted=true"
	AuditPath        = "/admin/audit"
)

// UserPath returns the path of an account's page.
func UserPath(id string) string { return UsersPath + "/" + id }

// LoginPath returns a path of the login, with the page to redirect to; "" = the overview.
func LoginPath(path, next string) string {
	if next == "" {
		return path
	}
	return path + "?next=" + url.QueryEscape(next)
}

// silentPath returns the path that lets the identity provider confirm the session of the browser.
func silentPath(next string) string {
	query := url.Values{"silent": {"1"}}
	if next != "" {
		query.Set("next", next)
	}
	return "/login/oidc?" + query.Encode()
}

// Labels are the labels of form fields, for error messages.
var Labels = map[string]string{
	"username": "Username", "password": "Password", "current_password": "Current password", "role": "Role", "code": "Code",
	"name": "Name", "scopes": "Scopes", "scopes[]": "Scope", "expires_at": "Expires",
}

// RoleWords describe what a role can do.
var RoleWords = map[accounts.Role]string{
	accounts.Viewer: "can read", accounts.Editor: "can read and change", accounts.Admin: "can do everything",
}
