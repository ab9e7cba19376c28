// Package google is a client of Google's Indexing API and Search Console API. Each call is exactly one request, which the
// caller counts against the quotas. Errors of calls are of the type *engine.Error.
package google

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"google.golang.org/api/indexing/v3"
	"google.golang.org/api/option"
	"google.golang.org/api/searchconsole/v1"

	"linkwatch/jobs/sites/engine"
)

// Default timeouts, from dial to the last byte of the response.
const (
	timeout        = 30 * time.Second
	inspectTimeout = 60 * time.Second // inspections are slow
)

// Options are the endpoints and timeouts.
type Options struct {
	Indexing       string        // GOOGLE_INDEXING_ENDPOINT
	SearchConsole  string        // GOOGLE_SEARCHCONSOLE_ENDPOINT
	Token          string        // GOOGLE_TOKEN_ENDPOINT
	UserAgent      string        // added to that of the Google library
	Timeout        time.Duration // of a request; 0 = 30 s
	InspectTimeout time.Duration // of an inspection; 0 = 60 s
}

// Endpoints are the clients of Google's endpoints, shared by all websites. They are safe for concurrent use.
type Endpoints struct {
	opts          Options
	clients       []*engine.Client
	token         *engine.Client
	indexing      *indexing.Service
	searchConsole *searchconsole.Service
}

// NewEndpoints returns the clients of Google's endpoints. The error is about an invalid URL.
//
//nolint:contextcheck,nolintlint // Google's library needs a context only to find credentials; the directive is for callers, where nolintlint does not see its use
func NewEndpoints(o Options) (*Endpoints, error) {
	ctx := context.Background()
	o.Timeout, o.InspectTimeout = cmp.Or(o.Timeout, timeout), cmp.Or(o.InspectTimeout, inspectTimeout)
	e := &Endpoints{opts: o}
	connect := func(endpoint string) (*engine.Client, error) {
		c, err := engine.NewClient(endpoint, max(o.Timeout, o.InspectTimeout))
		if err == nil {
			e.clients = append(e.clients, c)
		}
		return c, err
	}
	// The default logger depends on the environment and would write tokens.
	options := func(endpoint string, c *engine.Client) []option.ClientOption {
		return []option.ClientOption{
			option.WithHTTPClient(c.HTTP), option.WithEndpoint(strings.TrimSuffix(endpoint, "/") + "/"),
			option.WithLogger(slog.New(slog.DiscardHandler)),
		}
	}
	var err error
	if e.token, err = connect(o.Token); err != nil {
		return nil, err
	}
	c, err := connect(o.Indexing)
	if err != nil {
		return nil, err
	}
	if e.indexing, err = indexing.NewService(ctx, options(o.Indexing, c)...); err != nil {
		return nil, err
	}
	if c, err = connect(o.SearchConsole); err != nil {
		return nil, err
	}
	if e.searchConsole, err = searchconsole.NewService(ctx, options(o.SearchConsole, c)...); err != nil {
		return nil, err
	}
	e.indexing.UserAgent, e.searchConsole.UserAgent = o.UserAgent, o.UserAgent
	return e, nil
}

// Close closes idle connections.
func (e *Endpoints) Close() {
	for _, c := range e.clients {
		c.Close()
	}
}
