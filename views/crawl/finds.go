package crawl

import (
	"net/url"

	"linkwatch/models"
)

// Kept is what other systems have of a URL that a crawl found: the paths of their
// pages; "" = nothing.
type Kept struct{ Link, Target string }

// Beside is what crawling shows on the page of something else with a URL.
type Beside struct {
	Name       string // of the source that crawls its site
	JobID      string // "" = the source has no job
	FetchedAt  models.Time
	StatusCode int
}

// rowActions are the actions of a row that its menu offers, by what is kept of its URL.
func (k Kept) rowActions() []findAction {
	var all []findAction
	for _, a := range findActions {
		if a.value == "save" && k.Link != "" || a.value == "watch" && k.Target != "" {
			continue
		}
		all = append(all, a)
	}
	return all
}

// findAction is what can be done with what a crawl found. value is that of its button.
type findAction struct{ value, label, icon string }

var findActions = []findAction{
	{"save", "Save", "bookmark"},
	{"watch", "Watch", "pulse"},
	{"delete", "Delete", "trash"},
}

// entryActions are the actions on selected entries of the frontier.
var entryActions = []findAction{
	{"retry", "Retry", "refresh"},
	{"delete", "Delete", "trash"},
}

// crawlPath is the form that adds a crawl, filled in with the site of a URL.
func crawlPath(address string) string {
	u, err := models.ParseURL("url", address)
	if err != nil {
		return "/crawl"
	}
	return "/crawl?url=" + url.QueryEscape(u.Origin()+"/")
}
