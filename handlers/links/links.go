// Package links is the HTTP face of the saved links and their tags: their
// operations under /v1, their pages, and what other pages show of them.
package links

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/api"
	"linkwatch/handlers/pages"
	"linkwatch/models/links"
)

// Deps are what the handlers work with.
type Deps struct {
	*pages.Frame
	Links   *links.Store
	Metrics *Metrics

	Watched   pages.Beside                                     // whether a link's URL is watched
	Shortened pages.Beside                                     // the short link that leads to a link's URL
	Shorten   func(ctx context.Context, s pages.Subject) error // makes a short link unless there is one
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

// subject is a link as other systems are told of it.
func subject(l links.Link) pages.Subject {
	return pages.Subject{URL: l.URL, CanonicalURL: l.CanonicalURL, Title: l.Title}
}
