package outbound

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	firstBackoff  = time.Second
	maxBackoff    = 15 * time.Minute
	maxRetryAfter = time.Hour // a longer Retry-After counts as this
	maxHosts      = 10_000
)

// politeness stores the backoff of each host. After 429 or 503 a host gets no requests until its Retry-After (RFC 9110,
// 10.2.3) is over. Without a Retry-After the backoff starts at a second and doubles each time.
type politeness struct {
	clock func() time.Time
	mu    sync.Mutex
	hosts map[string]pause
}

type pause struct {
	until      time.Time
	step       time.Duration // the last backoff without Retry-After; 0 = none
	fromHeader bool          // until comes from Retry-After
}

func newPoliteness(clock func() time.Time) *politeness {
	return &politeness{clock: clock, hosts: map[string]pause{}}
}

// allow returns a KindThrottled error during the backoff of host. insist ignores a backoff without Retry-After.
func (p *politeness) allow(host string, insist bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, ok := p.hosts[host]
	if wait := h.until.Sub(p.clock()); ok && wait > 0 && (h.fromHeader || !insist) {
		return &Error{Kind: KindThrottled, RetryAfter: wait, text: "rate limited by the host"}
	}
	return nil
}

// note records the status of a response of host.
func (p *politeness) note(host string, status int, retryAfter string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	h, known := p.hosts[host]
	paused := known && now.Before(h.until)
	if !isThrottled(status) {
		// A response during a Retry-After belongs to an earlier request and does not end the backoff.
		if !paused || !h.fromHeader {
			delete(p.hosts, host)
		}
		return
	}
	if wait := parseRetryAfter(retryAfter, now); wait > 0 {
		if until := now.Add(wait); !paused || until.After(h.until) {
			h.until = until
		}
		h.fromHeader = true
	} else if !paused { // concurrent failures count as one
		h.step = min(max(firstBackoff, 2*h.step), maxBackoff)
		h.until, h.fromHeader = now.Add(h.step), false
	}
	if !known && len(p.hosts) >= maxHosts {
		p.evict(now)
	}
	p.hosts[host] = h
}

// isThrottled reports whether a status means that the host limits requests.
func isThrottled(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// evict removes the hosts whose backoff ended more than maxBackoff ago, or else the one whose backoff ends first. A backoff
// that ended recently stays, because the next one doubles it.
func (p *politeness) evict(now time.Time) {
	var first string
	var soonest time.Time
	for host, h := range p.hosts {
		if now.Sub(h.until) > maxBackoff {
			delete(p.hosts, host)
		} else if first == "" || h.until.Before(soonest) {
			first, soonest = host, h.until
		}
	}
	if len(p.hosts) >= maxHosts {
		delete(p.hosts, first)
	}
}

// parseRetryAfter parses seconds or an HTTP date. It returns at most an hour, and 0 for an invalid, zero, negative or past
// value.
func parseRetryAfter(v string, now time.Time) time.Duration {
	v = strings.TrimSpace(v)
	if at, err := http.ParseTime(v); err == nil {
		return min(max(0, at.Sub(now)), maxRetryAfter)
	}
	if strings.Trim(v, "0123456789") != "" || v == "" {
		return 0
	}
	seconds, err := strconv.ParseInt(v, 10, 32)
	if err != nil { // all digits, so the number is too large
		return maxRetryAfter
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}
