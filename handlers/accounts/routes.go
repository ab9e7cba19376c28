package accounts

import (
	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/views/ui"
)

// Routes are the pages of accounts. Their operations are in api_users.go, api_tokens.go and
// api_audit.go.
func (p Pages) Routes() []middleware.Route {
	const public, viewer = middleware.Public, middleware.Viewer
	return []middleware.Route{
		{Method: "GET", Path: "/login", Needs: public, Handler: p.LoginPage},
		{Method: "POST", Path: "/login", Needs: public, Handler: p.Login},
		{Method: "POST", Path: "/login/first", Needs: public, Handler: p.Setup},
		{Method: "GET", Path: "/login/oidc", Needs: public, Handler: p.BeginSSO},
		{Method: "GET", Path: ssoCallback, Needs: public, Handler: p.FinishSSO},
		{Method: "POST", Path: "/logout", Needs: viewer, Handler: p.Logout},
	}
}

// Nav is the navigation of the pages of accounts.
func Nav() ui.Nav {
	return ui.Nav{}
}

// Flashes are what pages say after actions on accounts.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{Notices: map[string]ui.Flash{}}
}
