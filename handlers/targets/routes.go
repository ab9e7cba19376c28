package targets

import (
	"slices"

	"linkwatch/handlers/middleware"
	"linkwatch/views/ui"
)

// Routes returns the routes of pages, feeds and badges. The operations of the API are in
// api.go, api_history.go and api_statuspages.go.
func (p Pages) Routes() []middleware.Route {
	const public, viewer, editor, admin = middleware.Public, middleware.Viewer, middleware.Editor, middleware.Admin
	return []middleware.Route{
		{Method: "GET", Path: "/watch", Needs: viewer, Handler: p.ListPage},
		{Method: "POST", Path: "/watch", Needs: editor, Keeps: []string{"*"}, Handler: p.Add},
		{Method: "GET", Path: "/watch/:id", Needs: viewer, Handler: p.TargetPage},
		{Method: "POST", Path: "/watch/:id", Needs: editor, Keeps: []string{"*"}, Handler: p.Edit},
		{Method: "POST", Path: "/watch/:id/paused", Needs: editor, Handler: p.Pause},
		{Method: "POST", Path: "/watch/:id/check", Needs: editor, Handler: p.Check},
		{Method: "POST", Path: "/watch/:id/delete", Needs: editor, Handler: p.Delete},
		{Method: "POST", Path: "/watch/:id/restore", Needs: editor, Handler: p.Restore},
		{Method: "GET", Path: "/admin/checks", Needs: admin, Handler: p.ChecksPage},
		{Method: "GET", Path: "/status", Needs: viewer, Handler: p.StatusPagesPage},
		{Method: "POST", Path: "/status", Needs: editor, Keeps: []string{"*"}, Handler: p.AddStatusPage},
		{Method: "GET", Path: "/status/new", Needs: editor, Handler: p.NewStatusPage},
		{Method: "GET", Path: "/status/:slug/edit", Needs: editor, Handler: p.EditStatusPage},
		{Method: "POST", Path: "/status/:slug/edit", Needs: editor, Keeps: []string{"*"}, Handler: p.SaveStatusPage},
		{Method: "GET", Path: "/status/:slug/delete", Needs: editor, Handler: p.AskDeleteStatusPage},
		{Method: "POST", Path: "/status/:slug/delete", Needs: editor, Handler: p.DeleteStatusPage},
		{Method: "GET", Path: "/status/:slug", Needs: public, Handler: p.StatusPage, Problem: p.publicProblem},
		{Method: "GET", Path: "/status/:slug/feed", Needs: public, Handler: p.StatusFeed, Problem: p.publicProblem},
		{Method: "GET", Path: "/badge/:target/:kind", Needs: public, Handler: p.Badge, Problem: p.publicProblem},
		{Method: "GET", Path: "/badge/:target/:kind/:range", Needs: public, Handler: p.Badge, Problem: p.publicProblem},
	}
}

// Described returns the operations outside /v1 for the OpenAPI document.
func Described() []middleware.Operation {
	return slices.Concat(badgeOperations, []middleware.Operation{feedOperation})
}

// Nav returns the navigation of targets.
func Nav() ui.Nav {
	return ui.Nav{
		Sections: []ui.Section{{ID: "targets", Label: "Watch", Path: "/watch", Key: "w"}},
		Admin:    []ui.Section{{ID: "checks", Label: "Checks", Path: "/admin/checks"}},
		Pages:    []ui.Link{{Label: "Status pages", Path: "/status"}},
		Commands: []ui.Command{{Label: "Add target", ForURL: "Watch this URL", Path: "/watch#url"}},
		Keys: []ui.Key{
			{Keys: []string{"p"}, What: "Pause or resume a target"},
			{Keys: []string{"c"}, What: "Check a target now"},
		},
	}
}
