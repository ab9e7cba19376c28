// Package standin is an OpenID Connect provider for tests. It listens on this machine, signs in without a password, and can
// return invalid responses.
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

// Credentials of the client.
const (
	ClientID     = "linkwatch"
	ClientSecret = "stand-in s3cret/+&" // with characters that need escaping
)

// User is the user who signs in.
type User struct {
	Subject  string
	Username string // preferred_username; "" = the claim is missing
	Email    string // "" = the claim is missing
	Verified bool
	Claims   map[string]any // additional claims
}

// Server is the provider. Set its fields before the first request.
type Server struct {
	URL          string // issuer
	Secret       string // ClientSecret; "" = the client is public
	Algorithm    string // RS256, PS256, ES256 or EdDSA
	UserInfoOnly bool   // only the userinfo endpoint has claims about the user
	SecretInBody bool   // the client secret is accepted only in the body
	NoIssuer     bool   // callbacks have no iss parameter
	Refreshes    bool   // sign-ins have a refresh token. It is valid once, and its response has the next one
	Clock        func() time.Time

	http   *httptest.Server
	done   chan struct{}
	mu     sync.Mutex
	user   User
	faults map[Fault]bool
	counts map[string]int
	hang   chan struct{} // receives a value when a request hangs
	key    signingKey
	grants map[string]grant // by code
	access map[string]User  // by access token
	tokens map[string]grant // by refresh token
}

// grant is the data of an authorization code.
type grant struct {
	user                       User
	redirect, nonce, challenge string
}

// New starts a provider. The caller must call Close.
func New() *Server {
	s := &Server{
		Secret: ClientSecret, Algorithm: "RS256", Clock: time.Now,
		user: User{Subject: "248289761001", Username: "ann", Email: "ann@example.com", Verified: true},
		done: make(chan struct{}), hang: make(chan struct{}, 100),
		faults: map[Fault]bool{}, counts: map[string]int{}, grants: map[string]grant{}, access: map[string]User{}, tokens: map[string]grant{},
		key: firstKey(),
	}
	mux := http.NewServeMux()
	for path, h := range map[string]http.HandlerFunc{
		"GET /.well-known/openid-configuration": s.serve("discovery", s.discovery),
		"GET /keys":                             s.serve("keys", s.keys),
		"GET /authorize":                        s.serve("authorize", s.authorize),
		"POST /token":                           s.serve("token", s.token),
		"GET /userinfo":                         s.serve("userinfo", s.userinfo),
		"GET /logout":                           s.serve("logout", func(http.ResponseWriter, *http.Request) {}),
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

// SetUser sets the user who signs in.
func (s *Server) SetUser(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user = u
}

// SetFaults replaces the active faults.
func (s *Server) SetFaults(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = map[Fault]bool{}
	for _, f := range faults {
		s.faults[f] = true
	}
}

func (s *Server) has(f Fault) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults[f]
}

// Count returns the number of requests to an endpoint: discovery, keys, authorize, token, userinfo, logout or trap.
// "cookies" counts requests with cookies.
func (s *Server) Count(endpoint string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[endpoint]
}

// Hanging receives a value when a request starts to hang.
func (s *Server) Hanging() <-chan struct{} { return s.hang }

// Rotate replaces the signing key. Tokens with the old key become invalid.
func (s *Server) Rotate() {
	k := newKey()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = k
}

// SignIn requests a login URL as a browser does, and returns the URL to which the provider redirects.
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
		return nil, errors.New("provider returned " + res.Status)
	}
	return res.Location()
}

// serve counts a request and applies the faults that every endpoint can have.
func (s *Server) serve(endpoint string, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.counts[endpoint]++
		if r.Header.Get("Cookie") != "" {
			s.counts["cookies"]++
		}
		s.mu.Unlock()
		switch {
		case s.has(Hang(endpoint)):
			s.hang <- struct{}{}
			s.wait(r)
		case s.has(HangBody(endpoint)):
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"issuer": `))
			_ = http.NewResponseController(w).Flush()
			s.hang <- struct{}{}
			s.wait(r)
		case s.has(Huge(endpoint)):
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"issuer": "`))
			for range 3 << 10 { // 3 MiB
				if _, err := w.Write(slices.Repeat([]byte("x"), 1<<10)); err != nil {
					return
				}
			}
		case s.has(Fail(endpoint)):
			http.Error(w, `{"error": "server_error", "error_description": "<b>of the provider</b>"}`, http.StatusInternalServerError)
		case s.has(Garbage(endpoint)):
			_, _ = w.Write([]byte("<html>"))
		case s.has(Redirect(endpoint)):
			http.Redirect(w, r, s.URL+"/trap", http.StatusTemporaryRedirect)
		case s.has(RedirectInside(endpoint)):
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
