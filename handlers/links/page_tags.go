package links

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/links"
	views "linkwatch/views/links"
)

// TagsPage is the list of tags, or the matching tags for htmx.
func (p Pages) TagsPage(c *gin.Context) {
	v := views.Tags{Match: strings.TrimSpace(c.Query("q")), Order: tagOrder(c.Query("sort"))}
	page, err := pages.PageNumber(c.Request.URL.Query())
	if err != nil {
		p.Fail(c, err)
		return
	}
	pages.ReplaceURL(c, views.TagsPath(v.Match, v.Order, page.Number))
	v.Flash = p.Notice(c)
	p.showTags(c, http.StatusOK, v, page)
}

func (p Pages) showTags(c *gin.Context, status int, v views.Tags, page models.Page) {
	v.Page = p.Page("Tags", "tags", v.Flash)
	var err error
	v.Tags, err = p.Links.Tags(c.Request.Context(), v.Match, v.Order, page)
	v.Query, err = pages.FilterError(err)
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.ShowList(c, status, v.Query, views.TagsPage(v), views.TagsResults(v))
}

// RenameTag renames a tag. If another tag has the name, it asks before merging the two, because a merge cannot be
// undone.
func (p Pages) RenameTag(c *gin.Context) {
	ctx, here := c.Request.Context(), p.Back(c, "/tags")
	form := views.RenameForm{ID: c.Param("id"), Name: strings.TrimSpace(c.PostForm("name"))}
	status, err := http.StatusBadRequest, error(nil)
	if c.PostForm("merge") != "yes" {
		var into links.Tag
		into, form.IntoLinks, err = p.Links.MergeTarget(ctx, form.ID, form.Name)
		form.Into = into.Name
	}
	if err == nil && form.Into == "" {
		var merged bool
		var tag links.Tag
		if tag, merged, err = p.Links.RenameTag(ctx, form.ID, form.Name); err == nil {
			notice := "renamed"
			if merged {
				notice = "merged"
			}
			p.SeeOther(c, pages.With(showing(here, tag), pages.ParamDone, notice)+"#"+tag.ID)
			return
		}
	}
	if form.Into != "" {
		status = http.StatusConflict
	} else if errs, ok := pages.FormErrors(err, "name", views.Labels); ok {
		form.Errors = errs
	} else {
		p.Fail(c, err)
		return
	}
	q := pages.Query(here)
	page, err := pages.PageNumber(q)
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.showTags(c, status, views.Tags{Match: q.Get("q"), Order: tagOrder(q.Get("sort")), Edit: form}, page)
}

// showing returns the list of tags at a path. If its filter does not match a tag that was renamed, the filter becomes the new
// name.
func showing(path string, tag links.Tag) string {
	q := pages.Query(path)
	if match := q.Get("q"); strings.Contains(models.Fold(tag.Name), models.Fold(match)) {
		return path
	}
	return views.TagsPath(tag.Name, tagOrder(q.Get("sort")), 1)
}

// tagOrder returns the order that the parameter sort selects. URLs of earlier versions, such as bookmarks, have count and recent.
func tagOrder(sort string) links.TagOrder {
	switch sort {
	case "":
		return links.TagsByName
	case "count":
		return links.TagsByCount
	case "recent":
		return links.TagsByLastUse
	}
	return links.TagOrder(sort)
}
