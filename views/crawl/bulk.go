package crawl

import (
	"net/url"

	"linkwatch/models"
)

// Saved holds the paths of the link and the target of a URL that a crawl found; "" = there is none.
type Saved struct{ Link, Target string }

// SiteCrawl is the crawl of a site, shown on the page of a link, target or website.
type SiteCrawl struct {
	Name       string // of the source that crawls its site
	JobID      string // "" = the source has no job
	FetchedAt  models.Time
	StatusCode int
}

// rowActions returns the actions of a row. URLs that are saved or watched already are not offered that again.
func (s Saved) rowActions() []bulkAction {
	var all []bulkAction
	for _, a := range resultActions {
		if a.value == "save" && s.Link != "" || a.value == "watch" && s.Target != "" {
			continue
		}
		all = append(all, a)
	}
	return all
}

// bulkAction is an action on the selected rows. value is the value of its button.
type bulkAction struct{ value, label, icon string }

var resultActions = []bulkAction{
	{"save", "Save", "bookmark"},
	{"watch", "Watch", "pulse"},
	{"delete", "Delete", "trash"},
}

// entryActions are the actions on entries of the frontier.
var entryActions = []bulkAction{
	{"retry", "Retry", "refresh"},
	{"delete", "Delete", "trash"},
}

// crawlPath returns the path of the form that adds a crawl, filled in with the site of a URL.
func crawlPath(address string) string {
	u, err := models.ParseURL("url", address)
	if err != nil {
		return "/crawl"
	}
	return "/crawl?url=" + url.QueryEscape(u.Origin()+"/")
}
