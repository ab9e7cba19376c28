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

// Queue is the list of the pages of a website in queue order.
type Queue struct {
	ui.Page
	Place   QueuePlace
	Query   string // error of the search; "" = none
	Site    sites.Website
	Counts  sites.Counts
	List    models.Slice[sites.Page]
	Related map[string]Related // related items by page URL
}

// QueuePlace identifies one page of the list.
type QueuePlace struct {
	sites.Filter
	SiteID string
	Token  string // page token; "" = first page
}

// Path returns the URL of the page.
func (p QueuePlace) Path() string {
	q := url.Values{}
	for _, f := range p.fields(true) {
		ui.SetFilters(q, map[string]string{f.Name: f.Value})
	}
	ui.SetFilters(q, map[string]string{"page_token": p.Token})
	return ui.WithQuery(queuePath(p.SiteID), q)
}

// fields are the filters that are set, as form fields. text includes the search text.
func (p QueuePlace) fields(text bool) []ui.Field {
	all := []ui.Field{
		{Name: "status", Value: string(p.Status)}, {Name: "cause", Value: p.Cause}, {Name: "queued", Value: boolValue(p.Queued)}, {Name: "gone", Value: boolValue(p.Gone)},
	}
	if text {
		all = append(all, ui.Field{Name: "q", Value: p.Match})
	}
	return slices.DeleteFunc(all, func(f ui.Field) bool { return f.Value == "" })
}

func boolValue(on bool) string {
	if on {
		return "true"
	}
	return ""
}

func queuePath(site string) string             { return SitePath(site) + "/pages" }
func bulkPath(site string) string              { return queuePath(site) + "/bulk" }
func submissionsPath(site string) string       { return SitePath(site) + "/submissions" }
func unindexedPath(site string) string         { return SitePath(site) + "/not-indexed" }
func pageAction(p sites.Page, a string) string { return PagePath(p) + "/" + a }

// PagePath returns the path of a page.
func PagePath(p sites.Page) string { return queuePath(p.WebsiteID) + "/" + p.ID() }

// UndoPath returns the path that undoes the last bulk change of priorities.
func UndoPath(site string) string { return queuePath(site) + "/undo" }

// A new filter starts at the first page. The list of gone pages supports only the search text.

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

// causes returns up to 12 causes of the pages of a website, most frequent first, always including chosen.
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

// total is the number of pages in the list; exact is false if it is unknown.
func (v Queue) total() (n int, exact bool) {
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

// countText is the number of pages in the list, such as "12 pages".
func (v Queue) countText() string {
	if n, exact := v.total(); exact {
		return ui.Plural(n, "page")
	}
	if text, ok := ui.CountSoFar(len(v.List.Items), v.List.Stopped, v.Place.Token != "", "page"); ok {
		return text
	}
	return "Many pages"
}

// matchingText names the matching pages, for the button that changes all of them.
func (v Queue) matchingText() string {
	switch n, exact := v.total(); {
	case !exact:
		return "all matching pages"
	case n > sites.MaxBoost:
		return "the first " + ui.Count(sites.MaxBoost) + " matching pages"
	case n == 1:
		return "the matching page"
	default:
		return "all " + ui.Count(n) + " matching pages"
	}
}

// priorityText is the priority of a page with its reason: "100 · modified today", "Manual 90 · automatic 10".
func priorityText(p sites.Page, now models.Time) string {
	if p.ManualPriority != nil {
		return "Manual " + strconv.Itoa(p.Priority()) + " · automatic " + strconv.Itoa(p.AutoPriority)
	}
	why := sites.WhyPriority(p.Lastmod, now)
	return strconv.Itoa(p.Priority()) + " · " + strings.ToLower(why[:1]) + why[1:]
}

func path(p sites.Page) string {
	if at := p.Path(); at != "" {
		return at
	}
	return "/"
}

// queueText is the queue state of a page; "" = not queued.
func queueText(p sites.Page) string {
	switch {
	case !p.SubmitRequestedAt.IsZero() && p.Removal:
		return "removal requested"
	case !p.SubmitRequestedAt.IsZero():
		return "submission requested"
	case p.Queued():
		return "queued"
	}
	return ""
}

type pageButton struct{ value, label, icon string }

var pageButtons = []pageButton{
	{"boost", "Boost", "up"}, {"reset", "Reset priority", "undo"}, {"submit", "Submit", "moved"}, {"verify", "Verify", "refresh"},
	{"save", "Save links", "bookmark"}, {"watch", "Watch", "pulse"},
}
