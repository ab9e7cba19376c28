//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"time"

	"linkwatch/models/modelstest"
)

type target struct {
	ID, URL, Host, Name, Status string
	CanonicalURL                string `json:"canonical_url"`
	IntervalSeconds             int    `json:"interval_seconds"`
	Paused                      bool
	CreatedAt                   time.Time `json:"created_at"`
	NextCheckAt                 time.Time `json:"next_check_at"` // zero: null
	LastStatusCode              int       `json:"last_status_code"`
	LastError                   string    `json:"last_error"`
	ConsecutiveFailures         int       `json:"consecutive_failures"`
	TLSExpiresAt                time.Time `json:"tls_expires_at"` // zero: null
	LateSince                   time.Time `json:"late_since"`     // zero: null
	LateReason                  string    `json:"late_reason"`    // "": null
	Uptime                      map[string]*float64
}

type result struct {
	ID         string
	TargetID   string    `json:"target_id"`
	CheckedAt  time.Time `json:"checked_at"`
	StatusCode int       `json:"status_code"` // 0: null
	LatencyMS  int       `json:"latency_ms"`
	Attempts   int
	Error      string // "": null
}

// addTarget adds a target with this URL, which must be new.
func (s *Server) addTarget(url string) target {
	s.t.Helper()
	return s.addTargetAs(map[string]any{"url": url})
}

// addTargetAs adds a target with this body of the request.
func (s *Server) addTargetAs(body map[string]any) (t target) {
	s.t.Helper()
	var raw json.RawMessage
	if status := s.Call("POST", "/v1/targets", body, &raw); status != http.StatusCreated {
		s.t.Fatalf("add target %v: status %d: %s", body["url"], status, raw)
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		s.t.Fatal(err)
	}
	return t
}

// target returns the current state of a target.
func (s *Server) target(id string) (t target) {
	s.t.Helper()
	if status := s.Call("GET", "/v1/targets/"+id, nil, &t); status != http.StatusOK {
		s.t.Fatalf("get target %s: status %d", id, status)
	}
	return t
}

// results returns the newest checks of a target, newest first.
func (s *Server) results(id string) []result {
	s.t.Helper()
	all, _ := listed[result](s, "/v1/targets/"+id+"/results")
	return all
}

// becomes waits until a target has a status.
func (s *Server) becomes(id, status string) {
	s.t.Helper()
	modelstest.Eventually(s.t, "target "+id+" is "+status, func() bool { return s.target(id).Status == status })
}

// targetRow is a selector: the rows of the list of targets.
const targetRow = "#targets tbody tr"

// is waits until the first row of the list, or the page of a target, shows a status.
func (b *tab) is(status string) {
	b.t.Helper()
	b.wait(`document.querySelector("` + targetRow + `, .target .state")?.classList.contains("` + status + `")`)
}
