package links

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models/links"
	views "linkwatch/views/links"
	"linkwatch/views/ui"
)

// Bulk applies an action to the selected links.
func (p Pages) Bulk(c *gin.Context) {
	ctx, here := c.Request.Context(), p.Back(c, "/links")
	form := views.BulkForm{IDs: c.PostFormArray("id"), Tags: c.PostForm("tags")}
	if len(form.IDs) == 0 {
		p.SeeOther(c, unchanged(here))
		return
	}
	action, tags := c.PostForm("action"), tagNames(form.Tags)
	ch, err := p.Links.Bulk(ctx, action, tags, form.IDs...)
	if errs, ok := pages.FormErrors(err, "tags", views.Labels); ok && action == links.ActionTag {
		form.Error = errs["tags"]
		if len(tags) == 0 {
			form.Error = "Enter at least one tag."
		}
		if at, page, err := placeOf(pages.Query(here)); err == nil {
			p.showList(c, http.StatusBadRequest, views.List{Bulk: form}, at, page)
			return
		}
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	if action == links.ActionRefresh {
		p.SeeOther(c, "/links/refreshes/"+ch.ID+"?back="+url.QueryEscape(here))
		return
	}
	p.SeeOther(c, afterChange(here, ch))
}

// RefreshPage shows the progress of a bulk refresh.
func (p Pages) RefreshPage(c *gin.Context) {
	r, err := p.Links.RefreshOf(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	v := views.Refresh{Page: p.Page("Refresh", "links", ui.Flash{}), Refresh: r, Back: p.Local(c.Query("back"), "/links")}
	if !r.Finished() {
		v.Page.Refresh = 2 // seconds, without JavaScript
	}
	p.ShowPart(c, http.StatusOK, views.RefreshPage(v), views.RefreshProgress(v))
}

// Undo undoes a change.
func (p Pages) Undo(c *gin.Context) {
	ch, err := p.Links.Undo(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	done := "undone"
	if ch.Links == 0 {
		done = "not_undone"
	}
	p.SeeOther(c, pages.With(p.Back(c, "/links"), pages.ParamDone, done))
}
