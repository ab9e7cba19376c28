package sites_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

func TestSitePage(t *testing.T) {
	a := newPagesApp(t)
	w := a.site("https://example.com/")
	path := "/sites/" + w.ID
	p := a.Get(path)
	apptest.WantText(t, p, "title", "example.com · Linkwatch")
	apptest.WantText(t, p, ".state", "running No pages yet. Reading sitemaps… Nothing is submitted yet. Add Google credentials or an IndexNow key below.")
	apptest.WantText(t, p, ".chart-plot", "No pages in this period")
	apptest.WantText(t, p, "#now", "Sitemaps listed in robots.txt are added automatically.")
	apptest.WantCount(t, p, `noscript`, 1)
	if every := p.Find("#now").AttrOr("hx-trigger", ""); every != "every 2s" {
		t.Errorf("while sitemaps are read: hx-trigger %s", every)
	}
	for _, to := range []string{"pages", "submissions", "not-indexed"} {
		apptest.WantCount(t, p, `.site-nav a[href="`+path+"/"+to+`"]`, 1)
	}
	a.ended(w)
	p = a.Get(path)
	apptest.WantText(t, p, "#now", "No sitemaps: robots.txt lists none. Add one below.")
	apptest.WantCount(t, p, "noscript", 0)
	if every := p.Find("#now").AttrOr("hx-trigger", ""); every != "every 10s" {
		t.Errorf("otherwise: hx-trigger %s", every)
	}

	a.google(w)
	a.read(w, "a", "b", "c", "d")
	a.verified(a.page(w, "/a"), "")
	a.verified(a.page(w, "/b"), sites.CauseNoIndex)
	a.verified(a.page(w, "/c"), sites.CauseNoIndex)
	p = a.Get(path)
	apptest.WantText(t, p, ".state", "active 1 of 4 pages indexed. 1 not yet submitted. New and changed pages are submitted to Google through sitemaps.")
	apptest.WantText(t, p, ".causes", "Excluded by noindex not indexed 2 pages The page tells search engines not to index it.")
	apptest.WantCount(t, p, `.causes a[href="`+path+`/pages?cause=noindex&status=not_indexed"]`, 1)
	apptest.WantText(t, p, ".facts", "Pages 4")
	if hover := p.Find(".facts time").First(); hover.AttrOr("title", "") == "" || hover.AttrOr("datetime", "") == "" {
		t.Error("a time has no exact time on hover")
	}
	part := a.Part(path + "?range=90d")
	apptest.WantCount(t, part, "#now", 1)
	apptest.WantCount(t, part, "header, form.add, textarea", 0)
	if got := part.Find("#now").AttrOr("hx-get", ""); got != path+"?range=90d" || got != part.Header.Get("HX-Replace-Url") {
		t.Errorf("polls %q, HX-Replace-Url %q", got, part.Header.Get("HX-Replace-Url"))
	}
	apptest.WantStatus(t, a.Get(path+"?range=1d"), http.StatusBadRequest)

	a.Must(a.Sites.RecordServiceOutcome(t.Context(), w, sites.Indexing, sites.Outcome{Sitewide: true, Error: hostile}))
	p = a.Get(path)
	apptest.WantText(t, p, ".state", "failed")
	apptest.WantText(t, p, ".state .failure", hostile)
	apptest.WantText(t, p, ".state .failure", "next request in 1 min")
	apptest.WantCount(t, p, "main script, main img", 0)
}

func TestCoverage(t *testing.T) {
	a := newPagesApp(t)
	w := a.site("https://example.com/")
	a.read(w, "a", "b", "c")
	a.Must(a.Sites.SnapshotCoverage(t.Context()))
	yesterday := a.Clock.Now()
	a.Clock.Advance(48 * time.Hour)
	a.verified(a.page(w, "/a"), "")
	a.verified(a.page(w, "/b"), sites.CauseRobots)
	path := "/sites/" + w.ID
	for query, days := range map[string]int{"": 30, "?range=90d": 90, "?range=365d": 365} {
		p := a.Get(path + query)
		apptest.WantCount(t, p, ".chart-lines path.hover", days)
		apptest.WantCount(t, p, ".figures tbody tr", 2)
		apptest.WantCount(t, p, `nav[aria-label=Range] a[aria-current="page"]`, 1)
	}
	p := a.Get(path)
	if label := p.Find(".chart-lines").AttrOr("aria-label", ""); label != "Pages by status over the last 30 days. Now: 1 indexed, 1 pending, 1 not indexed" {
		t.Errorf("chart label: %q", label)
	}
	titles := p.Find(".chart-lines .hover title")
	for i, want := range map[int]string{27: "3 pending", 28: "no data", 29: "1 indexed, 1 pending, 1 not indexed"} {
		if got := titles.Eq(i).Text(); !strings.HasSuffix(got, "\n"+want) {
			t.Errorf("day %d: %q, want %q", i, got, want)
		}
	}
	apptest.WantText(t, p, "figcaption", "indexed 1 submitted 0 pending 1 not indexed 1 failed 0")
	apptest.WantCount(t, p, `figcaption a[href="`+path+`/pages?status=not_indexed"]`, 1)
	apptest.WantCount(t, p, `path[fill="url(#hatch)"]`, 2)

	csv := a.Get(path + "/coverage.csv")
	if kind := csv.Header.Get("Content-Type"); kind != "text/csv; charset=utf-8" {
		t.Errorf("file: %s", kind)
	}
	if got := csv.Header.Get("Content-Disposition"); got != `attachment; filename="coverage-`+w.ID+`.csv"` {
		t.Errorf("Content-Disposition: %s", got)
	}
	today := a.Clock.Now().Format("2006-01-02")
	want := `"date","status","pages"` + "\r\n"
	for _, row := range []string{`"pending","3"`, `"submitted","0"`, `"indexed","0"`, `"not_indexed","0"`, `"failed","0"`} {
		want += `"` + yesterday.Format("2006-01-02") + `",` + row + "\r\n"
	}
	for _, row := range []string{`"pending","1"`, `"submitted","0"`, `"indexed","1"`, `"not_indexed","1"`, `"failed","0"`} {
		want += `"` + today + `",` + row + "\r\n"
	}
	if csv.HTML != want {
		t.Errorf("got file\n%s\nwant\n%s", csv.HTML, want)
	}
}

func TestQuotaMeters(t *testing.T) {
	a := newPagesApp(t)
	w := a.site("https://example.com/")
	path := "/sites/" + w.ID
	apptest.WantCount(t, a.Get(path), "meter", 0)
	a.google(w)
	p := a.Get(path)
	apptest.WantText(t, p, ".meters", "URL inspections today 0 of 2,000")
	apptest.WantText(t, p, ".meters", "This website does not use Google's Indexing API.")
	apptest.WantCount(t, p, "meter[aria-label]", 1)
	a.Follow(path, url.Values{"name": {"x"}, "indexing_enabled": {"true"}})
	p = a.Get(path)
	apptest.WantText(t, p, ".meters", "Indexing API notifications today 0 of 200 0 of 200 Shared by all websites of the Google project.")
	apptest.WantText(t, p, ".meters", "Metadata requests this minute 0 of 180")
	apptest.WantCount(t, p, "meter[aria-label]", 3)
}

func TestSitemaps(t *testing.T) {
	a := newPagesApp(t)
	ctx := t.Context()
	w := a.site("https://example.com/")
	path := "/sites/" + w.ID
	p := a.Follow(path+"/sitemaps", url.Values{"url": {"example.com/index.xml"}})
	apptest.WantText(t, p, ".flash", "Sitemap added.")
	apptest.WantText(t, p, ".sitemaps", "https://example.com/index.xml – – – never never")
	apptest.WantText(t, a.Follow(path+"/sitemaps", url.Values{"url": {"https://example.com/index.xml"}}), ".flash", "The website already has this sitemap.")
	p = a.Post(path+"/sitemaps", url.Values{"url": {"ftp://" + hostile}})
	apptest.WantStatus(t, p, http.StatusBadRequest)
	apptest.WantText(t, p, "#url-error", ".")
	if got := p.Find("#url").AttrOr("value", ""); got != "ftp://"+hostile {
		t.Errorf("URL field: %q", got)
	}
	apptest.WantCount(t, p, "main script, main img", 0)

	index := a.sitemap(w, "https://example.com/index.xml")
	_, _, err := a.Sites.AddFound(ctx, w, &index, []string{"https://example.com/1.xml", "https://example.com/2.xml"})
	a.Must(err)
	single := a.sitemap(w, "https://example.com/single.txt")
	a.Must(a.Sites.RecordRead(ctx, index, sites.ReadResult{Kind: sites.KindIndex, Pages: 2}))
	tree, err := a.Sites.SitemapTree(ctx, w)
	a.Must(err)
	a.Must(a.Sites.RecordRead(ctx, tree[1], sites.ReadResult{Stored: true, Kind: sites.KindSitemap, Pages: 12, Skipped: 2, Reasons: []string{"line 3: " + hostile, "line 9: another host"}}))
	a.Must(a.Sites.RecordRead(ctx, tree[2], sites.ReadResult{Error: "status 404 " + hostile}))
	_, _, err = a.Sites.AddFound(ctx, w, nil, []string{"https://example.com/robots.xml"})
	a.Must(err)
	a.ended(w)
	p = a.Get(path)
	apptest.WantText(t, p, ".sitemaps tbody tr:nth-child(1)", "https://example.com/index.xml index 2 sitemaps – just now never")
	apptest.WantText(t, p, ".sitemaps tbody tr:nth-child(2)", "https://example.com/1.xml XML 12 pages 2 skipped line 3: "+hostile+" line 9: another host just now never")
	apptest.WantText(t, p, ".sitemaps tbody tr:nth-child(3) .failure", "Status 404 "+hostile)
	apptest.WantText(t, p, ".sitemaps tbody tr:nth-child(5)", "in robots.txt")
	apptest.WantCount(t, p, ".sitemaps .depth-1", 2)
	apptest.WantCount(t, p, `.sitemaps a[href$="/delete"]`, 2) // not for sitemaps listed in robots.txt
	apptest.WantCount(t, p, "main script, main img", 0)

	ask := a.Get(path + "/sitemaps/" + index.ID() + "/delete")
	apptest.WantText(t, ask, "main", "Delete this sitemap? https://example.com/index.xml The sitemaps that it lists are deleted too.")
	p = a.Submit(ask, "main form")
	apptest.WantText(t, p, ".flash", "Sitemap deleted.")
	apptest.WantCount(t, p, ".sitemaps tbody tr", 2)
	apptest.WantStatus(t, a.Get(path+"/sitemaps/"+index.ID()+"/delete"), http.StatusNotFound)
	apptest.WantStatus(t, a.Post(path+"/sitemaps/"+index.ID()+"/delete", noForm), http.StatusNotFound)
	other := a.site("https://other.test/")
	apptest.WantStatus(t, a.Get("/sites/"+other.ID+"/sitemaps/"+single.ID()+"/delete"), http.StatusNotFound)

	p = a.Submit(a.Get(path), `form[action$="/refresh"]`)
	apptest.WantText(t, p, ".flash", "Linkwatch will read the sitemaps within seconds.")
	apptest.WantText(t, p, ".state", "Reading sitemaps…")
	a.ended(w)
	if p = a.Follow(path+"/refresh", url.Values{"back": {"/sites"}}); p.Request.URL.Path != "/sites" {
		t.Errorf("got URL %s", p.Request.URL)
	}
}

func TestManySitemaps(t *testing.T) {
	a := newPagesApp(t)
	w := a.site("https://example.com/")
	var urls []string
	for i := range 30 {
		urls = append(urls, "https://example.com/"+string(rune('a'+i))+".xml")
	}
	_, _, err := a.Sites.AddFound(t.Context(), w, nil, urls)
	a.Must(err)
	p := a.Get("/sites/" + w.ID)
	apptest.WantCount(t, p, ".sitemaps tbody tr", 25)
	all := p.Find(".show-all a")
	if all.Text() != "Show all 30 sitemaps" {
		t.Errorf("link text: %q", all.Text())
	}
	apptest.WantCount(t, a.Get(strings.Split(all.AttrOr("href", ""), "#")[0]), ".sitemaps tbody tr", 30)
}

func TestCrawlAWebsite(t *testing.T) {
	a := newPagesApp(t)
	w := a.site("https://example.com/")
	path := "/sites/" + w.ID
	apptest.WantText(t, a.Submit(a.Get(path), `form[action$="/crawl"]`), ".flash", "No pages to crawl.")
	a.read(w, "a", "b")
	p := a.Post(path+"/crawl", noForm)
	if p.StatusCode != http.StatusSeeOther || p.Header.Get("Location") != "/crawl/jobs/j_1" {
		t.Errorf("status %d, to %s", p.StatusCode, p.Header.Get("Location"))
	}
	if got := strings.Join(a.Others.crawled, " "); got != "https://example.com/a https://example.com/b" {
		t.Errorf("crawled: %s", got)
	}
	a.Others.crawlErr = models.Conflict("A crawl is running.")
	p = a.Post(path+"/crawl", noForm)
	apptest.WantStatus(t, p, http.StatusConflict)
	apptest.WantText(t, p, "main", "A crawl is running.")
}

func TestWebsitesOnTheOverview(t *testing.T) {
	a := newPagesApp(t)
	if strings.Contains(a.Get("/").HTML, "All websites") {
		t.Error("the overview shows a section without websites")
	}
	w := a.google(a.site("https://example.com/"))
	p := a.Get("/")
	apptest.WantText(t, p, "main", "example.com 0 pages")
	apptest.WantCount(t, p, ".attention-group", 0)
	a.Must(a.Sites.RecordServiceOutcome(t.Context(), w, sites.Indexing, sites.Outcome{Sitewide: true, Error: hostile}))
	a.Must(a.Sites.RecordRead(t.Context(), a.sitemap(w, "https://example.com/s.xml"), sites.ReadResult{Error: "status 404"}))
	p = a.Get("/")
	apptest.WantText(t, p, ".attention-group:nth-of-type(1)", "1 website refused by Google")
	apptest.WantText(t, p, ".needs", "critical")
	apptest.WantText(t, p, ".needs", "1 website with unreadable sitemaps")
	apptest.WantText(t, p, ".needs", "1 sitemap with errors")
	apptest.WantCount(t, p, `.needs a[href="/sites?problem=google"], .needs a[href="/sites?problem=sitemaps"]`, 2)
	apptest.WantCount(t, p, "main script, main img", 0)
	apptest.WantCount(t, p, `.needs form[action$="/test"]`, 1)
	modelstest.Exec(t, a.DB, "INSERT INTO page_counts (website_seq, status, cause, pages) VALUES (?, 'failed', 'no longer found', 3)", w.Seq)
	p = a.Get("/")
	apptest.WantText(t, p, ".needs", "1 website with failed submissions")
	apptest.WantText(t, p, ".needs", "3 pages could not be submitted · most common cause: No longer found")
	apptest.WantStatus(t, a.Get(p.Find(`.needs a[href$="/pages?status=failed"]`).AttrOr("href", "")), http.StatusOK)
	apptest.WantText(t, a.Get("/sites?problem=pages"), "#sites", "failed pages 1")
	p = a.Submit(p, `.needs form[action$="/refresh"]`)
	apptest.WantText(t, p, ".flash", "Linkwatch will read the sitemaps within seconds.")
	apptest.WantCount(t, p, ".needs", 1)
}

// TestIndexNowErrorsOnTheOverview: a missing key file needs attention as long as IndexNow is used.
func TestIndexNowErrorsOnTheOverview(t *testing.T) {
	a := newPagesApp(t)
	w := a.site("https://example.com/")
	w, err := a.Sites.Edit(t.Context(), w.ID, sites.Edit{IndexNowKey: new("12345678")})
	a.Must(err)
	apptest.WantCount(t, a.Get("/"), ".attention-group", 0)
	apptest.WantCount(t, a.Get("/sites"), ".choices", 0)
	a.Must(a.Sites.KeyChecked(t.Context(), w, "The key file was not found. "+hostile))
	p := a.Get("/")
	apptest.WantText(t, p, ".attention-group", "1 website with IndexNow errors critical")
	apptest.WantText(t, p, ".attention-group li", "example.com IndexNow key file: The key file was not found.")
	apptest.WantCount(t, p, `.attention-group h3 a[href="/sites?problem=indexnow"], .needs form[action$="/indexnow/check"]`, 2)
	apptest.WantCount(t, p, "main script, main img", 0)
	p = a.Get("/sites?problem=indexnow")
	apptest.WantText(t, p, ".chip.on", "1 IndexNow errors")
	apptest.WantText(t, p, "#count", "1 website")
	apptest.WantText(t, p, "#sites tbody", "IndexNow key file: The key file was not found.")

	a.Must(a.Sites.RecordServiceOutcome(t.Context(), w, sites.IndexNow, sites.Outcome{Status: sites.Refused, Sitewide: true, Error: "status 403"}))
	apptest.WantText(t, a.Get("/"), ".attention-group li", "IndexNow: Status 403")
	_, err = a.Sites.Edit(t.Context(), w.ID, sites.Edit{IndexNowKey: new("")})
	a.Must(err)
	a.Must(a.Sites.RecordServiceOutcome(t.Context(), w, sites.IndexNow, sites.Outcome{Status: sites.Refused, Sitewide: true, Error: "status 403"}))
	apptest.WantText(t, a.Get("/"), ".all-well", "no search engine refuses a website")
	apptest.WantCount(t, a.Get("/sites"), ".choices, .failure", 0)
}

// Links and targets show whether their page is indexed, and a website shows its related items.
func TestRelatedSections(t *testing.T) {
	a := newPagesApp(t)
	w := a.site("https://example.com/")
	name := hostile
	_, err := a.Sites.Edit(t.Context(), w.ID, sites.Edit{Name: &name})
	a.Must(err)
	a.read(w, "a", "b/")
	a.verified(a.page(w, "/a"), sites.CauseNoIndex)
	for url, want := range map[string]string{
		"https://example.com/a": "Page of " + hostile + " not indexed Excluded by noindex · last verified",
		"https://example.com/b": "Page of " + hostile + " pending",
	} {
		for _, path := range []string{"/links/" + a.Save(url).ID, "/watch/" + a.Watch(url, "").ID} {
			p := a.Get(path)
			apptest.WantText(t, p, "main", want)
			apptest.WantCount(t, p, `main a[href^="/sites/`+w.ID+`/pages/"]`, 1)
			apptest.WantCount(t, p, "main script, main img[onerror]", 0)
		}
	}
	apptest.WantCount(t, a.Get("/links/"+a.Save("https://example.com/none").ID), `main a[href^="/sites/"]`, 0)
	apptest.WantText(t, a.Get("/sites/"+w.ID), "aside", "Save link")
	a.Save("https://example.com/")
	apptest.WantText(t, a.Get("/sites/"+w.ID), "aside", "Saved link")
}
