package sites

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

// SubmissionsPage shows the submissions of a website; for htmx only the results.
func (p Pages) SubmissionsPage(c *gin.Context) {
	ctx := c.Request.Context()
	v := views.Submissions{Place: views.SubmissionsPlace{SiteID: c.Param("id"), Token: c.Query("page_token")}}
	var after models.Cursor
	if !p.Read(c,
		func() (err error) { after, err = models.ParseToken(v.Place.Token); return },
		func() (err error) { v.Flash, err = p.Flash(c, v.Place.Path()); return },
		func() (err error) { v.Site, err = p.Sites.Get(ctx, v.Place.SiteID); return },
		func() (err error) {
			v.List, err = p.Sites.Submissions(ctx, v.Site.ID, sites.SubmissionFilter{}, after, queueSize)
			return
		},
	) {
		return
	}
	v.Page = p.Page("Submissions · "+v.Site.Name, "sites", v.Flash)
	pages.ReplaceURL(c, v.Place.Path())
	p.ShowPart(c, http.StatusOK, views.SubmissionsPage(v), views.SubmissionsResults(v))
}
