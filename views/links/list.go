// Package links holds the pages of links and tags. Each page is a struct with its data, and a component that renders
// it.
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

// maxRowTags is the number of tags in a row of the list. The rest is shown as a count.
const maxRowTags = 3

// List is the list of links, with the form to add one and the search.
type List struct {
	ui.Page
	Place   Place
	Add     AddForm
	Found   links.Found
	Query   string // error in the query; "" = none
	Counts  links.Counts
	Popular []links.Tag // the most used tags
	Bulk    BulkForm
	BaseURL string // URL of this server, for the bookmarklet
}

// Place is one page of the list of links: filter, order and page number.
type Place struct {
	links.Filter
	Popular bool // most viewed first, without a filter; else newest first
	Page    int  // from 1; 0 = 1
}

// Path returns the URL path of the place.
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

// Changing the filter goes back to the first page.

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

// tagged returns the list of a tag's active links.
func tagged(name string) Place { return Place{Filter: links.Filter{Tag: name}} }

// AddForm is the form that saves a link, as submitted.
type AddForm struct {
	URL, Tags, Notes string
	Private          bool
	Errors           ui.Errors
	CanForce         bool   // the page could not be fetched, and the link can be saved anyway
	Fetched          string // result of the preview; "" = none
}

// BulkForm is the bulk action on selected links, as submitted.
type BulkForm struct {
	IDs   []string
	Tags  string
	Error string // of the tags
}

// Preview is the result of fetching a pasted URL, or the problem if that failed. The zero value renders nothing.
type Preview struct {
	Page    links.Page
	Problem string
	Fetched string // the result for the form that saves the link; "" = none
}

// bulkActions are the bulk actions that need no input.
var bulkActions = []struct{ value, label, icon string }{
	{links.ActionExpire, "Mark expired", "archive"},
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

// count returns the number of links found: "1 link", "2,981 links" or "10,000+ links".
func (v List) count() string {
	if v.Found.TotalIsLowerBound {
		return ui.Count(v.Found.Total) + "+ links"
	}
	return ui.Plural(v.Found.Total, "link")
}

// isEmpty reports whether no link is saved, active or expired.
func (v List) isEmpty() bool { return v.Counts.Active+v.Counts.Expired == 0 }

// offersHealth reports whether the list has a filter for a health.
func (v List) offersHealth(h links.Health) bool {
	return v.Place.Health == "" && h != links.OK && v.Found.Health[h] > 0
}

// withHealth returns the number of links found with a health: "12", or "12+" if not all were counted.
func (v List) withHealth(h links.Health) string {
	if v.Found.HealthIsLowerBound {
		return ui.Count(v.Found.Health[h]) + "+"
	}
	return ui.Count(v.Found.Health[h])
}

// similarWords describes the words that were searched instead: “exmaple” → “example”.
func similarWords(found map[string][]string) string {
	var all []string
	for _, typed := range slices.Sorted(maps.Keys(found)) {
		all = append(all, "“"+typed+"” → “"+strings.Join(found[typed], "”, “")+"”")
	}
	return strings.Join(all, "; ")
}

// bookmarklet returns the URL of a bookmark that saves the current page to Linkwatch. The script is percent-encoded,
// because the browser decodes a javascript: URL before running it.
func bookmarklet(base string) string {
	address, err := json.Marshal(base + "/links?url=")
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return "javascript:" + url.PathEscape("window.open("+string(address)+"+encodeURIComponent(location.href))")
}

// recentlyExpired describes links.ShowRecent.
func recentlyExpired() string { return fmt.Sprintf("expired in the last %d days", links.RecentDays) }

// newest is the first page of all active links.
func newest() Place { return Place{} }

func popular() Place { return Place{Popular: true} }

func empty(l models.List[links.Link]) bool { return len(l.Items) == 0 }

// Labels are the labels of the forms, for error messages.
var Labels = map[string]string{"url": "URL", "title": "Title", "tags": "Tags", "tags[]": "A tag", "notes": "Notes", "name": "Name"}
