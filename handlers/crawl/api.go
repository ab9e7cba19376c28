package crawl

import (
	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
)

// The groups of operations in the OpenAPI document.
const (
	groupSources   = "Sources"
	groupJobs      = "Crawl jobs"
	groupScheduler = "Scheduler"
	groupFrontier  = "Frontier"
	groupPages     = "Crawled pages"
	groupFeeds     = "Feeds"
)

// Groups returns the groups of the operations.
func Groups() []*huma.Tag {
	return []*huma.Tag{
		{Name: groupSources, Description: "Sites to crawl."},
		{Name: groupJobs, Description: "One-time and scheduled crawls of sources, with their executions and logs."},
		{Name: groupScheduler, Description: "When jobs run and how evenly they are distributed."},
		{Name: groupPages, Description: "Text, metadata and changes of crawled pages."},
		{Name: groupFrontier, Description: "URLs to fetch, and links to other sites."},
		{Name: groupFeeds, Description: "RSS, Atom and JSON feeds of sources."},
	}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) {
	a.registerSources(r)
	a.registerJobs(r)
	a.registerExecutions(r)
	a.registerScheduler(r)
	a.registerPages(r)
	a.registerFrontier(r)
	a.registerFeeds(r)
}

// Alias returns the path of the operation that an alternative path refers to.
func Alias(path string) (to string, ok bool) {
	return forceRunAlias(path)
}
