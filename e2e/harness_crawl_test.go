//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

type crawlJob struct {
	ID, URL, Status   string
	SourceID          string    `json:"source_id"`
	NextRunAt         time.Time `json:"next_run_at"`
	CurrentRetryCount int       `json:"current_retry_count"`
	LastError         string    `json:"last_error"`
}

type execution struct {
	ID, Status      string
	ExecutionNumber int    `json:"execution_number"`
	ItemsCrawled    int    `json:"items_crawled"`
	Queued          int    `json:"queued"`
	Failed          int    `json:"failed"`
	ErrorMessage    string `json:"error_message"`
	CancelledBy     string `json:"cancelled_by"`
}

// addJob adds a source of a site with some settings, and a one-time job that crawls it.
func (s *Server) addJob(url string, settings map[string]any) (j crawlJob) {
	s.t.Helper()
	source := map[string]any{"url": url, "rate_limit_ms": 0}
	for k, v := range settings {
		source[k] = v
	}
	var raw json.RawMessage
	if status := s.Call("POST", "/v1/sources", source, &raw); status != http.StatusCreated {
		s.t.Fatalf("add source: status %d: %s", status, raw)
	}
	if status := s.Call("POST", "/v1/jobs", map[string]any{"url": url}, &raw); status != http.StatusCreated {
		s.t.Fatalf("add job: status %d: %s", status, raw)
	}
	if err := json.Unmarshal(raw, &j); err != nil {
		s.t.Fatal(err)
	}
	return j
}

func (s *Server) job(id string) (j crawlJob) {
	s.t.Helper()
	if status := s.Call("GET", "/v1/jobs/"+id, nil, &j); status != http.StatusOK {
		s.t.Fatalf("get job %s: status %d", id, status)
	}
	return j
}

// executions returns the executions of a job, newest first.
func (s *Server) executions(id string) []execution {
	s.t.Helper()
	all, _ := listed[execution](s, "/v1/jobs/"+id+"/executions")
	return all
}

// jobBecomes waits until a job has a status.
func (s *Server) jobBecomes(id, status string) {
	s.t.Helper()
	modelstest.Eventually(s.t, "job "+id+" is "+status, func() bool { return s.job(id).Status == status })
}

// crawled waits until the newest execution of a job has crawled a number of pages.
func (s *Server) crawled(id string, pages int) {
	s.t.Helper()
	modelstest.Eventually(s.t, fmt.Sprintf("%d pages are crawled", pages), func() bool {
		all := s.executions(id)
		return len(all) > 0 && all[0].ItemsCrawled >= pages
	})
}

// maze is a site with pages on several hosts. Each page links to the next ones of its host.
// The start page of the first host links to those of the others.
type maze struct {
	urls  []string // of the start pages
	pages int      // of each host
	took  time.Duration

	mu       sync.Mutex
	requests map[string]int // by host and path
	busy     map[string]int // by host
	last     map[string]time.Time
	together int           // maximum number of concurrent requests to a host
	gap      time.Duration // the shortest pause between two pages of a host
}

// hosts returns the hosts of the maze with their ports.
func (m *maze) hosts() []string {
	all := make([]string, len(m.urls))
	for i, u := range m.urls {
		all[i] = strings.TrimPrefix(u, "http://")
	}
	return all
}

// newMaze serves a maze with slow pages.
func newMaze(t testing.TB, n, pages int, took time.Duration) *maze {
	t.Helper()
	m := &maze{pages: pages, took: took, requests: map[string]int{}, busy: map[string]int{}, last: map[string]time.Time{}, gap: time.Hour}
	m.urls = hosts(t, n, m)
	return m
}

func (m *maze) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	m.mu.Lock()
	m.requests[r.Host+r.URL.Path]++
	m.busy[r.Host]++
	m.together = max(m.together, m.busy[r.Host])
	if last, ok := m.last[r.Host]; ok {
		m.gap = min(m.gap, time.Since(last))
	}
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		m.busy[r.Host]--
		m.last[r.Host] = time.Now()
		m.mu.Unlock()
	}()
	if m.took > 0 {
		time.Sleep(m.took) // the response time is part of the test
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<!doctype html><title>Page %d</title><p>Page %d.", n, n)
	if n == 0 && m.urls != nil && strings.HasSuffix(m.urls[0], r.Host) {
		for _, u := range m.urls {
			fmt.Fprintf(w, "<a href=%s/>host</a> ", u)
		}
	}
	for i := 1; i <= 5; i++ {
		if next := n*5 + i; next < m.pages {
			fmt.Fprintf(w, "<a href=/%d>next</a> ", next)
		}
	}
}

// visited returns the number of requested pages, and of those requested more than once.
func (m *maze) visited() (pages, again int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.requests {
		pages++
		if n > 1 {
			again++
		}
	}
	return pages, again
}
