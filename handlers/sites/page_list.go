package sites

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
	"linkwatch/views/ui"
)

const listSize = 50 // websites per page

// ListPage shows the list of websites; for htmx only the rows.
func (p Pages) ListPage(c *gin.Context) {
	p.showList(c, http.StatusOK, views.AddForm{SiteURL: models.CleanLine(c.Query("url"))})
}

func (p Pages) showList(c *gin.Context, status int, typed views.AddForm) {
	ctx := c.Request.Context()
	v := views.List{Add: typed, Place: views.ListPlace{Problem: sites.Problem(c.Query("problem")), Token: c.Query("page_token")}}
	var after models.Cursor
	var flash ui.Flash
	if !p.Read(c,
		func() (err error) { after, err = models.ParseToken(v.Place.Token); return },
		func() (err error) { v.Sites, err = p.websites(c, v.Place, after); return },
		func() (err error) { v.Total, v.Problems, err = p.Sites.ProblemCounts(ctx); return },
		func() (err error) { v.Counts, err = p.Sites.CountsOf(ctx, v.Sites.Items); return },
		func() (err error) { v.Quotas, err = p.Sites.Quotas(ctx, v.Sites.Items); return },
		func() (err error) { v.SitemapErrors, err = p.Sites.SitemapErrors(ctx, v.Sites.Items); return },
		func() (err error) { flash, err = p.Flash(c, v.Place.Path()); return },
	) {
		return
	}
	v.Page = p.Page("Sites", "sites", flash)
	if c.Request.Method == http.MethodGet {
		pages.ReplaceURL(c, v.Place.Path())
	}
	p.ShowPart(c, status, views.ListPage(v), views.ListRows(v))
}

func (p Pages) websites(c *gin.Context, at views.ListPlace, after models.Cursor) (models.Slice[sites.Website], error) {
	if at.Problem == "" {
		return p.Sites.List(c.Request.Context(), after, listSize)
	}
	return p.Sites.WithProblem(c.Request.Context(), at.Problem, after, listSize)
}

// Add adds the website of the submitted form.
func (p Pages) Add(c *gin.Context) {
	form := views.AddForm{SiteURL: c.PostForm("site_url"), Name: c.PostForm("name"), Private: c.PostForm("private") != ""}
	w, err := p.Sites.Add(c.Request.Context(), sites.NewWebsite{SiteURL: repairProperty(form.SiteURL), Name: form.Name, Private: form.Private})
	if form.Errors = fieldErrors(err, "site_url"); form.Errors != nil {
		p.showList(c, p.FormStatus(c, err), form)
		return
	}
	p.Done(c, err, views.SitePath(w.ID), "site_added")
}
