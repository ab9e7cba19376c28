package sites

import (
	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
)

// The groups of operations in the OpenAPI document.
const (
	groupWebsites    = "Websites"
	groupPages       = "Pages of websites"
	groupSubmissions = "Submissions"
)

// Groups are the groups of the operations.
func Groups() []*huma.Tag {
	return []*huma.Tag{
		{Name: groupWebsites, Description: "Sites whose pages are submitted to search engines, with their sitemaps, credentials and quotas."},
		{Name: groupPages, Description: "Pages of websites in the order in which they are submitted, and whether Google has indexed them."},
		{Name: groupSubmissions, Description: "What search engines were told."},
	}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) {
	a.registerWebsites(r)
	a.registerCredentials(r)
	a.registerSitemaps(r)
	a.registerReports(r)
	a.registerPages(r)
	a.registerPriorities(r)
	a.registerSubmissions(r)
}
