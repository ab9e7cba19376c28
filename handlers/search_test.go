package handlers_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/app/apptest"
	"linkwatch/models/alerts"
	"linkwatch/models/crawl"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/sites"
)

// hostile is a text that runs as a script if it is not escaped.
const hostile = `zebra <script>alert(1)</script>"><img src=x onerror=alert(2)>`

// oneOfEach adds an item of each kind with a text in its title.
func oneOfEach(s *apptest.App, text, host string) {
	s.Helper()
	s.Web.Set("https://"+host+"/", links.Page{Status: 200, URL: "https://" + host + "/", Title: text})
	s.Save("https://" + host + "/")
	s.Watch("https://"+host+"/", text)
	s.Shorten("https://"+host+"/", "k-"+strings.ReplaceAll(host, ".", "-"), func(n *shortlinks.New) { n.Title = text })
	j := s.AddJob("https://"+host+"/", func(n *crawl.NewJob) { n.Source.Name = text })
	e := s.BeginCrawl(j)
	s.Fetch(func(e crawl.Entry) crawl.Result {
		r := apptest.Crawled(e)
		r.Page.Title, r.Page.Text, r.Page.WordCount, r.Page.ContentHash = text, crawl.CompressText("zebra on "+host), 3, "h-"+host
		return r
	})
	s.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Succeed})
	for more := 1; more > 0; {
		var err error
		more, err = s.Systems.Crawl.Store.IndexNext(s.Context(), 100)
		s.Must(err)
	}
	_, err := s.Systems.Sites.Store.Add(s.Context(), sites.NewWebsite{SiteURL: "https://" + host + "/", Name: text})
	s.Must(err)
	_, err = s.Systems.Alerts.Store.AddChannel(s.Context(), alerts.NewChannel{Name: text, Kind: alerts.KindWebhook, Address: alerts.Address{URL: "https://" + host + "/"}})
	s.Must(err)
}

func kinds(a apptest.Page) (all []string) {
	a.Find(".hits-of section:has(.hits) h2").Each(func(_ int, h *goquery.Selection) { all = append(all, h.Text()) })
	return all
}

// All kinds have their hits, in the order of the navigation and with any titles.
func TestSearchOverEverything(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.App) {
		t := s.TB.(*testing.T)
		for i := range 6 { // one more than the page shows
			oneOfEach(s, hostile, fmt.Sprintf("zoo%d.test", i))
		}
		a := s.Get("/search?q=zebra")
		apptest.WantStatus(t, a, http.StatusOK)
		if got := strings.Join(kinds(a), ", "); got != "Links, Targets, Short links, Crawl jobs, Crawled pages, Websites, Alert settings" {
			t.Errorf("got %s", got)
		}
		apptest.WantCount(t, a, "main script, main img", 0)
		apptest.WantCount(t, a, ".hits li", 7*5)
		apptest.WantText(t, a, ".hits li", hostile)
		a.Find(".hits a.title").Each(func(_ int, hit *goquery.Selection) {
			apptest.WantStatus(t, s.Get(hit.AttrOr("href", "")), http.StatusOK)
		})
		a.Find(".hits-of .section-head a").Each(func(_ int, all *goquery.Selection) {
			list := s.Get(all.AttrOr("href", ""))
			apptest.WantStatus(t, list, http.StatusOK)
			apptest.WantText(t, list, "main", "zebra")
		})

		part := s.Part("/search?for=palette&q=zebra")
		apptest.WantCount(t, part, "header, script, img", 0)
		apptest.WantCount(t, part, `[role=listbox] [role=group] a[role=option]`, 7*5+5) // a link to all for each kind with a list
	})
}

// Items without a substring index are found by the prefix of their key or host, at any age.
func TestSearchByPrefix(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.App) {
		t := s.TB.(*testing.T)
		oneOfEach(s, "A title", "zoo.test")
		for text, want := range map[string]string{
			"zoo.te":            "Links, Targets, Short links, Crawl jobs, Websites",
			"https://zoo.test/": "Links, Targets, Short links, Crawl jobs, Crawled pages, Websites",
			"k-zoo":             "Short links",
			"100%_":             "",
			"'\"\\":             "",
		} {
			var got string
			modelstest.Eventually(t, "no kind times out", func() bool { // on a busy machine, PostgreSQL may take seconds
				page := s.Get("/search?q=" + url.QueryEscape(text))
				got = strings.Join(kinds(page), ", ")
				return !strings.Contains(page.HTML, "timed out")
			})
			if !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("%q: got %s", text, got)
			}
		}
	})
}

func TestSearchOffersActions(t *testing.T) {
	s := apptest.New(t)
	for text, want := range map[string]string{
		"": "Add link, Add target, Add short link, Add crawl job, Add website, Add channel, Add rule, Add maintenance window, Go to Overview, Go to Links, Go to Tags, Go to Watch, Go to Short links, Go to Crawl, Go to Sites, Go to Alerts, Go to Admin, " +
			"Go to Status pages, Go to Crawled pages, Go to Discovered links, Go to Frontier, Go to Crawl schedule, Go to Feeds, Go to Alert channels, Go to Alert rules, Go to Maintenance, " +
			"Go to Account settings, Go to API tokens, Go to Help, Go to Checks, Go to Cleanup, Go to Jobs, Go to Settings, Go to Audit log",
		"wat":                 "Go to Watch",
		"add sh":              "Add short link",
		"LINK add":            "Add link, Add short link",
		"alert":               "Go to Alerts, Go to Alert channels, Go to Alert rules",
		"maintenance":         "Add maintenance window, Go to Maintenance",
		"status":              "Go to Status pages",
		"settings":            "Go to Account settings, Go to Settings",
		"zzz":                 "",
		"https://new.test/a?": "Save link, Watch this URL, Shorten this URL, Crawl this site",
		"new.test/a?":         "Save link, Watch this URL, Shorten this URL, Crawl this site",
		"javascript:alert(1)": "",
	} {
		a := s.Get("/search?q=" + url.QueryEscape(text))
		var got []string
		a.Find(".actions-list a").Each(func(_ int, l *goquery.Selection) {
			got = append(got, l.Text())
			path, _, _ := strings.Cut(l.AttrOr("href", ""), "#") // browsers do not send it
			if path == "/admin/cleanup" {                        // its job runs only in the full server
				return
			}
			to := s.Get(path)
			apptest.WantStatus(t, to, http.StatusOK)
			if strings.Contains(text, "new.test") {
				if typed := to.Find("#url").AttrOr("value", ""); typed != "https://new.test/a?" {
					t.Errorf("%s: got %q in the form", l.Text(), typed)
				}
			}
		})
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
	if n, err := s.Links.Counts(t.Context()); err != nil || n.Active != 0 { // opening a form stores nothing
		t.Errorf("got %d links, %v", n.Active, err)
	}
}

func TestLongSearch(t *testing.T) {
	s := apptest.New(t)
	for name, long := range longFilters {
		a := s.Get("/search?q=" + url.QueryEscape(long))
		apptest.WantStatus(t, a, http.StatusBadRequest)
		apptest.WantText(t, a, "#q-error", "The search must have at most 512 bytes.")
		apptest.WantText(t, s.Part("/search?q="+url.QueryEscape(long)), "#q-error", "The search must have at most 512 bytes.")
		apptest.WantText(t, s.Part("/search?for=palette&q="+url.QueryEscape(long)), ".remark", "The search must have at most 512 bytes.")
		if kept := a.Find("#q").AttrOr("value", ""); kept != long {
			t.Errorf("%s: got %d bytes of %d", name, len(kept), len(long))
		}
	}
}

// The numbers of queries of the search and the overview do not depend on the number of items.
func TestSearchQueries(t *testing.T) {
	s := apptest.New(t)
	const path = "/search?q=zebra"
	oneOfEach(s, "zebra", "one.test")
	few, fewOnOverview := s.Count(path), s.Count("/")
	for i := range 12 {
		oneOfEach(s, fmt.Sprintf("zebra %d", i), fmt.Sprintf("zoo-%d.test", i))
		s.Clock.Advance(time.Minute)
	}
	if many := s.Count(path); many > few+2 || many > 21 { // crawled pages are ranked only if there are at least two
		t.Errorf("got %d queries for few, %d for many", few, many)
	}
	if many := s.Count("/"); many != fewOnOverview {
		t.Errorf("overview: got %d queries for few, %d for many", fewOnOverview, many)
	}
	again := s.Count(path)
	oneOfEach(s, "zebra again", "again.test")
	if many := s.Count(path); many != again {
		t.Errorf("got %d queries, then %d", again, many)
	}
}
