// Package oidc signs people in at an OpenID Connect provider, by the authorization code flow with PKCE.
//
// A sign-in takes two requests of a browser. Begin makes the URL to send it to, and what must be kept for it until it comes
// back: in a cookie that only this server can read and make. Callback checks the query with which it comes back, and Finish
// exchanges the code for who signed in.
//
// All requests to the provider go through outbound: to public addresses and those of OUTBOUND_ALLOW_CIDRS only, without
// redirects and cookies, with limits of time and size. Nothing is requested before the first sign-in, so a program starts
// while its provider is down.
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
	// DefaultTimeout bounds one request to the provider.
	DefaultTimeout = 10 * time.Second

	finishTimeout = 25 * time.Second // of all requests of a Finish
	bodyLimit     = 1 << 20          // bytes
	maxRequests   = 8                // to a host of the provider at a time; others wait
	retryAfter    = 5 * time.Second  // between two attempts to fetch the same document
	maxAge        = time.Hour        // of a document: keys that the provider withdrew are not accepted for longer
)

// Options configure a Provider. Issuer and ClientID are needed.
type Options struct {
	Issuer       string // exactly as the provider writes it
	ClientID     string
	ClientSecret string   // "" = a public client
	Scopes       []string // beside openid
	RoleClaim    string   // whose values Identity.Claims holds; "" = none

	AllowCIDRs []netip.Prefix   // addresses allowed although private (OUTBOUND_ALLOW_CIDRS)
	UserAgent  string           // of requests to the provider; "" = outbound.DefaultUserAgent
	Timeout    time.Duration    // of one request to the provider; 0 = DefaultTimeout
	Log        *slog.Logger     // gets why a sign-in failed; nil = no log
	Clock      func() time.Time // nil = time.Now
}

// Provider is an OpenID Connect provider. It is safe for concurrent use.
type Provider struct {
	o         Options
	client    *http.Client
	discovery *document[metadata]
	keys      *document[keys]

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // documents that are being fetched
}

// New returns a Provider. It makes no request. Close it when it is no longer needed.
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
	client := outbound.NewService(outbound.Options{AllowCIDRs: o.AllowCIDRs, Timeout: o.Timeout, MaxConcurrent: maxRequests, MaxBytes: bodyLimit})
	client.Transport = agent{client.Transport, o.UserAgent}
	p := &Provider{o: o, client: client}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.discovery = newDocument(p, p.discover)
	p.keys = newDocument(p, p.fetchKeys)
	return p
}

// Close ends requests for documents of the provider and drops idle connections. It can be called twice.
func (p *Provider) Close() {
	p.cancel()
	p.work.Wait()
	p.client.CloseIdleConnections()
}

// agent sends requests with a User-Agent.
type agent struct {
	http.RoundTripper
	name string
}

// RoundTrip implements http.RoundTripper.
func (a agent) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", a.name)
	return a.RoundTripper.RoundTrip(r)
}

// CloseIdleConnections lets http.Client close those of the transport below.
func (a agent) CloseIdleConnections() {
	(&http.Client{Transport: a.RoundTripper}).CloseIdleConnections()
}

// within is ctx for the libraries, which take their client from it.
func (p *Provider) within(ctx context.Context) context.Context {
	return gooidc.ClientContext(ctx, p.client)
}

// get fetches a JSON document of the provider. bearer is an access token, "" = none.
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

// config is the client as oauth2 wants it.
func (p *Provider) config(m metadata, redirectURL string) *oauth2.Config {
	return &oauth2.Config{ClientID: p.o.ClientID, ClientSecret: p.o.ClientSecret, Endpoint: m.endpoint(p.o.ClientSecret), RedirectURL: redirectURL, Scopes: p.o.Scopes}
}
