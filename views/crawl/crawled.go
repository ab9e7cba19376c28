package crawl

import (
	"net/url"
	"strconv"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// CrawledPages is the list of crawled pages with its search.
type CrawledPages struct {
	ui.Page
	Place  CrawledPlace
	Query  string // error of the search; "" = none
	Source string // name of the only source shown; "" = all
	List   crawl.PageList
	Lag    crawl.Lag
	Saved  map[string]Saved // links and targets of the pages, by URL
}

// CrawledPlace is a page of the list of crawled pages. Its path can be bookmarked.
type CrawledPlace struct {
	Text, SourceID, Language string
	Since, Until             string // days such as 2026-03-24; "" = no limit
	Token                    string // of the page; "" = the first
}

const (
	pagesPath     = "/crawl/pages"
	pagesBulkPath = pagesPath + "/bulk"
)

// PagePath returns the path of a crawled page.
func PagePath(id string) string { return pagesPath + "/" + id }

// Path returns the path of the list.
func (p CrawledPlace) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{
		"q": p.Text, "source": p.SourceID, "language": p.Language, "since": p.Since, "until": p.Until, "page_token": p.Token,
	})
	return ui.WithQuery(pagesPath, q)
}

// A place with another filter starts at its first page.

func (p CrawledPlace) withSource(id string) CrawledPlace { p.SourceID, p.Token = id, ""; return p }
func (p CrawledPlace) withLanguage(l string) CrawledPlace {
	p.Language, p.Token = l, ""
	return p
}
func (p CrawledPlace) withDates(since, until string) CrawledPlace {
	p.Since, p.Until, p.Token = since, until, ""
	return p
}
func (p CrawledPlace) after(c models.Cursor) CrawledPlace { p.Token = c.Token(); return p }

func (p CrawledPlace) searches() bool {
	return p.Text != "" || p.Language != "" || p.Since != "" || p.Until != ""
}
func (p CrawledPlace) filtered() bool { return p.searches() || p.SourceID != "" }

// dateRange describes the days of the filter: "since 2026-03-24".
func (p CrawledPlace) dateRange() string {
	switch {
	case p.Until == "":
		return "since " + p.Since
	case p.Since == "":
		return "until " + p.Until
	}
	return p.Since + " to " + p.Until
}

// period is a date filter that ends today.
type period struct {
	label string
	days  int
}

var periods = []period{{"past week", 7}, {"past month", 31}, {"past year", 366}}

func (d period) since(now time.Time) string {
	return now.UTC().AddDate(0, 0, -d.days).Format(time.DateOnly)
}

// countText is the number of matching pages; "" without a search, because counting all pages is slow.
func (v CrawledPages) countText() string {
	switch {
	case v.Place.searches() && v.List.TotalCapped:
		return "More than " + ui.Plural(v.List.Total, "page")
	case v.Place.searches():
		return ui.Plural(v.List.Total, "page")
	}
	return ""
}

// displayTitle returns the title of a page, or its URL if it has none.
func displayTitle(title, address string) string {
	if title != "" {
		return title
	}
	return displayURL(address)
}

// versionLabel is the label of a version in a list: "3 – 2026-03-24 12:00 UTC".
func versionLabel(v crawl.Version) string {
	return strconv.Itoa(v.Version) + " – " + v.CreatedAt.UTC().Format("2006-01-02 15:04") + " UTC"
}
