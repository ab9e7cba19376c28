package targets_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
)

func TestTargetResults(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	id, other := s.Watch("https://a.test", "").ID, s.Watch("https://b.test", "").ID
	at := "/v1/targets/" + id + "/results"
	start := s.Clock.Now()
	check(s, id, foundUp, foundDown, foundSilent)
	check(s, other, foundUp)
	check(s, id, foundThrottled)

	list := apptest.Items(s.Do("GET", at, "").Want(200))
	if len(list) != 4 {
		s.Fatalf("%d results, want 4", len(list))
	}
	for i, want := range []map[string]any{
		{"outcome": "throttled", "status_code": 429.0, "error": "throttled: status 429"},
		{"outcome": "down", "status_code": nil, "latency_ms": 0.0, "error": "connection refused", "attempts": 3.0},
		{"outcome": "down", "status_code": 404.0, "error": "unexpected status 404", "attempts": 1.0},
		{"outcome": "up", "status_code": 200.0, "latency_ms": 40.0, "error": nil, "checked_at": start.Add(time.Second).Format(time.RFC3339)},
	} {
		apptest.Has(s.TB, list[i], want)
		if !strings.HasPrefix(fmt.Sprint(list[i]["id"]), "c_") || list[i]["target_id"] != id {
			s.Errorf("got %v", list[i])
		}
	}
	second := func(n int) string { return start.Add(time.Duration(n) * time.Second).Format(time.RFC3339) }
	for query, want := range map[string]string{
		"?failed=true":                          "throttled down down",
		"?failed=false":                         "throttled down down up",
		"?since=" + second(2):                   "throttled down down",
		"?since=" + second(2) + "&failed=true":  "throttled down down",
		"?since=" + second(3):                   "throttled down",
		"?since=" + second(9):                   "",
		"?since=2026-03-24T13:00:03%2B01:00":    "throttled down",
		"?since=2026-03-24t13:00:03%2B01:00":    "throttled down",
		"?since=2026-03-24t12:00:03.0z":         "throttled down",
		"?since=2026-03-24T12:00:02.9Z&limit=1": "throttled",
	} {
		if got := apptest.Column(s.Do("GET", at+query, "").Want(200), "outcome"); got != want {
			s.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got := apptest.Column(s.Do("GET", "/v1/checks?failed=false", "").Want(200), "target_id"); got != strings.Join([]string{id, other, id, id, id}, " ") {
		s.Errorf("the checks of all targets: %s", got)
	}
	if got := apptest.Column(s.Do("GET", "/v1/checks?failed=true&since="+second(3), "").Want(200), "outcome"); got != "throttled down" {
		s.Errorf("the failed checks of all targets: %s", got)
	}
}

// TestCursorPaginationOfResults reads page by page while checks run. Each result that
// existed at the start is returned once, in the same order.
func TestCursorPaginationOfResults(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	id, other := s.Watch("https://a.test", "").ID, s.Watch("https://b.test", "").ID
	for range 4 {
		check(s, id, foundUp, foundDown)
		check(s, other, foundUp)
	}
	for _, at := range []string{"/v1/targets/" + id + "/results?", "/v1/checks?", "/v1/checks?failed=true&"} {
		want := apptest.Column(s.Do("GET", at, "").Want(200), "id")
		var got []string
		for token, more := "", true; more; more = token != "" {
			page := s.Do("GET", at+"limit=3&page_token="+token, "").Want(200)
			got = append(got, strings.Fields(apptest.Column(page, "id"))...)
			token = fmt.Sprint(page["next_page_token"])
			check(s, id, foundDown)
		}
		if strings.Join(got, " ") != want {
			s.Errorf("%s: got  %v\nwant %v", at, got, want)
		}
	}
}

func TestTargetOutages(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	id, other := s.Watch("https://a.test", "").ID, s.Watch("https://b.test", "").ID
	check(s, other, foundDown)
	check(s, id, foundUp, foundSilent, foundDown, foundThrottled, foundUp, foundDown)
	at := "/v1/targets/" + id + "/outages"
	s.Clock.Advance(time.Minute)
	first := s.Do("GET", at+"?limit=1", "").Want(200)
	list := apptest.Items(first)
	if len(list) != 1 {
		s.Fatalf("got %v", first)
	}
	apptest.Has(s.TB, list[0], map[string]any{
		"target_id": id, "cause": "unexpected status 404", "started_at": "2026-03-24T12:00:07Z", "ended_at": nil, "duration_seconds": 60.0,
	})
	last := s.Do("GET", at+"?limit=1&page_token="+fmt.Sprint(first["next_page_token"]), "").Want(200)
	if list = apptest.Items(last); len(list) != 1 || last["next_page_token"] != "" {
		s.Fatalf("got %v", last)
	}
	apptest.Has(s.TB, list[0], map[string]any{
		"cause": "connection refused", "started_at": "2026-03-24T12:00:03Z", "ended_at": "2026-03-24T12:00:06Z", "duration_seconds": 3.0,
	})
}

func TestTargetHistory(t *testing.T) {
	s := apptest.New(t)
	id := s.Watch("https://a.test", "").ID
	at := "/v1/targets/" + id + "/history"
	none := s.Do("GET", at, "").Want(200)
	apptest.Has(t, none, map[string]any{"target_id": id, "range": "24h", "since": nil, "checks": 0.0, "up_seconds": 0.0, "down_seconds": 0.0, "uptime": nil, "p50_ms": nil, "p95_ms": nil})
	check(s, id, foundUp, foundUp, foundSilent, foundThrottled) // a second apart
	for _, window := range []string{"24h", "7d", "30d", "90d", "365d"} {
		h := s.Do("GET", at+"?range="+window, "").Want(200)
		apptest.Has(t, h, map[string]any{"range": window, "since": "2026-03-24T12:00:01Z", "checks": 3.0, "up_seconds": 2.0, "down_seconds": 1.0, "uptime": 2 / 3.0})
		if p50, _ := h["p50_ms"].(float64); p50 < 35 || p50 > 46 {
			t.Errorf("%s: p50 %v, want about 40", window, h["p50_ms"])
		}
		buckets := apptest.Objects(h["buckets"])
		if len(buckets) < 24 || len(buckets) > 120 {
			t.Fatalf("%s: %d buckets", window, len(buckets))
		}
		for i, b := range buckets[1:] {
			if b["from"] != buckets[i]["to"] {
				t.Errorf("%s: a gap between %v and %v", window, buckets[i]["to"], b["from"])
			}
		}
		apptest.Has(t, buckets[0], map[string]any{"checks": 0.0, "up_seconds": 0.0, "down_seconds": 0.0, "uptime": nil, "p50_ms": nil, "p95_ms": nil})
		apptest.Has(t, buckets[len(buckets)-1], map[string]any{"checks": 3.0, "up_seconds": 2.0, "down_seconds": 1.0, "uptime": 2 / 3.0, "p50_ms": h["p50_ms"], "p95_ms": h["p95_ms"]})
	}
}
