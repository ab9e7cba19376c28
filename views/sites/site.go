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
	Days             []sites.Day // of the range of the place, today last
	Quota            sites.Quota
	Sitemaps         []sites.Sitemap // each index before those that it names
	Edit             EditForm
	Add              SitemapForm
	CredentialsError string  // of the credentials that were sent; "" = none
	Checks           []Check // of a test of the credentials; nil = none
	IndexNow         IndexNowForm
	Aside            []templ.Component // of other systems: sections below the facts
}

// SitePlace is what the page of a website shows.
type SitePlace struct {
	ID          string
	Range       Range // of the chart
	AllSitemaps bool  // else the first fewSitemaps
}

// Path is the address of the place.
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

// EditForm is what was typed for the settings of a website, with its errors.
type EditForm struct {
	Name                        string
	IndexingEnabled, AutoSubmit bool
	Private                     bool
	Open                        bool
	Errors                      ui.Errors
}

// EditFormOf is the form filled in with a website.
func EditFormOf(w sites.Website) EditForm {
	return EditForm{Name: w.Name, IndexingEnabled: w.IndexingEnabled, AutoSubmit: w.AutoSubmit, Private: w.Private()}
}

// SitemapForm is what was typed for a sitemap, with its error.
type SitemapForm struct{ URL, Error string }

// IndexNowForm is what was typed for an IndexNow key, with its error.
type IndexNowForm struct{ Key, Error string }

// CredentialsRemove is the page that asks before credentials are removed.
type CredentialsRemove struct {
	ui.Page
	Site sites.Website
}

// SitemapDelete is the page that asks before a sitemap is deleted.
type SitemapDelete struct {
	ui.Page
	Site    sites.Website
	Sitemap sites.Sitemap
}

// Reading reports whether the sitemaps are being read, or will be within moments.
func (v Site) Reading() bool { return reading(v.Site) }

// polls are how often the page asks what has changed.
func (v Site) polls() templ.Attributes {
	often := "every 10s"
	if v.Reading() {
		often = "every 2s"
	}
	return templ.Attributes{"hx-get": v.Place.Path(), "hx-trigger": often, "hx-swap": "outerMorph", "hx-sync": "this:abort"}
}

// stays makes a link replace #now without scrolling.
func (v Site) stays(at SitePlace) templ.Attributes {
	return templ.Attributes{"hx-get": at.Path(), "hx-target": "#now", "hx-swap": "outerMorph", "hx-sync": "#now:replace"}
}

const fewSitemaps = 25 // that the page shows before "Show all"

// shownSitemaps are the sitemaps that the page shows.
func (v Site) shownSitemaps() []sites.Sitemap {
	if v.Place.AllSitemaps {
		return v.Sitemaps
	}
	return v.Sitemaps[:min(fewSitemaps, len(v.Sitemaps))]
}

// meter is one quota as the page shows it.
type meter struct {
	Name   string
	Shared string // with whom
	sites.Meter
}

// meters are the quotas of a website.
func (v Site) meters() (all []meter) {
	const project, property = "Shared by all websites of the Google project.", "Of this property alone."
	if v.Site.IndexingEnabled {
		all = append(all, meter{"Notifications today", project, v.Quota.Publish})
	}
	all = append(all, meter{"Inspections today", property, v.Quota.Inspections})
	if v.Site.IndexingEnabled {
		all = append(all, meter{"Metadata requests this minute", project, v.Quota.Metadata})
	}
	return all
}

// failures are the causes of pages that failed or are not indexed, the most frequent first.
type failure struct {
	sites.Cause
	Status sites.Status
	Pages  int
}

func (v Site) failures() []failure {
	var all []failure
	for _, c := range v.Counts.ByCause {
		all = append(all, failure{sites.CauseNamed(c.Cause), c.Status, c.Pages})
	}
	return all
}

// keyFile is the name of the file that holds the IndexNow key.
func keyFile(w sites.Website) string { return w.IndexNowKey + ".txt" }
