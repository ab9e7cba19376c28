package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/views"
	"linkwatch/views/ui"
)

// LinkPage shows one link. Looking at it here is no view of the link: views
// count those who ask for it on the API.
func (p *Pages) LinkPage(c *gin.Context) {
	v := views.Link{Edit: views.EditForm{Open: c.Query("edit") != ""}}
	var err error
	if v.Flash, err = p.flash(c, linkPath(c)); err != nil {
		p.fail(c, err)
		return
	}
	if name := c.Query(paramUntagged); name != "" && len(name) <= 4*links.MaxTagLength {
		v.Flash = ui.Flash{
			Text:   "Tag removed: " + name,
			Action: ui.Action{Label: "Put back", Path: linkPath(c) + "/tags", Name: "tags", Value: name},
		}
	}
	p.showLink(c, http.StatusOK, v)
}

// showLink fills in the link and shows it; v has what was typed.
func (p *Pages) showLink(c *gin.Context, status int, v views.Link) {
	ctx := c.Request.Context()
	l, err := p.Links.Get(ctx, c.Param("id"))
	if err == nil {
		v.Tags, err = p.Links.TagsOf(ctx, l.ID)
	}
	if err == nil {
		v.Target, _, err = p.Targets.ByURL(ctx, l.CanonicalURL)
	}
	if err == nil {
		v.Short, _, err = p.ShortLinks.ByURL(ctx, l.CanonicalURL)
	}
	if err != nil {
		p.fail(c, err)
		return
	}
	title := l.Title
	if title == "" {
		title = l.URL
	}
	v.Page, v.Link, v.Prefix = p.page(title, "links", v.Flash), l, p.shortPrefix(c)
	if v.Edit.Errors == nil {
		v.Edit.Title, v.Edit.Notes = l.OwnTitle, l.Notes
	}
	p.show(c, status, views.LinkPage(v))
}

func linkPath(c *gin.Context) string { return "/links/" + c.Param("id") }

// AnnotateLink stores the owner's own title and notes.
func (p *Pages) AnnotateLink(c *gin.Context) {
	form := views.EditForm{Title: c.PostForm("title"), Notes: c.PostForm("notes"), Open: true}
	_, err := p.Links.Edit(c.Request.Context(), c.Param("id"), links.Edit{Title: &form.Title, Notes: &form.Notes})
	if errs, ok := formErrors(err, "title", "title", "notes"); ok {
		form.Errors = errs
		p.showLink(c, http.StatusBadRequest, views.Link{Edit: form})
		return
	}
	p.done(c, err, linkPath(c), "annotated")
}

// done goes on to a page that says so, or fails.
func (p *Pages) done(c *gin.Context, err error, path, notice string) {
	if err != nil {
		p.fail(c, err)
		return
	}
	p.seeOther(c, with(path, paramDone, notice))
}

// TagLink adds tags to a link.
func (p *Pages) TagLink(c *gin.Context) {
	form := views.TagForm{Tags: c.PostForm("tags")}
	_, err := p.Links.AddTags(c.Request.Context(), c.Param("id"), tagNames(form.Tags))
	if errs, ok := formErrors(err, "tags", "tags"); ok {
		form.Errors = errs
		p.showLink(c, http.StatusBadRequest, views.Link{Add: form})
		return
	}
	p.done(c, err, linkPath(c), "tagged")
}

// UntagLink takes a tag off a link. The page then offers to put it back.
func (p *Pages) UntagLink(c *gin.Context) {
	ctx := c.Request.Context()
	tag, err := p.Links.TagOf(ctx, c.Param("id"), c.Param("tag"))
	if err == nil {
		err = p.Links.RemoveTag(ctx, c.Param("id"), tag.ID)
	}
	if err != nil {
		p.fail(c, err)
		return
	}
	p.seeOther(c, with(linkPath(c), paramUntagged, tag.Name))
}

// RefreshLink fetches a link anew, at once.
func (p *Pages) RefreshLink(c *gin.Context) {
	l, err := p.Links.Refresh(c.Request.Context(), c.Param("id"))
	notice := "refreshed"
	switch m, ok := asModelError(err); {
	case ok && m.RetryAfter > 0 && m.Code == models.CodeUnresolvable:
		notice, err = "paused", nil
	case l.LastStatusCode != http.StatusOK:
		notice = "kept"
	}
	p.done(c, err, linkPath(c), notice)
}

// ExpireLink expires or revives a link.
func (p *Pages) ExpireLink(c *gin.Context) {
	ch, err := p.Links.SetExpired(c.Request.Context(), c.PostForm("expired") != "false", c.Param("id"))
	if err != nil {
		p.fail(c, err)
		return
	}
	p.seeOther(c, afterChange(back(c, linkPath(c)), ch))
}

// MoveLink takes the address that a permanent redirect leads to.
func (p *Pages) MoveLink(c *gin.Context) {
	l, err := p.Links.ApplyMove(c.Request.Context(), c.Param("id"))
	p.done(c, err, back(c, "/links/"+l.ID), "moved")
}

// DeleteLink deletes a link. The list then offers to undo it.
func (p *Pages) DeleteLink(c *gin.Context) {
	ch, err := p.Links.Delete(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.fail(c, err)
		return
	}
	p.seeOther(c, afterChange("/links", ch))
}
