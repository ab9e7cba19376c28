package crawl

import (
	"net/url"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// DiscoveredLinks is the page of links to URLs outside the allowed domains.
type DiscoveredLinks struct {
	ui.Page
	Place  DiscoveredPlace
	Query  string // error of the search; "" = none
	Source string // name of the only source shown; "" = all
	Links  models.Slice[crawl.DiscoveredLink]
	Saved  map[string]Saved // links and targets of the URLs, by URL
}

// DiscoveredPlace is a page of the discovered links. Its path can be bookmarked.
type DiscoveredPlace struct {
	crawl.DiscoveredFilter
	Token string // of the page; "" = the first
}

// Path returns the path of the page.
func (p DiscoveredPlace) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"source": p.SourceID, "host": p.Host, "q": p.Text, "page_token": p.Token})
	return ui.WithQuery(discoveredPath, q)
}

const (
	discoveredPath     = "/crawl/discovered"
	discoveredBulkPath = discoveredPath + "/bulk"
)

// A place with another filter starts at its first page.

func (p DiscoveredPlace) withSource(id string) DiscoveredPlace {
	p.SourceID, p.Token = id, ""
	return p
}
func (p DiscoveredPlace) withHost(host string) DiscoveredPlace {
	p.Host, p.Token = host, ""
	return p
}
func (p DiscoveredPlace) after(c models.Cursor) DiscoveredPlace { p.Token = c.Token(); return p }

func (p DiscoveredPlace) filtered() bool { return p.DiscoveredFilter != crawl.DiscoveredFilter{} }
