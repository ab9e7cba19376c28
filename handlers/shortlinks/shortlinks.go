// Package shortlinks is the HTTP face of the short links: the redirect, their
// operations under /v1, their pages, and what other pages show of them.
package shortlinks

import (
	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models/shortlinks"
)

// Deps are what the handlers work with.
type Deps struct {
	*pages.Frame
	ShortLinks *shortlinks.Store
	ShortHost  string              // SHORT_HOST; "" = none
	Limit      *middleware.Limiter // of short links that a client without a password makes

	Others []pages.Beside  // what other systems show on the page of a short link
	Source pages.SubjectOf // the record that a short link is made for, by its id
}

// API is the operations under /v1.
type API struct{ *Deps }

// Pages are the pages, and the redirect.
type Pages struct{ *Deps }

// groupShortLinks is the group of operations in the OpenAPI document.
const groupShortLinks = "Short links"

// Groups are the groups of the operations.
func Groups() []*huma.Tag {
	return []*huma.Tag{{Name: groupShortLinks, Description: "Short URLs that redirect and can expire."}}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) { a.registerShortLinks(r) }
