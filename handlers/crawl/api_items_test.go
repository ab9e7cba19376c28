package crawl_test

import (
	"fmt"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/crawl"
)

// Each item of a list can be read alone, with the same members. Location leads to it.
func TestSingleItems_API(t *testing.T) {
	t.Parallel()
	a := apptest.New(t)
	s := &site{a, a.Systems.Crawl.Store}
	s.run(s.AddJob("https://example.com"))
	for path, body := range map[string]string{"/v1/feeds": `{"url":"https://example.com/feed.xml"}`, "/v1/frontier": `{"url":"https://example.com/by-hand"}`} {
		for _, status := range []int{201, 200} {
			made := s.Do("POST", path, body)
			if to := made.Header.Get("Location"); to != path+"/"+fmt.Sprint(made.Want(status)["id"]) {
				s.Errorf("%s: got Location %q", path, to)
			}
		}
	}
	for path, missing := range map[string]string{
		"/v1/frontier":         models.TimedID(models.KindFrontier, s.Crawl.Now(), 99),
		"/v1/discovered-links": models.TimedID(models.KindDiscovered, s.Crawl.Now(), 99),
		"/v1/feeds":            models.TimedID(models.KindFeed, s.Crawl.Now(), 99),
	} {
		items := apptest.Items(s.Do("GET", path, "").Want(200))
		if len(items) == 0 {
			s.Errorf("%s: got no items", path)
		}
		for _, item := range items {
			apptest.Has(s.TB, s.Do("GET", path+"/"+item["id"].(string), "").Want(200), item)
		}
		s.Do("GET", path+"/"+missing, "").Problem(404, "not-found", "")
		s.Do("GET", path+"/x", "").Problem(404, "not-found", "")
	}
}

// Lists of crawled pages have at most 1,000 characters of each text. The page itself has all of it.
func TestTextsOfCrawledPages_API(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	texts := map[string]string{
		"https://example.com/":     "needle " + strings.Repeat("x", 993),
		"https://example.com/long": "needle " + strings.Repeat("😀", 994),
		"https://example.com/none": "",
	}
	e := s.BeginCrawl(s.AddJob("https://example.com"))
	s.Fetch(func(e crawl.Entry) crawl.Result {
		r := apptest.Crawled(e)
		if e.Depth == 0 {
			r = apptest.Crawled(e, "https://example.com/long", "https://example.com/none")
		}
		r.Page.Text, r.Page.ContentHash = crawl.CompressText(texts[e.URL]), "h"+e.URL
		return r
	})
	s.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Succeed})
	for n := 1; n > 0; {
		var err error
		n, err = s.Systems.Crawl.Store.IndexNext(s.TB.Context(), 100)
		s.Must(err)
	}
	for _, query := range []string{"", "?q=needle"} {
		items := apptest.Items(s.Do("GET", "/v1/crawled-pages"+query, "").Want(200))
		if len(items) < 2 {
			s.Errorf("%q: got %d pages", query, len(items))
		}
		for _, item := range items {
			text := []rune(texts[item["url"].(string)])
			apptest.Has(s.TB, item, map[string]any{"text": string(text[:min(1000, len(text))]), "text_truncated": len(text) > 1000})
			single := s.Do("GET", "/v1/crawled-pages/"+item["id"].(string), "").Want(200)
			apptest.Has(s.TB, single, map[string]any{"text": string(text), "text_truncated": false})
		}
	}
}

// The number of queries of a list does not depend on the number of pages.
func TestTextsOfCrawledPages_Queries(t *testing.T) {
	s := newSite(t)
	count := func() int64 {
		before := s.Queries.Load()
		s.Do("GET", "/v1/crawled-pages", "").Want(200)
		return s.Queries.Load() - before
	}
	s.run(s.AddJob("https://one.test"))
	few := count()
	for i := range 5 {
		s.run(s.AddJob(fmt.Sprintf("https://s%d.test", i)))
	}
	if many := count(); many != few {
		t.Errorf("got %d queries for more pages, %d for few", many, few)
	}
}

// Executions of all jobs are listed, the newest first, by status and by job.
func TestAllExecutions_API(t *testing.T) {
	t.Parallel()
	a := apptest.New(t)
	s := &site{a, a.Systems.Crawl.Store}
	one, two := s.AddJob("https://one.test"), s.AddJob("https://two.test", fails)
	done, failed := s.run(one), s.fail(two, "status 503")
	gone := s.AddJob("https://gone.test")
	s.run(gone)
	s.Do("DELETE", "/v1/jobs/"+gone.ID, "").Want(204)
	for query, want := range map[string]string{
		"": failed.ID + " " + done.ID, "?status=failed": failed.ID, "?status=running": "", "?job_id=" + one.ID: done.ID, "?job_id=" + one.ID + "&status=failed": "",
		"?job_id=j_1": "", "?job_id=" + gone.ID: "",
	} {
		if got := apptest.Column(s.Do("GET", "/v1/executions"+query, "").Want(200), "id"); got != want {
			s.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
	first := s.Do("GET", "/v1/executions?limit=1", "").Want(200)
	if second := s.Do("GET", "/v1/executions?limit=1&page_token="+first["next_page_token"].(string), "").Want(200); apptest.Column(second, "id") != done.ID || second["next_page_token"] != "" {
		s.Errorf("got the second page %v", second)
	}
	for status, want := range map[string]string{"completed": done.ID, "failed": ""} {
		if got := apptest.Column(s.Do("GET", "/v1/jobs/"+one.ID+"/executions?status="+status, "").Want(200), "id"); got != want {
			s.Errorf("%s of one job: got %q, want %q", status, got, want)
		}
	}
	s.Do("GET", "/v1/executions?status=done", "").Problem(400, "invalid-request", "query.status")
	s.Do("GET", "/v1/executions?page_token=x", "").Problem(400, "invalid-request", "query.page_token")
	s.Do("GET", "/v1/jobs/"+one.ID+"/executions?status=done", "").Problem(400, "invalid-request", "query.status")
}
