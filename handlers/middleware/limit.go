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

// Limiter bounds how often each client may do something that is open to all.
type Limiter struct {
	noun      string
	perMinute int
	mu        sync.Mutex
	clients   clients[netip.Prefix, *rate.Limiter]
}

// NewLimiter lets each client make so many things a minute, all of them at once
// if it likes; 0 = any number. noun is what they are called: "short links".
func NewLimiter(noun string, perMinute int) *Limiter {
	return &Limiter{noun: noun, perMinute: perMinute, clients: newClients[netip.Prefix, *rate.Limiter](idleClient)}
}

// Take counts one more at a time for the client at an address. It returns 0, or
// how long the client has to wait if that is too many.
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
	turn := (*c).ReserveN(now, 1)
	wait := turn.DelayFrom(now)
	if wait > 0 {
		turn.CancelAt(now)
	}
	return wait
}

// Limit refuses what goes beyond the limit of a client on a route (Route.Limit).
// It is for callers who proved nothing: where access guards a route, whoever comes
// here has its credentials. This machine's own are free unless strangers come by a proxy on
// it, as publicURL ("" = none) says.
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

// RateLimited is a problem that says when to try again: what there was too much of, then the time.
func RateLimited(what string, wait time.Duration) *Problem {
	seconds := int(math.Ceil(wait.Seconds()))
	p := NewProblem(CodeRateLimited, fmt.Sprintf("%s Try again in %s.", what, english.Plural(seconds, "second", "")))
	p.retryAfter = wait
	return p
}
