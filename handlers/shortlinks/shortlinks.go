// Package shortlinks has the HTTP handlers of short links: the redirect, the operations
// under /v1, the pages, and sections for pages of other systems.
package shortlinks

import (
	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models/shortlinks"
)

// Deps are the dependencies of the handlers.
type Deps struct {
	*pages.Frame
	ShortLinks *shortlinks.Store
	ShortHost  string              // SHORT_HOST; "" = none
	Limit      *middleware.Limiter // SHORT_CREATE_LIMIT, for clients without a login

	Others []pages.Related // sections of other systems
	Source pages.SubjectOf // looks up the item that AddFor shortens
}

// API has the operations under /v1.
type API struct{ *Deps }

// Pages has the pages and the redirect.
type Pages struct{ *Deps }

// groupShortLinks is the tag of the operations in the OpenAPI document.
const groupShortLinks = "Short links"

// Groups returns the tags of the operations.
func Groups() []*huma.Tag {
	return []*huma.Tag{{Name: groupShortLinks, Description: "Short URLs that redirect and can expire."}}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) { a.registerShortLinks(r) }
