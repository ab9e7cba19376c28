package admin_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/schedule"
)

func TestJobs(t *testing.T) {
	s := apptest.New(t)
	if err := s.Jobs.Declare(t.Context(), schedule.Job{ID: "revalidation", Schedule: "@every 1m"}); err != nil {
		t.Fatal(err)
	}
	list := s.Do("GET", "/v1/admin/jobs", "").Want(200)
	items, _ := list["items"].([]any)
	if len(items) != 1 || list["next_page_token"] != "" {
		t.Fatalf("got %v", list)
	}
	j, _ := items[0].(map[string]any)
	for member, want := range map[string]any{
		"id": "revalidation", "schedule": "@every 1m", "running": false, "runs": 0.0, "successes": 0.0, "failures": 0.0,
		"overlap_skips": 0.0, "last_started_at": nil, "last_duration_ms": nil, "last_error": nil, "next_run_at": nil,
	} {
		if got, ok := j[member]; !ok || got != want {
			t.Errorf("%s = %v, want %v", member, got, want)
		}
	}
	apptest.Has(t, s.Do("GET", "/v1/admin/jobs/revalidation", "").Want(200), j)
	s.Do("GET", "/v1/admin/jobs/other", "").Problem(404, "not-found", "")
	s.Do("POST", "/v1/admin/jobs/revalidation/run", "").Want(http.StatusAccepted)

	next := func(time.Time) time.Time { return time.Now().Add(time.Hour) }
	run, began, err := s.Jobs.Begin(t.Context(), s.Holder(), "revalidation", next)
	if err != nil || !began {
		t.Fatal(began, err)
	}
	s.Do("POST", "/v1/admin/jobs/revalidation/run", "").Problem(409, "conflict", "")
	run.Summary = "3 checked"
	if err := s.Jobs.Finish(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	s.Do("POST", "/v1/admin/jobs/revalidation/run", "").Want(http.StatusAccepted)
	second, began, err := s.Jobs.Begin(t.Context(), s.Holder(), "revalidation", next)
	if err != nil || !began {
		t.Fatal(began, err)
	}
	second.Error = "no"
	if err := s.Jobs.Finish(t.Context(), second); err != nil {
		t.Fatal(err)
	}

	const at = "/v1/admin/jobs/revalidation/runs"
	page := s.Do("GET", at+"?limit=1", "").Want(200)
	items, _ = page["items"].([]any)
	if r, _ := items[0].(map[string]any); len(items) != 1 || r["error"] != "no" || r["job_id"] != "revalidation" {
		t.Fatalf("got %v", page)
	}
	page = s.Do("GET", at+"?limit=1&page_token="+fmt.Sprint(page["next_page_token"]), "").Want(200)
	items, _ = page["items"].([]any)
	if r, _ := items[0].(map[string]any); len(items) != 1 || r["summary"] != "3 checked" || r["error"] != nil {
		t.Fatalf("got %v", page)
	}
}
