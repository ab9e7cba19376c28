package admin

import (
	"linkwatch/handlers/middleware"
	"linkwatch/views/ui"
)

// Routes returns the routes of the pages.
func (p Pages) Routes() []middleware.Route {
	const admin = middleware.Admin
	return []middleware.Route{
		{Method: "GET", Path: "/admin", Needs: admin, Handler: p.AdminPage},
		{Method: "GET", Path: "/admin/cleanup", Needs: admin, Handler: p.CleanupPage},
		{Method: "POST", Path: "/admin/cleanup/run", Needs: admin, Handler: p.RunCleanup},
		{Method: "GET", Path: "/admin/jobs", Needs: admin, Handler: p.JobsPage},
		{Method: "GET", Path: "/admin/jobs/:id", Needs: admin, Handler: p.JobPage},
		{Method: "POST", Path: "/admin/jobs/:id/run", Needs: admin, Handler: p.RunJob},
		{Method: "GET", Path: "/admin/settings", Needs: admin, Handler: p.SettingsPage},
	}
}

// Nav returns the navigation of the admin pages.
func Nav() ui.Nav {
	return ui.Nav{
		Sections: []ui.Section{{ID: "admin", Label: "Admin", Path: "/admin/jobs", Key: "a"}},
		Admin: []ui.Section{
			{ID: "cleanup", Label: "Cleanup", Path: "/admin/cleanup"},
			{ID: "jobs", Label: "Jobs", Path: "/admin/jobs"},
			{ID: "settings", Label: "Settings", Path: "/admin/settings"},
		},
	}
}
