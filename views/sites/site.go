package sites

import (
	"net/url"

	"github.com/a-h/templ"

	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// Site is the page of one website.
type Site struct {
	ui.Page
	Place            SitePlace
	Site             sites.Website
	Counts           sites.Counts
	Days             []sites.Day // in Place.Range, today last
	Quota            sites.Quota
	Sitemaps         []sites.Sitemap // each index before its sitemaps
	Edit             EditForm
	Add              SitemapForm
	CredentialsError string  // "" = none
	Checks           []Check // result of a credentials test; nil = not tested
	IndexNow         IndexNowForm
	Aside            []templ.Component // sections of other systems
}

// SitePlace identifies a view of the page of a website.
type SitePlace struct {
	ID          string
	Range       Range // of the chart
	AllSitemaps bool  // else the first maxPreview
}

// Path returns the URL of the view.
func (p SitePlace) Path() string {
	q := url.Values{}
	if p.Range != "" && p.Range != Days30 {
		q.Set("range", string(p.Range))
	}
	if p.AllSitemaps {
		q.Set("sitemaps", "all")
	}
	return ui.WithQuery(SitePath(p.ID), q)
}

func (p SitePlace) withRange(r Range) SitePlace     { p.Range = r; return p }
func (p SitePlace) withSitemaps(all bool) SitePlace { p.AllSitemaps = all; return p }

// EditForm is the form with the settings of a website, with its errors.
type EditForm struct {
	Name                        string
	IndexingEnabled, AutoSubmit bool
	Private                     bool
	Open                        bool
	Errors                      ui.Errors
}

// EditFormOf returns the form filled in with a website.
func EditFormOf(w sites.Website) EditForm {
	return EditForm{Name: w.Name, IndexingEnabled: w.IndexingEnabled, AutoSubmit: w.AutoSubmit, Private: w.Private()}
}

// SitemapForm is the form that adds a sitemap, with its error.
type SitemapForm struct{ URL, Error string }

// IndexNowForm is the form that sets an IndexNow key, with its error.
type IndexNowForm struct{ Key, Error string }

// CredentialsRemove is the confirmation page for removing credentials.
type CredentialsRemove struct {
	ui.Page
	Site sites.Website
}

// SitemapDelete is the confirmation page for deleting a sitemap.
type SitemapDelete struct {
	ui.Page
	Site    sites.Website
	Sitemap sites.Sitemap
}

// Reading reports whether the sitemaps are being read or a read was requested.
func (v Site) Reading() bool { return isReading(v.Site) }

func (v Site) pollAttributes() templ.Attributes {
	often := "every 10s"
	if v.Reading() {
		often = "every 2s"
	}
	return templ.Attributes{"hx-get": v.Place.Path(), "hx-trigger": often, "hx-swap": "outerMorph", "hx-sync": "this:abort"}
}

// replaceNow makes a link replace #now without scrolling.
func (v Site) replaceNow(at SitePlace) templ.Attributes {
	return templ.Attributes{"hx-get": at.Path(), "hx-target": "#now", "hx-swap": "outerMorph", "hx-sync": "#now:replace"}
}

const maxPreview = 25 // rows shown before "Show all"

func (v Site) shownSitemaps() []sites.Sitemap {
	if v.Place.AllSitemaps {
		return v.Sitemaps
	}
	return v.Sitemaps[:min(maxPreview, len(v.Sitemaps))]
}

type meter struct {
	Name   string
	Shared string // who shares the quota
	sites.Meter
}

func (v Site) meters() (all []meter) {
	const project, property = "Shared by all websites of the Google project.", "For this property only."
	if v.Site.IndexingEnabled {
		all = append(all, meter{"Indexing API notifications today", project, v.Quota.Publish})
	}
	all = append(all, meter{"URL inspections today", property, v.Quota.Inspections})
	if v.Site.IndexingEnabled {
		all = append(all, meter{"Metadata requests this minute", project, v.Quota.Metadata})
	}
	return all
}

type causeRow struct {
	sites.Cause
	Status sites.Status
	Pages  int
}

func (v Site) causeRows() []causeRow {
	var all []causeRow
	for _, c := range v.Counts.ByCause {
		all = append(all, causeRow{sites.CauseBySlug(c.Cause), c.Status, c.Pages})
	}
	return all
}

func keyFile(w sites.Website) string { return w.IndexNowKey + ".txt" }

// Labels are the labels of the forms, for error messages.
var Labels = map[string]string{
	"site_url": "Site URL", "name": "Name", "credentials": "Key", "indexnow_key": "Key", "url": "URL",
}

// Edited are the stored values of the form of a website.
func Edited(w sites.Website) ui.Edited {
	return ui.Edited{}.Text("name", Labels["name"], w.Name).Tick("indexing_enabled", "Indexing API", w.IndexingEnabled).
		Tick("auto_submit", "Automatic submission", w.AutoSubmit).Tick("private", "Private", w.Private())
}

// status is the worst state of the parts of the website.
func (v Site) status() string {
	broken := 0
	for _, m := range v.Sitemaps {
		if m.LastError != "" || m.SubmitError != "" {
			broken++
		}
	}
	return siteStatus(v.Site, v.Counts, broken)
}
