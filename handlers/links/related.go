package links

import (
	"context"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models/links"
	views "linkwatch/views/links"
)

// Related returns the section about the saved link of a URL, for pages of other systems.
func (p Pages) Related(c *gin.Context, s pages.Subject) (pages.RelatedView, error) {
	l, _, err := p.Links.ByURL(c.Request.Context(), s.CanonicalURL)
	return pages.RelatedView{Section: views.Saved(s.URL, l)}, err
}

// SubjectOf returns a link as pages.Subject; CodeNotFound if there is none.
func (p Pages) SubjectOf(ctx context.Context, id string) (pages.Subject, error) {
	l, err := p.Links.Get(ctx, id)
	return subject(l), err
}

func subject(l links.Link) pages.Subject {
	return pages.Subject{URL: l.URL, CanonicalURL: l.CanonicalURL, Title: l.Title, Path: "/links/" + l.ID, PrivateTo: l.PrivateTo}
}
