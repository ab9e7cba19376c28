// Package help contains the pages of the guides, and finds their sections for the global search.
package help

import (
	"context"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models"
	views "linkwatch/views/help"
	"linkwatch/views/ui"
)

// maxFound is the number of sections that a search on the page of all guides shows.
const maxFound = 50

// Pages contains the pages.
type Pages struct{ *pages.Frame }

// Routes returns the routes of the pages.
func (p Pages) Routes() []middleware.Route {
	return []middleware.Route{
		{Method: "GET", Path: views.Path, Needs: middleware.Viewer, Handler: p.IndexPage},
		{Method: "GET", Path: views.Path + "/:guide", Needs: middleware.Viewer, Handler: p.GuidePage},
	}
}

// Nav returns the page that the global search offers.
func Nav() ui.Nav { return ui.Nav{Pages: []ui.Link{{Label: "Help", Path: views.Path}}} }

// Finders adds the sections of the guides to the global search.
func (p Pages) Finders() []pages.Finder {
	return []pages.Finder{{
		Kind: "Help",
		Find: func(_ context.Context, text string, limit int) ([]ui.Hit, error) {
			found, err := find(text, limit)
			return views.Hits(found), err
		},
		All: views.SearchPath,
	}}
}

// IndexPage lists all guides, or the sections that match a search. htmx gets only the list.
func (p Pages) IndexPage(c *gin.Context) {
	v := views.Index{Page: p.Page("Help", ui.HelpSection, ui.Flash{}), Text: models.CleanLine(c.Query("q"))}
	if err := models.CheckFilter("query.q", v.Text); err != nil {
		v.Problem, _ = pages.FilterError(err)
	}
	ok := p.Read(c, func() (err error) {
		v.Guides, err = guides()
		return err
	}, func() (err error) {
		if v.Problem == "" {
			v.Found, err = find(v.Text, maxFound+1)
		}
		if v.More = len(v.Found) > maxFound; v.More {
			v.Found = v.Found[:maxFound]
		}
		return err
	})
	if ok {
		pages.ReplaceURL(c, views.SearchPath(v.Text))
		p.ShowList(c, http.StatusOK, v.Problem, views.IndexPage(v), views.Results(v))
	}
}

// GuidePage shows a guide.
func (p Pages) GuidePage(c *gin.Context) {
	all, err := guides()
	if err != nil {
		p.Fail(c, err)
		return
	}
	i := slices.IndexFunc(all, func(g views.Guide) bool { return g.Path == views.Path+"/"+c.Param("guide") })
	if i < 0 {
		p.Fail(c, models.NotFound("guide"))
		return
	}
	p.Show(c, http.StatusOK, views.GuidePage(views.Reading{
		Page: p.Page(all[i].Title+" · Help", ui.HelpSection, ui.Flash{}), Guides: all, Guide: all[i],
	}))
}
