package crawl

import (
	"net/url"
	"strconv"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// Frontier is the page of URLs that crawls fetch or have fetched.
type Frontier struct {
	ui.Page
	Place   FrontierPlace
	Query   string // error of the search; "" = none
	Add     EntryForm
	Source  string // name of the only source shown; "" = all
	Run     crawl.Execution
	Entries models.Slice[crawl.FrontierEntry]
}

// runLabel is the label of the execution in the filter.
func (v Frontier) runLabel() string {
	return "Run " + strconv.Itoa(v.Run.ExecutionNumber) + " of " + displayURL(v.Run.URL)
}

// EntryForm is a form with a URL, with its errors.
type EntryForm struct {
	URL    string
	Errors ui.Errors
}

// FrontierPlace is a page of the frontier. Its path can be bookmarked.
type FrontierPlace struct {
	crawl.EntryFilter
	Token string // of the page; "" = the first
}

// Path returns the path of the page.
func (p FrontierPlace) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{
		"status": string(p.Status), "source": p.SourceID, "execution": p.ExecutionID, "host": p.Host, "q": p.Text, "page_token": p.Token,
	})
	return ui.WithQuery(frontierPath, q)
}

const (
	frontierPath     = "/crawl/frontier"
	frontierBulkPath = frontierPath + "/bulk"
)

// FrontierDelete is the confirmation page for deleting entries, which cannot be undone.
type FrontierDelete struct {
	ui.Page
	IDs  []string
	Back string // path to return to
}

// A place with another filter starts at its first page.

func (p FrontierPlace) withStatus(s crawl.EntryStatus) FrontierPlace {
	p.Status, p.Token = s, ""
	return p
}
func (p FrontierPlace) withSource(id string) FrontierPlace { p.SourceID, p.Token = id, ""; return p }
func (p FrontierPlace) withHost(host string) FrontierPlace { p.Host, p.Token = host, ""; return p }
func (p FrontierPlace) withExecution(id string) FrontierPlace {
	p.ExecutionID, p.Token = id, ""
	return p
}
func (p FrontierPlace) after(c models.Cursor) FrontierPlace { p.Token = c.Token(); return p }

// otherFilters returns all filters except the text, so that the search form keeps them.
func (p FrontierPlace) otherFilters() []ui.Field {
	var all []ui.Field
	for _, f := range []ui.Field{{Name: "status", Value: string(p.Status)}, {Name: "source", Value: p.SourceID}, {Name: "execution", Value: p.ExecutionID}, {Name: "host", Value: p.Host}} {
		if f.Value != "" {
			all = append(all, f)
		}
	}
	return all
}

func (p FrontierPlace) filtered() bool { return p.EntryFilter != crawl.EntryFilter{} }

func entryRowActions(e crawl.FrontierEntry) []bulkAction {
	if e.CanRetry {
		return entryActions
	}
	return entryActions[1:]
}
