package crawl

import (
	"net/url"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// DiscoveredLinks is the page of the links that lead out of the allowed domains.
type DiscoveredLinks struct {
	ui.Page
	Place  DiscoveredPlace
	Source string // name of the only source shown; "" = all
	Links  models.Slice[crawl.Discovered]
}

// DiscoveredPlace is a page of the discovered links. Its path can be bookmarked.
type DiscoveredPlace struct {
	SourceID string // "" = of all sources
	Token    string // of the page; "" = the first
}

// Path is the address of the page.
func (p DiscoveredPlace) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"source": p.SourceID, "page_token": p.Token})
	return ui.WithQuery("/crawl/discovered", q)
}

func (p DiscoveredPlace) withSource(id string) DiscoveredPlace {
	p.SourceID, p.Token = id, ""
	return p
}
func (p DiscoveredPlace) after(c models.Cursor) DiscoveredPlace { p.Token = c.Token(); return p }
