// Package standin fakes Google's and IndexNow's services for tests. It validates requests like the real services, records them,
// and fails on demand.
package standin

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

// The services, which identify recorded requests and faults.
const (
	Token    = "/token"
	Publish  = "/v3/urlNotifications:publish"
	Metadata = "/v3/urlNotifications/metadata"
	Inspect  = "/v1/urlInspection/index:inspect"
	Sitemaps = "/sitemaps" // PUT of a sitemap of any property
	Sites    = "/sites"    // GET of any property
	IndexNow = "/indexnow"
	KeyFile  = "/keyfile" // GET of any path that ends with .txt
)

// Request is one request received.
type Request struct {
	Service string // one of the paths above; "" = none of them
	Method  string
	URL     string // of the page, sitemap or property; the host for IndexNow
	URLs    []string
	Time    time.Time
	Header  http.Header
	Body    []byte
}

// Coverage is the index status of a page in the format of Google's API.
type Coverage struct {
	Verdict, CoverageState, RobotsTxtState, IndexingState, PageFetchState string
	GoogleCanonical, UserCanonical, LastCrawlTime                         string
}

// Server is the fake server. It is safe for concurrent use.
type Server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []Request
	faults   map[string][]Fault
	coverage map[string]Coverage
	notified map[string]map[string]time.Time // page → type → when
	sites    map[string]string               // property → permission level; nil = siteOwner for all
	files    map[string]string               // path → content
	tokens   map[string]bool                 // issued
	lifetime int                             // of tokens, in seconds
}

// New starts a server that stops at the end of the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		faults: map[string][]Fault{}, coverage: map[string]Coverage{}, notified: map[string]map[string]time.Time{},
		files: map[string]string{}, tokens: map[string]bool{}, lifetime: 3600,
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.CloseClientConnections() // ends requests that wait in Slow
		s.Close()
	})
	return s
}

// Settings are the settings that point Linkwatch to the server.
func (s *Server) Settings() map[string]string {
	return map[string]string{
		"GOOGLE_INDEXING_ENDPOINT": s.URL + "/", "GOOGLE_SEARCHCONSOLE_ENDPOINT": s.URL + "/",
		"GOOGLE_TOKEN_ENDPOINT": s.URL + Token, "INDEXNOW_ENDPOINT": s.URL + IndexNow,
	}
}

// Cover sets the index status of a page. Other pages are unknown to Google.
func (s *Server) Cover(url string, c Coverage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.coverage[url] = c
}

// Permit sets the permission level on a property, such as "siteFullUser". After the first call, other properties are unknown.
func (s *Server) Permit(property, level string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sites == nil {
		s.sites = map[string]string{}
	}
	s.sites[property] = level
}

// File sets a file of the website, such as "/key.txt".
func (s *Server) File(path, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[path] = content
}

// TokenLifetime sets the lifetime of new access tokens in seconds.
func (s *Server) TokenLifetime(seconds int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lifetime = seconds
}

// RevokeTokens revokes all issued access tokens.
func (s *Server) RevokeTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// Requests returns the requests of a service in order; "" = all services.
func (s *Server) Requests(service string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Request
	for _, r := range s.requests {
		if service == "" || r.Service == service {
			out = append(out, r)
		}
	}
	return out
}

// Count returns the number of requests of a service.
func (s *Server) Count(service string) int { return len(s.Requests(service)) }

// Reset removes the recorded requests and queued faults.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
	clear(s.faults)
}

// Await waits until a service has received n requests.
func (s *Server) Await(t testing.TB, service string, n int) {
	t.Helper()
	modelstest.Eventually(t, "requests of "+service+" received", func() bool { return s.Count(service) >= n })
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client disconnected
	}
	in := Request{Method: r.Method, Time: time.Now(), Header: r.Header.Clone(), Body: body}
	handle := s.route(r, &in)
	fault := s.record(in)
	if fault == nil {
		handle(w, in)
		return
	}
	fault(w, r, func(w http.ResponseWriter) { handle(w, in) })
}

func (s *Server) record(in Request) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, in)
	queue := s.faults[in.Service]
	if len(queue) == 0 {
		return nil
	}
	s.faults[in.Service] = queue[1:]
	return queue[0]
}
