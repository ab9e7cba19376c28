package crawl

import (
	"linkwatch/handlers/middleware"
	"linkwatch/views/ui"
)

// Routes returns the routes of the pages, the event streams and the log download.
func (p Pages) Routes() []middleware.Route {
	const viewer, editor = middleware.Viewer, middleware.Editor
	return append(p.streams(), []middleware.Route{
		{Method: "GET", Path: "/crawl", Needs: viewer, Handler: p.ListPage},
		{Method: "POST", Path: "/crawl", Needs: editor, Keeps: []string{"*"}, Handler: p.Add},
		{Method: "GET", Path: "/crawl/jobs/:id", Needs: viewer, Handler: p.JobPage},
		{Method: "POST", Path: "/crawl/jobs/:id", Needs: editor, Keeps: []string{"*"}, Handler: p.Edit},
		{Method: "POST", Path: "/crawl/jobs/:id/pause", Needs: editor, Handler: p.Act},
		{Method: "POST", Path: "/crawl/jobs/:id/resume", Needs: editor, Handler: p.Act},
		{Method: "POST", Path: "/crawl/jobs/:id/retry", Needs: editor, Handler: p.Act},
		{Method: "POST", Path: "/crawl/jobs/:id/force-run", Needs: editor, Handler: p.Act},
		{Method: "POST", Path: "/crawl/jobs/:id/run-again", Needs: editor, Handler: p.RunAgain},
		{Method: "POST", Path: "/crawl/jobs/:id/stop", Needs: editor, Handler: p.Act},
		{Method: "GET", Path: "/crawl/jobs/:id/cancel", Needs: editor, Handler: p.AskCancel},
		{Method: "POST", Path: "/crawl/jobs/:id/cancel", Needs: editor, Handler: p.Act},
		{Method: "POST", Path: "/crawl/jobs/:id/delete", Needs: editor, Handler: p.Delete},
		{Method: "POST", Path: "/crawl/jobs/:id/restore", Needs: editor, Handler: p.Restore},
		{Method: "GET", Path: "/crawl/jobs/:id/log", Needs: viewer, Handler: p.StreamLog, Stream: true},
		{Method: "GET", Path: "/crawl/jobs/:id/log.txt", Needs: viewer, Handler: p.DownloadLog},
		{Method: "POST", Path: "/crawl/sources/:id", Needs: editor, Keeps: []string{"*"}, Handler: p.EditSource},
		{Method: "POST", Path: "/crawl/sources/:id/delete", Needs: editor, Handler: p.DeleteSource},
		{Method: "POST", Path: "/crawl/sources/:id/restore", Needs: editor, Handler: p.RestoreSource},
		{Method: "GET", Path: "/crawl/frontier", Needs: viewer, Handler: p.FrontierPage},
		{Method: "POST", Path: "/crawl/frontier", Needs: editor, Keeps: []string{"*"}, Handler: p.AddEntry},
		{Method: "POST", Path: "/crawl/frontier/bulk", Needs: editor, Handler: p.BulkEntries},
		{Method: "GET", Path: "/crawl/pages", Needs: viewer, Handler: p.CrawledPages},
		{Method: "POST", Path: "/crawl/pages/bulk", Needs: editor, Handler: p.BulkPages},
		{Method: "POST", Path: "/crawl/pages/restore", Needs: editor, Handler: p.RestorePages},
		{Method: "GET", Path: "/crawl/pages/:id", Needs: viewer, Handler: p.CrawledPage},
		{Method: "GET", Path: "/crawl/pages/:id/changes", Needs: viewer, Handler: p.PageChanges},
		{Method: "GET", Path: "/crawl/pages/:id/archive/:hash", Needs: viewer, Handler: p.ArchivedCopy},
		{Method: "GET", Path: "/crawl/executions/:id", Needs: viewer, Handler: p.Report},
		{Method: "GET", Path: "/crawl/executions/:id/broken-links.csv", Needs: viewer, Handler: p.DownloadBroken},
		{Method: "GET", Path: "/crawl/discovered", Needs: viewer, Handler: p.DiscoveredPage},
		{Method: "POST", Path: "/crawl/discovered/bulk", Needs: editor, Handler: p.BulkDiscovered},
		{Method: "POST", Path: "/crawl/discovered/restore", Needs: editor, Handler: p.RestoreDiscovered},
		{Method: "GET", Path: "/crawl/schedule", Needs: viewer, Handler: p.SchedulePage},
		{Method: "POST", Path: "/crawl/schedule", Needs: editor, Handler: p.Rebalance},
		{Method: "GET", Path: "/crawl/feeds", Needs: viewer, Handler: p.FeedsPage},
		{Method: "POST", Path: "/crawl/feeds", Needs: editor, Keeps: []string{"*"}, Handler: p.AddFeed},
		{Method: "POST", Path: "/crawl/feeds/:id/poll", Needs: editor, Handler: p.PollFeed},
		{Method: "GET", Path: "/crawl/feeds/:id/delete", Needs: editor, Handler: p.AskDeleteFeed},
		{Method: "POST", Path: "/crawl/feeds/:id/delete", Needs: editor, Handler: p.DeleteFeed},
	}...)
}

// Nav returns the navigation entries of crawling.
func Nav() ui.Nav {
	return ui.Nav{
		Sections: []ui.Section{{ID: "crawl", Label: "Crawl", Path: "/crawl", Key: "c"}},
		Commands: []ui.Command{{Label: "Add crawl job", ForURL: "Crawl this site", Path: "/crawl#url"}},
		Pages: []ui.Link{
			{Label: "Crawled pages", Path: "/crawl/pages"}, {Label: "Discovered links", Path: "/crawl/discovered"}, {Label: "Frontier", Path: "/crawl/frontier"},
			{Label: "Crawl schedule", Path: "/crawl/schedule"}, {Label: "Feeds", Path: "/crawl/feeds"},
		},
		Keys: []ui.Key{
			{Keys: []string{"p"}, What: "Pause or resume a crawl"},
			{Keys: []string{"c"}, What: "Run a crawl now"},
		},
	}
}
