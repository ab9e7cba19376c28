package crawl_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/crawl"
)

func TestFrontierPage(t *testing.T) {
	s := newSite(t)
	apptest.WantText(t, s.Get("/crawl/frontier"), ".empty", "The frontier is empty")
	one, other := s.AddJob("https://one.test", named(hostile)), s.AddJob("https://other.test")
	e := s.run(one)
	s.run(other)
	a := s.Follow("/crawl/frontier?status=pending", url.Values{"url": {"one.test/by-hand"}})
	apptest.WantText(t, a, ".flash", "URL added. It is fetched in a few seconds")
	apptest.WantCount(t, a, "tbody tr", 1)
	apptest.WantText(t, a, "tbody tr", "pending one.test/by-hand")
	apptest.WantText(t, s.Follow("/crawl/frontier", url.Values{"url": {"https://one.test/by-hand"}}), ".flash", "already in the frontier")
	for query, want := range map[string]int{
		"": 7, "status=done": 4, "status=failed": 2, "status=pending": 1, "status=fetching": 0, "source=" + one.SourceID: 4,
		"execution=" + e.ID: 3, "execution=" + e.ID + "&status=failed": 1,
	} {
		a := s.Get("/crawl/frontier?" + query)
		apptest.WantCount(t, a, "tbody tr", want)
		apptest.WantCount(t, a, "main script, main img", 0)
		if want == 0 {
			apptest.WantText(t, a, ".empty", "No matching URLs")
		}
	}
	a = s.Get("/crawl/frontier?status=failed&source=" + one.SourceID)
	apptest.WantText(t, a, "tbody", "failed one.test/broken same host 1 1 status 404")
	apptest.WantText(t, a, ".filters .chip.on .word", hostile)
	apptest.WantText(t, s.Get("/crawl/frontier?execution="+e.ID), ".filters .chip.on .word", "Run 1 of one.test")
	if rel := a.Find("tbody .title").AttrOr("rel", ""); rel != "noreferrer noopener" {
		t.Errorf("external links: got rel=%q", rel)
	}
	a = s.Post("/crawl/frontier/bulk", s.row(a, "tbody form", "delete"))
	apptest.WantText(t, a, "h1", "Delete 1 URL?")
	apptest.WantCount(t, s.Get("/crawl/frontier"), "tbody tr", 7)
	a = s.Submit(a, "main form")
	apptest.WantText(t, a, ".flash", "Deleted from the frontier.")
	apptest.WantText(t, a, ".empty", "No matching URLs")
	apptest.WantCount(t, s.Get("/crawl/frontier"), "tbody tr", 6)

	a = s.Post("/crawl/frontier", url.Values{"url": {"ftp://one.test"}})
	apptest.WantStatus(t, a, http.StatusBadRequest)
	apptest.WantText(t, a, "#url-error", "URL must start with http://")
	apptest.WantCount(t, a, `#url[value="ftp://one.test"][aria-invalid=true]`, 1)
	_, err := s.Crawl.EditSource(t.Context(), one.SourceID, crawl.SourceEdit{Enabled: new(false)})
	s.Must(err)
	a = s.Post("/crawl/frontier", url.Values{"url": {"https://one.test/b"}})
	apptest.WantStatus(t, a, http.StatusConflict)
	apptest.WantText(t, a, "#url-error", "The source is disabled. Enable it first.")
	for _, bad := range []string{"?status=x", "?page_token=x", "?source=s_none", "?execution=" + models.NewID(models.KindExecution)} {
		if a := s.Get("/crawl/frontier" + bad); a.StatusCode != http.StatusBadRequest && a.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d", bad, a.StatusCode)
		}
	}
}

func TestDiscoveredPage(t *testing.T) {
	s := newSite(t)
	apptest.WantText(t, s.Get("/crawl/discovered"), ".empty", "No discovered links yet")
	one, other := s.AddJob("https://one.test", named("One")), s.AddJob("https://two.test")
	s.run(one)
	s.run(other)
	a := s.Get("/crawl/discovered")
	apptest.WantCount(t, a, "tbody tr", 2)
	apptest.WantText(t, a, "tbody tr:first-child", "other.test/a same host "+hostile+" one.test")
	apptest.WantCount(t, a, "main script, main img", 0)
	apptest.WantCount(t, a, `tbody tr:first-child a[href^="https:"][rel="noreferrer noopener"]`, 2)
	a = s.Get(a.Find("tbody tr:first-child .only:not(.host-only)").AttrOr("href", ""))
	apptest.WantCount(t, a, "tbody tr", 1)
	apptest.WantText(t, a, ".chip.on", "One")
	a = s.Follow("/crawl/discovered/bulk", s.row(a, "tbody form", "delete"))
	apptest.WantText(t, a, ".flash", "1 link deleted. A crawl that finds a link again adds it again.")
	apptest.WantText(t, a, ".empty", "No page of this source links to another site.")
	apptest.WantCount(t, s.Get("/crawl/discovered"), "tbody tr", 1)
	a = s.Submit(a, ".flash form")
	apptest.WantText(t, a, ".flash", "Links restored.")
	apptest.WantText(t, a, ".chip.on", "One")
	apptest.WantCount(t, s.Get("/crawl/discovered"), "tbody tr", 2)
	apptest.WantStatus(t, s.Get("/crawl/discovered?source="+noSource), http.StatusNotFound)
}

func TestFrontierAndDiscoveredByCursor(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://a.test")
	s.BeginCrawl(j)
	s.Fetch(func(e crawl.Entry) crawl.Result {
		r := apptest.Crawled(e)
		if e.Depth == 0 {
			for i := range 204 {
				r.Links = append(r.Links, crawl.FoundURL{Crawl: e.CrawlSeq, Source: e.Crawl.Source, URL: fmt.Sprintf("https://a.test/p%d/x", i), Depth: 1})
				r.Discovered = append(r.Discovered, crawl.DiscoveredLink{SourceSeq: e.Crawl.Source, URL: fmt.Sprintf("https://b.test/%d", i), FoundOn: e.URL})
			}
		}
		return r
	})
	for path, want := range map[string]int{"/crawl/frontier": 205, "/crawl/discovered": 204} {
		seen, pages := map[string]bool{}, 0
		for next := path; next != ""; pages++ {
			a := s.Get(next)
			for _, where := range strings.Fields(apptest.Text(a, "tbody .title")) {
				seen[where] = true
			}
			next = a.Find("a[rel=next]").AttrOr("href", "")
		}
		if len(seen) != want || pages != 3 {
			t.Errorf("%s: got %d rows on %d pages, want %d on 3", path, len(seen), pages, want)
		}
	}
}
