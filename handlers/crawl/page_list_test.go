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
)

func TestAddACrawl(t *testing.T) {
	s := newSite(t)
	a := s.Get("/crawl")
	apptest.WantText(t, a, ".empty", "No crawls yet")
	apptest.WantCount(t, a, ".filters nav", 0)
	apptest.WantCount(t, a, `select[name=schedule] option[value="1 days"][selected]`, 1)
	apptest.WantCount(t, a, `select[name=max_depth] option[value="3"][selected]`, 1)
	apptest.WantCount(t, a, `input[name=rate_limit_ms][value="1000"]`, 1)

	typed := url.Values{
		"url": {"EXAMPLE.com/x"}, "name": {hostile}, "schedule": {"6 hours"}, "max_depth": {"2"}, "rate_limit_ms": {"250"},
		"allowed_domains": {"example.com, other.test"}, "now": {"true"},
	}
	a = s.Follow("/crawl", typed)
	apptest.WantText(t, a, ".flash", "Added "+hostile+". The first run starts in a few seconds.")
	apptest.WantText(t, a, ".crawls .title", hostile)
	apptest.WantText(t, a, ".crawls .where", "EXAMPLE.com/x")
	apptest.WantText(t, a, ".crawls .mark", "scheduled")
	apptest.WantText(t, a, `.crawls [data-label="Schedule"]`, "every 6 hours")
	apptest.WantText(t, a, `.crawls [data-label="Last run"]`, "never")
	apptest.WantText(t, a, `.crawls [data-label="Next run"]`, "due")
	apptest.WantCount(t, a, "main script, main img", 0)

	a = s.Get(a.Find(".crawls .title").AttrOr("href", ""))
	apptest.WantText(t, a, "h1", hostile)
	apptest.WantText(t, a, ".facts", "Depth 2 links from the start page")
	apptest.WantText(t, a, ".facts", "Delay 250 ms")
	apptest.WantText(t, a, ".facts", "Allowed domains example.com, other.test")
	apptest.WantText(t, a, "#log-head", "Log")
	apptest.WantCount(t, a, "#log > *, [data-stream]", 0)
	apptest.WantCount(t, a, "main script, main img", 0)

	sources, err := s.Crawl.Sources(t.Context(), "", noCursor, 10)
	s.Must(err)
	if len(sources.Items) != 1 || sources.Items[0].RateLimitMS != 250 {
		t.Errorf("got sources %+v", sources.Items)
	}
	apptest.WantCount(t, s.Get("/crawl?job_added="+url.QueryEscape(`"><script>`)), ".flash", 0)
}

// TestAddAnotherJob: adding a URL whose site has a source asks what to do, and keeps the name that was typed.
func TestAddAnotherJob(t *testing.T) {
	s := newSite(t)
	typed := url.Values{"url": {"127.0.0.1:8001/x"}, "schedule": {"1 days"}, "max_depth": {"3"}, "rate_limit_ms": {"1000"}, "now": {"true"}, "retry_next_run": {"true"}}
	a := s.Follow("/crawl", typed)
	apptest.WantText(t, a, ".crawls .title", "127.0.0.1:8001")
	first := a.Find(".crawls tbody tr").AttrOr("id", "")
	if !s.job(first).RetryNextRun {
		t.Errorf("got %+v", s.job(first))
	}
	typed.Set("name", hostile)
	a = s.Post("/crawl", typed)
	apptest.WantStatus(t, a, http.StatusConflict)
	apptest.WantText(t, a, "h1", "This site has a source")
	apptest.WantText(t, a, "main b", "127.0.0.1:8001")
	apptest.WantText(t, a, "main", "1 job starts at this URL.")
	apptest.WantText(t, a, "#"+first+" a", "127.0.0.1:8001")
	apptest.WantText(t, a, "#"+first+" button", "Run now")
	apptest.WantCount(t, a, "main script, main img", 0)
	if got := a.Find("main form.panel input[name=name]").AttrOr("value", ""); got != hostile {
		t.Errorf("got name %q", got)
	}
	apptest.WantCount(t, s.Get("/crawl"), ".crawls tbody tr", 1)

	// The same schedule would be a second identical job.
	typed.Set("existing", "add")
	a = s.Post("/crawl", typed)
	apptest.WantStatus(t, a, http.StatusBadRequest)
	apptest.WantText(t, a, "#schedule-error", "Schedule must differ")
	apptest.WantCount(t, s.Get("/crawl"), ".crawls tbody tr", 1)
	typed.Set("schedule", "7 days")
	a = s.Follow("/crawl", typed)
	apptest.WantText(t, a, ".flash", "Added "+hostile+".")
	apptest.WantCount(t, a, ".crawls tbody tr", 2)
	apptest.WantText(t, a, ".crawls tbody tr:last-child .title", hostile)
	apptest.WantCount(t, a, "main script, main img", 0)
	if a, b := s.job(first), s.job(a.Find(".crawls tbody tr:last-child").AttrOr("id", "")); a.SourceID != b.SourceID || a.SourceName != "127.0.0.1:8001" {
		t.Errorf("got %+v and %+v", a, b)
	}

	// The existing job runs from the page. Another port is another site.
	typed.Del("existing")
	a = s.Post("/crawl", typed)
	apptest.WantText(t, a, "main", "2 jobs start at this URL.")
	apptest.WantText(t, s.Submit(a, "#"+first+" form"), ".flash", "The run starts in a few seconds.")
	typed.Set("url", "127.0.0.1:8002/x")
	apptest.WantCount(t, s.Follow("/crawl", typed), ".crawls tbody tr", 3)
	// Without jobs at the URL, only another job is offered.
	typed.Set("url", "127.0.0.1:8001/y")
	a = s.Post("/crawl", typed)
	apptest.WantStatus(t, a, http.StatusConflict)
	apptest.WantCount(t, a, "#existing", 0)
	typed.Set("existing", "add")
	typed.Set("name", strings.Repeat("x", crawl.MaxName+1))
	a = s.Post("/crawl", typed)
	apptest.WantStatus(t, a, http.StatusBadRequest)
	apptest.WantText(t, a, "#job-name-error", "Name must have at most")
}

func TestListOfJobs(t *testing.T) {
	s := newSite(t)
	failed := s.AddJob("https://a.test", named("Alpha"), fails)
	s.fail(failed, "start page: "+hostile)
	daily := s.AddJob("https://b.test/start", named("Beta"), every(1, crawl.Days))
	once := s.AddJob("https://c.test")
	s.run(once)
	a := s.Get("/crawl")
	apptest.WantText(t, a, "#count", "3 jobs")
	apptest.WantText(t, a, ".choices", "all 3 scheduled 1 running 0 completed 1 failed 1")
	apptest.WantText(t, a, "#"+failed.ID+" .failure", "start page: "+hostile)
	apptest.WantText(t, a, "#"+failed.ID, "failed just now")
	apptest.WantText(t, a, "#"+once.ID, "once 2 pages, 1 URL failed just now –")
	apptest.WantCount(t, a, "main script, main img", 0)
	for query, want := range map[string]int{
		"": 3, "status=failed": 1, "status=scheduled": 1, "status=running": 0, "status=paused": 0, "q=ALPHA": 1, "q=b.test/start": 1,
		"q=none": 0, "status=failed&q=beta": 0,
	} {
		a := s.Get("/crawl?" + query)
		apptest.WantStatus(t, a, http.StatusOK)
		apptest.WantCount(t, a, ".crawls tbody tr", want)
		if want == 0 {
			apptest.WantText(t, a, ".empty", "No matching jobs")
		} else {
			apptest.WantText(t, a, "#count", fmt.Sprintf("%d job", want))
		}
	}
	s.Clock.Advance(24 * time.Hour)
	e := s.BeginCrawl(daily)
	apptest.WantText(t, s.Get("/crawl?status=running&q=beta"), "#"+daily.ID, "running Beta b.test/start every day 0 of 1 URL –")
	s.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Succeed})
	for _, bad := range []string{"/crawl?status=well", "/crawl?page_token=x", "/crawl?q=" + strings.Repeat("x", 600)} {
		apptest.WantStatus(t, s.Get(bad), http.StatusBadRequest)
	}
	apptest.WantText(t, s.Get("/crawl?q="+strings.Repeat("x", 600)), "#q-error", "The search must have at most")
}

// TestCrawlParts: parts that refresh themselves request their own URL.
// A completed crawl most of whose URLs failed is marked in the list.
func TestListOfJobsShowsFailedURLs(t *testing.T) {
	s := newSite(t)
	fine, broken := s.AddJob("https://a.test"), s.AddJob("https://b.test")
	for j, status := range map[string]crawl.EntryStatus{fine.ID: crawl.EntryDone, broken.ID: crawl.EntryFailed} {
		e := s.BeginCrawl(s.job(j))
		s.Fetch(func(e crawl.Entry) crawl.Result {
			if e.Depth == 0 {
				return apptest.Crawled(e, e.URL+"/a", e.URL+"/b")
			}
			if status == crawl.EntryDone {
				return apptest.Crawled(e)
			}
			return crawl.Result{Status: status, Reason: "status 500"}
		})
		s.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Succeed})
	}
	a := s.Get("/crawl")
	apptest.WantText(t, a, "#"+broken.ID+" .failure", "2 URLs failed")
	apptest.WantCount(t, a, "#"+fine.ID+" .failure", 0)
	apptest.WantText(t, a, "#"+fine.ID, "3 pages just now")
}

// The report of a run that failed does not say that no links are broken.
func TestReportOfFailedRun(t *testing.T) {
	s := newSite(t)
	e := s.fail(s.AddJob("https://a.test", fails), "start page: timed out")
	a := s.Get("/crawl/executions/" + e.ID)
	apptest.WantText(t, a, "section[aria-labelledby=broken]", "The run failed. Broken links are found when a crawl completes.")
}

func TestCrawlParts(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://a.test", named("Alpha"))
	s.run(j)
	for path, part := range map[string]string{"/crawl": "#jobs", "/crawl?status=completed&q=alpha": "#jobs", "/crawl/jobs/" + j.ID: "#now"} {
		a := s.Part(path)
		apptest.WantCount(t, a, part, 1)
		apptest.WantCount(t, a, "header, form.add, form.panel, #log", 0)
		if got := a.Find(part).AttrOr("hx-get", ""); got == "" || got != a.Header.Get("HX-Replace-Url") {
			t.Errorf("%s: got polling of %q and HX-Replace-Url %q", path, got, a.Header.Get("HX-Replace-Url"))
		}
	}
	apptest.WantCount(t, s.Part("/crawl/jobs/"+j.ID), "#actions[hx-swap-oob], #log-head[hx-swap-oob], #executions[hx-swap-oob], #facts[hx-swap-oob]", 4)
	apptest.WantCount(t, s.Get("/crawl/jobs/"+j.ID), "[hx-swap-oob]", 0)
	if got := s.Part("/crawl?done=job_pause").Header.Get("HX-Trigger"); !strings.Contains(got, `{"say":{"text":"Job paused.`) {
		t.Errorf("got part %q", got)
	}
}

func TestJobsByCursor(t *testing.T) {
	s := newSite(t)
	for i := range 203 {
		s.AddJob(fmt.Sprintf("https://example.com/%d", i))
	}
	seen := map[string]bool{}
	path, pages := "/crawl", 0
	for path != "" {
		a := s.Get(path)
		for _, where := range strings.Fields(apptest.Text(a, ".crawls .where")) {
			if seen[where] {
				t.Errorf("%s is on two pages", where)
			}
			seen[where] = true
		}
		apptest.WantText(t, a, "#count", "203 jobs")
		pages++
		path = a.Find("a[rel=next]").AttrOr("href", "")
	}
	if len(seen) != 203 || pages != 3 {
		t.Errorf("got %d jobs on %d pages, want 203 on 3", len(seen), pages)
	}
}

// TestCrawlErrorsAreNextToTheirField: the form also keeps its input.
func TestCrawlErrorsAreNextToTheirField(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://example.com", named("One"))
	ofJob := url.Values{"schedule": {"7 days"}, "max_retries": {"5"}, "retry_backoff_seconds": {"90"}}
	ofSource := url.Values{"name": {"kept <b>"}, "max_depth": {"4"}, "rate_limit_ms": {"70"}, "allowed_domains": {"example.com a.test"}, "enabled": {"true"}, "job": {j.ID}}
	ofAdd := url.Values{"url": {"https://example.com/new"}, "schedule": {"7 days"}, "now": {"true"}}
	for name, v := range ofSource {
		ofAdd[name] = v
	}
	ofAdd.Set("url", "https://new.test")
	ofAdd.Set("allowed_domains", "new.test a.test")
	for _, c := range []struct {
		path  string
		typed url.Values
		field string
		value string
		where string
	}{
		{"/crawl", ofAdd, "url", "ftp://example.com", "#url-error"},
		{"/crawl", ofAdd, "schedule", "0 days", "#schedule-error"},
		{"/crawl", ofAdd, "schedule", "soon", "#schedule-error"},
		{"/crawl", ofAdd, "name", strings.Repeat("x", crawl.MaxName+1), "#name-error"},
		{"/crawl", ofAdd, "max_depth", "101", "#depth-error"},
		{"/crawl", ofAdd, "rate_limit_ms", "fast", "#rate-error"},
		{"/crawl", ofAdd, "allowed_domains", "new.test, a b_c/", "#domains-error"},
		{"/crawl", ofAdd, "allowed_domains", "a.test", "#domains-error"},
		{"/crawl/jobs/" + j.ID, ofJob, "schedule", "400 days", "#schedule-error"},
		{"/crawl/jobs/" + j.ID, ofJob, "max_retries", "many", "#retries-error"},
		{"/crawl/jobs/" + j.ID, ofJob, "retry_backoff_seconds", "9999", "#backoff-error"},
		{"/crawl/sources/" + j.SourceID, ofSource, "name", strings.Repeat("x", crawl.MaxName+1), "#name-error"},
		{"/crawl/sources/" + j.SourceID, ofSource, "max_depth", "-2", "#depth-error"},
		{"/crawl/sources/" + j.SourceID, ofSource, "rate_limit_ms", "-1", "#rate-error"},
		{"/crawl/sources/" + j.SourceID, ofSource, "allowed_domains", "a.test", "#domains-error"},
	} {
		form := url.Values{}
		for name, values := range c.typed {
			form[name] = values
		}
		form.Set(c.field, c.value)
		a := s.Post(c.path, form)
		apptest.WantStatus(t, a, http.StatusBadRequest)
		if apptest.Text(a, c.where) == "" {
			t.Errorf("POST %s with %s=%q: no message at %s", c.path, c.field, c.value, c.where)
		}
		apptest.WantCount(t, a, `[aria-invalid="true"]`, 1)
		for name := range form {
			if in := a.Find("main input[name=" + name + "]:not([type=checkbox], [type=hidden])"); in.Length() > 0 && in.AttrOr("value", "") != form.Get(name) {
				t.Errorf("POST %s with an invalid %s: got %s=%q in the form", c.path, c.field, name, in.AttrOr("value", ""))
			}
		}
		if c.field != "url" {
			apptest.WantCount(t, a, "details[open]", 1)
		}
	}
	apptest.WantCount(t, s.Get("/crawl"), ".crawls tbody tr", 1)

	a := s.Follow("/crawl/jobs/"+j.ID, url.Values{"schedule": {"7 days"}, "adaptive_scheduling": {"true"}, "max_retries": {"5"}, "retry_backoff_seconds": {"90"}})
	apptest.WantText(t, a, ".flash", "Saved.")
	apptest.WantText(t, a, ".state", "Schedule: every week")
	apptest.WantText(t, a, ".facts", "Adaptive scheduling on, every week, less often while pages stay unchanged Retries 5, first after 1 min 30 s")
	a = s.Follow("/crawl/sources/"+j.SourceID, ofSource)
	apptest.WantText(t, a, ".flash", "Source saved.")
	apptest.WantText(t, a, "h1", "kept <b>")
	apptest.WantText(t, a, ".facts", "Depth 4 links from the start page Delay 70 ms between requests Allowed domains example.com, a.test")
	ofSource.Del("enabled")
	a = s.Follow("/crawl/sources/"+j.SourceID, ofSource)
	apptest.WantText(t, a, ".state", "The source is disabled, so this job does not run.")
	for _, path := range []string{"/crawl/jobs/" + noJob, "/crawl/sources/" + noSource} {
		apptest.WantStatus(t, s.Post(path, ofAdd), http.StatusNotFound)
	}
}

func TestCrawlConstantNumberOfQueries(t *testing.T) {
	s := newSite(t)
	first := s.AddJob("https://example.com/first", every(1, crawl.Minutes), func(n *crawl.NewJob) { n.MaxRetries = new(100); n.RetryBackoff = new(0) })
	add := func(n int) {
		for i := range n {
			s.run(s.AddJob(fmt.Sprintf("https://s%d-%d.test", n, i)))
		}
		s.Clock.Advance(time.Hour)
		for range n {
			s.fail(first, "no answer")
		}
	}
	paths := []string{"/", "/crawl", "/crawl?q=test&status=completed", "/crawl/jobs/" + first.ID, "/crawl/frontier", "/crawl/discovered"}
	add(2)
	few := map[string]int64{}
	for _, p := range paths {
		few[p] = s.Count(p)
	}
	add(40)
	for _, p := range paths {
		if n := s.Count(p); n != few[p] || n == 0 {
			t.Errorf("%s: got %d queries with 3 jobs, %d with 43", p, few[p], n)
		}
	}
}
