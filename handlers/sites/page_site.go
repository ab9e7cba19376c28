package sites

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
	"linkwatch/views/ui"
)

const refreshSeconds = 5 // refresh interval without JavaScript while sitemaps are read

// SitePage shows one website; for htmx only the part that refreshes itself.
func (p Pages) SitePage(c *gin.Context) {
	v := views.Site{Edit: views.EditForm{Open: c.Query("edit") != ""}}
	var err error
	if v.Flash, err = p.Flash(c, views.SitePath(c.Param("id"))); err != nil {
		p.Fail(c, err)
		return
	}
	p.showSite(c, http.StatusOK, v)
}

func (p Pages) showSite(c *gin.Context, status int, v views.Site) {
	if p.fillSite(c, &v) {
		if c.Request.Method == http.MethodGet {
			pages.ReplaceURL(c, v.Place.Path())
		}
		p.ShowPart(c, status, views.SitePage(v), views.SiteNow(v))
	}
}

// fillSite loads the data of the page. If ok is false, the error response was sent.
func (p Pages) fillSite(c *gin.Context, v *views.Site) (ok bool) {
	ctx := c.Request.Context()
	v.Place = views.SitePlace{ID: c.Param("id"), AllSitemaps: c.Query("sitemaps") == "all"}
	if !p.Read(c,
		func() (err error) { v.Place.Range, err = views.ParseRange(c.Query("range")); return },
		func() (err error) { v.Site, err = p.Sites.Get(ctx, v.Place.ID); return },
		func() (err error) { v.Counts, err = p.Sites.Counts(ctx, v.Site); return },
		func() (err error) {
			v.Days, err = p.Sites.Coverage(ctx, v.Site, v.Place.Range.Since(p.Sites.Now()))
			return
		},
		func() (err error) { v.Quota, err = p.Sites.Quota(ctx, v.Site); return },
		func() (err error) { v.Sitemaps, err = p.Sites.SitemapTree(ctx, v.Site); return },
		func() (err error) { _, v.Aside, err = pages.ShowRelated(c, subject(v.Site), p.Others); return },
	) {
		return false
	}
	v.Page = p.Page(v.Site.Name, "sites", v.Flash)
	if v.Edit.Errors == nil {
		open := v.Edit.Open
		v.Edit = views.EditFormOf(v.Site)
		v.Edit.Open = open
	}
	if v.Reading() && v.Flash == (ui.Flash{}) && c.Request.Method == http.MethodGet && !v.Edit.Open { // a refresh would discard the message or the input
		v.Refresh = refreshSeconds
	}
	return true
}

// subject returns the website as other systems see it.
func subject(w sites.Website) pages.Subject {
	root := w.Property().Root()
	if !w.Property().Domain() {
		root = w.SiteURL
	}
	s := pages.Subject{URL: root, Title: w.Name, Path: views.SitePath(w.ID), PrivateTo: w.PrivateTo}
	if u, err := models.ParseURL("url", root); err == nil { // validated when stored
		s.CanonicalURL = u.Canonical
	}
	return s
}

// Delete deletes a website. The list offers to undo it.
func (p Pages) Delete(c *gin.Context) {
	if err := p.Sites.Delete(c.Request.Context(), c.Param("id")); err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With(views.SitesPath, paramSiteDeleted, c.Param("id")))
}

// Restore restores a deleted website.
func (p Pages) Restore(c *gin.Context) {
	w, err := p.Sites.Restore(c.Request.Context(), c.Param("id"))
	p.Done(c, err, views.SitePath(w.ID), "site_restored")
}

// Refresh requests a read of the sitemaps.
func (p Pages) Refresh(c *gin.Context) {
	_, err := p.Sites.Request(c.Request.Context(), c.Param("id"), sites.Reading)
	p.Done(c, err, p.Back(c, views.SitePath(c.Param("id"))), "sitemaps_requested")
}

// Crawl starts a crawl of a website with the first pages of its queue, and redirects to it.
func (p Pages) Crawl(c *gin.Context) {
	path, err := p.crawl(c.Request.Context(), c.Param("id"))
	switch {
	case err != nil:
		p.Fail(c, err)
	case path == "":
		p.Done(c, nil, views.SitePath(c.Param("id")), "site_crawl_without")
	default:
		p.SeeOther(c, path)
	}
}

// crawl starts a crawl of a website with the first pages of its queue, and returns the path of its page; "" = the website has no
// pages.
func (d *Deps) crawl(ctx context.Context, id string) (path string, err error) {
	w, err := d.Sites.Get(ctx, id)
	if err != nil {
		return "", err
	}
	first, err := d.Sites.Pages(ctx, w.ID, sites.Filter{}, models.Cursor{}, MaxCrawl)
	if err != nil || len(first.Items) == 0 {
		return "", err
	}
	return d.OtherSystems.Crawl(ctx, w, urlsOf(first.Items))
}

// DownloadCoverage sends the coverage of all stored days as CSV, with a row per day and status.
func (p Pages) DownloadCoverage(c *gin.Context) {
	ctx := c.Request.Context()
	var w sites.Website
	var days []sites.Day
	if !p.Read(c,
		func() (err error) { w, err = p.Sites.Get(ctx, c.Param("id")); return },
		func() (err error) {
			days, err = p.Sites.Coverage(ctx, w, p.Sites.Now().Add(-sites.KeepCoverage))
			return
		},
	) {
		return
	}
	rows := [][]string{{"date", "status", "pages"}}
	for _, d := range days {
		for _, s := range sites.Statuses() {
			rows = append(rows, []string{d.At.Format("2006-01-02"), string(s), strconv.Itoa(d.ByStatus[s])})
		}
	}
	pages.CSV(c, "coverage-"+w.ID+".csv", rows)
}
