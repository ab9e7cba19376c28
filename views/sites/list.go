package sites

import (
	"net/url"
	"slices"

	"linkwatch/models"
	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// List is the list of websites with the form to add one.
type List struct {
	ui.Page
	Place         ListPlace
	Add           AddForm
	Sites         models.Slice[sites.Website]
	Total         int // all websites
	Problems      map[sites.Problem]int
	Counts        map[int64]sites.Counts // by Website.Seq
	Quotas        []sites.Quota          // in the order of Sites.Items
	SitemapErrors map[int64]int          // sitemaps with errors, by Website.Seq
}

// AddForm is the form that adds a website, with its errors.
type AddForm struct {
	SiteURL, Name string
	Private       bool
	Errors        ui.Errors
}

// ListPlace identifies one page of the list of websites.
type ListPlace struct {
	Problem sites.Problem // "" = all websites
	Token   string        // page token; "" = first page
}

// Path returns the URL of the list.
func (p ListPlace) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"problem": string(p.Problem), "page_token": p.Token})
	return ui.WithQuery(SitesPath, q)
}

func (p ListPlace) with(t sites.Problem) ListPlace  { p.Problem, p.Token = t, ""; return p }
func (p ListPlace) after(c models.Cursor) ListPlace { p.Token = c.Token(); return p }

// countText is the number of websites in the list, such as "3 websites".
func (v List) countText() string {
	if v.Place.Problem == "" {
		return ui.Plural(v.Total, "website")
	}
	return ui.Plural(v.Problems[v.Place.Problem], "website")
}

func (v List) showProblems() bool {
	return v.Place.Problem != "" || slices.ContainsFunc(sites.Problems(), func(t sites.Problem) bool { return v.Problems[t] > 0 })
}

func (v List) hints(w sites.Website) (hints []string) {
	for _, r := range w.Refusals() {
		hints = append(hints, refusal(w, r))
	}
	if n := v.SitemapErrors[w.Seq]; n > 0 {
		hints = append(hints, ui.Plural(n, "sitemap")+" with errors")
	}
	return hints
}

// quotaToday is the use of the quota that usually limits a website, such as "12 of 200 notifications"; "" = none.
func quotaToday(w sites.Website, q sites.Quota) string {
	switch {
	case !w.UsesGoogle():
		return ""
	case w.IndexingEnabled:
		return ui.Count(q.Publish.Used) + " of " + ui.Plural(q.Publish.Limit, "notification")
	}
	return ui.Count(q.Inspections.Used) + " of " + ui.Plural(q.Inspections.Limit, "inspection")
}
