package app_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// crawlSite crawls a site with a start page that links to another page of the site and to external URLs.
func crawlSite(s *apptest.App, site string, external ...string) crawl.Job {
	s.Helper()
	j := s.AddJob(site)
	e := s.BeginCrawl(j)
	s.Fetch(func(e crawl.Entry) crawl.Result {
		if e.Depth > 0 {
			return apptest.Crawled(e)
		}
		r := apptest.Crawled(e, site+"/page")
		for _, u := range external {
			r.Discovered = append(r.Discovered, crawl.DiscoveredLink{SourceSeq: e.Crawl.Source, URL: u, FoundOn: e.URL})
		}
		return r
	})
	s.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Succeed})
	return j
}

// The page of a saved link offers a form that crawls its site. After the crawl, the pages of the link and of its target show
// the result.
func TestCrawlTheSiteOfALink(t *testing.T) {
	s := apptest.New(t)
	l := s.Save("https://Site.test:8443/page?q=1#x")
	a := s.Get("/links/" + l.ID)
	form := a.Find(".actions a[href^='/crawl?url=']")
	if form.Length() != 1 {
		t.Fatalf("got %d buttons for a crawl, want 1", form.Length())
	}
	a = s.Get(form.AttrOr("href", ""))
	apptest.WantCount(t, a, `#add input[name=url][value="https://site.test:8443/"]`, 1)
	j := crawlSite(s, "https://other.test")
	for _, page := range []struct{ url, text string }{
		{"https://other.test/page#top", "Last crawl of this URL: status 200 · 1 min ago"},
		{"https://other.test/unknown", "This page has not been crawled."},
	} {
		link := s.Save(page.url)
		target := s.Watch(page.url, "")
		for _, path := range []string{"/links/" + link.ID, "/watch/" + target.ID} {
			a := s.Get(path)
			apptest.WantCount(t, a, "section a[href='/crawl/jobs/"+j.ID+"']", 1)
			apptest.WantCount(t, a, "a[href^='/crawl?url=']", 0)
			if got := strings.Join(strings.Fields(a.Find("main").Text()), " "); !strings.Contains(got, page.text) {
				t.Errorf("%s does not say %q: %s", path, page.text, got)
			}
		}
	}
}

// Discovered links become links and targets without a request to them, one or many at once. Existing ones stay unchanged.
func TestSaveAndWatchDiscoveredLinks(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		s := apptest.New(t, apptest.On(db))
		external := []string{"https://out.test/a", "https://out.test/b"}
		for i := range 98 {
			external = append(external, fmt.Sprintf("https://more.test/%d", i))
		}
		crawlSite(s, "https://site.test", external...)
		known := s.Save("https://out.test/b", "tagged")
		watched := s.Watch("https://out.test/b", "Mine")
		list, err := s.Systems.Crawl.Store.DiscoveredLinks(s.Context(), crawl.DiscoveredFilter{}, models.Cursor{}, 200)
		s.Must(err)
		ids := make([]string, len(list.Items))
		for i, d := range list.Items {
			ids[i] = d.ID()
		}
		post := func(action string, ids ...string) apptest.Page {
			return s.Follow("/crawl/discovered/bulk", url.Values{"action": {action}, "id": ids})
		}
		apptest.WantText(t, post("save", ids[0]), ".flash", "1 link added.")
		apptest.WantText(t, post("watch", ids[0]), ".flash", "1 target added.")
		apptest.WantText(t, post("save", ids...), ".flash", "98 links added. Titles are fetched in a few seconds. 2 URLs already saved.")
		a := post("watch", ids...)
		apptest.WantText(t, a, ".flash", "98 targets added. The first checks run in a few seconds. 2 URLs already watched.")
		apptest.WantCount(t, a, "tbody .kept[href^='/links/']", 100)
		apptest.WantCount(t, a, "tbody .kept[href^='/watch/']", 100)
		apptest.WantCount(t, a, "tbody .kept[href='/links/"+known.ID+"']", 1)
		apptest.WantCount(t, a, "tbody .kept[href='/watch/"+watched.ID+"']", 1)

		l, ok, err := s.Systems.Links.Store.ByURL(s.Context(), "https://more.test/7")
		s.Must(err)
		if !ok || l.Health != links.Unchecked {
			s.Errorf("saved link: %+v", l)
		}
		if l, err = s.Systems.Links.Store.Get(s.Context(), known.ID); err != nil || len(l.Tags) != 1 {
			s.Errorf("existing link: %+v %v", l, err)
		}
		items, _, err := s.Systems.Links.Store.ClaimRefreshes(s.Context(), s.Holder(), 200)
		s.Must(err)
		if len(items) != 99 {
			s.Errorf("got %d queued refreshes, want 99", len(items))
		}
	})
}
