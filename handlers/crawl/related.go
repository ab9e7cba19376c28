package crawl

import (
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	views "linkwatch/views/crawl"
)

// Beside shows the crawl of a site on pages of other systems, or a button that adds one.
func (p Pages) Beside(c *gin.Context, s pages.Subject) (pages.Shown, error) {
	site, ok, err := p.Crawl.SiteOf(c.Request.Context(), s.URL)
	switch {
	case err != nil:
		return pages.Shown{}, err
	case !ok:
		return pages.Shown{Action: views.CrawlButton(s.URL)}, nil
	}
	v := views.SiteCrawl{Name: site.SourceName, JobID: site.JobID, FetchedAt: site.FetchedAt, StatusCode: site.StatusCode}
	return pages.Shown{Section: views.SiteCrawlSection(v, p.Clock.Now().Time)}, nil
}
