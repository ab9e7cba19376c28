package crawl

import (
	"net/url"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// Feeds is the page of the feeds of sources.
type Feeds struct {
	ui.Page
	Place     FeedPlace
	Add       EntryForm
	Source    string // name of the only source shown; "" = all
	Feeds     models.Slice[crawl.Feed]
	Discovery bool // crawls add the feeds that start pages link to
	Polling   bool // feeds are polled
}

// FeedDelete is the confirmation page for deleting a feed.
type FeedDelete struct {
	ui.Page
	Feed crawl.Feed
}

// FeedPlace is a page of the feeds. Its path can be bookmarked.
type FeedPlace struct {
	SourceID string // "" = of all sources
	Token    string // of the page; "" = the first
}

// Path returns the path of the page.
func (p FeedPlace) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"source": p.SourceID, "page_token": p.Token})
	return ui.WithQuery("/crawl/feeds", q)
}

func (p FeedPlace) withSource(id string) FeedPlace  { p.SourceID, p.Token = id, ""; return p }
func (p FeedPlace) after(c models.Cursor) FeedPlace { p.Token = c.Token(); return p }
func feedPath(f crawl.Feed, action string) string   { return "/crawl/feeds/" + f.ID() + "/" + action }

// feedName returns the title of a feed, or its URL if it has none.
func feedName(f crawl.Feed) string {
	if f.Title != "" {
		return f.Title
	}
	return displayURL(f.URL)
}
