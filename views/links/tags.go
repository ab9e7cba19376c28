package links

import (
	"net/url"
	"strconv"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/views/ui"
)

// Tags is the list of tags.
type Tags struct {
	ui.Page
	Match string // filter: part of the name
	Query string // error in Match; "" = none
	Order links.TagOrder
	Tags  models.List[links.Tag]
	Edit  RenameForm
}

// RenameForm is a rejected rename of a tag: the name is invalid, or another tag has it.
type RenameForm struct {
	ID, Name  string
	Into      string // name of the tag that already has the name; "" = none
	IntoLinks int    // number of links with that tag
	Errors    ui.Errors
}

var tagOrders = []struct {
	order links.TagOrder
	label string
}{{links.TagsByName, "Name"}, {links.TagsByCount, "Links"}, {links.TagsByLastUse, "Last used"}}

func (v Tags) pager() ui.Pager {
	return ui.Pager{
		Number: v.Tags.Number,
		Pages:  v.Tags.Pages(),
		Path:   func(n int) string { return TagsPath(v.Match, v.Order, n) },
	}
}

// TagsPath returns the path of a page of the list of tags.
func TagsPath(match string, order links.TagOrder, page int) string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"q": match})
	if order != links.TagsByName {
		q.Set("sort", string(order))
	}
	if page > 1 {
		q.Set("page", strconv.Itoa(page))
	}
	if len(q) == 0 {
		return "/tags"
	}
	return "/tags?" + q.Encode()
}
