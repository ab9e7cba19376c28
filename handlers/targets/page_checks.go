package targets

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/models/targets"
	views "linkwatch/views/targets"
	"linkwatch/views/ui"
)

const checksSize = 50 // checks on a page of the history

// ChecksPage shows the check history of all targets or of one, and updates itself.
func (p Pages) ChecksPage(c *gin.Context) {
	ctx := c.Request.Context()
	at := views.ChecksPlace{
		Failed: c.Query("failed") == "true", Since: c.Query("since"), TargetID: c.Query("target"), Token: c.Query("page_token"),
	}
	after, err := models.ParseToken(at.Token)
	if err != nil {
		p.Fail(c, err)
		return
	}
	filter := targets.ResultFilter{TargetID: at.TargetID, Failed: at.Failed}
	if at.Since != "" {
		back, ok := views.ChecksSince[at.Since]
		if !ok {
			p.Fail(c, models.Invalid("query.since", "must be one of 1h, 24h, 7d"))
			return
		}
		filter.Since = p.Targets.Now().Add(-back)
	}
	v := views.Checks{Page: p.Page("Checks", "admin", ui.Flash{}), Place: at}
	if at.TargetID != "" {
		var t targets.Target
		t, err = p.Targets.Get(ctx, at.TargetID)
		v.Target = t.DisplayTitle()
	}
	if err == nil {
		v.Results, err = p.Targets.Results(ctx, filter, after, checksSize)
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.ShowPart(c, http.StatusOK, views.ChecksPage(v), views.ChecksTable(v))
}
