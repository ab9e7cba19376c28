// Package links is the HTTP face of the saved links and their tags: their
// operations under /v1, their pages, and what other pages show of them.
package links

import (
	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
	"linkwatch/handlers/pages"
	"linkwatch/models/links"
)

// Deps are what the handlers work with.
type Deps struct {
	*pages.Frame
	Links   *links.Store
	Metrics *Metrics

	Others []pages.Beside // what other systems show on the page of a link
}

// API is the operations under /v1.
type API struct{ *Deps }

// Pages are the pages.
type Pages struct{ *Deps }

// The groups of operations in the OpenAPI document.
const (
	groupLinks = "Links"
	groupTags  = "Tags"
	groupBulk  = "Bulk"
)

// Groups are the groups of the operations.
func Groups() []*huma.Tag {
	return []*huma.Tag{
		{Name: groupLinks, Description: "Save links and find them again."},
		{Name: groupTags, Description: "Label links."},
		{Name: groupBulk, Description: "Change many links at once."},
	}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) {
	a.registerLinks(r)
	a.registerTags(r)
	a.registerBulk(r)
}
