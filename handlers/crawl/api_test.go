package crawl_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// Sources are added, changed, listed, deleted and restored.
func TestSources_API(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	made := s.Do("POST", "/v1/sources", `{"url":"https://Example.com/"}`).Want(201)
	apptest.Has(s.TB, made, map[string]any{
		"name": "example.com", "url": "https://Example.com/", "enabled": true, "max_depth": 0, "rate_limit_ms": 1000,
		"interval_minutes": nil, "interval_type": "minutes",
	})
	id := made["id"].(string)
	if !strings.HasPrefix(id, "s_") || len(made["allowed_domains"].([]any)) != 0 {
		s.Errorf("made %v", made)
	}
	at := "/v1/sources/" + id
	changed := s.Do("PATCH", at, `{"name":"Docs","max_depth":2,"allowed_domains":["example.com","*.Example.ORG"],"rate_limit_ms":0,"interval_minutes":6,"interval_type":"hours","enabled":false}`).Want(200)
	apptest.Has(s.TB, changed, map[string]any{"name": "Docs", "max_depth": 2, "rate_limit_ms": 0, "interval_minutes": 6, "interval_type": "hours", "enabled": false})
	if got := fmt.Sprint(changed["allowed_domains"]); got != "[example.com example.org]" {
		s.Errorf("domains %s", got)
	}
	apptest.Has(s.TB, s.Do("GET", at, "").Want(200), changed)
	for _, host := range []string{"other.test", "third.test"} {
		s.Do("POST", "/v1/sources", `{"url":"https://`+host+`"}`).Want(201)
	}
	first := s.Do("GET", "/v1/sources?limit=2", "").Want(200)
	second := s.Do("GET", "/v1/sources?limit=2&page_token="+first["next_page_token"].(string), "").Want(200)
	if len(apptest.Items(first)) != 2 || len(apptest.Items(second)) != 1 || second["next_page_token"] != "" {
		s.Errorf("pages of %d and %d", len(apptest.Items(first)), len(apptest.Items(second)))
	}
	if found := s.Do("GET", "/v1/sources?q=DOC", "").Want(200); apptest.Column(found, "name") != "Docs" {
		s.Errorf("found %v", found)
	}
	s.Do("DELETE", at, "").Want(204)
	s.Do("GET", at, "").Problem(404, "not-found", "")
	s.Do("POST", at+"/restore", "").Want(200)
	s.Do("POST", at+"/restore", "").Problem(404, "not-found", "")
}

// A one-time job is due at once. A recurring job first runs within its interval, but not at
// once.
func TestAddJob_API(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	now := s.Clock.Now()
	once := s.Do("POST", "/api/v1/jobs", `{"url":"https://example.com/news","schedule_enabled":false}`).Want(201)
	apptest.Has(s.TB, once, map[string]any{
		"status": "pending", "url": "https://example.com/news", "interval_minutes": nil, "interval_type": "minutes", "interval_seconds": nil,
		"schedule_enabled": false, "source_enabled": true, "next_run_at": now.Format(time.RFC3339), "adaptive_scheduling": true, "is_paused": false, "paused_at": nil,
		"cancelled_at": nil, "lock_acquired_at": nil, "max_retries": 3, "retry_backoff_seconds": 60, "current_retry_count": 0, "last_error": nil,
		"retry_next_run": false, "consecutive_failures": 0, "name": nil,
		"source_name": "example.com",
	})
	source := once["source_id"].(string)
	body := `{"source_id":"` + source + `","url":"https://example.com/news","interval_minutes":360,"interval_type":"minutes","schedule_enabled":true,
		"max_retries":5,"retry_backoff_seconds":30,"metadata":{"team":"web"},"adaptive_scheduling":false}`
	job := s.Do("POST", "/v1/jobs", body).Want(201)
	apptest.Has(s.TB, job, map[string]any{
		"status": "scheduled", "source_id": source, "interval_minutes": 360, "interval_seconds": 21600, "schedule_enabled": true,
		"max_retries": 5, "retry_backoff_seconds": 30, "adaptive_scheduling": false,
	})
	if job["metadata"].(map[string]any)["team"] != "web" {
		s.Errorf("metadata %v", job["metadata"])
	}
	next, err := time.Parse(time.RFC3339Nano, job["next_run_at"].(string))
	if err != nil || !next.After(now) || next.After(now.Add(6*time.Hour)) {
		s.Errorf("first run at %v, %v", next, err)
	}
	apptest.Has(s.TB, s.Do("POST", "/v1/jobs", `{"source_id":"`+source+`","interval_minutes":1,"interval_type":"days","schedule_enabled":false}`).Want(201), map[string]any{
		"status": "paused", "is_paused": true, "schedule_enabled": false, "next_run_at": nil, "url": "https://example.com/news",
	})
	apptest.Has(s.TB, s.Do("GET", "/v1/jobs/status-counts", "").Want(200), map[string]any{
		"pending": 1, "scheduled": 1, "running": 0, "paused": 1, "completed": 0, "failed": 0, "cancelled": 0,
	})
	if found := s.Do("GET", "/v1/jobs?status=paused&source_id="+source, "").Want(200); len(apptest.Items(found)) != 1 {
		s.Errorf("found %v", found)
	}
}

// An invalid request returns a complete problem that names the member.
func TestCrawlErrors_API(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	j := s.AddJob("https://example.com/")
	at := "/v1/jobs/" + j.ID
	unknown := models.NewID(models.KindJob)
	for _, c := range []struct {
		method, path, body string
		status             int
		location           string
	}{
		{"POST", "/v1/sources", `{}`, 400, "url"},
		{"POST", "/v1/sources", `{"url":"ftp://x.test"}`, 400, "url"},
		{"POST", "/v1/sources", `{"url":"https://x.test","max_depth":-1}`, 400, "max_depth"},
		{"POST", "/v1/sources", `{"url":"https://x.test","rate_limit_ms":-1}`, 400, "rate_limit_ms"},
		{"POST", "/v1/sources", `{"url":"https://x.test","allowed_domains":["y.test"]}`, 400, "allowed_domains"},
		{"POST", "/v1/sources", `{"url":"https://x.test","allowed_domains":["x.test","/"]}`, 400, "allowed_domains[1]"},
		{"POST", "/v1/sources", `{"url":"https://x.test","interval_minutes":0}`, 400, "interval_minutes"},
		{"POST", "/v1/sources", `{"url":"https://x.test","colour":"red"}`, 400, "body"},
		{"PATCH", "/v1/sources/" + j.SourceID, `{"url":null}`, 400, "url"},
		{"PATCH", "/v1/sources/" + models.NewID(models.KindSource), `{}`, 404, ""},
		{"POST", "/v1/jobs", `{}`, 400, "url"},
		{"POST", "/v1/jobs", `{"source_id":"` + models.NewID(models.KindSource) + `","url":"https://x.test"}`, 400, "source_id"},
		{"POST", "/v1/jobs", `{"source_id":"uuid-from-source-manager","url":"https://x.test"}`, 400, "source_id"},
		{"POST", "/v1/jobs", `{"source_id":"` + j.SourceID + `","url":"https://elsewhere.test"}`, 400, "url"},
		{"POST", "/v1/jobs", `{"url":"https://x.test","interval_minutes":0}`, 400, "interval_minutes"},
		{"POST", "/v1/jobs", `{"url":"https://x.test","interval_minutes":367,"interval_type":"days"}`, 400, "interval_minutes"},
		{"POST", "/v1/jobs", `{"url":"https://x.test","interval_minutes":5,"interval_type":"weeks"}`, 400, "interval_type"},
		{"POST", "/v1/jobs", `{"url":"https://x.test","max_retries":101}`, 400, "max_retries"},
		{"POST", "/v1/jobs", `{"url":"https://x.test","retry_backoff_seconds":3601}`, 400, "retry_backoff_seconds"},
		{"POST", "/v1/jobs", `{"url":"https://x.test","metadata":{"x":"` + strings.Repeat("x", crawl.MaxMetadata) + `"}}`, 400, "metadata"},
		{"PUT", at, `{"max_retries":null}`, 400, "max_retries"},
		{"PUT", "/v1/jobs/" + unknown, `{}`, 404, ""},
		{"GET", "/v1/jobs?page_token=zzz", ``, 400, "query.page_token"},
		{"GET", "/v1/jobs?limit=501", ``, 400, "query.limit"},
		{"GET", "/v1/jobs?status=done", ``, 400, "query.status"},
		{"GET", "/v1/jobs/" + unknown, ``, 404, ""},
		{"GET", "/v1/jobs/" + j.SourceID, ``, 404, ""},
		{"DELETE", "/v1/jobs/" + unknown, ``, 404, ""},
		{"POST", "/v1/jobs/" + unknown + "/cancel", ``, 404, ""},
		{"POST", "/v1/jobs/" + unknown + "/stop", ``, 404, ""},
		{"POST", "/v1/jobs/" + unknown + "/run-again", ``, 404, ""},
		{"POST", "/v1/jobs", `{"url":"https://x.test","name":"` + strings.Repeat("x", crawl.MaxName+1) + `"}`, 400, "name"},
		{"PUT", at, `{"retry_next_run":null}`, 400, "retry_next_run"},
		{"POST", "/v1/sources", `{"url":"https://x.test:8443","allowed_domains":["x.test:9443"]}`, 400, "allowed_domains"},
		{"POST", "/v1/sources", `{"url":"https://x.test","allowed_domains":["x.test","x.test:port"]}`, 400, "allowed_domains[1]"},
		{"GET", "/v1/jobs/" + unknown + "/executions", ``, 404, ""},
		{"GET", "/v1/jobs/" + unknown + "/stats", ``, 404, ""},
		{"GET", "/v1/jobs/" + unknown + "/logs", ``, 404, ""},
		{"GET", at + "/logs?page_token=zzz", ``, 400, "query.page_token"},
		{"GET", "/v1/jobs/" + unknown + "/logs/download", ``, 404, ""},
		{"GET", at + "/logs/download", ``, 404, ""},
		{"GET", "/v1/jobs/" + unknown + "/logs/stream/v2", ``, 404, ""},
		{"GET", "/v1/executions/" + unknown, ``, 404, ""},
		{"POST", "/v1/frontier", `{"url":"x.test"}`, 400, "url"},
		{"POST", "/v1/frontier", `{"url":"https://elsewhere.test","source_id":"` + j.SourceID + `"}`, 400, "url"},
		{"GET", "/v1/frontier?status=waiting", ``, 400, "query.status"},
		{"GET", "/v1/frontier?page_token=zzz", ``, 400, "query.page_token"},
		{"DELETE", "/v1/frontier/f_1", ``, 404, ""},
		{"DELETE", "/v1/discovered-links/d_1", ``, 404, ""},
	} {
		slug := map[int]string{400: "invalid-request", 404: "not-found"}[c.status]
		s.Do(c.method, c.path, c.body).Problem(c.status, slug, c.location)
	}
}

// Each action returns 200 for the statuses that allow it. For all others it returns 409 with the
// allowed statuses.
func TestJobActions_API(t *testing.T) {
	s := apptest.New(t)
	allowed := map[string][]string{
		"pause": {"scheduled"}, "resume": {"paused"}, "retry": {"failed"}, "force-run": {"scheduled"}, "cancel": {"pending", "scheduled", "running", "paused"}, "stop": {"running"},
	}
	for action, from := range allowed {
		for _, status := range crawl.Statuses {
			j := s.AddJob("https://example.com/", func(n *crawl.NewJob) { n.Interval = crawl.Interval{Count: 1, Type: crawl.Days} })
			if status == crawl.Running {
				modelstest.Exec(t, s.DB, "UPDATE jobs SET next_run_at = 1 WHERE id = ?", j.ID)
				s.BeginCrawl(j)
			} else {
				modelstest.Exec(t, s.DB, "UPDATE jobs SET next_run_at = NULL, status = ? WHERE id = ?", status, j.ID)
			}
			path := "/v1/jobs/" + j.ID + "/" + action
			if action == "force-run" && status == crawl.Scheduled {
				path = "/api/v2/jobs/" + j.ID + "/" + action
			}
			a := s.Do("POST", path, "")
			if slices.Contains(from, string(status)) {
				a.Want(200)
			} else if detail := a.Problem(409, "conflict", "")["detail"].(string); !strings.Contains(detail, from[0]) {
				t.Errorf("%s of a %s job: got %s", action, status, detail)
			}
			s.Do("DELETE", "/v1/jobs/"+j.ID, "").Want(204)
			s.Do("POST", "/v1/jobs/"+j.ID+"/restore", "").Want(200)
			s.Do("DELETE", "/v1/jobs/"+j.ID, "").Want(204)
		}
	}
}

// Stopping cancels the execution and keeps the schedule. A finished job is run again as a new job with the same settings.
func TestStopAndRunAgain_API(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	j := s.AddJob("https://example.com:8443/x", func(n *crawl.NewJob) { n.Interval, n.RunNow = crawl.Interval{Count: 1, Type: crawl.Days}, true })
	at := "/v1/jobs/" + j.ID
	settings := s.Do("PUT", at, `{"name":"Docs","retry_next_run":true,"max_retries":0,"metadata":{"team":"web"}}`).Want(200)
	apptest.Has(s.TB, settings, map[string]any{"name": "Docs", "source_name": "example.com:8443", "retry_next_run": true})
	s.BeginCrawl(j)
	s.Do("POST", at+"/run-again", "").Problem(409, "conflict", "")
	apptest.Has(s.TB, s.As("alice").Do("POST", at+"/stop", "").Want(200), map[string]any{
		"status": "scheduled", "lock_acquired_at": nil, "schedule_enabled": true, "next_run_at": j.PlannedAt.Format(time.RFC3339Nano),
	})
	e := apptest.Items(s.Do("GET", at+"/executions", "").Want(200))[0]
	apptest.Has(s.TB, e, map[string]any{"status": "cancelled", "cancelled_by": "alice", "error_message": "the run was stopped"})

	s.Clock.Advance(24 * time.Hour)
	s.EndCrawl(s.BeginCrawl(j), crawl.ExecutionEnd{Event: crawl.Fail, Error: "no answer"})
	failed := s.Do("GET", at, "").Want(200)
	apptest.Has(s.TB, failed, map[string]any{"status": "failed", "consecutive_failures": 1, "retry_at": nil, "schedule_enabled": true})
	if failed["next_run_at"] == nil {
		s.Error("the failed job is not retried as planned")
	}
	made := s.Do("POST", at+"/run-again", "")
	again := made.Want(201)
	if to := made.Header.Get("Location"); again["id"] == j.ID || to != fmt.Sprint("/v1/jobs/", again["id"]) {
		s.Errorf("got %v, Location %q", again["id"], to)
	}
	apptest.Has(s.TB, again, map[string]any{
		"status": "scheduled", "source_id": j.SourceID, "url": j.URL, "name": "Docs", "interval_minutes": 1, "interval_type": "days", "max_retries": 0,
		"retry_next_run": true, "metadata": map[string]any{"team": "web"}, "next_run_at": s.Clock.Now().Format(time.RFC3339Nano), "consecutive_failures": 0,
	})
	apptest.Has(s.TB, s.Do("GET", at, "").Want(200), map[string]any{"status": "failed", "next_run_at": nil, "schedule_enabled": false})
}

// A PUT keeps members that are left out, plans a new interval, and is atomic.
func TestEditJob_API(t *testing.T) {
	s := apptest.New(t)
	j := s.AddJob("https://example.com/", func(n *crawl.NewJob) { n.Interval = crawl.Interval{Count: 6, Type: crawl.Hours} })
	at := "/v1/jobs/" + j.ID
	before := s.Do("GET", at, "").Want(200)
	apptest.Has(t, s.Do("PUT", at, `{"max_retries":1}`).Want(200), map[string]any{
		"max_retries": 1, "interval_minutes": 6, "interval_type": "hours", "next_run_at": before["next_run_at"], "url": "https://example.com/",
	})
	apptest.Has(t, s.Do("PUT", at, `{"schedule_enabled":false}`).Want(200), map[string]any{"status": "paused", "next_run_at": nil})
	apptest.Has(t, s.Do("PUT", at, `{"schedule_enabled":true,"interval_minutes":2,"interval_type":"days"}`).Want(200), map[string]any{
		"status": "scheduled", "interval_minutes": 2, "paused_at": nil,
	})
	modelstest.Exec(t, s.DB, "UPDATE jobs SET next_run_at = 1 WHERE id = ?", j.ID)
	s.BeginCrawl(j)
	s.Do("PUT", at, `{"interval_minutes":77,"schedule_enabled":false}`).Problem(409, "conflict", "")
	apptest.Has(t, s.Do("GET", at, "").Want(200), map[string]any{"interval_minutes": 2, "status": "running"})

	once := s.AddJob("https://example.com/once")
	modelstest.Exec(t, s.DB, "UPDATE jobs SET next_run_at = NULL, status = 'completed' WHERE id = ?", once.ID)
	apptest.Has(t, s.Do("PUT", "/v1/jobs/"+once.ID, `{"interval_minutes":1,"interval_type":"hours"}`).Want(200), map[string]any{"status": "scheduled"})
}

// An execution has the fields that clients expect. Its log can be listed, downloaded and streamed
// from any line.
func TestExecutionsAndLogs_API(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	j := s.AddJob("https://example.com/")
	at := "/v1/jobs/" + j.ID
	e := s.BeginCrawl(j)
	s.Fetch(func(e crawl.Entry) crawl.Result {
		r := apptest.Crawled(e)
		r.LogLine = crawl.FormatLogLine(models.At(s.Clock.Now()), "info", "fetched", "url", e.URL)
		return r
	})
	s.Clock.Advance(3 * time.Second)
	s.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Succeed, MemoryPeakMB: 7})
	list := apptest.Items(s.Do("GET", at+"/executions", "").Want(200))
	if len(list) != 1 {
		s.Fatalf("executions %v", list)
	}
	apptest.Has(s.TB, list[0], map[string]any{
		"id": e.ID, "job_id": j.ID, "execution_number": 1, "status": "completed", "duration_ms": 4000, "items_crawled": 1, "items_indexed": 1,
		"queued": 0, "fetched": 1, "failed": 0, "error_message": nil, "stack_trace": nil, "memory_peak_mb": 7, "retry_attempt": 0, "log_lines": 3,
	})
	apptest.Has(s.TB, s.Do("GET", "/v1/executions/"+e.ID, "").Want(200), list[0])
	apptest.Has(s.TB, s.Do("GET", at+"/stats", "").Want(200), map[string]any{
		"total_executions": 1, "completed": 1, "failed": 0, "success_rate": 1, "average_duration_ms": 4000, "items_crawled": 1,
	})
	first := s.Do("GET", at+"/logs?limit=2", "").Want(200)
	second := s.Do("GET", at+"/logs?limit=2&page_token="+first["next_page_token"].(string), "").Want(200)
	lines := append(apptest.Items(first), apptest.Items(second)...)
	if len(lines) != 3 || lines[0]["line"] != 1.0 || lines[1]["message"] != "fetched url=https://example.com/" || lines[2]["level"] != "info" {
		s.Errorf("log %v", lines)
	}
	log := s.Do("GET", at+"/logs/download", "")
	if !strings.HasPrefix(log.Header.Get("Content-Type"), "text/plain") || !strings.HasPrefix(log.Header.Get("Content-Disposition"), "attachment") || strings.Count(log.Body, "\n") != 3 {
		s.Errorf("download %v %q", log.Header, log.Body)
	}
	stream := s.Request("GET", at+"/logs/stream/v2", "Last-Event-ID", "1-1")
	if strings.Count(stream.Body, "event: log:line") != 2 || !strings.Contains(stream.Body, "id: 1-3") || !strings.HasSuffix(strings.TrimSpace(stream.Body), "data: {}") {
		s.Errorf("stream %q", stream.Body)
	}
}

// The metrics of the scheduler have the names that clients expect. A rebalance spreads 40 daily
// jobs evenly over 40 slots.
func TestScheduler_API(t *testing.T) {
	s := apptest.New(t)
	m := s.Do("GET", "/api/v1/scheduler/metrics", "").Want(200)
	apptest.Has(t, m, map[string]any{"stale_locks_cleared": 0, "distribution_score": 1})
	apptest.Has(t, m["executions"].(map[string]any), map[string]any{"total": 0, "success_rate": nil, "average_duration_ms": 0})
	apptest.Has(t, m["jobs"].(map[string]any), map[string]any{"scheduled": 0, "running": 0, "completed": 0, "failed": 0, "cancelled": 0})
	for i := range 40 {
		j := s.AddJob("https://example.com/", func(n *crawl.NewJob) { n.Interval = crawl.Interval{Count: 1, Type: crawl.Days} })
		modelstest.Exec(t, s.DB, "UPDATE jobs SET next_run_at = ?1, planned_at = ?1 WHERE id = ?2", models.At(s.Clock.Now().Add(time.Duration(2*i)*crawl.SlotLength)), j.ID)
	}
	d := s.Do("GET", "/v1/scheduler/distribution", "").Want(200)
	if d["distribution_score"] != 1.0 || len(apptest.Objects(d["slots"])) != 96 {
		t.Errorf("got distribution score %v", d["distribution_score"])
	}
	modelstest.Exec(t, s.DB, "UPDATE jobs SET next_run_at = ?1, planned_at = ?1, moved_at = NULL", models.At(s.Clock.Now().Add(2*time.Hour)))
	preview := s.Do("POST", "/v1/scheduler/rebalance/preview", "").Want(200)
	done := s.Do("POST", "/v1/scheduler/rebalance", "").Want(200)
	if n := len(apptest.Objects(done["moves"])); n < 30 || n != len(apptest.Objects(preview["moves"])) || preview["score_after"] != done["score_after"] || done["score_after"].(float64) <= done["score_before"].(float64) {
		t.Errorf("got %d moves, score %v before, %v after", n, done["score_before"], done["score_after"])
	}
	if again := s.Do("POST", "/v1/scheduler/rebalance", "").Want(200); len(apptest.Objects(again["moves"])) != 0 {
		t.Errorf("second rebalance: got %v", again)
	}
}

// Entries of the frontier and discovered links are listed, filtered, added and deleted.
func TestFrontier_API(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://example.com")
	e := s.run(j)
	list := apptest.Items(s.Do("GET", "/v1/frontier?execution_id="+e.ID, "").Want(200))
	if len(list) != 3 || list[0]["depth"] != 0.0 || list[0]["execution_id"] != e.ID || list[0]["last_error"] != nil {
		t.Errorf("got frontier %v", list)
	}
	failed := s.Do("GET", "/v1/frontier?status=failed&source_id="+j.SourceID, "").Want(200)
	if apptest.Column(failed, "last_error") != "status 404" {
		t.Errorf("got failed %v", failed)
	}
	added := s.Do("POST", "/v1/frontier", `{"url":"https://example.com/by-hand#top"}`).Want(201)
	apptest.Has(t, added, map[string]any{"status": "pending", "execution_id": nil, "url": "https://example.com/by-hand", "depth": 0, "attempts": 0, "source_id": j.SourceID})
	apptest.Has(t, s.Do("POST", "/v1/frontier", `{"url":"https://example.com/by-hand"}`).Want(200), map[string]any{"id": added["id"]})
	s.Do("DELETE", "/v1/frontier/"+added["id"].(string), "").Want(204)
	s.Do("DELETE", "/v1/frontier/"+added["id"].(string), "").Problem(404, "not-found", "")
	links := apptest.Items(s.Do("GET", "/v1/discovered-links?source_id="+j.SourceID, "").Want(200))
	if len(links) != 1 || links[0]["url"] != "https://other.test/a" || links[0]["text"] != hostile || links[0]["found_on"] != "https://example.com/" {
		t.Errorf("got discovered %v", links)
	}
	s.Do("DELETE", "/v1/discovered-links/"+links[0]["id"].(string), "").Want(204)
	s.Do("DELETE", "/v1/discovered-links/"+links[0]["id"].(string), "").Problem(404, "not-found", "")
}

// A sync adds one job for each enabled source.
func TestSync_API(t *testing.T) {
	s := apptest.New(t)
	s.Do("POST", "/v1/sources", `{"url":"https://one.test","interval_minutes":6,"interval_type":"hours"}`).Want(201)
	s.Do("POST", "/v1/sources", `{"url":"https://two.test"}`).Want(201)
	s.Do("POST", "/v1/sources", `{"url":"https://three.test","enabled":false}`).Want(201)
	const sync = "/api/v1/admin/sync-enabled-sources"
	apptest.Has(t, s.Do("POST", sync, "").Want(200), map[string]any{"created": 2, "updated": 0, "skipped": 0})
	apptest.Has(t, s.Do("POST", sync, "").Want(200), map[string]any{"created": 0, "updated": 0, "skipped": 2})
	jobs := s.Do("GET", "/v1/jobs", "").Want(200)
	if got := apptest.Column(jobs, "interval_type"); got != "hours days" && got != "hours, days" {
		t.Errorf("got intervals %q", got)
	}
}
