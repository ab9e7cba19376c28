// Package shortlinks is the HTTP face of the short links: the redirect, their
// operations under /v1, their pages, and what other pages show of them.
package shortlinks

import (
	"context"

	"github.com/a-h/templ"
	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/shortlinks"
	views "linkwatch/views/shortlinks"
)

// Deps are what the handlers work with.
type Deps struct {
	*pages.Frame
	ShortLinks *shortlinks.Store
	Addresses  Addresses
	Limit      *middleware.Limiter // of short links that a client without a password makes

	Saved pages.Beside // the saved link of a destination
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

// Shorten makes a short link of a subject, unless an active one leads there already.
func (p Pages) Shorten(ctx context.Context, s pages.Subject) error {
	_, known, err := p.ShortLinks.Of(ctx, s.CanonicalURL)
	if err == nil && !known {
		_, _, err = p.ShortLinks.Create(ctx, shortlinks.New{LongURL: s.URL, Title: models.Truncate(s.Title, shortlinks.MaxTitle)})
	}
	return err
}

// Shortened shows beside a subject the short link that leads to it, or the way to make one.
func (p Pages) Shortened(c *gin.Context, s pages.Subject) (templ.Component, error) {
	l, _, err := p.ShortLinks.Of(c.Request.Context(), s.CanonicalURL)
	return views.Shortened(p.shortPrefix(c), l, p.Clock.Now().Time), err
}
