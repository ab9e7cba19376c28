package sites_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/sites"
)

func TestAddAWebsite(t *testing.T) {
	a := newPagesApp(t)
	p := a.Get("/sites")
	apptest.WantText(t, p, ".empty", "No websites yet")
	apptest.WantText(t, p, ".empty", "Google needs a service account")
	apptest.WantText(t, p, ".empty", "without an account")
	apptest.WantCount(t, p, `nav[aria-label=Main] a[href="/sites"][data-key=i][aria-current="page"]`, 1)
	apptest.WantCount(t, p, `nav[aria-label=Problem]`, 0)

	p = a.Follow("/sites", url.Values{"site_url": {"Example.com"}, "name": {hostile}})
	apptest.WantText(t, p, ".flash", "Website added. The first read of the sitemaps listed in robots.txt starts within seconds.")
	apptest.WantText(t, p, "h1", hostile)
	apptest.WantText(t, p, ".address", "https://example.com/")
	apptest.WantCount(t, p, "main script, main img", 0)
	p = a.Follow("/sites", url.Values{"site_url": {" SC-Domain:example.org "}})
	apptest.WantText(t, p, ".facts", "Property example.org and its subdomains · domain")

	p = a.Get("/sites")
	apptest.WantText(t, p, "#count", "2 websites")
	apptest.WantText(t, p, "tbody", hostile+" example.com 0 – 0 – Reading…")
	apptest.WantCount(t, p, "main script, main img", 0)
	if got := a.Get("/sites?url=https://a.test").Find("#url").AttrOr("value", ""); got != "https://a.test" {
		t.Errorf("prefilled URL: %q", got)
	}
}

func TestWebsiteErrorsAtField(t *testing.T) {
	a := newPagesApp(t)
	a.site("https://example.com/")
	for _, c := range []struct{ url, name, where, want string }{
		{"", "kept", "#url-error", "."},
		{"ftp://example.com", "kept", "#url-error", "."},
		{"sc-domain:1.2.3.4", "kept", "#url-error", "not an IP address"},
		{"https://example.com/?a=1", "kept", "#url-error", "Site URL must not have a query"},
		{"https://example.com", "kept", "#url-error", "already"},
		{"https://new.test/", strings.Repeat("x", 201), "#name-error", "at most 200 characters"},
	} {
		p := a.Post("/sites", url.Values{"site_url": {c.url}, "name": {c.name}})
		if p.StatusCode != http.StatusBadRequest && p.StatusCode != http.StatusConflict {
			t.Errorf("%s: status %d", c.url, p.StatusCode)
		}
		apptest.WantText(t, p, c.where, c.want)
		apptest.WantCount(t, p, `[aria-invalid="true"]`, 1)
		if url, name := p.Find("#url").AttrOr("value", ""), p.Find("input[name=name]").AttrOr("value", ""); url != c.url || name != c.name {
			t.Errorf("%q and %q came back as %q and %q", c.url, c.name, url, name)
		}
	}
	apptest.WantCount(t, a.Get("/sites"), "tbody tr", 1)
}

func TestListOfWebsites(t *testing.T) {
	a := newPagesApp(t)
	good, bad := a.google(a.site("https://good.test/")), a.google(a.site("https://bad.test/blog/"))
	a.read(good, "a", "b", "c", "d")
	a.verified(a.page(good, "/a"), "")
	a.verified(a.page(good, "/b"), sites.CauseNoIndex)
	a.Must(a.Sites.RecordRead(a.Context(), a.sitemap(bad, "https://bad.test/blog/s.xml"), sites.ReadResult{Error: "status 404"}))
	a.Must(a.Sites.RecordServiceOutcome(a.Context(), bad, sites.Indexing, sites.Outcome{Sitewide: true, Error: hostile}))
	a.Clock.Advance(time.Minute)
	p := a.Get("/sites")
	apptest.WantText(t, p, "#"+good.ID, "good.test good.test 4 25% 2 0 of 2,000 inspections 1 min ago")
	apptest.WantText(t, p, "#"+bad.ID, "bad.test bad.test/blog/ Indexing API: "+hostile+" 1 sitemap with errors 0 – 0")
	apptest.WantText(t, p, "nav[aria-label=Problem]", "all 2 Google errors 1 IndexNow errors 0 sitemap errors 1")
	apptest.WantCount(t, p, "main script, main img", 0)
	for query, want := range map[string]int{"?problem=google": 1, "?problem=sitemaps": 1, "": 2} {
		p := a.Get("/sites" + query)
		apptest.WantCount(t, p, "tbody tr", want)
		apptest.WantText(t, p, "#count", map[int]string{1: "1 website", 2: "2 websites"}[want])
	}
	for _, path := range []string{"/sites?problem=none", "/sites?page_token=x"} {
		apptest.WantStatus(t, a.Get(path), http.StatusBadRequest)
	}
	a.Must(a.Sites.RecordServiceOutcome(a.Context(), bad, sites.Indexing, sites.Outcome{Status: sites.Accepted}))
	apptest.WantText(t, a.Get("/sites?problem=google"), ".empty", "No matching websites")
	part := a.Part("/sites?problem=sitemaps")
	apptest.WantCount(t, part, "header, form.add", 0)
	if got := part.Find("#sites").AttrOr("hx-get", ""); got != "/sites?problem=sitemaps" || got != part.Header.Get("HX-Replace-Url") {
		t.Errorf("polls %q, HX-Replace-Url %q", got, part.Header.Get("HX-Replace-Url"))
	}
}

func TestWebsitesByCursor(t *testing.T) {
	a := newPagesApp(t)
	a.many(0, 53)
	for _, path := range []string{"/sites", "/sites?problem=google"} {
		p := a.Get(path)
		apptest.WantCount(t, p, "tbody tr", 50)
		p = a.Get(p.Find("a[rel=next]").AttrOr("href", ""))
		apptest.WantCount(t, p, "tbody tr", 3)
		apptest.WantText(t, p, "#count", "53 websites")
	}
}

func TestDeleteAndRestoreAWebsite(t *testing.T) {
	a := newPagesApp(t)
	w := a.site("https://example.com/")
	p := a.Submit(a.Get("/sites/"+w.ID), `form[action$="/delete"]`)
	apptest.WantText(t, p, ".flash", "Website deleted, with its sitemaps and pages.")
	apptest.WantCount(t, p, "tbody tr", 0)
	apptest.WantStatus(t, a.Get("/sites/"+w.ID), http.StatusNotFound)
	p = a.Submit(p, ".flash form")
	apptest.WantText(t, p, ".flash", "Website restored.")
	apptest.WantText(t, p, "h1", "example.com")
	apptest.WantCount(t, a.Get("/sites?site_deleted="+url.QueryEscape(`"><script>`)), ".flash", 0)
	for _, action := range []string{"delete", "restore", "refresh", "crawl", "test", "credentials/delete", "indexnow/check", "sitemaps/" + noEntry + "/delete"} {
		apptest.WantStatus(t, a.Post("/sites/"+noSite+"/"+action, noForm), http.StatusNotFound)
	}
	for _, path := range []string{"", "/coverage.csv", "/credentials/delete", "/indexnow/key.txt", "/sitemaps/" + noEntry + "/delete"} {
		apptest.WantStatus(t, a.Get("/sites/"+noSite+path), http.StatusNotFound)
	}
}

// The number of queries does not depend on the number of websites.
func TestConstantQueries(t *testing.T) {
	a := newPagesApp(t)
	first := a.google(a.site("https://first.test/"))
	a.read(first, "a")
	a.many(0, 2)
	paths := []string{"/", "/sites", "/sites?problem=google", "/sites?problem=sitemaps", "/sites/" + first.ID}
	few := map[string]int64{}
	for _, path := range paths {
		few[path] = a.Count(path)
	}
	a.many(2, 30)
	for _, path := range []string{"b", "c", "d"} {
		a.Must(a.Sites.RecordRead(a.Context(), a.sitemap(first, first.SiteURL+path+".xml"), sites.ReadResult{Error: "none"}))
	}
	a.read(first, "a", "b", "c", "d")
	for i, path := range []string{"/a", "/b", "/c"} {
		a.verified(a.page(first, path), []string{sites.CauseNoIndex, sites.CauseRobots, ""}[i])
	}
	for _, path := range paths {
		if n := a.Count(path); n != few[path] || n == 0 {
			t.Errorf("%s: %d queries with 3 websites, %d with 33", path, few[path], n)
		}
	}
}
