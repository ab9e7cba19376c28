package crawl

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	views "linkwatch/views/crawl"
)

// maxPreview is the number of runs up to which the page of the schedule previews a rebalance, which reads all their jobs:
// 8,000 hourly jobs take 40 ms.
const maxPreview = 200_000

// SchedulePage shows the jobs of the next 24 hours and a preview of a rebalance.
func (p Pages) SchedulePage(c *gin.Context) {
	ctx := c.Request.Context()
	var v views.Schedule
	flash, err := p.Flash(c, views.SchedulePath)
	if err == nil {
		v.Slots, v.Score, err = p.Crawl.Distribution(ctx)
	}
	v.TooMany = v.Runs() > maxPreview
	if err == nil && !v.TooMany {
		v.Plan, err = p.Crawl.PreviewRebalance(ctx)
	}
	if err == nil {
		v.Jobs, err = p.Crawl.MovedJobs(ctx, v.ShownMoves())
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	v.Page = p.Page("Schedule", "crawl", flash)
	p.Show(c, http.StatusOK, views.SchedulePage(v))
}

// Rebalance moves jobs out of crowded slots.
func (p Pages) Rebalance(c *gin.Context) {
	plan, err := p.Crawl.Rebalance(c.Request.Context())
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With(views.SchedulePath, paramMoved, strconv.Itoa(len(plan.Moves))))
}
