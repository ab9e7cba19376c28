package targets

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	views "linkwatch/views/targets"
)

const (
	pageOutages        = 100 // outages on a status page
	statusCacheControl = "public, max-age=10"
)

// StatusPage shows the public page of a group of targets.
func (p Pages) StatusPage(c *gin.Context) {
	ctx := c.Request.Context()
	page, err := p.Targets.PublicPage(ctx, c.Param("slug"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	v := views.StatusPage{StatusPage: page, Now: p.Targets.Now().Time}
	if v.Days, err = p.Targets.PageDays(ctx, page); err == nil {
		v.Outages, err = p.Targets.PageOutages(ctx, page, pageOutages+1)
	}
	if err == nil {
		v.InMaintenance, err = p.Targets.InMaintenance(ctx, page.Targets)
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	if v.More = len(v.Outages) > pageOutages; v.More {
		v.Outages = v.Outages[:pageOutages]
	}
	whole := views.StatusPagePage(v)
	if pages.WantsPart(c.Request) {
		whole = views.StatusNow(v)
	}
	p.ShowCached(c, http.StatusOK, statusCacheControl, whole)
}

// publicProblem shows an error to a visitor.
func (p Pages) publicProblem(c *gin.Context, problem *middleware.Problem) {
	p.PublicProblem(c, problem, views.StatusProblemPage)
}
