package pages

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/views/overview"
	"linkwatch/views/ui"
)

// Overview returns the part of a system on the overview. base is the base URL of this server.
type Overview func(ctx context.Context, base string) (ui.OverviewPart, error)

// OverviewPage shows what needs attention in all systems, or the first steps.
func (f *Frame) OverviewPage(parts ...Overview) gin.HandlerFunc {
	return func(c *gin.Context) {
		flash, err := f.Flash(c, "/")
		if err != nil {
			f.Fail(c, err)
			return
		}
		v := overview.Overview{}
		for _, read := range parts {
			part, err := read(c.Request.Context(), f.Base(c))
			if err != nil {
				f.Fail(c, err)
				return
			}
			v.Parts = append(v.Parts, part)
		}
		v.Page = f.Page("Overview", "overview", flash)
		f.Show(c, http.StatusOK, overview.Page(v))
	}
}
