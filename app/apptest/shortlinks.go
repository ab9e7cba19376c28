package apptest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// At describes an instant from now on by the server's clock.
func (s *Server) At(d time.Duration) string { return s.Clock.Now().Add(d).Format(time.RFC3339) }

// Shorten makes a short link and answers its address in the API. body is the
// members beside long_url: `"short_key":"abcd","max_visits":1`.
func (s *Server) Shorten(body string) string {
	s.Helper()
	if body != "" {
		body = "," + body
	}
	a := s.Do("POST", "/v1/shortlinks", `{"long_url":"https://example.com/page"`+body+`}`)
	a.Want(http.StatusCreated)
	return a.Header.Get("Location")
}

// Visit follows a short link.
func (s *Server) Visit(key, userAgent, referrer string) {
	s.Helper()
	_, err := s.ShortLinks.Visit(s.Context(), key, shortlinks.Visitor{UserAgent: userAgent, Referrer: referrer})
	s.Must(err)
}

// WriteVisits does what the service does each second.
func (s *Server) WriteVisits() {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	s.Systems.ShortLinks.Visits.Gather(ctx) // what is in the queue
	s.Must(s.Systems.ShortLinks.Visits.Write(s.Context(), s.ShortLinks))
}

// Eventually waits for what another goroutine does.
func (s *Server) Eventually(what string, is func() bool) {
	s.Helper()
	for limit := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			s.Fatal("it never came to this: " + what)
		}
	}
}

// Ask asks for a path and goes nowhere from there. headers are name and value in turn.
func (s *Server) Ask(method, path string, headers ...string) Answer {
	s.Helper()
	a, err := s.TryAsk(method, path, headers...)
	if err != nil {
		s.Fatal(err)
	}
	return a
}

// TryAsk is ask for any goroutine.
func (s *Server) TryAsk(method, path string, headers ...string) (Answer, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, s.URL+path, nil)
	if err != nil {
		return Answer{}, err
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := noFollow.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return Answer{s.TB, method + " " + path, res.StatusCode, res.Header, string(body)}, err
}

// Leads fails unless a path leads to an address.
func (s *Server) Leads(path, to string) {
	s.Helper()
	a := s.Ask("GET", path)
	if a.Status != http.StatusFound || a.Header.Get("Location") != to {
		s.Errorf("%s leads to %q with %d, want %q: %s", path, a.Header.Get("Location"), a.Status, to, a.Body)
	}
}

// Gone fails unless a key answers 410 for a reason.
func (s *Server) Gone(path, reason string) {
	s.Helper()
	a := s.Ask("GET", path)
	if p := a.Problem(http.StatusGone, "gone", ""); !strings.Contains(p["detail"].(string), reason) {
		s.Errorf("%s: %q, want %q", path, p["detail"], reason)
	}
	if a.Header.Get("Location") != "" || strings.Contains(a.Body, "example.com") {
		s.Errorf("%s tells where it led: %v %s", path, a.Header, a.Body)
	}
}

// Sends are the statements that do sends, of any goroutine.
func (s *Server) Sends(do func()) (sent []string) {
	s.Helper()
	stop := modelstest.Statements(s.TB, s.DB)
	do()
	for _, x := range stop() {
		sent = append(sent, x.SQL)
	}
	return sent
}

// Silent fails if do sends any statement.
func (s *Server) Silent(what string, do func()) {
	s.Helper()
	if sent := s.Sends(do); len(sent) > 0 {
		s.Errorf("%s sends %q", what, sent)
	}
}

// Shorten makes a short link; change may set what its owner may.
func (s *Site) Shorten(longURL, key string, change ...func(*shortlinks.New)) shortlinks.ShortLink {
	s.Helper()
	n := shortlinks.New{LongURL: longURL, Key: key}
	for _, set := range change {
		set(&n)
	}
	l, created, err := s.ShortLinks.Add(s.Context(), n)
	if err != nil || !created {
		s.Fatal(created, err)
	}
	s.Clock.Advance(time.Minute)
	return l
}

// Visit goes to a short link so many times, and writes the visits down.
func (s *Site) Visit(key string, n int, v shortlinks.Visitor) {
	s.Helper()
	for range n {
		if _, err := s.ShortLinks.Visit(s.Context(), key, v); err != nil {
			s.Fatal(err)
		}
	}
	over, cancel := context.WithCancel(s.Context())
	cancel()
	s.Systems.ShortLinks.Visits.Gather(over) // what is in the queue
	if err := s.Systems.ShortLinks.Visits.Write(s.Context(), s.ShortLinks); err != nil {
		s.Fatal(err)
	}
}

var noFollow = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 100},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}
