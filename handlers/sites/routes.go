package sites

import (
	"linkwatch/handlers/middleware"
	"linkwatch/views/ui"
)

// Routes returns the routes of the pages.
func (p Pages) Routes() []middleware.Route {
	const viewer, editor = middleware.Viewer, middleware.Editor
	return append(p.pageRoutes(), []middleware.Route{
		{Method: "GET", Path: "/sites", Needs: viewer, Handler: p.ListPage},
		{Method: "POST", Path: "/sites", Needs: editor, Keeps: []string{"*"}, Handler: p.Add},
		{Method: "GET", Path: "/sites/:id", Needs: viewer, Handler: p.SitePage},
		{Method: "POST", Path: "/sites/:id", Needs: editor, Keeps: []string{"*"}, Handler: p.Edit},
		{Method: "POST", Path: "/sites/:id/delete", Needs: editor, Handler: p.Delete},
		{Method: "POST", Path: "/sites/:id/restore", Needs: editor, Handler: p.Restore},
		{Method: "POST", Path: "/sites/:id/credentials", Needs: editor, Secret: true, Handler: p.SetCredentials},
		{Method: "GET", Path: "/sites/:id/credentials/delete", Needs: editor, Handler: p.AskRemoveCredentials},
		{Method: "POST", Path: "/sites/:id/credentials/delete", Needs: editor, Handler: p.RemoveCredentials},
		{Method: "POST", Path: "/sites/:id/test", Needs: editor, Handler: p.Test},
		{Method: "POST", Path: "/sites/:id/indexnow", Needs: editor, Keeps: []string{"indexnow_key"}, Handler: p.SetIndexNow},
		{Method: "GET", Path: "/sites/:id/indexnow/key.txt", Needs: viewer, Secret: true, Handler: p.DownloadKey},
		{Method: "POST", Path: "/sites/:id/indexnow/check", Needs: editor, Handler: p.CheckKey},
		{Method: "POST", Path: "/sites/:id/sitemaps", Needs: editor, Keeps: []string{"*"}, Handler: p.AddSitemap},
		{Method: "GET", Path: "/sites/:id/sitemaps/:sitemap/delete", Needs: editor, Handler: p.AskDeleteSitemap},
		{Method: "POST", Path: "/sites/:id/sitemaps/:sitemap/delete", Needs: editor, Handler: p.DeleteSitemap},
		{Method: "POST", Path: "/sites/:id/refresh", Needs: editor, Handler: p.Refresh},
		{Method: "POST", Path: "/sites/:id/crawl", Needs: editor, Handler: p.Crawl},
		{Method: "GET", Path: "/sites/:id/coverage.csv", Needs: viewer, Handler: p.DownloadCoverage},
	}...)
}

// Nav returns the navigation entries of websites.
func Nav() ui.Nav {
	return ui.Nav{
		Sections: []ui.Section{{ID: "sites", Label: "Sites", Path: "/sites", Key: "i"}},
		Commands: []ui.Command{{Label: "Add website", Path: "/sites#url"}},
	}
}
