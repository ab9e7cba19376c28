package crawl_test

import (
	"fmt"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models/crawl"
	"linkwatch/models/links"
)

// A feed can be polled now, unless polling is off or its source is disabled.
func TestPollFeed_API(t *testing.T) {
	s, read, _ := polls(t)
	at := "/v1/feeds/" + read.ID()
	before := s.Do("GET", at, "").Want(200)
	if now := s.Do("POST", at+"/poll", "").Want(200); now["next_poll_at"] == before["next_poll_at"] || now["id"] != read.ID() {
		t.Errorf("got %v, before %v", now, before)
	}
	s.Do("PATCH", "/v1/sources/"+read.SourceID, `{"enabled":false}`).Want(200)
	s.Do("POST", at+"/poll", "").Problem(409, "conflict", "")
	s.Do("DELETE", at, "").Want(204)
	s.Do("POST", at+"/poll", "").Problem(404, "not-found", "")

	off := newSite(t)
	f := off.Do("POST", "/v1/feeds", `{"url":"https://one.test/feed"}`).Want(201)
	p := off.Do("POST", fmt.Sprint("/v1/feeds/", f["id"], "/poll"), "").Problem(409, "conflict", "")
	if !strings.Contains(p["detail"].(string), "CRAWLER_FEED_POLL_ENABLED") {
		t.Errorf("got %v", p["detail"])
	}
}

// failedEntries returns the ids of entries of a running crawl that have failed.
func (s *site) failedEntries(n int) (ids []string) {
	s.Helper()
	s.BeginCrawl(s.AddJob("https://example.com"))
	var urls []string
	for i := range n {
		urls = append(urls, fmt.Sprintf("https://example.com/%d", i))
	}
	s.Fetch(func(e crawl.Entry) crawl.Result {
		if e.Depth == 0 {
			return apptest.Crawled(e, urls...)
		}
		return crawl.Result{Status: crawl.EntryFailed, Reason: "status 503"}
	})
	for _, e := range apptest.Items(s.Do("GET", "/v1/frontier?status=failed", "").Want(200)) {
		ids = append(ids, e["id"].(string))
	}
	if len(ids) != n {
		s.Fatalf("got %d failed entries", len(ids))
	}
	return ids
}

// A failed URL of a running crawl can be retried alone. Others are a conflict.
func TestRetryEntry_API(t *testing.T) {
	t.Parallel()
	a := apptest.New(t)
	s := &site{a, a.Systems.Crawl.Store}
	at := "/v1/frontier/" + s.failedEntries(1)[0]
	apptest.Has(s.TB, s.Do("POST", at+"/retry", "").Want(200), map[string]any{"status": "pending", "attempts": 0, "last_error": nil})
	s.Do("POST", at+"/retry", "").Problem(409, "conflict", "")
	s.Do("DELETE", at, "").Want(204)
	s.Do("POST", at+"/retry", "").Problem(404, "not-found", "")
}

// Many URLs, links and pages are changed by one request. It ignores ids that it cannot change.
func TestBulk_API(t *testing.T) {
	t.Parallel()
	a := apptest.New(t)
	s := &site{a, a.Systems.Crawl.Store}
	bulk := func(path, action string, changed int, ids ...string) {
		s.Helper()
		body := fmt.Sprintf(`{"action":%q,"ids":["%s","x"]}`, action, strings.Join(ids, `","`))
		apptest.Has(s.TB, s.Do("POST", path+"/bulk", body).Want(200), map[string]any{"action": action, "changed": changed})
	}
	ids := s.failedEntries(3)
	bulk("/v1/frontier", "retry", 2, ids[:2]...)
	bulk("/v1/frontier", "retry", 1, ids...)
	bulk("/v1/frontier", "delete", 3, ids...)
	bulk("/v1/frontier", "delete", 0, ids...)
	s.run(s.AddJob("https://other.example"))
	for _, path := range []string{"/v1/discovered-links", "/v1/crawled-pages"} {
		id := apptest.Items(s.Do("GET", path, "").Want(200))[0]["id"].(string)
		bulk(path, "delete", 1, id)
		bulk(path, "delete", 0, id)
		s.Do("POST", path+"/bulk", `{"action":"retry","ids":[]}`).Problem(400, "invalid-request", "action")
	}
	many := strings.TrimSuffix(strings.Repeat(`"x",`, crawl.MaxBulk+1), ",")
	s.Do("POST", "/v1/frontier/bulk", `{"action":"delete","ids":[`+many+`]}`).Problem(400, "invalid-request", "ids")
}

// A deleted link or page can be restored for a day.
func TestRestore_API(t *testing.T) {
	t.Parallel()
	a := apptest.New(t)
	s := &site{a, a.Systems.Crawl.Store}
	s.run(s.AddJob("https://example.com"))
	for _, path := range []string{"/v1/discovered-links", "/v1/crawled-pages"} {
		at := path + "/" + apptest.Items(s.Do("GET", path, "").Want(200))[0]["id"].(string)
		before := s.Do("GET", at, "").Want(200)
		s.Do("POST", at+"/restore", "").Problem(404, "not-found", "")
		s.Do("DELETE", at, "").Want(204)
		s.Do("GET", at, "").Problem(404, "not-found", "")
		apptest.Has(s.TB, s.Do("POST", at+"/restore", "").Want(200), before)
		apptest.Has(s.TB, s.Do("GET", at, "").Want(200), before)
		s.Do("DELETE", at, "").Want(204)
		s.Clock.Advance(crawl.KeepDeleted + 1e9)
		s.Do("POST", at+"/restore", "").Problem(404, "not-found", "")
		s.Do("POST", path+"/x/restore", "").Problem(404, "not-found", "")
	}
}

// The site of a link is crawled once from its root. A private link gets a private source.
func TestCrawlLink_API(t *testing.T) {
	s := newSite(t)
	l := s.Save("https://docs.test/guide/page?x=1")
	made := s.Do("POST", "/v1/link/"+l.ID+"/crawl", "")
	job := made.Want(201)
	apptest.Has(t, job, map[string]any{"url": "https://docs.test/", "status": "pending", "interval_minutes": nil, "source_name": "docs.test"})
	if to := made.Header.Get("Location"); to != fmt.Sprint("/v1/jobs/", job["id"]) {
		t.Errorf("got Location %q", to)
	}
	apptest.Has(t, s.Do("POST", "/v1/link/"+l.ID+"/crawl", "").Want(201), map[string]any{"source_id": job["source_id"]})
	if again, err := s.Links.Get(t.Context(), l.ID); err != nil || again.ViewCount != 0 {
		t.Errorf("got %d views, %v", again.ViewCount, err)
	}
	bob := s.As("bob")
	secret, _, err := s.Links.Add(bob.Context(), links.New{URL: "https://secret.test/x", Owner: "bob", Private: true})
	s.Must(err)
	s.As("alice").Do("POST", "/v1/link/"+secret.ID+"/crawl", "").Problem(404, "not-found", "")
	job = bob.Do("POST", "/v1/link/"+secret.ID+"/crawl", "").Want(201)
	apptest.Has(t, bob.Do("GET", fmt.Sprint("/v1/sources/", job["source_id"]), "").Want(200), map[string]any{"private": true, "owner": "bob"})
	s.Do("POST", "/v1/link/l_1/crawl", "").Problem(404, "not-found", "")
}
