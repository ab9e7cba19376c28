package crawl

import (
	"net/url"
	"strconv"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// Frontier is the page of the URLs that crawls fetch, or have fetched.
type Frontier struct {
	ui.Page
	Place   FrontierPlace
	Add     EntryForm
	Source  string // name of the only source shown; "" = all
	Run     crawl.Execution
	Entries models.Slice[crawl.EntryRow]
}

// run names the execution that the list is limited to.
func (v Frontier) run() string {
	return "Run " + strconv.Itoa(v.Run.ExecutionNumber) + " of " + where(v.Run.URL)
}

// EntryForm is what was typed for a URL to fetch, with its errors.
type EntryForm struct {
	URL    string
	Errors ui.Errors
}

// FrontierPlace is a page of the frontier. Its path can be bookmarked.
type FrontierPlace struct {
	crawl.EntryFilter
	Token string // of the page; "" = the first
}

// Path is the address of the page.
func (p FrontierPlace) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{
		"status": string(p.Status), "source": p.SourceID, "execution": p.ExecutionID, "page_token": p.Token,
	})
	return ui.WithQuery("/crawl/frontier", q)
}

// A place with another filter starts at its first page.

func (p FrontierPlace) withStatus(s crawl.EntryStatus) FrontierPlace {
	p.Status, p.Token = s, ""
	return p
}
func (p FrontierPlace) withSource(id string) FrontierPlace { p.SourceID, p.Token = id, ""; return p }
func (p FrontierPlace) withExecution(id string) FrontierPlace {
	p.ExecutionID, p.Token = id, ""
	return p
}
func (p FrontierPlace) after(c models.Cursor) FrontierPlace { p.Token = c.Token(); return p }

func (p FrontierPlace) filtered() bool { return p.EntryFilter != crawl.EntryFilter{} }
