package shortlinks

import (
	"linkwatch/handlers/middleware"
	"linkwatch/views/ui"
)

// Routes of a redirect: on the main host, and on SHORT_HOST.
const (
	redirectRoute  = "/s/:key"
	shortHostRoute = "/:key"
)

// Routes returns the pages and the redirect. The operations are in api.go.
func (p Pages) Routes() []middleware.Route {
	const viewer, editor = middleware.Viewer, middleware.Editor
	return append([]middleware.Route{
		{Method: "GET", Path: "/short", Needs: viewer, Handler: p.ListPage},
		{Method: "POST", Path: "/short", Needs: editor, Keeps: []string{"*"}, Handler: p.Add, Limit: p.Limit},
		{Method: "GET", Path: "/short/:key", Needs: viewer, Handler: p.ShortLinkPage},
		{Method: "POST", Path: "/short/:key", Needs: editor, Keeps: []string{"*"}, Handler: p.Edit},
		{Method: "GET", Path: "/short/:key/qr.svg", Needs: viewer, Handler: p.QR},
		{Method: "POST", Path: "/short/:key/extend", Needs: editor, Handler: p.Extend},
		{Method: "POST", Path: "/short/:key/disabled", Needs: editor, Handler: p.Disable},
		{Method: "POST", Path: "/short/:key/delete", Needs: editor, Handler: p.Delete},
		{Method: "POST", Path: "/short/:key/restore", Needs: editor, Handler: p.Restore},
		{Method: "POST", Path: "/links/:id/shorten", Needs: editor, Handler: p.AddFor, Limit: p.Limit},
	}, p.redirect(redirectRoute, true)...)
}

// HostRoutes returns the routes of SHORT_HOST.
func (p Pages) HostRoutes() []middleware.Route { return p.redirect(shortHostRoute, false) }

// redirect returns the redirect at a path, with and without a trailing slash.
func (p Pages) redirect(path string, quick bool) []middleware.Route {
	route := middleware.Route{Method: "GET", Path: path, Needs: middleware.Public, Handler: p.Redirect, Problem: p.RedirectProblem, Quick: quick}
	slash := route
	slash.Path += "/"
	return []middleware.Route{route, slash}
}

// Described returns the operations outside of /v1 in the OpenAPI document.
func Described() []middleware.Operation { return []middleware.Operation{redirectOperation} }

// Nav returns the navigation of short links.
func Nav() ui.Nav {
	return ui.Nav{
		Sections: []ui.Section{{ID: "shortlinks", Label: "Short links", Path: "/short", Key: "s"}},
		Commands: []ui.Command{{Label: "Add short link", ForURL: "Shorten this URL", Path: "/short#url"}},
		Keys: []ui.Key{
			{Keys: []string{"p"}, What: "Disable or enable a short link"},
			{Keys: []string{"y"}, What: "Copy a short URL"},
		},
	}
}
