package crawl_test

import (
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models/crawl"
)

// A job cannot be scheduled without an interval, when it is added or edited.
func TestScheduleNeedsAnInterval(t *testing.T) {
	s := apptest.New(t)
	once, daily := s.AddJob("https://example.com/"), s.AddJob("https://example.org/", func(n *crawl.NewJob) { n.Interval = crawl.Interval{Count: 1, Type: crawl.Days} })
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/jobs", `{"url":"https://example.com/new","schedule_enabled":true}`},
		{"POST", "/v1/jobs", `{"url":"https://example.com/new","schedule_enabled":true,"interval_minutes":null,"interval_type":"days"}`},
		{"PUT", "/v1/jobs/" + once.ID, `{"schedule_enabled":true}`},
		{"PUT", "/v1/jobs/" + once.ID, `{"schedule_enabled":true,"interval_type":"hours"}`},
		{"PUT", "/v1/jobs/" + daily.ID, `{"schedule_enabled":true,"interval_minutes":null}`},
	} {
		s.Do(c.method, c.path, c.body).Problem(400, "invalid-request", "interval_minutes")
	}
	apptest.Has(t, s.Do("GET", "/v1/jobs/"+daily.ID, "").Want(200), map[string]any{"interval_minutes": 1, "status": "scheduled"})
	s.Do("PUT", "/v1/jobs/"+once.ID, `{"schedule_enabled":false}`).Want(200)
	s.Do("PUT", "/v1/jobs/"+once.ID, `{"schedule_enabled":true,"interval_minutes":5}`).Want(200)
}

// A job that waits for a retry says so in the list, on its page and in the API. Its status allows what pending allows.
func TestJobWaitsForRetry(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://example.com/")
	apptest.Has(t, s.Do("GET", "/v1/jobs/"+j.ID, "").Want(200), map[string]any{"status": "pending", "retry_at": nil})
	s.fail(j, "start page: status 503")
	got := s.Do("GET", "/v1/jobs/"+j.ID, "").Want(200)
	apptest.Has(t, got, map[string]any{"status": "pending", "current_retry_count": 1, "max_retries": 3, "retry_at": got["next_run_at"]})
	if got["retry_at"] == nil {
		t.Error("no retry_at")
	}
	for _, path := range []string{"/crawl", "/crawl/jobs/" + j.ID} {
		if text := s.Get(path).Text(); !strings.Contains(text, "retry 1 of 3") {
			t.Errorf("%s: got %s", path, text)
		}
	}
	for _, action := range []string{"pause", "force-run", "retry", "resume"} {
		s.Do("POST", "/v1/jobs/"+j.ID+"/"+action, "").Problem(409, "conflict", "")
	}
	apptest.Has(t, s.Do("POST", "/v1/jobs/"+j.ID+"/cancel", "").Want(200), map[string]any{"status": "cancelled", "retry_at": nil})
}
