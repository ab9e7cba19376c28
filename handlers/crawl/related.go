package crawl

import (
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	views "linkwatch/views/crawl"
)

// Related shows the crawl of a site on pages of other systems, or a button that adds one.
func (p Pages) Related(c *gin.Context, s pages.Subject) (pages.RelatedView, error) {
	site, ok, err := p.Crawl.SiteOf(c.Request.Context(), s.URL)
	switch {
	case err != nil:
		return pages.RelatedView{}, err
	case !ok:
		return pages.RelatedView{Action: views.CrawlButton(s.URL)}, nil
	}
	v := views.SiteCrawl{Name: site.SourceName, JobID: site.JobID, FetchedAt: site.FetchedAt, StatusCode: site.StatusCode}
	return pages.RelatedView{Section: views.SiteCrawlSection(v, p.Clock.Now().Time)}, nil
}
