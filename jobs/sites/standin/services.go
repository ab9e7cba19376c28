package standin

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

var scopes = []string{"https://www.googleapis.com/auth/indexing", "https://www.googleapis.com/auth/webmasters"}

type service func(w http.ResponseWriter, in Request)

// route returns the service of a request and sets the fields of in.
func (s *Server) route(r *http.Request, in *Request) service {
	path := r.URL.EscapedPath()
	property, isSite := strings.CutPrefix(path, "/webmasters/v3/sites/")
	property, feed, isSitemap := strings.Cut(property, "/sitemaps/")
	in.URL = r.URL.Query().Get("url")
	switch {
	case path == Token && r.Method == http.MethodPost:
		in.Service = Token
		return s.token
	case path == Publish && r.Method == http.MethodPost:
		in.Service, in.URL = Publish, member(in.Body, "url")
		return s.bearer(s.publish)
	case path == Metadata && r.Method == http.MethodGet:
		in.Service = Metadata
		return s.bearer(s.metadata)
	case path == Inspect && r.Method == http.MethodPost:
		in.Service, in.URL = Inspect, member(in.Body, "inspectionUrl")
		return s.bearer(s.inspect)
	case isSite && isSitemap && r.Method == http.MethodPut:
		in.Service, in.URL = Sitemaps, unescape(feed)
		return s.bearer(func(w http.ResponseWriter, _ Request) {
			if s.permitted(w, unescape(property)) {
				w.WriteHeader(http.StatusNoContent)
			}
		})
	case isSite && r.Method == http.MethodGet:
		in.Service, in.URL = Sites, unescape(property)
		return s.bearer(s.site)
	case path == IndexNow && r.Method == http.MethodPost:
		in.Service = IndexNow
		return s.indexNow(in)
	case strings.HasSuffix(path, ".txt") && r.Method == http.MethodGet:
		in.Service, in.URL = KeyFile, s.URL+path
		return func(w http.ResponseWriter, _ Request) { s.file(w, path) }
	}
	return func(w http.ResponseWriter, _ Request) { http.Error(w, "no such service", http.StatusNotFound) }
}

func unescape(s string) string {
	out, err := url.PathUnescape(s)
	if err != nil {
		return s
	}
	return out
}

// member returns a string member of a JSON object; "" = none.
func member(body []byte, name string) string {
	var o map[string]any
	if json.Unmarshal(body, &o) != nil {
		return ""
	}
	text, _ := o[name].(string)
	return text
}

func write(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	Answer(http.StatusOK, string(b), "Content-Type", "application/json; charset=UTF-8")(w, nil, nil)
}

func fail(w http.ResponseWriter, f Fault) { f(w, nil, nil) }

// token validates the signed assertion of a service account and issues an access token.
func (s *Server) token(w http.ResponseWriter, in Request) {
	form, err := url.ParseQuery(string(in.Body))
	if err != nil || form.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		fail(w, TokenError(400, "unsupported_grant_type", "Invalid grant_type"))
		return
	}
	claims := jwt.MapClaims{}
	_, err = jwt.ParseWithClaims(form.Get("assertion"), claims, func(*jwt.Token) (any, error) { return &key().PublicKey, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithAudience(s.URL+Token), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(time.Minute))
	if err != nil {
		fail(w, TokenError(400, "invalid_grant", "Invalid JWT Signature."))
		return
	}
	if issuer, _ := claims.GetIssuer(); issuer != ClientEmail {
		fail(w, TokenError(400, "invalid_grant", "Invalid grant: account not found"))
		return
	}
	scope, _ := claims["scope"].(string)
	for _, want := range scopes {
		if !slices.Contains(strings.Fields(scope), want) {
			fail(w, TokenError(400, "invalid_scope", "Invalid OAuth scope or ID token audience provided."))
			return
		}
	}
	token := "ya29." + rand.Text()
	s.mu.Lock()
	s.tokens[token] = true
	lifetime := s.lifetime
	s.mu.Unlock()
	write(w, map[string]any{"access_token": token, "expires_in": lifetime, "token_type": "Bearer"})
}

// bearer requires an issued access token.
func (s *Server) bearer(next service) service {
	return func(w http.ResponseWriter, in Request) {
		token, ok := strings.CutPrefix(in.Header.Get("Authorization"), "Bearer ")
		s.mu.Lock()
		ok = ok && s.tokens[token]
		s.mu.Unlock()
		if !ok {
			fail(w, APIError(401, "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.", "authError"))
			return
		}
		next(w, in)
	}
}

type notification struct {
	URL        string `json:"url"`
	Type       string `json:"type"`
	NotifyTime string `json:"notifyTime"`
}

func (s *Server) publish(w http.ResponseWriter, in Request) {
	kind := member(in.Body, "type")
	if in.URL == "" || kind != "URL_UPDATED" && kind != "URL_DELETED" {
		fail(w, APIError(400, "Missing attribute. 'url' attribute is required.", ""))
		return
	}
	s.mu.Lock()
	if s.notified[in.URL] == nil {
		s.notified[in.URL] = map[string]time.Time{}
	}
	s.notified[in.URL][kind] = in.Time
	s.mu.Unlock()
	write(w, map[string]any{"urlNotificationMetadata": s.notifications(in.URL)})
}

func (s *Server) notifications(page string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.notified[page] == nil {
		return nil
	}
	out := map[string]any{"url": page}
	for kind, name := range map[string]string{"URL_UPDATED": "latestUpdate", "URL_DELETED": "latestRemove"} {
		if at, ok := s.notified[page][kind]; ok {
			out[name] = notification{page, kind, at.UTC().Format(time.RFC3339Nano)}
		}
	}
	return out
}

func (s *Server) metadata(w http.ResponseWriter, in Request) {
	found := s.notifications(in.URL)
	if found == nil {
		fail(w, APIError(404, "Requested entity was not found.", ""))
		return
	}
	write(w, found)
}

// permitted reports whether the service account has access to a property. If not, it sends the error response.
func (s *Server) permitted(w http.ResponseWriter, property string) bool {
	s.mu.Lock()
	ok := s.sites == nil || s.sites[property] != ""
	s.mu.Unlock()
	if !ok {
		fail(w, NoPermission(property))
	}
	return ok
}

func (s *Server) inspect(w http.ResponseWriter, in Request) {
	if !s.permitted(w, member(in.Body, "siteUrl")) {
		return
	}
	s.mu.Lock()
	c, ok := s.coverage[in.URL]
	s.mu.Unlock()
	if !ok {
		c = Coverage{Verdict: "NEUTRAL", CoverageState: "URL is unknown to Google"}
	}
	result := map[string]string{}
	for name, value := range map[string]string{
		"verdict": c.Verdict, "coverageState": c.CoverageState, "robotsTxtState": c.RobotsTxtState, "indexingState": c.IndexingState,
		"pageFetchState": c.PageFetchState, "googleCanonical": c.GoogleCanonical, "userCanonical": c.UserCanonical, "lastCrawlTime": c.LastCrawlTime,
	} {
		if value != "" {
			result[name] = value
		}
	}
	write(w, map[string]any{"inspectionResult": map[string]any{"indexStatusResult": result}})
}

func (s *Server) site(w http.ResponseWriter, in Request) {
	if !s.permitted(w, in.URL) {
		return
	}
	s.mu.Lock()
	level := s.sites[in.URL]
	s.mu.Unlock()
	if level == "" {
		level = "siteOwner"
	}
	write(w, map[string]string{"siteUrl": in.URL, "permissionLevel": level})
}

func (s *Server) indexNow(in *Request) service {
	var batch struct {
		Host        string   `json:"host"`
		Key         string   `json:"key"`
		KeyLocation string   `json:"keyLocation"`
		URLs        []string `json:"urlList"`
	}
	if err := json.Unmarshal(in.Body, &batch); err != nil || batch.Host == "" || batch.Key == "" || len(batch.URLs) == 0 || len(batch.URLs) > 10_000 {
		return func(w http.ResponseWriter, _ Request) { fail(w, Answer(400, "")) }
	}
	in.URL, in.URLs = batch.Host, batch.URLs
	return func(w http.ResponseWriter, _ Request) {
		for _, page := range batch.URLs {
			if u, err := url.Parse(page); err != nil || u.Host != batch.Host {
				fail(w, Answer(422, ""))
				return
			}
		}
		w.WriteHeader(http.StatusOK)
	}
}

func (s *Server) file(w http.ResponseWriter, path string) {
	s.mu.Lock()
	content, ok := s.files[path]
	s.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	fail(w, Answer(200, content, "Content-Type", "text/plain"))
}
