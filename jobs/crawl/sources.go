package crawl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/outbound"
)

// Manager is an external source manager whose sources are synced (CRAWLER_SOURCES_API_URL).
type Manager struct {
	Client *outbound.Client // connects only to URL
	URL    string           // returns a list of sources
	Secret string           // signs the bearer token of the request; "" = no token
}

// managed is a source in the response of a source manager. Other fields are ignored.
type managed struct {
	ID             string   `json:"id"`
	Name           string   `json:"name"`
	URL            string   `json:"url"`
	Enabled        bool     `json:"enabled"`
	MaxDepth       int      `json:"max_depth"`
	AllowedDomains []string `json:"allowed_domains"`
	RateLimit      string   `json:"rate_limit"` // a duration such as 1s
	RateLimitMS    *int     `json:"rate_limit_ms"`
	Interval       *int     `json:"interval_minutes"`
	IntervalType   string   `json:"interval_type"`
}

// Sync copies the sources of the manager to the store, and creates a job for every enabled source.
// The error is CodeUnavailable if the manager is unavailable or its response is invalid.
func (m *Manager) Sync(ctx context.Context, store *crawl.Store) (crawl.SyncReport, error) {
	sources, err := m.sources(ctx)
	if err != nil {
		return crawl.SyncReport{}, &models.Error{Code: models.CodeUnavailable, Detail: "The source manager is unavailable. Check CRAWLER_SOURCES_API_URL.", Err: err}
	}
	put, err := store.ImportSources(ctx, sources)
	if err != nil {
		return crawl.SyncReport{}, err
	}
	synced, err := store.SyncJobs(ctx)
	synced.Updated += put.Updated
	return synced, err
}

// maxExternalID is the maximum length of a source id of the manager, in bytes.
const maxExternalID = 200

// tokenTTL is how long a token for the manager is valid.
const tokenTTL = time.Minute

func (m *Manager) sources(ctx context.Context) ([]crawl.ExternalSource, error) {
	r := outbound.Request{URL: m.URL}
	if m.Secret != "" {
		now := time.Now()
		claims := jwt.MapClaims{"sub": "linkwatch", "iat": now.Unix(), "exp": now.Add(tokenTTL).Unix()}
		var err error
		if r.Bearer, err = jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(m.Secret)); err != nil {
			return nil, fmt.Errorf("sign token: %w", err)
		}
	}
	res, err := m.Client.Fetch(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("source manager returned status %d", res.StatusCode)
	case res.Truncated:
		return nil, errors.New("response of the source manager is too large")
	}
	return readSources(res.Body)
}

// readSources parses a list of sources, or an object with that list in its field sources.
func readSources(body []byte) ([]crawl.ExternalSource, error) {
	var all []managed
	if err := json.Unmarshal(body, &all); err != nil {
		var object struct {
			Sources []managed `json:"sources"`
		}
		if err := json.Unmarshal(body, &object); err != nil {
			return nil, fmt.Errorf("parse response of the source manager: %w", err)
		}
		all = object.Sources
	}
	sources := make([]crawl.ExternalSource, 0, len(all))
	for _, m := range all {
		if m.ID == "" || len(m.ID) > maxExternalID {
			continue
		}
		x := crawl.ExternalSource{
			ID: m.ID, Name: m.Name, URL: m.URL, Enabled: m.Enabled, MaxDepth: m.MaxDepth, AllowedDomains: m.AllowedDomains, RateLimitMS: m.RateLimitMS,
		}
		if pause, err := time.ParseDuration(m.RateLimit); err == nil && x.RateLimitMS == nil && pause >= 0 {
			ms := int(pause.Milliseconds())
			x.RateLimitMS = &ms
		}
		if every, err := crawl.ParseInterval(m.Interval, m.IntervalType); err == nil {
			x.Interval = every
		}
		sources = append(sources, x)
	}
	return sources, nil
}
