package sites

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"linkwatch/models"
	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// Queue is the list of a website's pages in the order in which they are submitted.
type Queue struct {
	ui.Page
	Place  QueuePlace
	Query  string // what is wrong with the search, else ""
	Site   sites.Website
	Counts sites.Counts
	List   models.Slice[sites.Page]
	Kept   map[string]Kept // where other systems have the pages, by their URLs
}

// QueuePlace is a page of the list. Its path can be bookmarked.
type QueuePlace struct {
	sites.Filter
	SiteID string
	Token  string // of the page; "" = the first
}

// Path is the address of the page.
func (p QueuePlace) Path() string {
	q := url.Values{}
	for _, f := range p.fields(true) {
		ui.SetFilters(q, map[string]string{f.Name: f.Value})
	}
	ui.SetFilters(q, map[string]string{"page_token": p.Token})
	return ui.WithQuery(queuePath(p.SiteID), q)
}

// fields are the filters that are set, as fields of a form.
func (p QueuePlace) fields(text bool) []ui.Field {
	all := []ui.Field{
		{Name: "status", Value: string(p.Status)}, {Name: "cause", Value: p.Cause}, {Name: "queued", Value: flag(p.Queued)}, {Name: "gone", Value: flag(p.Gone)},
	}
	if text {
		all = append(all, ui.Field{Name: "q", Value: p.Match})
	}
	return slices.DeleteFunc(all, func(f ui.Field) bool { return f.Value == "" })
}

func flag(on bool) string {
	if on {
		return "true"
	}
	return ""
}

// The paths of a website's pages.

func queuePath(site string) string             { return SitePath(site) + "/pages" }
func bulkPath(site string) string              { return queuePath(site) + "/bulk" }
func submissionsPath(site string) string       { return SitePath(site) + "/submissions" }
func unindexedPath(site string) string         { return SitePath(site) + "/not-indexed" }
func pageAction(p sites.Page, a string) string { return PagePath(p) + "/" + a }

// PagePath is the path of a page.
func PagePath(p sites.Page) string { return queuePath(p.WebsiteID) + "/" + p.ID() }

// UndoPath is where the last bulk change of priorities is undone.
func UndoPath(site string) string { return queuePath(site) + "/undo" }

// A place with another filter starts at its first page. Pages that are gone have no other filter than the text.

func (p QueuePlace) withStatus(s sites.Status) QueuePlace {
	p.Status, p.Gone, p.Token = s, false, ""
	return p
}
func (p QueuePlace) withQueued(on bool) QueuePlace {
	p.Queued, p.Gone, p.Token = on, false, ""
	return p
}
func (p QueuePlace) withCause(cause string) QueuePlace {
	p.Cause, p.Gone, p.Token = cause, false, ""
	return p
}
func (p QueuePlace) withGone() QueuePlace {
	return QueuePlace{SiteID: p.SiteID, Filter: sites.Filter{Gone: true, Match: p.Match}}
}
func (p QueuePlace) after(c models.Cursor) QueuePlace { p.Token = c.Token(); return p }

func (p QueuePlace) filtered() bool { return p.Filter != sites.Filter{} }

// causes are the causes of a website's pages, the most frequent first, and the one that is chosen.
func causes(c sites.Counts, chosen string) []sites.Count {
	const most = 12
	var all []sites.Count
	for _, one := range c.ByCause {
		if i := slices.IndexFunc(all, func(o sites.Count) bool { return o.Cause == one.Cause }); i >= 0 {
			all[i].Pages += one.Pages
		} else {
			all = append(all, one)
		}
	}
	slices.SortStableFunc(all, func(a, b sites.Count) int { return b.Pages - a.Pages })
	chosenAt := slices.IndexFunc(all, func(o sites.Count) bool { return o.Cause == chosen })
	if chosenAt < 0 && chosen != "" {
		all, chosenAt = append(all, sites.Count{Cause: chosen}), len(all)
	}
	if chosenAt >= most {
		all[most-1] = all[chosenAt]
	}
	return all[:min(len(all), most)]
}

// found is how many pages the list has; exact is false if only a part of them is known.
func (v Queue) found() (n int, exact bool) {
	f := v.Place.Filter
	switch {
	case v.Place.Token == "" && !v.List.More():
		return len(v.List.Items), true
	case f == sites.Filter{}:
		return v.Counts.Total, true
	case f == sites.Filter{Gone: true}:
		return v.Counts.Gone, true
	case f == sites.Filter{Status: f.Status}:
		return v.Counts.ByStatus[f.Status], true
	case f == sites.Filter{Cause: f.Cause}:
		return causes(v.Counts, f.Cause)[slices.IndexFunc(causes(v.Counts, f.Cause), func(c sites.Count) bool { return c.Cause == f.Cause })].Pages, true
	}
	return 0, false
}

// count is how many pages the list has, in words.
func (v Queue) count() string {
	if n, exact := v.found(); exact {
		return ui.Plural(n, "page")
	}
	return "Many pages"
}

// matching names the pages that match, for a button that changes all of them.
func (v Queue) matching() string {
	switch n, exact := v.found(); {
	case !exact:
		return "all pages that match"
	case n > sites.MaxBoost:
		return "the first " + ui.Count(sites.MaxBoost) + " pages that match"
	case n == 1:
		return "the page that matches"
	default:
		return "all " + ui.Count(n) + " pages that match"
	}
}

// priority is the priority of a page with the reason for it: "100 · modified today", "Manual 90 · automatic 10".
func priority(p sites.Page, now models.Time) string {
	if p.ManualPriority != nil {
		return "Manual " + strconv.Itoa(p.Priority()) + " · automatic " + strconv.Itoa(p.AutoPriority)
	}
	why := sites.WhyPriority(p.Lastmod, now)
	return strconv.Itoa(p.Priority()) + " · " + strings.ToLower(why[:1]) + why[1:]
}

// path is where a page is on its website.
func path(p sites.Page) string {
	if at := p.Path(); at != "" {
		return at
	}
	return "/"
}

// waiting says what a page waits for; "" = nothing.
func waiting(p sites.Page) string {
	switch {
	case !p.SubmitWantedAt.IsZero() && p.Removal:
		return "removal wanted"
	case !p.SubmitWantedAt.IsZero():
		return "submission wanted"
	case p.Queued():
		return "queued"
	}
	return ""
}

// pageButton is an action on selected pages. value is that of its button.
type pageButton struct{ value, label, icon string }

var pageButtons = []pageButton{
	{"boost", "Boost", "up"}, {"reset", "Reset priority", "undo"}, {"submit", "Submit", "moved"}, {"verify", "Verify", "refresh"},
	{"save", "Save links", "bookmark"}, {"watch", "Watch", "pulse"},
}
