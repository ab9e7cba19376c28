package web

import (
	"context"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/models/links"
	views "linkwatch/views/links"
	"linkwatch/views/ui"
)

// BulkLinks does one action to all selected links.
func (p *Pages) BulkLinks(c *gin.Context) {
	ctx, here := c.Request.Context(), back(c, "/links")
	form := views.BulkForm{IDs: c.PostFormArray("id"), Tags: c.PostForm("tags")}
	if len(form.IDs) == 0 {
		p.seeOther(c, with(here, paramDone, "nothing"))
		return
	}
	if c.PostForm("action") == views.ActionRefresh {
		r, err := p.Links.StartRefresh(ctx, form.IDs...)
		if err != nil {
			p.fail(c, err)
			return
		}
		p.seeOther(c, "/links/refreshes/"+r.ID+"?back="+url.QueryEscape(here))
		return
	}
	ch, err := p.bulk(ctx, c.PostForm("action"), form)
	if errs, ok := formErrors(err, "tags", "tags"); ok && c.PostForm("action") == links.ActionTag {
		form.Error = errs["tags"]
		if at, page, err := placeOf(query(here)); err == nil {
			p.showLinks(c, http.StatusBadRequest, views.Links{Bulk: form}, at, page)
			return
		}
	}
	if err != nil {
		p.fail(c, err)
		return
	}
	p.seeOther(c, afterChange(here, ch))
}

func (p *Pages) bulk(ctx context.Context, action string, form views.BulkForm) (links.Change, error) {
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
func (p *Pages) RefreshPage(c *gin.Context) {
	r, err := p.Links.RefreshOf(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.fail(c, err)
		return
	}
	v := views.Refresh{Page: p.page("Refresh", "links", ui.Flash{}), Refresh: r, Back: localPath(c.Query("back"), "/links")}
	if !r.Finished() {
		v.Page.Refresh = 2 // seconds, for browsers without JavaScript
	}
	p.showPart(c, http.StatusOK, views.RefreshPage(v), views.RefreshProgress(v))
}
