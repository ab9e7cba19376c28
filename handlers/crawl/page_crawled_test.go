package crawl_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// page returns a fetched page with a text and links to paths of its site.
func page(e crawl.Entry, title, text string, links ...string) crawl.Result {
	r := apptest.Crawled(e)
	p := r.Page
	p.Title, p.ContentHash, p.Text, p.WordCount, p.Language = title, fmt.Sprintf("%x", text), crawl.CompressText(text), len(strings.Fields(text)), "en"
	var kept strings.Builder
	for _, l := range links {
		to := "https://site.test" + l
		r.Links = append(r.Links, crawl.FoundURL{Crawl: e.CrawlSeq, Source: e.Crawl.Source, URL: to, Depth: e.Depth + 1})
		fmt.Fprintf(&kept, "%s\tTo %s\n", to, l)
	}
	p.Links = crawl.CompressText(kept.String() + "\n")
	return r
}

// broken returns the result 404 of an entry.
func broken(e crawl.Entry) crawl.Result {
	r := apptest.Crawled(e)
	r.Status, r.Reason, r.Broken, r.Page.StatusCode, r.Page.ContentHash = crawl.EntryFailed, "status 404", true, 404, ""
	return r
}

// crawlPages runs a job of https://site.test with pages by path, and writes its report. Other
// paths are broken.
func (s *site) crawlPages(j crawl.Job, pages map[string]func(crawl.Entry) crawl.Result) crawl.Execution {
	s.Helper()
	if s.job(j.ID).Status == crawl.Scheduled {
		_, err := s.Crawl.Act(s.Context(), j.ID, crawl.ForceRun)
		s.Must(err)
	}
	e := s.BeginCrawl(j)
	s.Fetch(func(e crawl.Entry) crawl.Result {
		if p, ok := pages[strings.TrimPrefix(e.URL, "https://site.test")]; ok {
			return p(e)
		}
		return broken(e)
	})
	s.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Succeed})
	s.report()
	e, err := s.Crawl.Execution(s.Context(), e.ID)
	s.Must(err)
	return e
}

// report runs the indexer after a crawl.
func (s *site) report() {
	s.Helper()
	for {
		r, err := s.Crawl.NextReport(s.Context())
		s.Must(err)
		if r == nil {
			break
		}
		for done := false; !done; {
			done, err = r.Next(s.Context())
			s.Must(err)
		}
	}
	for n := 1; n > 0; {
		var err error
		n, err = s.Crawl.IndexNext(s.Context(), 100)
		s.Must(err)
	}
}

// shop crawls a site twice: one page changes, and one is gone.
func (s *site) shop() (j crawl.Job, first, second crawl.Execution) {
	s.Helper()
	j = s.AddJob("https://site.test/", named("Shop"), every(1, crawl.Hours))
	pages := map[string]func(crawl.Entry) crawl.Result{
		"/": func(e crawl.Entry) crawl.Result {
			return page(e, "Home", "Welcome to the shop", "/knife", "/old", "/dead")
		},
		"/knife": func(e crawl.Entry) crawl.Result {
			return page(e, "Knife", "A sharp knife\nThe price is 10 euros", "/dead")
		},
		"/old": func(e crawl.Entry) crawl.Result { return page(e, hostile, hostile) },
	}
	first = s.crawlPages(j, pages)
	s.Clock.Advance(time.Hour)
	pages["/knife"] = func(e crawl.Entry) crawl.Result {
		return page(e, "Knife", "A sharp knife\nThe price is 12 euros", "/dead")
	}
	delete(pages, "/old")
	second = s.crawlPages(j, pages)
	return j, first, second
}

// found returns the id of the only result of a search.
func (s *site) found(query string) string {
	s.Helper()
	items := apptest.Objects(s.Do("GET", "/v1/crawled-pages?q="+url.QueryEscape(query), "").Want(200)["items"])
	if len(items) != 1 {
		s.Fatalf("%s finds %d pages", query, len(items))
	}
	return items[0]["id"].(string)
}

func TestCrawledPagesPage(t *testing.T) {
	s := newSite(t)
	a := s.Get("/crawl/pages")
	apptest.WantText(t, a, ".empty", "No crawled pages yet")
	j, _, _ := s.shop()
	a = s.Get("/crawl/pages")
	apptest.WantCount(t, a, "tbody tr", 4) // and the broken one
	a = s.Get("/crawl/pages?q=sharp+price&source=" + j.SourceID + "&language=en&since=2026-01-01")
	apptest.WantCount(t, a, "tbody tr", 1)
	apptest.WantText(t, a, "tbody .title", "Knife")
	apptest.WantText(t, a, "tbody mark", "sharp")
	apptest.WantText(t, a, ".count", "1 page")
	apptest.WantText(t, s.Get("/crawl/pages?q=knife"), "tbody .title mark", "Knife")
	apptest.WantCount(t, a, ".chip.on", 3)
	apptest.WantText(t, s.Get("/crawl/pages?q=absent"), ".empty", "No matching pages")
	a = s.Get(`/crawl/pages?q="open`)
	apptest.WantStatus(t, a, http.StatusBadRequest)
	apptest.WantText(t, a, "#q-error", "unclosed quote")
	apptest.WantStatus(t, s.Get("/crawl/pages?since=yesterday"), http.StatusBadRequest)
	// Texts of sites are escaped.
	a = s.Get("/crawl/pages")
	apptest.WantCount(t, a, "tbody script, tbody img", 0)
	// The page shows how many pages are not indexed yet.
	modelstest.Exec(t, s.DB, "UPDATE crawled_pages SET unindexed = true")
	apptest.WantText(t, s.Get("/crawl/pages?q=sharp"), "#found > .muted", "4 pages wait to be indexed")
}

// The number of queries does not depend on the number of pages.
func TestQueriesOfCrawledPages(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://site.test/", named("Shop"))
	pages := map[string]func(crawl.Entry) crawl.Result{}
	var links []string
	for i := range 30 {
		path := fmt.Sprintf("/p%d", i)
		links = append(links, path)
		pages[path] = func(e crawl.Entry) crawl.Result { return page(e, "Page", "some words "+path) }
	}
	pages["/"] = func(e crawl.Entry) crawl.Result { return page(e, "Home", "some words", links...) }
	s.crawlPages(j, pages)
	for _, path := range []string{"/crawl/pages", "/crawl/pages?q=words"} {
		if n := s.Count(path); n > 12 {
			t.Errorf("%s: got %d queries", path, n)
		}
	}
}

func TestActionsOnCrawledPages(t *testing.T) {
	s := newSite(t)
	s.shop()
	id := s.found("sharp")
	a := s.Get("/crawl/pages/" + id)
	apptest.WantText(t, a, "h1", "Knife")
	apptest.WantText(t, a, ".reading", "The price is 12 euros")
	apptest.WantCount(t, a, "#history ~ table tbody tr", 2)
	apptest.WantText(t, a, "#facts", "Archived copies The archive is off. Set CRAWLER_ARCHIVE_URL")
	a = s.Follow("/crawl/pages/bulk", s.row(a, "form[action='/crawl/pages/bulk']", "save"))
	apptest.WantText(t, a, ".flash", "1 link added.")
	apptest.WantCount(t, a, ".kept", 1)
	a = s.Follow("/crawl/pages/bulk", s.row(a, "form[action='/crawl/pages/bulk']", "watch"))
	apptest.WantText(t, a, ".flash", "1 target added.")
	apptest.WantCount(t, a, ".kept", 2)
	a = s.Follow("/crawl/pages/bulk", s.row(a, "form[action='/crawl/pages/bulk']", "delete"))
	apptest.WantText(t, a, ".flash", "Deleted.")
	apptest.WantStatus(t, s.Get("/crawl/pages/"+id), http.StatusNotFound)
	apptest.WantCount(t, s.Get("/crawl/pages?q=sharp"), "tbody tr", 0)
	a = s.Submit(a, ".flash form")
	apptest.WantText(t, a, ".flash", "Pages restored.")
	s.report()
	apptest.WantCount(t, s.Get("/crawl/pages?q=sharp"), "tbody tr", 1)

	// All rows of a list at once.
	a = s.Get("/crawl/pages")
	a = s.Follow("/crawl/pages/bulk", s.selected(a, "delete", "/crawl/pages"))
	apptest.WantCount(t, a, "tbody tr", 0)
	apptest.WantStatus(t, s.Post("/crawl/pages/bulk", url.Values{"id": {id}, "action": {"explode"}}), http.StatusBadRequest)
	apptest.WantText(t, s.Follow("/crawl/pages/bulk", url.Values{"action": {"save"}}), ".flash", "Nothing selected")
}

func TestChangesPage(t *testing.T) {
	s := newSite(t)
	j, first, second := s.shop()
	id := s.found("sharp")
	a := s.Get("/crawl/pages/" + id + "/changes")
	apptest.WantCount(t, a, ".diff tbody tr.changed", 1)
	apptest.WantText(t, a, ".diff del", "10")
	apptest.WantText(t, a, ".diff ins", "12")
	apptest.WantText(t, a, ".compare .count", "1 word added")
	apptest.WantCount(t, a, "select[name=from] option", 2)
	apptest.WantStatus(t, s.Get("/crawl/pages/"+id+"/changes?from=7"), http.StatusNotFound)
	apptest.WantStatus(t, s.Get("/crawl/pages/"+id+"/changes?to=x"), http.StatusBadRequest)

	a = s.Get("/crawl/executions/" + second.ID)
	apptest.WantText(t, a, "#changes ~ .filters .count", "0 new, 1 changed, 1 gone")
	apptest.WantCount(t, a, "#changes ~ table tbody tr", 2)
	apptest.WantCount(t, a, "#changes ~ table tbody script", 0)
	apptest.WantCount(t, s.Get("/crawl/executions/"+second.ID+"?change=gone"), "#changes ~ table tbody tr", 1)
	apptest.WantStatus(t, s.Get("/crawl/executions/"+second.ID+"?change=x"), http.StatusBadRequest)
	apptest.WantText(t, s.Get("/crawl/jobs/"+j.ID), ".run-progress", "0 new, 1 changed, 1 gone")

	// Broken links on the page and as a file.
	a = s.Get("/crawl/executions/" + first.ID)
	if first.BrokenLinks != 2 {
		t.Errorf("got %d broken links", first.BrokenLinks)
	}
	a = s.Get(a.Find("a[download]").AttrOr("href", ""))
	if got := a.Header.Get("Content-Type"); got != "text/csv; charset=utf-8" {
		t.Errorf("got file %s", got)
	}
	rows, err := csv.NewReader(strings.NewReader(a.Text())).ReadAll()
	if err != nil || len(rows) != 3 || rows[2][0] != "https://site.test/dead" || rows[2][2] != "To /dead" || rows[2][3] != "https://site.test/knife" {
		t.Errorf("got rows %q, %v", rows, err)
	}
}

// A duplicate is in no list, and its page and the API say which page is shown instead.
func TestDuplicatePages(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://site.test/", named("Shop"), every(1, crawl.Hours))
	s.crawlPages(j, map[string]func(crawl.Entry) crawl.Result{
		"/": func(e crawl.Entry) crawl.Result {
			return page(e, "Home", "Welcome", "/knife?sort=price", "/knife", "/lost")
		},
		"/knife?sort=price": func(e crawl.Entry) crawl.Result {
			r := page(e, "Knives by price", "A sharp knife")
			r.Page.Canonical, r.Reason = "https://site.test/knife", crawl.ReasonCanonical
			return r
		},
		"/knife": func(e crawl.Entry) crawl.Result { return page(e, "Knives", "A sharp knife") },
		"/lost": func(e crawl.Entry) crawl.Result {
			r := page(e, "Lost", "A blunt knife")
			r.Page.Canonical, r.Reason = "https://site.test/dead", crawl.ReasonCanonical
			return r
		},
	})
	apptest.WantCount(t, s.Get("/crawl/pages"), "tbody tr", 3)
	s.found("sharp")
	urls := []string{"https://site.test/knife?sort=price", "https://site.test/lost"}
	facts, err := s.Crawl.FactsOf(t.Context(), urls)
	s.Must(err)
	for url, want := range map[string]struct {
		of   any
		fact string
	}{
		urls[0]: {"https://site.test/knife", "https://site.test/knife · shown in lists and searches instead of this page"},
		urls[1]: {nil, "https://site.test/dead"},
	} {
		id := facts[url].PageID
		apptest.Has(t, s.Do("GET", "/v1/crawled-pages/"+id, "").Want(200), map[string]any{"url": url, "duplicate_of": want.of, "gone_at": nil})
		apptest.WantText(t, s.Get("/crawl/pages/"+id), "#facts", "Canonical URL "+want.fact)
	}
}

func TestCrawledPages_API(t *testing.T) {
	t.Parallel()
	app := apptest.New(t)
	s := &site{app, app.Systems.Crawl.Store}
	j, _, second := s.shop()
	list := s.Do("GET", "/v1/crawled-pages?q=sharp&source_id="+j.SourceID, "").Want(200)
	items := apptest.Objects(list["items"])
	if len(items) != 1 || items[0]["snippet"] != "A sharp knife The price is 12 euros" || list["next_page_token"] != "" {
		s.Fatalf("found %v", list)
	}
	apptest.Has(s.TB, items[0], map[string]any{"title": "Knife", "status_code": 200, "language": "en", "archived": false, "gone_at": nil})
	apptest.Has(s.TB, apptest.Objects(items[0]["highlights"])[0], map[string]any{"start": 2, "end": 7})
	at := "/v1/crawled-pages/" + items[0]["id"].(string)
	one := s.Do("GET", at, "").Want(200)
	apptest.Has(s.TB, one, map[string]any{"text": "A sharp knife\nThe price is 12 euros", "snippet": nil})
	if len(one["versions"].([]any)) != 2 || len(one["copies"].([]any)) != 0 || len(one["json_ld"].([]any)) != 0 {
		s.Errorf("page %v", one)
	}
	apptest.Has(s.TB, s.Do("GET", at+"/versions/1", "").Want(200), map[string]any{"version": 1, "change": "new", "text": "A sharp knife\nThe price is 10 euros"})
	s.Do("GET", at+"/versions/9", "").Problem(404, "not-found", "")
	diff := s.Do("GET", at+"/diff", "").Want(200)
	apptest.Has(s.TB, diff, map[string]any{"from": 1, "to": 2, "added": 1, "removed": 1, "cut": false})
	apptest.Has(s.TB, apptest.Objects(diff["lines"])[0], map[string]any{"kind": "changed", "old": "The price is 10 euros", "new": "The price is 12 euros"})

	run := "/v1/executions/" + second.ID
	apptest.Has(s.TB, s.Do("GET", run, "").Want(200), map[string]any{"pages_new": 0, "pages_changed": 1, "pages_gone": 1, "broken_links": 3, "reported": true})
	changes := apptest.Objects(s.Do("GET", run+"/changes?change=gone", "").Want(200)["items"])
	if len(changes) != 1 || changes[0]["url"] != "https://site.test/old" || changes[0]["status_code"] != 404.0 {
		s.Errorf("changes %v", changes)
	}
	links := s.Do("GET", run+"/broken-links?limit=1", "").Want(200)
	apptest.Has(s.TB, apptest.Objects(links["items"])[0], map[string]any{"url": "https://site.test/old", "error": "status 404", "found_on": "https://site.test/"})
	rest := s.Do("GET", run+"/broken-links?limit=1&page_token="+url.QueryEscape(links["next_page_token"].(string)), "").Want(200)
	if n := len(rest["items"].([]any)); n != 1 || rest["next_page_token"] == "" {
		s.Errorf("%d broken links on the second page", n)
	}

	s.Do("GET", "/v1/crawled-pages?q=%22", "").Problem(400, "invalid-request", "query.q")
	s.Do("GET", "/v1/crawled-pages?since=x", "").Problem(400, "invalid-request", "query.since")
	s.Do("GET", "/v1/crawled-pages?page_token=x", "").Problem(400, "invalid-request", "query.page_token")
	s.Do("GET", "/v1/crawled-pages/k_x", "").Problem(404, "not-found", "")
	s.Do("DELETE", at, "").Want(204)
	s.Do("DELETE", at, "").Problem(404, "not-found", "")
	s.Do("GET", at, "").Problem(404, "not-found", "")
}
