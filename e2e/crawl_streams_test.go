//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// events is an open event stream.
type events struct {
	t     *testing.T
	path  string
	lines *bufio.Scanner
}

// events opens an event stream, which ends with the test or after patience.
func (s *Server) events(t *testing.T, path string) *events {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	res := send(t, s, "GET", path, "", func(r *http.Request) { *r = *r.WithContext(ctx) })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("GET %s: %s, %s", path, res.Status, res.Header.Get("Content-Type"))
	}
	return &events{t, path, bufio.NewScanner(res.Body)}
}

// wait reads events until one with this name has wanted data.
func (e *events) wait(name string, wanted func(data event) bool) {
	e.t.Helper()
	last := ""
	for e.lines.Scan() {
		field, value, _ := strings.Cut(e.lines.Text(), ": ")
		switch field {
		case "event":
			last = value
		case "data":
			var data event
			if err := json.Unmarshal([]byte(value), &data); err != nil {
				e.t.Fatalf("%s: %s: %v", e.path, value, err)
			}
			if last == name && wanted(data) {
				return
			}
		}
	}
	e.t.Fatalf("%s ended without the event %s: %v", e.path, name, e.lines.Err())
}

// event has the fields of events that the tests use.
type event struct {
	JobID        string `json:"job_id"`
	Status       string
	ItemsIndexed int `json:"items_indexed"`
	Service      string
	Metric       string
	Value        float64
	Timestamp    time.Time
	Stopping     bool
}

// The event streams report jobs, the health of the server and the metrics of the scheduler. They end when the
// server stops.
func TestEventStreams(t *testing.T) {
	t.Parallel()
	s, m := Start(t, "CRAWLER_POLL_INTERVAL=100ms"), newMaze(t, 1, 5, 0)
	s.events(t, "/sse/health/events").wait("health:status", func(e event) bool {
		return e.Service == "linkwatch" && e.Status == "healthy" && !e.Timestamp.IsZero()
	})
	figures := s.events(t, "/sse/metrics/events")
	for _, name := range []string{"jobs.pending", "jobs.completed", "executions.total", "distribution_score"} { // in this order
		figures.wait("metrics:update", func(e event) bool { return e.Metric == name && e.Value >= 0 })
	}
	happens := s.events(t, "/sse/crawler/events")
	j := s.addJob(m.urls[0]+"/", nil)
	happens.wait("job:status", func(e event) bool { return e.JobID == j.ID && e.Status != "" })
	happens.wait("job:completed", func(e event) bool { return e.JobID == j.ID && e.Status == "completed" && e.ItemsIndexed == 5 })
	s.Stop()
	happens.wait("end", func(e event) bool { return e.Stopping })
}
