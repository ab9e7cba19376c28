package accounts

import (
	"linkwatch/handlers/middleware"
	views "linkwatch/views/accounts"
	"linkwatch/views/ui"
)

// Routes returns the pages of accounts. The API is in api_users.go, api_tokens.go and api_audit.go.
func (p Pages) Routes() []middleware.Route {
	const public, admin = middleware.Public, middleware.Admin
	return append(p.settingRoutes(), []middleware.Route{
		{Method: "GET", Path: "/login", Needs: public, Handler: p.LoginPage},
		{Method: "POST", Path: "/login", Needs: public, Handler: p.Login},
		{Method: "POST", Path: "/login/first", Needs: public, Handler: p.Setup},
		{Method: "GET", Path: "/login/oidc", Needs: public, Handler: p.BeginSSO},
		{Method: "GET", Path: ssoCallback, Needs: public, Handler: p.FinishSSO},
		{Method: "POST", Path: "/logout", Needs: public, Handler: p.Logout}, // also for a session that is due for a check
		{Method: "GET", Path: "/admin/audit", Needs: admin, Handler: p.AuditPage},
		{Method: "GET", Path: "/admin/audit.csv", Needs: admin, Handler: p.DownloadAudit},
	}...)
}

// settingRoutes returns the pages below /settings. Routes that change how a user signs in have Own set.
func (p Pages) settingRoutes() []middleware.Route {
	const viewer, admin = middleware.Viewer, middleware.Admin
	routes := []middleware.Route{
		{Method: "GET", Path: "/settings", Needs: viewer, Handler: p.SettingsPage},
		{Method: "POST", Path: "/settings/password", Needs: viewer, OwnCredentials: true, Handler: p.ChangePassword},
		{Method: "POST", Path: "/settings/sessions/end", Needs: viewer, OwnCredentials: true, Handler: p.EndSessions},
		{Method: "POST", Path: "/settings/sessions/:id/end", Needs: viewer, OwnCredentials: true, Handler: p.EndSession},
		{Method: "GET", Path: "/settings/two-factor", Needs: viewer, Handler: p.TwoFactorPage},
		{Method: "POST", Path: "/settings/two-factor/setup", Needs: viewer, OwnCredentials: true, Handler: p.PrepareTwoFactor},
		{Method: "POST", Path: "/settings/two-factor/confirm", Needs: viewer, OwnCredentials: true, Handler: p.ConfirmTwoFactor},
		{Method: "POST", Path: "/settings/two-factor/off", Needs: viewer, OwnCredentials: true, Handler: p.RemoveTwoFactor},
		{Method: "GET", Path: "/settings/tokens", Needs: viewer, Handler: p.TokensPage},
		{Method: "POST", Path: "/settings/tokens", Needs: viewer, OwnCredentials: true, Keeps: []string{"name", "scopes", "expires"}, Handler: p.AddToken},
		{Method: "POST", Path: "/settings/tokens/:id/revoke", Needs: viewer, OwnCredentials: true, Handler: p.RevokeToken},
		{Method: "GET", Path: "/settings/users", Needs: admin, Handler: p.UsersPage},
		{Method: "POST", Path: "/settings/users", Needs: admin, OwnCredentials: true, Keeps: []string{"username", "role"}, Handler: p.AddUser},
		{Method: "GET", Path: "/settings/users/:id", Needs: admin, Handler: p.UserPage},
		{Method: "POST", Path: "/settings/users/:id/role", Needs: admin, OwnCredentials: true, Handler: p.SetRole},
		{Method: "POST", Path: "/settings/users/:id/disabled", Needs: admin, OwnCredentials: true, Handler: p.DisableUser},
		{Method: "POST", Path: "/settings/users/:id/password", Needs: admin, OwnCredentials: true, Handler: p.SetPassword},
		{Method: "POST", Path: "/settings/users/:id/two-factor/off", Needs: admin, OwnCredentials: true, Handler: p.ClearTwoFactor},
		{Method: "POST", Path: "/settings/users/:id/sessions/end", Needs: admin, OwnCredentials: true, Handler: p.EndUserSessions},
		{Method: "POST", Path: "/settings/users/:id/tokens/:token/revoke", Needs: admin, OwnCredentials: true, Handler: p.RevokeUserToken},
		{Method: "POST", Path: "/settings/users/:id/delete", Needs: admin, OwnCredentials: true, Handler: p.DeleteUser},
		{Method: "POST", Path: "/settings/users/:id/restore", Needs: admin, OwnCredentials: true, Handler: p.RestoreUser},
	}
	for i := range routes {
		routes[i].Secret = true
	}
	return routes
}

// Nav returns the navigation of accounts. The page header has its own link to the settings.
func Nav() ui.Nav {
	return ui.Nav{
		Admin: []ui.Section{{ID: "audit", Label: "Audit log", Path: views.AuditPath}},
		Pages: []ui.Link{{Label: "Account settings", Path: views.SettingsPath}, {Label: "API tokens", Path: views.TokensPath}},
	}
}
