// Package google is a client of Google's Indexing API and Search Console API. Each call is exactly one request, which the
// caller counts against the quotas. Errors of calls are of the type *engine.Error.
package google

import (
	"cmp"
	"strings"
	"time"

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
	UserAgent      string        // "" = Go's default
	Timeout        time.Duration // of a request; 0 = 30 s
	InspectTimeout time.Duration // of an inspection; 0 = 60 s
}

// Endpoints are the clients of Google's endpoints, shared by all websites. They are safe for concurrent use.
type Endpoints struct {
	opts          Options
	clients       []*engine.Client
	token         *engine.Client
	indexing      endpoint
	searchConsole endpoint
}

// NewEndpoints returns the clients of Google's endpoints. The error is about an invalid URL.
func NewEndpoints(o Options) (*Endpoints, error) {
	o.Timeout, o.InspectTimeout = cmp.Or(o.Timeout, timeout), cmp.Or(o.InspectTimeout, inspectTimeout)
	e := &Endpoints{opts: o}
	connect := func(url string) (endpoint, error) {
		c, err := engine.NewClient(url, max(o.Timeout, o.InspectTimeout))
		if err == nil {
			e.clients = append(e.clients, c)
		}
		return endpoint{c, strings.TrimSuffix(url, "/") + "/", o.UserAgent}, err
	}
	token, err := connect(o.Token)
	if err != nil {
		return nil, err
	}
	e.token = token.client
	if e.indexing, err = connect(o.Indexing); err != nil {
		return nil, err
	}
	if e.searchConsole, err = connect(o.SearchConsole); err != nil {
		return nil, err
	}
	return e, nil
}

// Close closes idle connections.
func (e *Endpoints) Close() {
	for _, c := range e.clients {
		c.Close()
	}
}
