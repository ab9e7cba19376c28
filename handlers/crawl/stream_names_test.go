package crawl_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/crawl"
)

// events returns the data of the last event of each name of a stream, once the stream has sent one of each.
func (s *site) events(path string, change func(), names ...string) map[string]map[string]any {
	s.Helper()
	ctx, stop := context.WithTimeout(s.TB.Context(), time.Minute)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	s.Must(err)
	res, err := http.DefaultClient.Do(r)
	s.Must(err)
	defer res.Body.Close()
	change()
	found, name := map[string]map[string]any{}, ""
	missing := func(name string) bool { return found[name] == nil }
	for lines := bufio.NewScanner(res.Body); slices.ContainsFunc(names, missing) && lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = value
		}
		if value, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var data map[string]any
			s.Must(json.Unmarshal([]byte(value), &data))
			found[name] = data
		}
	}
	if slices.ContainsFunc(names, missing) {
		s.Fatalf("%s: got only %v", path, found)
	}
	return found
}

// Events name the time at, the number of pages items_crawled and the error of a job last_error, as lists do. The old names stay
// beside them.
func TestNamesOfEvents(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	same := func(event map[string]any, name, old string) {
		t.Helper()
		value, ok := event[name]
		if !ok || !reflect.DeepEqual(value, event[old]) {
			t.Errorf("%s = %v, %s = %v", name, value, old, event[old])
		}
	}
	j := s.AddJob("https://example.com", fails)
	run := s.events("/sse/crawler/events", func() {
		s.Clock.Advance(time.Second)
		e := s.BeginCrawl(j)
		s.Fetch(func(e crawl.Entry) crawl.Result {
			r := apptest.Crawled(e)
			r.LogLine = crawl.FormatLogLine(s.Crawl.Now(), "info", "fetched")
			return r
		})
		s.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Fail, Error: "status 503"})
	}, "job:status", "job:completed")
	status, details := run["job:status"], run["job:status"]["details"].(map[string]any)
	same(status, "at", "timestamp")
	same(details, "last_error", "error_message")
	listed := s.Do("GET", "/v1/jobs/"+j.ID, "").Want(200)
	if details["last_error"] != "status 503" || listed["last_error"] != "status 503" || status["status"] != listed["status"] {
		t.Errorf("got the event %v of %v", status, listed)
	}
	done, e := run["job:completed"], apptest.Items(s.Do("GET", "/v1/executions", "").Want(200))[0]
	same(done, "at", "timestamp")
	for _, member := range []string{"job_id", "status", "duration_ms", "items_crawled", "items_indexed", "error_message"} {
		if _, ok := done[member]; !ok || !reflect.DeepEqual(done[member], e[member]) {
			t.Errorf("%s is %v in the event, %v in the list", member, done[member], e[member])
		}
	}
	if done["at"] != e["completed_at"] || done["execution_id"] != e["id"] {
		t.Errorf("got the event %v of %v", done, e)
	}

	line := s.events("/v1/jobs/"+j.ID+"/logs/stream/v2", func() {}, "log:line")["log:line"]
	same(line, "at", "timestamp")
	apptest.Has(t, line, apptest.Items(s.Do("GET", "/v1/jobs/"+j.ID+"/logs", "").Want(200))[0])
	same(s.events("/sse/metrics/events", func() {}, "metrics:update")["metrics:update"], "at", "timestamp")
	health := s.events("/sse/health/events", func() {}, "health:status")["health:status"]
	same(health, "at", "timestamp")
	same(health, "latency_ms", "latency")

	other := s.AddJob("https://other.test")
	progress := s.events("/sse/crawler/events", func() {
		s.Clock.Advance(time.Second)
		s.BeginCrawl(other)
		s.Fetch(func(e crawl.Entry) crawl.Result { return apptest.Crawled(e) })
	}, "job:progress")["job:progress"]
	same(progress, "at", "timestamp")
	same(progress, "items_crawled", "items_found")
}
