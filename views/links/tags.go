package links

import (
	"net/url"
	"strconv"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/views/ui"
)

// Tags is the page of all tags.
type Tags struct {
	ui.Page
	Match string // a part of the names shown
	Query string // what is wrong with Match, else ""
	Order links.TagOrder
	Tags  models.List[links.Tag]
	Edit  RenameForm
}

// RenameForm is a rename of a tag that was refused: the name belongs to another tag,
// or is not valid. The zero RenameForm is none.
type RenameForm struct {
	ID, Name  string
	Into      string // the stored name of the tag that has the name already; "" = none
	IntoLinks int    // links with that tag
	Errors    ui.Errors
}

var tagOrders = []struct {
	order links.TagOrder
	label string
}{{links.TagsByName, "Name"}, {links.TagsByCount, "Links"}, {links.TagsByLastUse, "Last use"}}

func (v Tags) pager() ui.Pager {
	return ui.Pager{
		Number: v.Tags.Number,
		Pages:  v.Tags.Pages(),
		Path:   func(n int) string { return TagsPath(v.Match, v.Order, n) },
	}
}

// TagsPath is the address of a page of the list of tags.
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
