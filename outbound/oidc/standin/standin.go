// Package standin is an OpenID Connect provider for tests. It listens on this machine, signs in everyone without a
// password, and returns wrong answers on demand.
package standin

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"time"
)

// The client that the tests of several packages use.
const (
	ClientID     = "linkwatch"
	ClientSecret = "stand-in s3cret/+&" // with what must be escaped
)

// User is who signs in.
type User struct {
	Subject  string
	Username string // preferred_username; "" = the claim is missing
	Email    string // "" = the claim is missing
	Verified bool
	Claims   map[string]any // others
}

// Server is the provider. Set its fields before it is used.
type Server struct {
	URL       string // the issuer
	Secret    string // ClientSecret; "" = the client is public
	Algorithm string // RS256, PS256, ES256 or EdDSA
	Thin      bool   // the ID token has no claims of the user: they are at the userinfo endpoint
	InBody    bool   // the client's secret is taken in the body only
	NoIssuer  bool   // callbacks have no iss parameter
	Clock     func() time.Time

	http   *httptest.Server
	done   chan struct{}
	mu     sync.Mutex
	user   User
	faults map[Fault]bool
	counts map[string]int
	hang   chan struct{} // gets a value when a request hangs
	key    signingKey
	grants map[string]grant // by code
	access map[string]User  // by access token
}

// grant is what a code stands for.
type grant struct {
	user                       User
	redirect, nonce, challenge string
}

// New starts a provider. Close it.
func New() *Server {
	s := &Server{
		Secret: ClientSecret, Algorithm: "RS256", Clock: time.Now,
		user: User{Subject: "248289761001", Username: "ann", Email: "ann@example.com", Verified: true},
		done: make(chan struct{}), hang: make(chan struct{}, 100),
		faults: map[Fault]bool{}, counts: map[string]int{}, grants: map[string]grant{}, access: map[string]User{},
		key: firstKey(),
	}
	mux := http.NewServeMux()
	for path, h := range map[string]http.HandlerFunc{
		"GET /.well-known/openid-configuration": s.serve("discovery", s.discovery),
		"GET /keys":                             s.serve("keys", s.keys),
		"GET /authorize":                        s.serve("authorize", s.authorize),
		"POST /token":                           s.serve("token", s.token),
		"GET /userinfo":                         s.serve("userinfo", s.userinfo),
		"/trap":                                 s.serve("trap", func(http.ResponseWriter, *http.Request) {}),
	} {
		mux.HandleFunc(path, h)
	}
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	return s
}

// Close stops the provider.
func (s *Server) Close() {
	close(s.done)
	s.http.Close()
}

// Become sets who signs in from now on.
func (s *Server) Become(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user = u
}

// Break sets what goes wrong from now on, in place of what went wrong before.
func (s *Server) Break(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = map[Fault]bool{}
	for _, f := range faults {
		s.faults[f] = true
	}
}

func (s *Server) is(f Fault) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults[f]
}

// Count is how many requests a part has got: discovery, keys, authorize, token, userinfo or trap. "cookies" are the
// requests that had some.
func (s *Server) Count(part string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[part]
}

// Hanging gets a value each time that a request begins to hang.
func (s *Server) Hanging() <-chan struct{} { return s.hang }

// Rotate replaces the key. Tokens that were signed by the old one are no longer valid.
func (s *Server) Rotate() {
	k := newKey()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = k
}

// SignIn does what a browser does with the URL of Begin, and returns where the provider sends it.
func (s *Server) SignIn(ctx context.Context, login string) (*url.URL, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, login, http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := s.http.Client().Transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusFound {
		return nil, errors.New("the provider answered " + res.Status)
	}
	return res.Location()
}

// serve counts a request, and answers it wrongly if a fault of all parts says so.
func (s *Server) serve(part string, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.counts[part]++
		if r.Header.Get("Cookie") != "" {
			s.counts["cookies"]++
		}
		s.mu.Unlock()
		switch {
		case s.is(Hang(part)):
			s.hang <- struct{}{}
			s.wait(r)
		case s.is(HangBody(part)):
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"issuer": `))
			_ = http.NewResponseController(w).Flush()
			s.hang <- struct{}{}
			s.wait(r)
		case s.is(Huge(part)):
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"issuer": "`))
			for range 3 << 10 { // 3 MiB
				if _, err := w.Write(slices.Repeat([]byte("x"), 1<<10)); err != nil {
					return
				}
			}
		case s.is(Fail(part)):
			http.Error(w, `{"error": "server_error", "error_description": "<b>of the provider</b>"}`, http.StatusInternalServerError)
		case s.is(Garbage(part)):
			_, _ = w.Write([]byte("<html>"))
		case s.is(Redirect(part)):
			http.Redirect(w, r, s.URL+"/trap", http.StatusTemporaryRedirect)
		case s.is(RedirectInside(part)):
			http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusTemporaryRedirect)
		default:
			h(w, r)
		}
	}
}

func (s *Server) wait(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.done:
	}
}
