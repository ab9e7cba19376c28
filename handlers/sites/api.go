package sites

import (
	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
)

// The groups of operations in the API documentation.
const (
	groupWebsites    = "Websites"
	groupPages       = "Website pages"
	groupSubmissions = "Submissions"
)

// Groups returns the groups of the operations.
func Groups() []*huma.Tag {
	return []*huma.Tag{
		{Name: groupWebsites, Description: "Websites that are submitted to search engines, with their sitemaps, credentials and quotas."},
		{Name: groupPages, Description: "The submission queue of a website, and the index status of its pages."},
		{Name: groupSubmissions, Description: "Requests to search engines and their results."},
	}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) {
	a.registerWebsites(r)
	a.registerCredentials(r)
	a.registerSitemaps(r)
	a.registerReports(r)
	a.registerPages(r)
	a.registerUnindexed(r)
	a.registerPriorities(r)
	a.registerBulk(r)
	a.registerSubmissions(r)
}
