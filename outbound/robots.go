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
	Agent string           // the product token that robots.txt files name, such as Linkwatch
	Clock func() time.Time // tells how old a robots.txt is; nil = time.Now
}

// Robots tells which URLs a crawler may request, by the robots.txt of each scheme, host and port (RFC 9309). It caches the
// rules for its agent for 24 hours, those of at most 32,768 hosts and at most 32 MiB. It is safe for concurrent use.
type Robots struct {
	client  *Client
	agent   string
	clock   func() time.Time
	cache   *otter.Cache[string, *robotsEntry]
	fetches singleflight.Group
}

// Verdict is whether a URL may be requested, and how fast.
type Verdict struct {
	Allowed   bool
	Delay     time.Duration // between requests to the host (Crawl-delay), at most a minute; 0 = none
	Reason    string        // of a refusal, such as "disallowed by robots.txt"; it holds no address
	Temporary bool          // refused because robots.txt is unavailable
	Asked     bool          // robots.txt was requested just now, so the next request to the host waits for Delay
}

// robotsEntry is what is known of one host.
type robotsEntry struct {
	rules   robotsRules
	refusal string // why robots.txt is unavailable; "" = it is not
	at      time.Time
}

// errLeft says that the caller who fetched a robots.txt for all no longer waits for it.
var errLeft = errors.New("outbound: fetch of robots.txt canceled")

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

// Check tells whether rawURL may be requested. It fetches the robots.txt of its host if none is cached, once for all callers
// that wait for it. A 4xx or too many redirects allow everything. A 429, a 5xx and a network error refuse everything for a minute.
// The error is that of ctx.
func (r *Robots) Check(ctx context.Context, rawURL string) (Verdict, error) {
	u, ok := parseURL(rawURL)
	if !ok {
		return Verdict{Reason: "invalid URL"}, ctx.Err()
	}
	e, asked, err := r.entry(ctx, u.Scheme+"://"+u.Host)
	if err != nil {
		return Verdict{}, err
	}
	switch path := requestPath(u); {
	case path == "/robots.txt":
		return Verdict{Allowed: true, Delay: e.rules.delay, Asked: asked}, nil
	case e.refusal != "":
		return Verdict{Reason: e.refusal, Temporary: true, Asked: asked}, nil
	case !e.rules.allow(path):
		return Verdict{Asked: asked, Delay: e.rules.delay, Reason: "disallowed by robots.txt"}, nil
	}
	return Verdict{Allowed: true, Delay: e.rules.delay, Asked: asked}, nil
}

// requestPath is what the rules are compared with: the path and the query.
func requestPath(u *url.URL) string {
	whole := href(u)
	return whole[strings.Index(whole, "://")+len("://")+len(u.Host):]
}

// entry returns what is known of an origin, such as https://example.com.
func (r *Robots) entry(ctx context.Context, origin string) (e *robotsEntry, asked bool, err error) {
	for {
		if e, ok := r.cache.GetIfPresent(origin); ok && e.fresh(r.clock()) {
			return e, false, nil
		}
		// The fetch is part of one caller's work and ends with it. The others then fetch again.
		fetched := r.fetches.DoChan(origin, func() (any, error) { return r.fetch(ctx, origin) })
		select {
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case result := <-fetched:
			if result.Err == nil {
				return result.Val.(*robotsEntry), true, nil
			}
			if err := ctx.Err(); err != nil {
				return nil, false, err
			}
		}
	}
}

// fresh is false also for an entry of the future, which there is when the clock was set back.
func (e *robotsEntry) fresh(now time.Time) bool {
	age, ttl := now.Sub(e.at), robotsTTL
	if e.refusal != "" {
		ttl = unavailableTTL
	}
	return age >= 0 && age < ttl
}

// fetch gets the robots.txt of origin and caches it. Its only error is errLeft.
func (r *Robots) fetch(ctx context.Context, origin string) (*robotsEntry, error) {
	res, err := r.client.Fetch(ctx, Request{URL: origin + "/robots.txt", MaxRedirects: robotsRedirects, MaxBytes: robotsLimit})
	if err != nil && ctx.Err() != nil {
		return nil, errLeft
	}
	e := &robotsEntry{at: r.clock()}
	if err != nil {
		failed := classify(err)
		if failed.Kind != KindRedirects { // a broken redirect counts as no robots.txt
			e.refusal = unavailableText + failed.Error()
		}
		if failed.Kind == KindBusy { // says nothing of the host
			return e, nil
		}
	} else {
		switch status := res.StatusCode; {
		case status >= 200 && status < 300:
			e.rules = parseRobots(wholeLines(res), r.agent)
		case status == http.StatusTooManyRequests || status >= 500:
			e.refusal = unavailableText + "status " + strconv.Itoa(status)
		}
	}
	r.cache.Set(origin, e)
	return e, nil
}

// wholeLines is the body without a last line that is cut short, since half a path would refuse more than the whole one.
func wholeLines(res *Response) string {
	body := string(res.Body)
	if res.Truncated {
		body = body[:strings.LastIndexAny(body, "\r\n")+1]
	}
	return body
}
