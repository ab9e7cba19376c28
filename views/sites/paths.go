package sites

import (
	"net/url"

	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// SitesPath is the path of the list of websites.
const SitesPath = "/sites"

// SitePath returns the path of a website.
func SitePath(id string) string { return SitesPath + "/" + id }

func siteAction(w sites.Website, action string) string { return SitePath(w.ID) + "/" + action }

func sitemapAction(w sites.Website, m sites.Sitemap, action string) string {
	return siteAction(w, "sitemaps/"+m.ID()+"/"+action)
}

// pageList returns the path of the pages of a website with a status or cause; "" = any.
func pageList(w sites.Website, s sites.Status, cause string) string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"status": string(s), "cause": cause})
	return ui.WithQuery(siteAction(w, "pages"), q)
}

func pagePath(p sites.Page) string { return SitePath(p.WebsiteID) + "/pages/" + p.ID() }
