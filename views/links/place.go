// Package links holds the pages of links and tags: for each a struct with what it
// shows, and the component that shows it.
package links

import (
	"net/url"
	"strconv"

	"linkwatch/models/links"
	"linkwatch/views/ui"
)

// Place is a page of the list of links: the filter, the order and the number. Its
// path can be bookmarked.
type Place struct {
	links.Filter
	Popular bool // by views instead of by age; all active links, unfiltered
	Page    int  // from 1; 0 is 1
}

// Path is the address of the list.
func (p Place) Path() string {
	v := p.values()
	if p.Page > 1 {
		v.Set("page", strconv.Itoa(p.Page))
	}
	return ui.WithQuery("/links", v)
}

func (p Place) values() url.Values {
	v := url.Values{}
	if p.Popular {
		v.Set("sort", "popular")
	}
	ui.SetFilters(v, map[string]string{
		"q": p.Query, "tag": p.Tag, "health": string(p.Health), "expired": string(p.Shown),
	})
	return v
}

// Filtered reports whether the list has a filter.
func (p Place) Filtered() bool { return p.Filter != links.Filter{} }

// A place with another filter starts at its first page.

func (p Place) withPage(n int) Place { p.Page = n; return p }

func (p Place) withHealth(h links.Health) Place {
	p.Health, p.Popular, p.Page = h, false, 0
	return p
}

func (p Place) withShown(s links.Shown) Place {
	p.Shown, p.Popular, p.Page = s, false, 0
	return p
}

func (p Place) withoutTag() Place { p.Tag, p.Page = "", 0; return p }

// tagged is the list of one tag's active links.
func tagged(name string) Place { return Place{Filter: links.Filter{Tag: name}} }
