package outbound

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	firstBackoff = time.Second
	maxBackoff   = 15 * time.Minute
	maxAsked     = time.Hour // a longer Retry-After is cut to this
	maxHosts     = 10_000
)

// politeness remembers which hosts want to be left alone. After 429 or 503 a host is not asked again until its
// Retry-After (RFC 9110, 10.2.3) is over or, without one, until a back-off that doubles each time has passed.
type politeness struct {
	clock func() time.Time
	mu    sync.Mutex
	hosts map[string]pause
}

type pause struct {
	until time.Time
	step  time.Duration // the last back-off of ours, 0 if there was none
	asked bool          // until is the host's own wish
}

func newPoliteness(clock func() time.Time) *politeness {
	return &politeness{clock: clock, hosts: map[string]pause{}}
}

// allow returns a KindThrottled error while host is in a pause. insist passes over a back-off, not over the host's wish.
func (p *politeness) allow(host string, insist bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, ok := p.hosts[host]
	if wait := h.until.Sub(p.clock()); ok && wait > 0 && (h.asked || !insist) {
		return &Error{Kind: KindThrottled, RetryAfter: wait, text: "host asked to wait"}
	}
	return nil
}

// note takes in an answer of host.
func (p *politeness) note(host string, status int, retryAfter string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	h, known := p.hosts[host]
	paused := known && now.Before(h.until)
	if !wantsPause(status) {
		// An answer during the host's own pause was under way before it began, and does not lift it.
		if !paused || !h.asked {
			delete(p.hosts, host)
		}
		return
	}
	if wait := parseRetryAfter(retryAfter, now); wait > 0 {
		if until := now.Add(wait); !paused || until.After(h.until) {
			h.until = until
		}
		h.asked = true
	} else if !paused { // several requests that fail together are one failure, not several doublings
		h.step = min(max(firstBackoff, 2*h.step), maxBackoff)
		h.until, h.asked = now.Add(h.step), false
	}
	if !known && len(p.hosts) >= maxHosts {
		p.makeRoom(now)
	}
	p.hosts[host] = h
}

// wantsPause tells the statuses with which a host says that it is asked too much.
func wantsPause(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// makeRoom drops the hosts whose pause is long over; if there are none, the one whose pause ends first. A pause that
// is just over is kept, since the next one doubles it.
func (p *politeness) makeRoom(now time.Time) {
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

// parseRetryAfter reads delay-seconds or an HTTP date. It returns 0 for anything that is not a wish for a pause
// (garbage, zero, negative, past), and at most an hour.
func parseRetryAfter(v string, now time.Time) time.Duration {
	v = strings.TrimSpace(v)
	if at, err := http.ParseTime(v); err == nil {
		return min(max(0, at.Sub(now)), maxAsked)
	}
	if strings.Trim(v, "0123456789") != "" || v == "" {
		return 0
	}
	seconds, err := strconv.ParseInt(v, 10, 32)
	if err != nil { // all digits, so it is a very long time
		return maxAsked
	}
	return min(time.Duration(seconds)*time.Second, maxAsked)
}
