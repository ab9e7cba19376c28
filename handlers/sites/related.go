package sites

import (
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	views "linkwatch/views/sites"
)

// Related shows on the page of a related item whether Google has indexed its URL, if that is a page of a website.
func (p Pages) Related(c *gin.Context, s pages.Subject) (pages.RelatedView, error) {
	found, err := p.Sites.PagesByURL(c.Request.Context(), s.CanonicalURL)
	if err != nil || len(found[s.CanonicalURL]) == 0 {
		return pages.RelatedView{}, err
	}
	return pages.RelatedView{Section: views.RelatedSection(found[s.CanonicalURL], p.Clock.Now().Time)}, nil
}
