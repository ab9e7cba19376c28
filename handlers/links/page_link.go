package links

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/links"
	views "linkwatch/views/links"
	"linkwatch/views/ui"
)

// LinkPage shows one link. It does not count as a view: only the API counts views.
func (p Pages) LinkPage(c *gin.Context) {
	v := views.Link{Edit: views.EditForm{Open: c.Query("edit") != ""}}
	var err error
	if v.Flash, err = p.Flash(c, linkPath(c)); err != nil {
		p.Fail(c, err)
		return
	}
	if name := c.Query(paramUntagged); name != "" && len(name) <= 4*links.MaxTagLength {
		v.Flash = ui.Flash{
			Text:   "Tag removed: " + name,
			Action: ui.Action{Label: "Undo", Path: linkPath(c) + "/tags", Name: "tags", Value: name},
		}
	}
	p.showLink(c, http.StatusOK, v)
}

// showLink loads the link into v, which holds the submitted form, and shows it.
func (p Pages) showLink(c *gin.Context, status int, v views.Link) {
	ctx := c.Request.Context()
	l, err := p.Links.Get(ctx, c.Param("id"))
	if err == nil {
		v.Tags, err = p.Links.TagsOf(ctx, l.ID)
	}
	if err == nil {
		v.Actions, v.Main, err = pages.ShowRelated(c, subject(l), p.Others)
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	v.Page, v.Link, v.MayShare = p.Page(l.DisplayTitle(), "links", v.Flash), l, models.MayShare(ctx, l.Owner) == nil
	if v.Edit.Errors == nil {
		v.Edit.Title, v.Edit.Notes, v.Edit.Private = l.OwnTitle, l.Notes, l.Private()
	}
	p.Show(c, status, views.LinkPage(v))
}

func linkPath(c *gin.Context) string { return "/links/" + c.Param("id") }

// Edit stores title, notes and Private.
func (p Pages) Edit(c *gin.Context) {
	form := views.EditForm{Title: c.PostForm("title"), Notes: c.PostForm("notes"), Open: true}
	private := pages.Private(c)
	models.Set(&form.Private, private)
	ctx := p.Edited(c, linkPath(c), func(ctx context.Context) (ui.Edited, error) {
		l, err := p.Links.Get(ctx, c.Param("id"))
		return views.Edited(l), err
	})
	_, err := p.Links.Edit(ctx, c.Param("id"), links.Edit{Title: &form.Title, Notes: &form.Notes, Private: private})
	if errs, ok := pages.FormErrors(err, "title", views.Labels); ok {
		form.Errors = errs
		p.showLink(c, p.FormStatus(c, err), views.Link{Edit: form})
		return
	}
	if e, ok := errors.AsType[*models.Error](err); ok && e.Code == models.CodeConflict {
		form.Errors = ui.Errors{"private": e.Detail}
		p.showLink(c, http.StatusConflict, views.Link{Edit: form})
		return
	}
	p.Done(c, err, linkPath(c), "edited")
}

// AddTags adds tags to a link.
func (p Pages) AddTags(c *gin.Context) {
	form := views.TagForm{Tags: c.PostForm("tags")}
	_, err := p.Links.AddTags(c.Request.Context(), c.Param("id"), tagNames(form.Tags))
	if errs, ok := pages.FormErrors(err, "tags", views.Labels); ok {
		form.Errors = errs
		p.showLink(c, http.StatusBadRequest, views.Link{Add: form})
		return
	}
	p.Done(c, err, linkPath(c), "tagged")
}

// RemoveTag removes a tag from a link. The page then offers to undo it.
func (p Pages) RemoveTag(c *gin.Context) {
	ctx := c.Request.Context()
	tag, err := p.Links.TagOf(ctx, c.Param("id"), c.Param("tag"))
	if err == nil {
		err = p.Links.RemoveTag(ctx, c.Param("id"), tag.ID)
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With(linkPath(c), paramUntagged, tag.Name))
}

// Refresh fetches title and picture of a link again.
func (p Pages) Refresh(c *gin.Context) {
	l, err := p.Links.Refresh(c.Request.Context(), c.Param("id"))
	notice := "refreshed"
	switch m, ok := errors.AsType[*models.Error](err); {
	case ok && m.RetryAfter > 0 && m.Code == models.CodeUnresolvable:
		notice, err = "rate_limited", nil
	case l.LastStatusCode != http.StatusOK:
		notice = "not_refreshed"
	}
	p.Done(c, err, p.Back(c, linkPath(c)), notice)
}

// Expire expires or revives a link.
func (p Pages) Expire(c *gin.Context) {
	ch, err := p.Links.SetExpired(c.Request.Context(), c.PostForm("expired") != "false", c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, afterChange(p.Back(c, linkPath(c)), ch))
}

// Move applies the target of a permanent redirect.
func (p Pages) Move(c *gin.Context) {
	l, err := p.Links.ApplyMove(c.Request.Context(), c.Param("id"))
	p.Done(c, err, p.Back(c, "/links/"+l.ID), "moved")
}

// Delete deletes a link. The list then offers to undo it.
func (p Pages) Delete(c *gin.Context) {
	ch, err := p.Links.Delete(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, afterChange("/links", ch))
}
