package links

import (
	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	views "linkwatch/views/links"
)

// Saved shows beside a subject the saved link of its URL, or the way to save it.
func (p Pages) Saved(c *gin.Context, s pages.Subject) (templ.Component, error) {
	l, _, err := p.Links.ByURL(c.Request.Context(), s.CanonicalURL)
	return views.Saved(s.URL, l), err
}
