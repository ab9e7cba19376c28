// Package links holds the pages of links and tags: for each a struct with what it
// shows, and the component that shows it.
package links

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/views/ui"
)

// maxRowTags is how many tags a row of the list shows before it counts the rest.
const maxRowTags = 3

// List is the page of the list: the form to add, the search, the rows.
type List struct {
	ui.Page
	Place   Place
	Add     AddForm
	Found   links.Found
	Query   string // the message of a query that cannot be read, else ""
	Counts  links.Counts
	Popular []links.Tag // the most used tags
	Bulk    BulkForm
	BaseURL string // where this program is reached, for the bookmarklet
}

// Place is a page of the list of links: the filter, the order and the number. Its
// path can be bookmarked.
type Place struct {
	links.Filter
	Popular bool // by views instead of by age; all active links, unfiltered
	Page    int  // from 1; 0 is 1
}

// Path is the address of the list.
func (p Place) Path() string {
	v := p.values()
	if p.Page > 1 {
		v.Set("page", strconv.Itoa(p.Page))
	}
	return ui.WithQuery("/links", v)
}

func (p Place) values() url.Values {
	v := url.Values{}
	if p.Popular {
		v.Set("sort", "popular")
	}
	ui.SetFilters(v, map[string]string{
		"q": p.Query, "tag": p.Tag, "health": string(p.Health), "expired": string(p.Shown),
	})
	return v
}

// Filtered reports whether the list has a filter.
func (p Place) Filtered() bool { return p.Filter != links.Filter{} }

// A place with another filter starts at its first page.

func (p Place) withPage(n int) Place { p.Page = n; return p }

func (p Place) withHealth(h links.Health) Place {
	p.Health, p.Popular, p.Page = h, false, 0
	return p
}

func (p Place) withShown(s links.Shown) Place {
	p.Shown, p.Popular, p.Page = s, false, 0
	return p
}

func (p Place) withoutTag() Place { p.Tag, p.Page = "", 0; return p }

// tagged is the list of one tag's active links.
func tagged(name string) Place { return Place{Filter: links.Filter{Tag: name}} }

// AddForm is what was typed to save a link, with its errors.
type AddForm struct {
	URL, Tags, Notes string
	Private          bool
	Errors           ui.Errors
	CanForce         bool // the page could not be fetched: the link can be saved anyway
}

// BulkForm is what was selected and typed for an action on many links.
type BulkForm struct {
	IDs   []string
	Tags  string
	Error string // of the tags
}

// Preview is what a fetch of a pasted URL found; Problem is why it found
// nothing. The zero Preview shows nothing.
type Preview struct {
	Page    links.Page
	Problem string
}

// bulkActions are the actions on selected links that need only a button. value is
// that of the button.
var bulkActions = []struct{ value, label, icon string }{
	{links.ActionExpire, "Expire", "archive"},
	{links.ActionRevive, "Revive", "revive"},
	{links.ActionRefresh, "Refresh", "refresh"},
	{links.ActionDelete, "Delete", "trash"},
}

func (v List) pager() ui.Pager {
	return ui.Pager{
		Number: v.Found.Number,
		Pages:  v.Found.Pages(),
		More:   v.Found.TotalIsLowerBound,
		Last:   len(v.Found.Items) < v.Found.Size,
		Path:   func(n int) string { return v.Place.withPage(n).Path() },
	}
}

// count is the number of links found: "1 link", "2 981 links" or "10 000+ links".
func (v List) count() string {
	if v.Found.TotalIsLowerBound {
		return ui.Count(v.Found.Total) + "+ links"
	}
	return ui.Plural(v.Found.Total, "link")
}

// first reports whether no link is saved, active or expired.
func (v List) first() bool { return v.Counts.Active+v.Counts.Expired == 0 }

// offers reports whether the links shown can be filtered by a health. Only active links are counted by health, so beside
// expired ones each is offered.
func (v List) offers(h links.Health) bool {
	return v.Place.Health == "" && h != links.OK && (v.Place.Shown != links.ShowActive || v.Counts.Health[h] > 0)
}

// near lists the words that were searched instead: “exmaple” → “example”.
func near(found map[string][]string) string {
	var all []string
	for _, typed := range slices.Sorted(maps.Keys(found)) {
		all = append(all, "“"+typed+"” → “"+strings.Join(found[typed], "”, “")+"”")
	}
	return strings.Join(all, "; ")
}

// bookmarklet is the URL of a bookmark that saves the current page to Linkwatch. The
// script is escaped as part of a URL, because the browser unescapes it before it
// runs it. base is escaped as a JavaScript string.
func bookmarklet(base string) string {
	here, err := json.Marshal(base + "/links?url=")
	if err != nil {
		panic(err) // text always has a JSON form
	}
	return "javascript:" + url.PathEscape("window.open("+string(here)+"+encodeURIComponent(location.href))")
}

// recentlyExpired describes the links that links.ShowRecent shows.
func recentlyExpired() string { return fmt.Sprintf("expired in the last %d days", links.RecentDays) }

// newest is the first page of all active links.
func newest() Place { return Place{} }

func popular() Place { return Place{Popular: true} }

func empty(l models.List[links.Link]) bool { return len(l.Items) == 0 }
