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
	Query   string // what is wrong with the search, else ""
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
		"status": string(p.Status), "source": p.SourceID, "execution": p.ExecutionID, "host": p.Host, "q": p.Text, "page_token": p.Token,
	})
	return ui.WithQuery(frontierPath, q)
}

const (
	frontierPath     = "/crawl/frontier"
	frontierBulkPath = frontierPath + "/bulk"
)

// FrontierDelete is the question before entries are deleted, since that cannot be
// undone.
type FrontierDelete struct {
	ui.Page
	IDs  []string
	Back string // where the reader returns to
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

// others are the filters besides the text, for the search form to keep.
func (p FrontierPlace) others() []ui.Field {
	var all []ui.Field
	for _, f := range []ui.Field{{Name: "status", Value: string(p.Status)}, {Name: "source", Value: p.SourceID}, {Name: "execution", Value: p.ExecutionID}, {Name: "host", Value: p.Host}} {
		if f.Value != "" {
			all = append(all, f)
		}
	}
	return all
}

func (p FrontierPlace) filtered() bool { return p.EntryFilter != crawl.EntryFilter{} }

// entryRow are the actions of an entry that its row offers.
func entryRow(e crawl.EntryRow) []findAction {
	if e.CanRetry {
		return entryActions
	}
	return entryActions[1:]
}
