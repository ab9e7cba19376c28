package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/linkwatch/linkwatch/models"
	"github.com/linkwatch/linkwatch/models/links"
	"github.com/linkwatch/linkwatch/views"
)

// TagsPage lists the tags, and for htmx those that match.
func (p *Pages) TagsPage(c *gin.Context) {
	v := views.Tags{Match: strings.TrimSpace(c.Query("q")), Order: links.TagOrder(c.DefaultQuery("sort", string(links.TagsByName)))}
	page, err := pageNumber(c.Request.URL.Query())
	if err != nil {
		p.fail(c, err)
		return
	}
	c.Header("HX-Replace-Url", views.TagsPath(v.Match, v.Order, page.Number))
	v.Flash = notices[c.Query(paramDone)]
	p.showTags(c, http.StatusOK, v, page)
}

func (p *Pages) showTags(c *gin.Context, status int, v views.Tags, page models.Page) {
	v.Page = p.page("Tags", "tags", v.Flash)
	var err error
	if v.Tags, err = p.Links.Tags(c.Request.Context(), v.Match, v.Order, page); err != nil {
		p.fail(c, err)
		return
	}
	p.showPart(c, status, views.TagsPage(v), views.TagsResults(v))
}

// RenameTag renames a tag. A name that another tag has merges the two, which
// cannot be undone: that is asked first.
func (p *Pages) RenameTag(c *gin.Context) {
	ctx, here := c.Request.Context(), back(c, "/tags")
	form := views.RenameForm{ID: c.Param("id"), Name: strings.TrimSpace(c.PostForm("name"))}
	status, err := http.StatusBadRequest, error(nil)
	if c.PostForm("merge") != "yes" {
		form.Into, form.IntoLinks, err = p.tagNamed(ctx, form.ID, form.Name)
	}
	if err == nil && form.Into == "" {
		var merged bool
		if _, merged, err = p.Links.RenameTag(ctx, form.ID, form.Name); err == nil {
			notice := "renamed"
			if merged {
				notice = "merged"
			}
			p.seeOther(c, with(here, paramDone, notice))
			return
		}
	}
	if form.Into != "" {
		status = http.StatusConflict
	} else if errs, ok := formErrors(err, "name", "name"); ok {
		form.Errors = errs
	} else {
		p.fail(c, err)
		return
	}
	q := query(here)
	page, err := pageNumber(q)
	if err != nil {
		p.fail(c, err)
		return
	}
	order := links.TagsByName
	if s := q.Get("sort"); s != "" {
		order = links.TagOrder(s)
	}
	p.showTags(c, status, views.Tags{Match: q.Get("q"), Order: order, Edit: form}, page)
}

// tagNamed is the stored name of another tag than id that is called name, and
// how many links carry it; "" if there is none. A tag that no link carries does
// not exist (seed 001), so its links are asked for.
func (p *Pages) tagNamed(ctx context.Context, id, name string) (string, int, error) {
	self, err := p.Links.Tag(ctx, id)
	if err != nil {
		return "", 0, err
	}
	folded := models.FoldName(name)
	if folded == "" || folded == self.Folded {
		return "", 0, nil
	}
	found, err := p.Links.List(ctx, links.Filter{Tag: name, Shown: links.ShowAll}, models.Page{Number: 1, Size: 1})
	if err != nil || found.Total == 0 {
		return "", 0, err
	}
	for _, t := range found.Items[0].Tags {
		if models.FoldName(t) == folded {
			name = t
		}
	}
	return name, found.Total, nil
}
