package links

import (
	"context"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/links"
	views "linkwatch/views/links"
	"linkwatch/views/ui"
)

// Bulk does one action to all selected links.
func (p Pages) Bulk(c *gin.Context) {
	ctx, here := c.Request.Context(), p.Back(c, "/links")
	form := views.BulkForm{IDs: c.PostFormArray("id"), Tags: c.PostForm("tags")}
	if len(form.IDs) == 0 {
		p.SeeOther(c, nothing(here))
		return
	}
	if c.PostForm("action") == views.ActionRefresh {
		r, err := p.Links.StartRefresh(ctx, form.IDs...)
		if err != nil {
			p.Fail(c, err)
			return
		}
		p.SeeOther(c, "/links/refreshes/"+r.ID+"?back="+url.QueryEscape(here))
		return
	}
	ch, err := p.bulk(ctx, c.PostForm("action"), form)
	if errs, ok := pages.FormErrors(err, "tags", "tags"); ok && c.PostForm("action") == links.ActionTag {
		form.Error = errs["tags"]
		if at, page, err := placeOf(pages.Query(here)); err == nil {
			p.showList(c, http.StatusBadRequest, views.List{Bulk: form}, at, page)
			return
		}
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, afterChange(here, ch))
}

func (p Pages) bulk(ctx context.Context, action string, form views.BulkForm) (links.Change, error) {
	switch action {
	case links.ActionTag:
		names := tagNames(form.Tags)
		if len(names) == 0 {
			return links.Change{}, models.Invalid("tags", "must name at least one tag")
		}
		return p.Links.TagAll(ctx, names, form.IDs...)
	case links.ActionExpire, links.ActionRevive:
		return p.Links.SetExpired(ctx, action == links.ActionExpire, form.IDs...)
	case links.ActionDelete:
		return p.Links.Delete(ctx, form.IDs...)
	}
	return links.Change{}, models.Invalid("action", "must be tag, expire, revive, refresh or delete")
}

// RefreshPage shows how far a batch of refreshes is.
func (p Pages) RefreshPage(c *gin.Context) {
	r, err := p.Links.RefreshOf(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	v := views.Refresh{Page: p.Page("Refresh", "links", ui.Flash{}), Refresh: r, Back: p.Local(c.Query("back"), "/links")}
	if !r.Finished() {
		v.Page.Refresh = 2 // seconds, for browsers without JavaScript
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
		done = "notundone"
	}
	p.SeeOther(c, pages.With(p.Back(c, "/links"), pages.ParamDone, done))
}
