package sites

import (
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	views "linkwatch/views/sites"
)

// Beside shows on the page of a related item whether Google has indexed its URL, if that is a page of a website.
func (p Pages) Beside(c *gin.Context, s pages.Subject) (pages.Shown, error) {
	of, err := p.Sites.PagesByURL(c.Request.Context(), s.CanonicalURL)
	if err != nil || len(of[s.CanonicalURL]) == 0 {
		return pages.Shown{}, err
	}
	return pages.Shown{Section: views.Beside(of[s.CanonicalURL], p.Clock.Now().Time)}, nil
}
