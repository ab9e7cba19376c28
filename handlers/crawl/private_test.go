package crawl_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/crawl"
	views "linkwatch/views/crawl"
)

// secret is a private source of bob with all related data.
type secret struct {
	*site
	job  crawl.Job
	run  crawl.Execution
	page string
	ids  map[string]string // ids by the path before the id
}

func newSecret(t *testing.T) *secret {
	t.Helper()
	s := &site{App: apptest.New(t, apptest.Set("CRAWLER_FEED_POLL_ENABLED", "true"))}
	s.Crawl = s.Systems.Crawl.Store
	bob := &site{s.As("bob"), s.Crawl}
	j := bob.AddJob("https://secret.test", every(6, crawl.Hours), named("Secret"), func(n *crawl.NewJob) { n.Source.Private = true })
	_, err := s.Crawl.Act(bob.Context(), j.ID, crawl.ForceRun)
	s.Must(err)
	p := &secret{site: s, job: j, run: bob.run(j)}
	pages, err := s.Crawl.Pages(bob.Context(), crawl.PageFilter{}, models.Cursor{}, 1)
	s.Must(err)
	p.page = pages.Items[0].ID()
	entries, err := s.Crawl.Frontier(bob.Context(), crawl.EntryFilter{}, models.Cursor{}, 1)
	s.Must(err)
	links, err := s.Crawl.DiscoveredLinks(bob.Context(), crawl.DiscoveredFilter{}, models.Cursor{}, 1)
	s.Must(err)
	feed, _, err := s.Crawl.AddFeed(bob.Context(), "https://secret.test/feed", "")
	s.Must(err)
	p.ids = map[string]string{
		"jobs": j.ID, "sources": j.SourceID, "executions": p.run.ID, "crawled-pages": p.page, "pages": p.page, "frontier": entries.Items[0].ID(),
		"discovered-links": links.Items[0].ID(), "feeds": feed.ID(),
	}
	return p
}

// routes returns the method and path of all routes that a filter accepts.
func routes(t *testing.T, of func(path string) bool) (all [][2]string) {
	t.Helper()
	file, err := os.ReadFile("../../app/testdata/routes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		if f := strings.Fields(line); len(f) == 3 && of(f[2]) {
			all = append(all, [2]string{f[1], f[2]})
		}
	}
	return all
}

// rows returns all rows that a write could change.
func (p *secret) rows() string {
	p.Helper()
	var b strings.Builder
	for _, table := range []string{"sources", "jobs", "job_executions", "frontier", "crawled_pages", "discovered_links", "feeds", "audit_entries"} {
		var all []map[string]any
		p.Must(p.DB.Read(p.TB.Context()).Raw("SELECT * FROM " + table + " ORDER BY seq").Scan(&all).Error)
		fmt.Fprintln(&b, table, all)
	}
	return b.String()
}

// Every route with an id of a private item returns 404 to another account and changes nothing.
func TestPrivateIDsAreNotFound(t *testing.T) {
	p := newSecret(t)
	alice, before, asked := p.As("alice"), p.rows(), 0
	for _, r := range routes(t, func(path string) bool {
		for _, prefix := range []string{"/v1/jobs/:", "/v1/sources/:", "/v1/executions/:", "/v1/crawled-pages/:", "/v1/frontier/:", "/v1/discovered-links/:", "/v1/feeds/:", "/crawl/"} {
			if strings.HasPrefix(path, prefix) {
				return strings.Contains(path, ":id")
			}
		}
		return false
	}) {
		method, path := r[0], r[1]
		parts := strings.Split(path, "/")
		for i, part := range parts {
			switch part {
			case ":id":
				parts[i] = p.ids[parts[i-1]]
			case ":version":
				parts[i] = "1"
			case ":hash":
				parts[i] = strings.Repeat("0", 64)
			}
		}
		to := strings.Join(parts, "/")
		asked++
		if strings.HasPrefix(path, "/v1/") {
			body := ""
			if method == http.MethodPut || method == http.MethodPatch {
				body = "{}"
			}
			if a := alice.Do(method, to, body); a.Status != http.StatusNotFound || strings.Contains(a.Body, "secret") {
				t.Errorf("%s %s: got %d, %s", method, path, a.Status, a.Body)
			}
		} else {
			var page apptest.Page
			if method == http.MethodGet {
				page = alice.Get(to)
			} else {
				page = alice.Post(to, url.Values{"name": {"x"}, "schedule": {"1 days"}, "max_retries": {"1"}, "retry_backoff_seconds": {"1"}, "max_depth": {"1"}})
			}
			if page.StatusCode != http.StatusNotFound || strings.Contains(page.HTML, "secret.test") {
				t.Errorf("%s %s: got %d", method, path, page.StatusCode)
			}
		}
		if after := p.rows(); after != before {
			t.Fatalf("%s %s changed something", method, path)
		}
	}
	if asked < 40 {
		t.Errorf("got only %d routes", asked)
	}
}

// Lists, searches, counts and bulk actions of another account skip private data.
func TestListsSkipPrivateSources(t *testing.T) {
	p := newSecret(t)
	alice, bob := p.As("alice"), p.As("bob")
	for _, path := range []string{
		"/v1/jobs", "/v1/sources", "/v1/frontier", "/v1/discovered-links", "/v1/feeds", "/v1/crawled-pages", "/v1/crawled-pages?q=t",
		"/v1/jobs?source_id=" + p.job.SourceID, "/v1/frontier?execution_id=" + p.run.ID, "/v1/crawled-pages?source_id=" + p.job.SourceID,
	} {
		if items := apptest.Items(alice.Do("GET", path, "").Want(200)); len(items) != 0 {
			t.Errorf("%s: got %v", path, items)
		}
		if items := apptest.Items(bob.Do("GET", path, "").Want(200)); len(items) == 0 && !strings.Contains(path, "q=") {
			t.Errorf("bob: got nothing from %s", path)
		}
		if items := apptest.Items(p.Do("GET", path, "").Want(200)); len(items) == 0 && !strings.Contains(path, "q=") { // authentication is off
			t.Errorf("got nothing from %s", path)
		}
	}
	for _, path := range []string{"/", "/crawl", "/crawl/pages", "/crawl/discovered", "/crawl/frontier", "/crawl/feeds", "/crawl/schedule", "/search?q=secret"} {
		if page := alice.Get(path); page.StatusCode != http.StatusOK || strings.Contains(page.HTML, "secret.test") || strings.Contains(page.HTML, "Secret") {
			t.Errorf("%s: got %d, %s", path, page.StatusCode, apptest.Text(page, "main"))
		}
	}
	for _, path := range []string{"/crawl/pages", "/crawl/discovered", "/crawl/frontier", "/crawl/feeds"} {
		if page := alice.Get(path + "?source=" + p.job.SourceID); page.StatusCode != http.StatusNotFound {
			t.Errorf("%s of a private source: got %d", path, page.StatusCode)
		}
	}
	for _, who := range []struct {
		*apptest.App
		jobs int
	}{{alice, 0}, {bob, 1}} {
		apptest.Has(t, who.Do("GET", "/v1/jobs/status-counts", "").Want(200), map[string]any{"scheduled": who.jobs})
		m := who.Do("GET", "/v1/scheduler/metrics", "").Want(200)
		apptest.Has(t, m["jobs"].(map[string]any), map[string]any{"scheduled": who.jobs})
		apptest.Has(t, m["executions"].(map[string]any), map[string]any{"total": who.jobs})
		slots := 0.0
		for _, s := range apptest.Objects(who.Do("GET", "/v1/scheduler/distribution", "").Want(200)["slots"]) {
			slots += s["jobs"].(float64)
		}
		if (slots > 0) != (who.jobs > 0) {
			t.Errorf("got jobs in %v slots", slots)
		}
	}
	before := p.rows()
	for path, form := range map[string]url.Values{
		"/crawl/pages/bulk":         {"id": {p.page}, "action": {"delete"}},
		"/crawl/discovered/bulk":    {"id": {p.ids["discovered-links"]}, "action": {"delete"}},
		"/crawl/frontier/bulk":      {"id": {p.ids["frontier"]}, "action": {"delete"}, "sure": {"1"}},
		"/crawl/pages/restore":      {"deleted_at": {"1"}},
		"/crawl/discovered/restore": {"deleted_at": {"1"}},
		"/crawl/schedule":           {},
	} {
		if page := alice.Post(path, form); page.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: got %d", path, page.StatusCode)
		}
	}
	for _, action := range []string{"save", "watch"} {
		alice.Post("/crawl/pages/bulk", url.Values{"id": {p.page}, "action": {action}})
		alice.Post("/crawl/discovered/bulk", url.Values{"id": {p.ids["discovered-links"]}, "action": {action}})
	}
	if after := p.rows(); after != before {
		t.Errorf("got a change from\n%s\nto\n%s", before, after)
	}
	for _, path := range []string{"/v1/links", "/v1/targets"} {
		if items := apptest.Items(p.Do("GET", path, "").Want(200)); len(items) != 0 {
			t.Errorf("%s: got %v", path, items)
		}
	}
}

// Event streams of another account have no events of a private source.
func TestStreamsSkipPrivateSources(t *testing.T) {
	t.Parallel()
	p := newSecret(t)
	listen := func(name string) func(job string) (heard string) {
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/sse/crawler/events", nil)
		p.Must(err)
		req.Header.Set("Test-Actor", name)
		res, err := http.DefaultClient.Do(req)
		p.Must(err)
		t.Cleanup(func() { _ = res.Body.Close() })
		lines := bufio.NewScanner(res.Body)
		return func(job string) (heard string) {
			for lines.Scan() {
				if heard += lines.Text() + "\n"; strings.Contains(lines.Text(), job) {
					return heard
				}
			}
			t.Errorf("stream of %s: got its end, %v", name, lines.Err())
			return heard
		}
	}
	toAlice, toBob := listen("alice"), listen("bob")
	bob, alice := p.As("bob"), p.As("alice")
	bob.Do("POST", "/v1/jobs/"+p.job.ID+"/force-run", "").Want(200)
	toBob(p.job.ID)
	id := alice.Do("POST", "/v1/jobs", `{"url":"https://other.test"}`).Want(201)["id"].(string)
	if heard := toAlice(id); strings.Contains(heard, p.job.ID) {
		t.Errorf("alice: got event %s", heard)
	}
}

// Sources can be made private by API and page. Only the owner and admins can do that, and the owner
// cannot be set.
func TestPrivateSources(t *testing.T) {
	s := newSite(t)
	alice, bob := s.As("alice"), s.As("bob")
	made := bob.Do("POST", "/v1/sources", `{"url":"https://a.test","private":true}`).Want(201)
	apptest.Has(t, made, map[string]any{"owner": "bob", "private": true})
	at := "/v1/sources/" + made["id"].(string)
	bob.Do("POST", "/v1/sources", `{"url":"https://a.test","owner":"alice"}`).Problem(400, "invalid-request", "body")
	bob.Do("PATCH", at, `{"owner":"alice"}`).Problem(400, "invalid-request", "body")
	bob.Do("PATCH", at, `{"private":null}`).Problem(400, "invalid-request", "private")
	apptest.Has(t, bob.Do("PATCH", at, `{"private":false}`).Want(200), map[string]any{"private": false})
	alice.Do("PATCH", at, `{"private":true}`).Problem(403, "forbidden", "")
	apptest.Has(t, alice.Do("PATCH", at, `{"name":"Shared"}`).Want(200), map[string]any{"name": "Shared", "owner": "bob", "private": false})
	apptest.Has(t, s.Do("PATCH", at, `{"private":true}`).Want(200), map[string]any{"owner": "bob", "private": true}) // authentication is off
	alice.Do("GET", at, "").Problem(404, "not-found", "")

	// A job has the visibility of its source, or adds a private source.
	bob.Do("POST", "/v1/jobs", `{"source_id":"`+made["id"].(string)+`","private":true}`).Problem(400, "invalid-request", "private")
	job := alice.Do("POST", "/v1/jobs", `{"url":"https://a.test","private":true}`).Want(201)
	apptest.Has(t, alice.Do("GET", "/v1/sources/"+job["source_id"].(string), "").Want(200), map[string]any{"owner": "alice", "private": true})
	bob.Do("GET", "/v1/jobs/"+job["id"].(string), "").Problem(404, "not-found", "")

	// On the page.
	page := alice.Follow("/crawl", url.Values{"url": {"https://b.test"}, "schedule": {views.ScheduleValue(crawl.Interval{Count: 1, Type: crawl.Days})}, "sharing": {"true"}, "private": {"true"}})
	if n := page.Find("#jobs .private").Length(); n != 2 {
		t.Errorf("got %d jobs marked as private: %s", n, apptest.Text(page, "#jobs"))
	}
	if page.Find("#add input[name=private]").Length() != 1 || s.Get("/crawl").Find("#add input[name=private]").Length() != 0 {
		t.Error("got the private field without authentication, or no such field with it")
	}
	if list := bob.Get("/crawl"); strings.Contains(list.HTML, "b.test") {
		t.Error("bob can see the source")
	}
	list, err := s.Crawl.Jobs(alice.Context(), crawl.JobFilter{Text: "b.test"}, models.Cursor{}, 10)
	s.Must(err)
	j := list.Items[0]
	page = alice.Get("/crawl/jobs/" + j.ID)
	apptest.WantText(t, page, ".facts", "alice")
	if page.Find("#source input[name=private][checked]").Length() != 1 || page.Find("h1 .private").Length() != 1 {
		t.Error("the page of the job does not show that it is private")
	}
	edit := url.Values{"job": {j.ID}, "name": {"B"}, "enabled": {"true"}, "max_depth": {"3"}}
	alice.Follow("/crawl/sources/"+j.SourceID, edit) // a form without the field
	if !s.job(j.ID).Private() {
		t.Error("a form without the field shared the source")
	}
	edit.Set("sharing", "true")
	alice.Follow("/crawl/sources/"+j.SourceID, edit)
	if s.job(j.ID).Private() {
		t.Error("the source is still private")
	}
	if page := bob.Get("/crawl/jobs/" + j.ID); page.StatusCode != http.StatusOK || page.Find("#source input[name=private]").Length() != 0 {
		t.Errorf("status %d: bob can make the source private", page.StatusCode)
	}
	edit.Set("private", "true")
	if page := bob.Post("/crawl/sources/"+j.SourceID, edit); page.StatusCode != http.StatusForbidden || s.job(j.ID).Private() {
		t.Errorf("bob makes it private: got status %d", page.StatusCode)
	}
	if n := s.audited("source.edit"); n != 5 {
		t.Errorf("got %d recorded edits of sources", n)
	}
}

// audited counts the audit entries of an action.
func (s *site) audited(action string) (n int) {
	s.Helper()
	s.Must(s.DB.Read(s.TB.Context()).Raw("SELECT count(*) FROM audit_entries WHERE action = ?", action).Scan(&n).Error)
	return n
}
