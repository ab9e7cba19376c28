package middleware

import (
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/gin-gonic/gin"
	"golang.org/x/time/rate"
)

// Limiter is a rate limit per client for a public operation.
type Limiter struct {
	noun      string
	perMinute int
	mu        sync.Mutex
	clients   clients[netip.Prefix, *rate.Limiter]
}

// NewLimiter returns a limit of perMinute per client, with a burst of the same size; 0 = no limit.
// noun names the items in the error: "short links".
func NewLimiter(noun string, perMinute int) *Limiter {
	return &Limiter{noun: noun, perMinute: perMinute, clients: newClients[netip.Prefix, *rate.Limiter](idleClient)}
}

// Take counts one item of the client at an address. It returns 0, or how long the client has to
// wait if the limit is exceeded.
func (l *Limiter) Take(from netip.Addr, now time.Time) time.Duration {
	if l.perMinute == 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.clients.get(clientAt(from), now)
	if *c == nil {
		*c = rate.NewLimiter(rate.Limit(float64(l.perMinute)/60), l.perMinute)
	}
	reservation := (*c).ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

// Limit enforces Route.Limit on anonymous callers. Where access guards a route, there is no limit:
// all callers have credentials. Loopback clients have no limit either, unless publicURL is set:
// then they may be a proxy with anonymous callers.
func (e *Errors) Limit(routes *Table, access *Access, publicURL string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if c.Request.Method == http.MethodGet || access.Guards(c) {
			return
		}
		limit := routes.Of(c).Limit
		if limit == nil {
			return
		}
		from := peer(c.Request)
		if from.IsLoopback() && publicURL == "" {
			return
		}
		if wait := limit.Take(from, time.Now()); wait > 0 {
			e.Write(c, RateLimited("Too many "+limit.noun+".", wait))
		}
	}
}

// RateLimited returns a 429 problem. Its detail is what, followed by when to try again.
func RateLimited(what string, wait time.Duration) *Problem {
	seconds := int(math.Ceil(wait.Seconds()))
	p := NewProblem(CodeRateLimited, fmt.Sprintf("%s Try again in %s.", what, english.Plural(seconds, "second", "")))
	p.retryAfter = wait
	return p
}
