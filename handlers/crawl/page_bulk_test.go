package crawl_test

import (
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

// discover runs a job whose start page links to other sites.
func (s *site) discover(urls ...string) crawl.Job {
	s.Helper()
	j := s.AddJob("https://start.test", named("Start"))
	e := s.BeginCrawl(j)
	s.Fetch(func(e crawl.Entry) crawl.Result {
		r := apptest.Crawled(e)
		for _, u := range urls {
			r.Discovered = append(r.Discovered, crawl.DiscoveredLink{SourceSeq: e.Crawl.Source, URL: u, Text: "To " + u, FoundOn: e.URL})
		}
		return r
	})
	s.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Succeed})
	return j
}

// selected returns the form values that a browser sends for all rows of a page.
func (s *site) selected(a apptest.Page, action, back string) url.Values {
	v := url.Values{"action": {action}, "back": {back}}
	for _, box := range a.Find("tbody input[type=checkbox]").EachIter() {
		v.Add("id", box.AttrOr("value", ""))
	}
	return v
}

func TestFiltersOfDiscoveredPage(t *testing.T) {
	s := newSite(t)
	s.discover("https://one.test/a", "https://one.test:8443/b", "https://two.test/?q=%3Cscript%3E")
	for query, want := range map[string]int{"": 3, "host=one.test": 2, "host=ONE.test:8443": 1, "q=two": 1, "q=to+https": 3, "q=none": 0, "host=none": 0, "q=a&host=one.test": 1} {
		a := s.Get("/crawl/discovered?" + query)
		apptest.WantStatus(t, a, http.StatusOK)
		apptest.WantCount(t, a, "tbody tr", want)
		if want == 0 {
			apptest.WantText(t, a, ".empty", "No matching links")
			apptest.WantCount(t, a, "#bulk", 0)
		}
	}
	a := s.Get("/crawl/discovered?host=one.test&q=a")
	apptest.WantCount(t, a, `form.find input[type=hidden][name=host][value="one.test"]`, 1)
	a = s.Get(a.Find(".chip.on").AttrOr("href", ""))
	if got := a.Request.URL.RequestURI(); got != "/crawl/discovered?q=a" {
		t.Errorf("without the host: got %s", got)
	}
	a = s.Get(s.Get("/crawl/discovered").Find("tbody tr:nth-child(2) .host-only").AttrOr("href", ""))
	apptest.WantCount(t, a, "tbody tr", 1)
	for _, name := range []string{"q", "host"} {
		long := name + "=" + strings.Repeat("x", 600)
		apptest.WantText(t, s.Get("/crawl/discovered?"+long), "#q-error", "ust have at most")
		apptest.WantText(t, s.Get("/crawl/frontier?"+long), "#q-error", "ust have at most")
		apptest.WantStatus(t, s.Part("/crawl/frontier?"+long), http.StatusBadRequest)
	}
	for path, part := range map[string]string{"/crawl/discovered": "#found", "/crawl/frontier": "#entries"} {
		a := s.Part(path + "?q=a")
		apptest.WantCount(t, a, part, 1)
		apptest.WantCount(t, a, "header, form.find", 0)
		if got := a.Header.Get("HX-Replace-Url"); got != path+"?q=a" {
			t.Errorf("got HX-Replace-Url %q", got)
		}
	}
}

// Selected links are saved, watched or deleted at once. The page shows the result, and rows show
// their links and targets.
func TestBulkOfDiscoveredLinks(t *testing.T) {
	s := newSite(t)
	s.discover("https://one.test/a", "https://one.test/b", "https://two.test/")
	path := "/crawl/discovered?q=one"
	a := s.Get(path)
	apptest.WantCount(t, a, "#bulk, .selects .bulk", 1)
	a = s.Follow("/crawl/discovered/bulk", s.selected(a, "save", path))
	apptest.WantText(t, a, ".flash", "2 links added. Titles are fetched in a few seconds.")
	apptest.WantCount(t, a, "tbody tr .kept[href^='/links/l_']", 2)
	apptest.WantCount(t, a, "tbody button[value=save]", 0)
	apptest.WantCount(t, a, "tbody button[value=watch]", 2)
	all := s.Get("/crawl/discovered")
	a = s.Follow("/crawl/discovered/bulk", s.selected(all, "save", "/crawl/discovered"))
	apptest.WantText(t, a, ".flash", "1 link added. Titles are fetched in a few seconds. 2 URLs already saved.")
	apptest.WantText(t, s.Get(a.Find("tbody tr:last-child .kept").AttrOr("href", "")), "h1", "two.test")
	a = s.Follow("/crawl/discovered/bulk", s.selected(a, "watch", "/crawl/discovered"))
	apptest.WantText(t, a, ".flash", "3 targets added. The first checks run in a few seconds.")
	apptest.WantCount(t, a, "tbody tr .kept[href^='/watch/t_']", 3)
	a = s.Follow("/crawl/discovered/bulk", s.selected(a, "watch", "/crawl/discovered"))
	apptest.WantText(t, a, ".flash", "3 URLs already watched.")

	ids := s.selected(a, "delete", path)
	a = s.Follow("/crawl/discovered/bulk", ids)
	apptest.WantText(t, a, ".flash", "3 links deleted.")
	apptest.WantText(t, a, ".empty", "No matching links")
	undo := url.Values{"deleted_at": {a.Find(".flash input[name=deleted_at]").AttrOr("value", "")}}
	a = s.Submit(a, ".flash form")
	apptest.WantText(t, a, ".flash", "Links restored.")
	apptest.WantCount(t, a, "tbody tr", 2)
	apptest.WantText(t, s.Follow("/crawl/discovered/restore", undo), ".flash.bad", "Could not undo")
	apptest.WantCount(t, s.Get("/crawl/discovered"), "tbody tr", 3)

	apptest.WantText(t, s.Follow("/crawl/discovered/bulk", url.Values{"action": {"save"}}), ".flash", "Nothing selected")
	apptest.WantText(t, s.Follow("/crawl/discovered/bulk", url.Values{"action": {"save"}, "id": {"d_none"}}), ".flash", "the selected rows no longer exist")
	apptest.WantStatus(t, s.Post("/crawl/discovered/bulk", url.Values{"action": {"explode"}, "id": ids["id"]}), http.StatusBadRequest)
	apptest.WantStatus(t, s.Post("/crawl/discovered/restore", url.Values{"deleted_at": {"soon"}}), http.StatusBadRequest)
	for _, action := range []string{"save", "watch", "delete"} {
		many := url.Values{"action": {action}, "id": make([]string, crawl.MaxBulk+1)}
		apptest.WantStatus(t, s.Post("/crawl/discovered/bulk", many), http.StatusBadRequest)
	}
	for _, made := range []string{"saved_urls=save.1.1", "saved_urls=save.-1.0.0", "saved_urls=save.999.0.0", "saved_urls=explode.1.1.1", "links_deleted=1", "jobs_moved=x"} {
		apptest.WantCount(t, s.Get("/crawl/discovered?"+made), ".flash", 0)
	}
}

// A row is saved, watched and deleted with its own buttons.
func TestRowOfADiscoveredLink(t *testing.T) {
	s := newSite(t)
	s.discover("https://one.test/a", "https://two.test/b")
	const first = "tbody tr:first-child form"
	a := s.Follow("/crawl/discovered/bulk", s.row(s.Get("/crawl/discovered"), first, "save"))
	apptest.WantText(t, a, ".flash", "1 link added.")
	a = s.Follow("/crawl/discovered/bulk", s.row(a, first, "watch"))
	apptest.WantText(t, a, ".flash", "1 target added.")
	apptest.WantText(t, a, "tbody tr:first-child [data-label=Saved]", "saved watched")
	apptest.WantText(t, a, "tbody tr:last-child [data-label=Saved]", "–")
	a = s.Follow("/crawl/discovered/bulk", s.row(a, first, "delete"))
	apptest.WantText(t, a, ".flash", "1 link deleted.")
	apptest.WantCount(t, a, "tbody tr", 1)
}

func TestFrontierFiltersAndRetry(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://start.test", named("Start"))
	s.BeginCrawl(j)
	s.Fetch(func(e crawl.Entry) crawl.Result {
		if e.Depth == 0 {
			return apptest.Crawled(e, "https://start.test/a", "https://start.test/b", "https://www.start.test/c")
		}
		return crawl.Result{Status: crawl.EntryFailed, Reason: "status 500"}
	})
	for query, want := range map[string]int{"host=start.test": 3, "host=www.start.test": 1, "q=/A": 1, "q=start&status=failed": 3, "q=none": 0} {
		apptest.WantCount(t, s.Get("/crawl/frontier?"+query), "tbody tr", want)
	}
	path := "/crawl/frontier?q=start&status=failed&host=start.test"
	a := s.Get(path)
	apptest.WantCount(t, a, "form.find input[type=hidden]", 2)
	a = s.Follow("/crawl/frontier/bulk", s.selected(a, "retry", path))
	apptest.WantText(t, a, ".flash", "The URLs are fetched again in a few seconds.")
	apptest.WantText(t, a, ".empty", "No matching URLs")
	a = s.Get("/crawl/frontier")
	apptest.WantText(t, a, "tbody", "pending start.test/a")
	apptest.WantText(t, s.Follow("/crawl/frontier/bulk", s.selected(s.Get("/crawl/frontier?status=done"), "retry", path)), ".flash.bad", "Nothing was retried")
	a = s.Follow("/crawl/frontier/bulk", s.row(s.Get("/crawl/frontier?status=failed"), "tbody form", "retry"))
	apptest.WantText(t, a, ".flash", "fetched again")

	a = s.Post("/crawl/frontier/bulk", s.selected(s.Get("/crawl/frontier"), "delete", "/crawl/frontier?q=start"))
	apptest.WantText(t, a, "h1", "Delete 4 URLs?")
	if got := a.Find("main a.button").AttrOr("href", ""); got != "/crawl/frontier?q=start" {
		t.Errorf("on cancel: got %q", got)
	}
	a = s.Submit(a, "main form")
	apptest.WantText(t, a, ".flash", "Deleted from the frontier.")
	apptest.WantText(t, s.Get("/crawl/jobs/"+j.ID), ".run-progress", "queued 0")
	apptest.WantText(t, s.Follow("/crawl/frontier/bulk", url.Values{"action": {"retry"}}), ".flash", "Nothing selected")
	apptest.WantStatus(t, s.Post("/crawl/frontier/bulk", url.Values{"action": {"save"}, "id": {"x"}}), http.StatusBadRequest)
	many := url.Values{"action": {"delete"}, "sure": {"true"}, "id": make([]string, crawl.MaxBulk+1)}
	apptest.WantStatus(t, s.Post("/crawl/frontier/bulk", many), http.StatusBadRequest)
}

func TestSchedulePage(t *testing.T) {
	s := newSite(t)
	apptest.WantText(t, s.Get("/crawl/schedule"), ".empty", "No runs in the next 24 hours")
	for i := range 12 {
		s.AddJob(fmt.Sprintf("https://h%d.test", i), named(hostile), every(1, crawl.Days))
	}
	a := s.Get("/crawl/schedule")
	apptest.WantCount(t, a, ".chart svg[role=img][aria-label] .hover", 96)
	apptest.WantCount(t, a, ".figures tbody tr", 25-zero(s))
	apptest.WantText(t, a, ".score", "1.00")
	apptest.WantText(t, a, "section[aria-labelledby=rebalance]", "No jobs can be moved. Even 1.00")
	apptest.WantCount(t, a, "form[action='/crawl/schedule']", 0)

	crowd(s)
	a = s.Get("/crawl/schedule")
	apptest.WantText(t, a, "section[aria-labelledby=rebalance]", "Rebalance to move 11 jobs. Uneven 0.00")
	apptest.WantText(t, a, ".rebalance", "Score 0.00 → 1.00: 11 jobs to move")
	apptest.WantText(t, a, "tbody tr .title", hostile)
	apptest.WantCount(t, a, "main script, main img", 0)
	a = s.Submit(a, "form[action='/crawl/schedule']")
	apptest.WantText(t, a, ".flash", "11 jobs moved.")
	apptest.WantText(t, a, ".score", "1.00")
	apptest.WantCount(t, a, "form[action='/crawl/schedule']", 0)
	apptest.WantText(t, s.Follow("/crawl/schedule", nil), ".flash", "No jobs were moved")
	apptest.WantCount(t, s.Get("/crawl"), ".actions a[href='/crawl/schedule']", 1)
}

// zero returns 1 if the window of the schedule starts at a full hour.
func zero(s *site) int {
	if s.Crawl.Now().Truncate(crawl.SlotLength).Minute() == 0 {
		return 1
	}
	return 0
}

// crowd sets the same next run for all jobs, some hours from now.
func crowd(s *site) {
	s.Helper()
	at := s.Crawl.Now().Add(5 * time.Hour)
	modelstest.Exec(s.TB, s.DB, "UPDATE jobs SET next_run_at = ?, planned_at = ? WHERE next_run_at IS NOT NULL", at, at)
}

func TestBulkPagesConstantNumberOfQueries(t *testing.T) {
	s := newSite(t)
	s.discover("https://a.test/1", "https://a.test/2")
	s.AddJob("https://daily.test", every(1, crawl.Days))
	paths := []string{"/crawl/discovered", "/crawl/discovered?q=a&host=a.test", "/crawl/frontier?q=start&host=start.test", "/crawl/schedule"}
	few := map[string]int64{}
	for _, p := range paths {
		few[p] = s.Count(p)
	}
	var urls []string
	for i := range 60 {
		urls = append(urls, fmt.Sprintf("https://a.test/more/%d", i))
		s.AddJob(fmt.Sprintf("https://d%d.test", i), every(1, crawl.Days))
	}
	s.discover(urls...)
	crowd(s)
	save := s.selected(s.Get("/crawl/discovered"), "save", "")
	before := s.Queries.Load()
	s.Follow("/crawl/discovered/bulk", save)
	if n := s.Queries.Load() - before; n > 60 {
		t.Errorf("save 62 links: got %d queries", n)
	}
	for _, p := range paths {
		if n := s.Count(p); n != few[p] || n == 0 {
			t.Errorf("%s: got %d queries with few rows, %d with many", p, few[p], n)
		}
	}
}
