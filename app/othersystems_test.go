package app_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	sitehandlers "linkwatch/handlers/sites"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/links"
	"linkwatch/models/sites"
	"linkwatch/models/targets"
	siteviews "linkwatch/views/sites"
)

func pagesAt(site string, n int) (urls []string) {
	for i := range n {
		urls = append(urls, fmt.Sprintf("%s/%d", site, i))
	}
	return urls
}

// Pages of a website become links and targets without a request to them. Existing ones stay unchanged.
func TestSaveAndWatchPagesOfAWebsite(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.App) {
		e := s.Systems.Sites.Deps.OtherSystems
		known, watched := s.Save("https://site.test/1", "tagged"), s.Watch("https://site.test/1/", "Mine")
		urls := append(pagesAt("https://site.test", 3), "https://site.test/2#again", "mailto:a@site.test")
		for what, keep := range map[string]func(context.Context, []string, bool) (sitehandlers.Outcome, error){"save": e.Save, "watch": e.Watch} {
			o, err := keep(s.Context(), urls, false)
			if want := (sitehandlers.Outcome{Added: 2, Known: 1, Refused: 1}); err != nil || o != want {
				s.Errorf("%s: %+v %v, want %+v", what, o, err, want)
			}
			o, err = keep(s.Context(), pagesAt("https://site.test", sitehandlers.MaxBulkAdd+1), false)
			if models.CodeOf(err) != models.CodeInvalid || o != (sitehandlers.Outcome{}) {
				s.Errorf("%s too many: %+v %v", what, o, err)
			}
		}
		related, err := e.Related(s.Context(), append(urls, "https://site.test/unknown"))
		s.Must(err)
		if want := (siteviews.Related{Link: "/links/" + known.ID, Target: "/watch/" + watched.ID}); related["https://site.test/1"] != want || len(related) != 4 {
			s.Errorf("got %+v", related)
		}
	})
}

// Facts from crawls, checks and rechecks of a page are found for every form of its URL.
func TestFactsOfAPage(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.App) {
		e := s.Systems.Sites.Deps.OtherSystems
		job := s.AddJob("https://site.test/")
		run := s.BeginCrawl(job)
		s.Fetch(func(e crawl.Entry) crawl.Result {
			if e.Depth > 0 {
				r := apptest.Crawled(e)
				r.Page.NoIndex, r.Page.Canonical, r.Page.WordCount, r.Page.ContentType = true, "https://site.test/0", 7, "text/html"
				return r
			}
			return apptest.Crawled(e, pagesAt("https://site.test", 3)...)
		})
		s.EndCrawl(run, crawl.ExecutionEnd{Event: crawl.Succeed})
		fetched := s.Clock.Now()
		target := s.Watch("https://site.test/1", "", targets.Result{Outcome: targets.DownOutcome, StatusCode: 503, Error: "unexpected status 503"})
		s.Web.Set("https://site.test/1", links.Page{Status: http.StatusOK, URL: "https://site.test/new", Permanent: true, Title: "T"})
		link := s.Save("https://site.test/1")

		facts, err := e.Evidence(s.Context(), []string{"https://site.test/1", "https://other.test/", "no URL"})
		s.Must(err)
		k := facts["https://site.test/1"]
		if k.Crawled == nil || k.Checked == nil || k.Saved == nil || len(facts) != 1 {
			s.Fatalf("the facts are %+v", facts)
		}
		c := *k.Crawled
		if !strings.HasPrefix(c.Link, "/crawl/pages/") || c.FetchedAt.After(fetched) || s.Get(c.Link).StatusCode != http.StatusOK {
			s.Errorf("got link %q, fetched at %s", c.Link, c.FetchedAt)
		}
		c.Link, c.FetchedAt = "", models.Time{}
		if want := (sites.Crawled{StatusCode: 200, NoIndex: true, Canonical: "https://site.test/0", OtherCanonical: true, Words: 7}); c != want {
			s.Errorf("crawled: got %+v, want %+v", c, want)
		}
		checked := sites.Checked{Status: sites.CheckDown, StatusCode: 503, CheckedAt: k.Checked.CheckedAt, Error: "unexpected status 503", Link: "/watch/" + target.ID}
		if *k.Checked != checked || k.Checked.CheckedAt.IsZero() {
			s.Errorf("checked: got %+v, want %+v", *k.Checked, checked)
		}
		saved := sites.Saved{Health: "moved", StatusCode: 200, CheckedAt: k.Saved.CheckedAt, MovedTo: "https://site.test/new", Link: "/links/" + link.ID}
		if *k.Saved != saved || k.Saved.CheckedAt.IsZero() {
			s.Errorf("saved: got %+v, want %+v", *k.Saved, saved)
		}
		related, err := e.Related(s.Context(), []string{"https://site.test/2/", "https://site.test/1"})
		s.Must(err)
		if related["https://site.test/1"].Crawled != k.Crawled.Link || related["https://site.test/2/"].Crawled == "" || related["https://site.test/2/"].Link != "" {
			s.Errorf("got %+v", related)
		}
	})
}

// The number of queries does not depend on the number of pages. Errors of each system are returned.
func TestFactsOfManyPages(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.App) {
		e := s.Systems.Sites.Deps.OtherSystems
		crawlSite(s, "https://site.test")
		many := pagesAt("https://site.test", crawl.MaxFacts)
		for what, load := range map[string]func(context.Context, []string) error{
			"facts":   func(ctx context.Context, urls []string) error { _, err := e.Evidence(ctx, urls); return err },
			"related": func(ctx context.Context, urls []string) error { _, err := e.Related(ctx, urls); return err },
		} {
			s.Queries.Store(0)
			s.Must(load(s.Context(), many[:1]))
			one := s.Queries.Swap(0)
			s.Must(load(s.Context(), many))
			if n := s.Queries.Load(); n != one {
				s.Errorf("%s: %d queries for one page, %d for many", what, one, n)
			}
			if err := load(s.Context(), append(many, "https://site.test/more")); models.CodeOf(err) != models.CodeInvalid {
				s.Errorf("%s of too many: %v", what, err)
			}
			ctx, cancel := context.WithCancel(s.Context())
			cancel()
			if err := load(ctx, many); !errors.Is(err, context.Canceled) {
				s.Errorf("%s: %v", what, err)
			}
		}
	})
}

// The crawl of a website starts at its root, with the pages of its sitemaps. The crawl of a domain includes all its hosts.
func TestCrawlOfAWebsite(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.App) {
		e, store := s.Systems.Sites.Deps.OtherSystems, s.Systems.Crawl.Store
		for _, test := range []struct {
			siteURL, start string
			urls           []string
			queued         int
		}{
			{"https://site.test/blog/", "https://site.test/blog/", []string{"https://site.test/blog/1", "https://sub.site.test/"}, 1},
			{"sc-domain:domain.test", "https://domain.test/", []string{"https://domain.test/1", "https://a.b.domain.test/", "https://other.test/"}, 2},
			{"https://empty.test/", "https://empty.test/", nil, 0},
		} {
			w, err := s.Systems.Sites.Store.Add(s.Context(), sites.NewWebsite{SiteURL: test.siteURL, Name: "Ours"})
			s.Must(err)
			path, err := e.Crawl(s.Context(), w, test.urls)
			s.Must(err)
			apptest.WantStatus(s.TB.(*testing.T), s.Get(path), http.StatusOK)
			j, err := store.Job(s.Context(), strings.TrimPrefix(path, "/crawl/jobs/"))
			s.Must(err)
			if j.URL != test.start || j.SourceName != "Ours" || j.Recurring() {
				s.Errorf("%s: the job is %+v", test.siteURL, j)
			}
			list, err := store.Frontier(s.Context(), crawl.EntryFilter{SourceID: j.SourceID}, models.Cursor{}, 10)
			s.Must(err)
			if len(list.Items) != test.queued {
				s.Errorf("%s: frontier is %+v", test.siteURL, list.Items)
			}
			if again, err := e.Crawl(s.Context(), w, test.urls); err != nil || again != path {
				s.Errorf("%s: second crawl at %s: %v", test.siteURL, again, err)
			}
			if _, err := e.Crawl(s.Context(), w, pagesAt(test.start, sitehandlers.MaxCrawl+1)); models.CodeOf(err) != models.CodeInvalid {
				s.Errorf("too many: %v", err)
			}
		}
	})
}

// The diagnosis uses the crawl results of pages that only a sitemap lists, even if no page of them was stored.
func TestDiagnosisOfCrawledSitemapPages(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.App) {
		store, e := s.Systems.Sites.Store, s.Systems.Sites.Deps.OtherSystems
		w, err := store.Add(s.Context(), sites.NewWebsite{SiteURL: "https://site.test/"})
		s.Must(err)
		m, _, err := store.AddSitemap(s.Context(), w.ID, "https://site.test/sitemap.xml")
		s.Must(err)
		urls := []string{"https://site.test/private", "https://site.test/gone"}
		var entries []sites.Entry
		for _, url := range urls {
			u, err := models.ParseURL("url", url)
			s.Must(err)
			entries = append(entries, sites.Entry{URL: u})
		}
		reader := sites.NewStore(s.DB, s.Clock.Now, sites.Options{}) // the store of the program needs the lease of an instance
		s.Must(reader.BeginReading(s.Context(), m))
		_, err = reader.StoreEntries(s.Context(), w, m, entries)
		s.Must(err)
		list, err := store.Pages(s.Context(), w.ID, sites.Filter{}, models.Cursor{}, 10)
		s.Must(err)
		for _, p := range list.Items {
			if p.URL == urls[0] {
				s.Must(store.RecordVerification(s.Context(), sites.Verification{
					Page: p, Cause: sites.CauseRobots, Inspection: sites.Inspection{Verdict: "FAIL", CoverageState: "Blocked by robots.txt", RobotsState: "DISALLOWED"},
				}))
			}
		}

		path, err := e.Crawl(s.Context(), w, urls)
		s.Must(err)
		job, err := s.Systems.Crawl.Store.Job(s.Context(), strings.TrimPrefix(path, "/crawl/jobs/"))
		s.Must(err)
		run := s.BeginCrawl(job)
		s.Fetch(func(e crawl.Entry) crawl.Result {
			switch e.URL {
			case urls[0]:
				return crawl.Result{Status: crawl.EntryFailed, Reason: crawl.ReasonRobots}
			case urls[1]:
				r := apptest.Crawled(e)
				r.Page.StatusCode, r.Status, r.Reason, r.Broken = 404, crawl.EntryFailed, "status 404", true
				return r
			}
			return apptest.Crawled(e)
		})
		s.EndCrawl(run, crawl.ExecutionEnd{Event: crawl.Succeed})

		a := s.Get("/sites/" + w.ID + "/not-indexed")
		apptest.WantStatus(s.TB.(*testing.T), a, http.StatusOK)
		apptest.WantText(s.TB.(*testing.T), a, "tbody [data-label=Crawl]", "robots.txt disallows it")
		facts, err := e.Evidence(s.Context(), urls)
		s.Must(err)
		list, err = store.Pages(s.Context(), w.ID, sites.Filter{}, models.Cursor{}, 10)
		s.Must(err)
		for _, p := range list.Items {
			want := map[string]string{urls[0]: sites.CauseRobots, urls[1]: sites.CauseNotFound}[p.URL]
			if found := sites.Diagnose(p, facts[p.URL]); found[0].Cause != want || found[0].Certainty != sites.Certain {
				s.Errorf("%s: the first finding is %+v, want %s, certain", p.URL, found[0], want)
			}
		}
		if len(list.Items) != len(urls) {
			s.Errorf("got %d pages, want %d", len(list.Items), len(urls))
		}
	})
}

// The crawl of a private website is private, even if its host has a shared source. Facts of private sources are
// visible to their owner only.
func TestCrawlOfAPrivateWebsite(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.App) {
		e, bob, alice := s.Systems.Sites.Deps.OtherSystems, s.As("bob"), s.As("alice")
		shared := s.AddJob("https://site.test/")
		w, err := s.Systems.Sites.Store.Add(bob.Context(), sites.NewWebsite{SiteURL: "https://site.test/", Private: true})
		s.Must(err)
		path, err := e.Crawl(bob.Context(), w, pagesAt("https://site.test", 2))
		s.Must(err)
		if path == "/crawl/jobs/"+shared.ID || alice.Get(path).StatusCode != http.StatusNotFound || bob.Get(path).StatusCode != http.StatusOK {
			s.Errorf("crawl %s is not private", path)
		}
		if entries := apptest.Items(alice.Do("GET", "/v1/frontier", "").Want(200)); len(entries) != 0 {
			s.Errorf("alice sees entries: %v", entries)
		}
		j, err := s.Systems.Crawl.Store.Job(bob.Context(), strings.TrimPrefix(path, "/crawl/jobs/"))
		s.Must(err)
		s.BeginCrawl(j)
		s.Fetch(func(e crawl.Entry) crawl.Result { return apptest.Crawled(e) })
		for _, who := range []struct {
			*apptest.App
			visible int
		}{{bob, 1}, {alice, 0}, {s, 0}} { // without an actor: the scope of the system
			facts, err := e.Evidence(who.Context(), []string{"https://site.test/1"})
			s.Must(err)
			related, err := e.Related(who.Context(), []string{"https://site.test/1"})
			s.Must(err)
			if len(facts) != who.visible || len(related) != who.visible {
				s.Errorf("facts %v, related %v, want %d", facts, related, who.visible)
			}
		}
	})
}
