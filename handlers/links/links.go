// Package links serves the API and the pages of links and tags.
package links

import (
	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
	"linkwatch/handlers/pages"
	"linkwatch/models/links"
)

// Deps are the dependencies of the handlers.
type Deps struct {
	*pages.Frame
	Links   *links.Store
	Metrics *Metrics

	Others []pages.Related // sections of other systems on the page of a link
}

// API is the operations of links and tags.
type API struct{ *Deps }

// Pages is the pages of links and tags.
type Pages struct{ *Deps }

// Groups of operations in the OpenAPI document.
const (
	groupLinks = "Links"
	groupTags  = "Tags"
	groupBulk  = "Bulk"
)

// Groups returns the groups of the operations.
func Groups() []*huma.Tag {
	return []*huma.Tag{
		{Name: groupLinks, Description: "Save, search and refresh links."},
		{Name: groupTags, Description: "Tag links."},
		{Name: groupBulk, Description: "Change many links at once, and undo it."},
	}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) {
	a.registerLinks(r)
	a.registerTags(r)
	a.registerBulk(r)
}
