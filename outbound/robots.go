package outbound

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/singleflight"
)

const (
	robotsTTL       = 24 * time.Hour
	unavailableTTL  = time.Minute
	robotsLimit     = 500 << 10 // bytes of one robots.txt (RFC 9309, 2.5)
	robotsRedirects = 5
	robotsCacheSize = 32 << 20 // bytes of rules
	robotsHosts     = 32_768   // cache entries at most
	unavailableText = "robots.txt unavailable: "
)

// RobotsOptions configure a Robots.
type RobotsOptions struct {
	Agent string           // the product token in robots.txt files, such as Linkwatch
	Clock func() time.Time // for the age of cached rules; nil = time.Now
}

// Robots decides which URLs a crawler may request, by the robots.txt of each scheme, host and port (RFC 9309). It caches the
// rules for 24 hours, of at most 32,768 hosts and 32 MiB. It is safe for concurrent use.
type Robots struct {
	client  *Client
	agent   string
	clock   func() time.Time
	cache   robotsCache
	fetches singleflight.Group
}

// robotsCache is an otter.Cache. It is an interface, because the compiler compiles the methods of a generic type again in each
// package that sees it.
type robotsCache interface {
	GetIfPresent(origin string) (*robotsEntry, bool)
	Set(origin string, e *robotsEntry) (*robotsEntry, bool)
}

// Verdict says whether and how often a URL may be requested.
type Verdict struct {
	Allowed   bool
	Delay     time.Duration // between requests to the host (Crawl-delay), at most a minute; 0 = none
	Reason    string        // of a refusal, such as "disallowed by robots.txt"; contains no address
	Temporary bool          // refused because robots.txt is unavailable
	Responded bool          // robots.txt is unavailable because of the status of a response
	Fetched   bool          // robots.txt was just requested, so the next request to the host must wait for Delay
}

// robotsEntry is the cached robots.txt of one origin.
type robotsEntry struct {
	rules   robotsRules
	refusal string // why robots.txt is unavailable; "" = available
	status  int    // of the response; 0 = none
	at      time.Time
}

// errCallerGone means that the context of the caller that fetched for all others has ended.
var errCallerGone = errors.New("outbound: fetch of robots.txt canceled")

// NewRobots returns a Robots that fetches with c.
func NewRobots(c *Client, o RobotsOptions) *Robots {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &Robots{client: c, agent: o.Agent, clock: o.Clock, cache: otter.Must(&otter.Options[string, *robotsEntry]{
		MaximumWeight: robotsCacheSize,
		Weigher: func(key string, e *robotsEntry) uint32 {
			return uint32(max(robotsCacheSize/robotsHosts, len(key)+e.rules.size()))
		},
	})}
}

// Check reports whether rawURL may be requested. It fetches the robots.txt of the host if none is cached, once for all
// concurrent callers. A 4xx or too many redirects allow everything. A 429, a 5xx and a network error refuse everything for a
// minute. The error is that of ctx.
func (r *Robots) Check(ctx context.Context, rawURL string) (Verdict, error) {
	u, ok := parseURL(rawURL)
	if !ok {
		return Verdict{Reason: "invalid URL"}, ctx.Err()
	}
	e, fetched, err := r.entry(ctx, u.Scheme+"://"+u.Host)
	if err != nil {
		return Verdict{}, err
	}
	switch path := requestPath(u); {
	case path == "/robots.txt":
		return Verdict{Allowed: true, Delay: e.rules.delay, Fetched: fetched}, nil
	case e.refusal != "":
		return Verdict{Reason: e.refusal, Temporary: true, Responded: e.status != 0, Fetched: fetched}, nil
	case !e.rules.allow(path):
		return Verdict{Fetched: fetched, Delay: e.rules.delay, Reason: "disallowed by robots.txt"}, nil
	}
	return Verdict{Allowed: true, Delay: e.rules.delay, Fetched: fetched}, nil
}

// requestPath returns the path and query, which rules are matched with.
func requestPath(u *url.URL) string {
	whole := href(u)
	return whole[strings.Index(whole, "://")+len("://")+len(u.Host):]
}

// entry returns the robots.txt of an origin, such as https://example.com. fetched reports whether it was just requested.
func (r *Robots) entry(ctx context.Context, origin string) (e *robotsEntry, fetched bool, err error) {
	for {
		if e, ok := r.cache.GetIfPresent(origin); ok && e.fresh(r.clock()) {
			return e, false, nil
		}
		// The fetch uses the context of one caller. If that ends, the others fetch again.
		done := r.fetches.DoChan(origin, func() (any, error) { return r.fetch(ctx, origin) })
		select {
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case result := <-done:
			if result.Err == nil {
				return result.Val.(*robotsEntry), true, nil
			}
			if err := ctx.Err(); err != nil {
				return nil, false, err
			}
		}
	}
}

// fresh is also false for an entry from the future, after the clock was set back.
func (e *robotsEntry) fresh(now time.Time) bool {
	age, ttl := now.Sub(e.at), robotsTTL
	if e.refusal != "" {
		ttl = unavailableTTL
	}
	return age >= 0 && age < ttl
}

// fetch fetches the robots.txt of origin and caches it. Its only error is errCallerGone.
func (r *Robots) fetch(ctx context.Context, origin string) (*robotsEntry, error) {
	res, err := r.client.Fetch(ctx, Request{URL: origin + "/robots.txt", MaxRedirects: robotsRedirects, MaxBytes: robotsLimit})
	if err != nil && ctx.Err() != nil {
		return nil, errCallerGone
	}
	e := &robotsEntry{at: r.clock()}
	if err != nil {
		failed := classify(err)
		if failed.Kind != KindRedirects { // an invalid redirect counts as no robots.txt
			e.refusal = unavailableText + failed.Error()
		}
		if failed.Kind == KindBusy { // nothing is known about the host
			return e, nil
		}
	} else {
		e.status = res.StatusCode
		switch status := e.status; {
		case status >= 200 && status < 300:
			e.rules = parseRobots(wholeLines(res), r.agent)
		case status == http.StatusTooManyRequests || status >= 500:
			e.refusal = unavailableText + "status " + strconv.Itoa(status)
		}
	}
	r.cache.Set(origin, e)
	return e, nil
}

// wholeLines returns the body without an incomplete last line: half a path would match too much.
func wholeLines(res *Response) string {
	body := string(res.Body)
	if res.Truncated {
		body = body[:strings.LastIndexAny(body, "\r\n")+1]
	}
	return body
}
