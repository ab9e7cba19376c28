// Package oidc signs users in at an OpenID Connect provider with the authorization code flow and PKCE.
//
// A sign-in has two steps. Begin returns the URL at the provider, and secrets that must stay with the browser, in a cookie
// that only this server can read and write. When the browser returns, Callback checks its query, and Finish exchanges the
// code for the identity of the user.
//
// All requests to the provider go through package outbound: only to public addresses and OUTBOUND_ALLOW_CIDRS, without
// redirects and cookies, and with limits on time and size. The first sign-in makes the first request, so Linkwatch starts
// even if the provider is down.
package oidc

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"linkwatch/outbound"
)

const (
	// DefaultTimeout is the time limit of one request to the provider.
	DefaultTimeout = 10 * time.Second

	finishTimeout = 25 * time.Second // for all requests of one Finish
	maxBody       = 1 << 20          // bytes of a response
	maxRequests   = 8                // concurrent requests per host; more wait
	retryAfter    = 5 * time.Second  // minimum time between two fetches of a document
	maxAge        = time.Hour        // of a cached document, and how long revoked keys are accepted
)

// Options configures a Provider. Issuer and ClientID are required.
type Options struct {
	Issuer       string // exactly as the provider writes it
	ClientID     string
	ClientSecret string   // "" = a public client
	Scopes       []string // in addition to openid
	RoleClaim    string   // claim for Identity.RoleValues; "" = none

	AllowCIDRs []netip.Prefix   // allowed private addresses (OUTBOUND_ALLOW_CIDRS)
	UserAgent  string           // of requests to the provider; "" = outbound.DefaultUserAgent
	Timeout    time.Duration    // of one request to the provider; 0 = DefaultTimeout
	Log        *slog.Logger     // receives causes of failed sign-ins; nil = no log
	Clock      func() time.Time // nil = time.Now
}

// Provider is an OpenID Connect provider. It is safe for concurrent use.
type Provider struct {
	opts      Options
	client    *http.Client
	discovery *document[metadata]
	keys      *document[keys]

	ctx    context.Context // canceled by Close
	cancel context.CancelFunc
	work   sync.WaitGroup // running fetches of documents
}

// New returns a Provider. It makes no request. Call Close to release it.
func New(o Options) *Provider {
	if o.UserAgent == "" {
		o.UserAgent = outbound.DefaultUserAgent
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.Scopes = slices.DeleteFunc(slices.Clone(o.Scopes), func(s string) bool { return s == gooidc.ScopeOpenID })
	o.Scopes = append([]string{gooidc.ScopeOpenID}, o.Scopes...)
	client := outbound.NewService(outbound.Options{AllowCIDRs: o.AllowCIDRs, Timeout: o.Timeout, MaxConcurrent: maxRequests, MaxBytes: maxBody})
	client.Transport = userAgent{client.Transport, o.UserAgent}
	p := &Provider{opts: o, client: client}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.discovery = newDocument(p, p.discover)
	p.keys = newDocument(p, p.fetchKeys)
	return p
}

// Close cancels requests for documents of the provider and closes idle connections. It can be called more than once.
func (p *Provider) Close() {
	p.cancel()
	p.work.Wait()
	p.client.CloseIdleConnections()
}

type userAgent struct {
	http.RoundTripper
	name string
}

// RoundTrip implements http.RoundTripper.
func (a userAgent) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", a.name)
	return a.RoundTripper.RoundTrip(r)
}

// CloseIdleConnections lets http.Client close the connections of the wrapped transport.
func (a userAgent) CloseIdleConnections() {
	(&http.Client{Transport: a.RoundTripper}).CloseIdleConnections()
}

// clientContext returns a context with the HTTP client for the libraries.
func (p *Provider) clientContext(ctx context.Context) context.Context {
	return gooidc.ClientContext(ctx, p.client)
}

// get returns the body of a JSON document. bearer is an access token; "" = none.
func (p *Provider) get(ctx context.Context, url, bearer string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, statusError(res.Status)
	}
	return io.ReadAll(res.Body)
}

// config returns the client configuration for oauth2.
func (p *Provider) config(m metadata, redirectURL string) *oauth2.Config {
	return &oauth2.Config{ClientID: p.opts.ClientID, ClientSecret: p.opts.ClientSecret, Endpoint: m.endpoint(p.opts.ClientSecret), RedirectURL: redirectURL, Scopes: p.opts.Scopes}
}
