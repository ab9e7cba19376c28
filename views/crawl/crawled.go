package crawl

import (
	"net/url"
	"strconv"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// CrawledPages is the list of crawled pages with their search.
type CrawledPages struct {
	ui.Page
	Place  CrawledPlace
	Query  string // what is wrong with the search, else ""
	Source string // name of the only source shown; "" = all
	List   crawl.PageList
	Lag    crawl.Lag
	Kept   map[string]Kept // what other systems have of the pages, by their URLs
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

// PagePath is the address of a crawled page.
func PagePath(id string) string { return pagesPath + "/" + id }

// Path is the address of the list.
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

// dates are the days of a filter in words.
func (p CrawledPlace) dates() string {
	switch {
	case p.Until == "":
		return "since " + p.Since
	case p.Since == "":
		return "until " + p.Until
	}
	return p.Since + " to " + p.Until
}

// period is a choice of days up to today.
type period struct {
	label string
	days  int
}

var periods = []period{{"past week", 7}, {"past month", 31}, {"past year", 366}}

func (d period) since(now time.Time) string {
	return now.UTC().AddDate(0, 0, -d.days).Format(time.DateOnly)
}

// found is the number of pages of the list, as far as it is known.
func (v CrawledPages) found() string {
	switch {
	case v.Place.searches() && v.List.AtLeast:
		return "More than " + ui.Plural(v.List.Total, "page")
	case v.Place.searches():
		return ui.Plural(v.List.Total, "page")
	}
	return ""
}

// name is what a page is called: its title, or its URL.
func name(title, address string) string {
	if title != "" {
		return title
	}
	return where(address)
}

// versionTime is what a version is called in a list of them.
func versionTime(v crawl.Version) string {
	return strconv.Itoa(v.Version) + " – " + v.CreatedAt.UTC().Format("2006-01-02 15:04") + " UTC"
}
