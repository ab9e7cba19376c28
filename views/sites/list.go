package sites

import (
	"net/url"

	"linkwatch/models"
	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// List is the page of all websites: the form to add, the rows.
type List struct {
	ui.Page
	Place     ListPlace
	Add       AddForm
	Sites     models.Slice[sites.Website]
	Total     int // of all websites
	InTrouble map[sites.Trouble]int
	Counts    map[int64]sites.Counts // by Website.Seq
	Quotas    []sites.Quota          // of Sites.Items, in their order
	Broken    map[int64]int          // sitemaps that cannot be read, by Website.Seq
}

// AddForm is what was typed for a website, with its errors.
type AddForm struct {
	SiteURL, Name string
	Private       bool
	Errors        ui.Errors
}

// ListPlace is a page of the list of websites. Its path can be bookmarked.
type ListPlace struct {
	Problem sites.Trouble // "" = all websites
	Token   string        // of the page; "" = the first
}

// Path is the address of the list.
func (p ListPlace) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"problem": string(p.Problem), "page_token": p.Token})
	return ui.WithQuery(SitesPath, q)
}

func (p ListPlace) with(t sites.Trouble) ListPlace  { p.Problem, p.Token = t, ""; return p }
func (p ListPlace) after(c models.Cursor) ListPlace { p.Token = c.Token(); return p }

// found is the number of websites in the list.
func (v List) found() string {
	if v.Place.Problem == "" {
		return ui.Plural(v.Total, "website")
	}
	return ui.Plural(v.InTrouble[v.Place.Problem], "website")
}

// troubled reports whether the filters by trouble are shown.
func (v List) troubled() bool {
	return v.Place.Problem != "" || v.InTrouble[sites.GoogleRefuses]+v.InTrouble[sites.SitemapsUnread]+v.InTrouble[sites.PagesFailed] > 0
}

// hints are what is wrong with a website, in a few words each.
func (v List) hints(w sites.Website) (hints []string) {
	for _, r := range w.Refusals() {
		hints = append(hints, r.Name+": "+r.Error)
	}
	if n := v.Broken[w.Seq]; n > 0 {
		hints = append(hints, ui.Plural(n, "sitemap")+" with errors")
	}
	return hints
}

// today is the quota that limits a website most often: "12 of 200 publishes"; "" = none.
func today(w sites.Website, q sites.Quota) string {
	switch {
	case !w.Google():
		return ""
	case w.IndexingEnabled:
		return ui.Count(q.Publish.Used) + " of " + ui.Plural(q.Publish.Limit, "notification")
	}
	return ui.Count(q.Inspections.Used) + " of " + ui.Plural(q.Inspections.Limit, "inspection")
}
