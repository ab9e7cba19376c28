package httpx

import (
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/time/rate"
)

// maxClients is how many clients a Limiter knows at once.
const maxClients = 10_000

// Limiter bounds how often each client may do something that is open to all.
type Limiter struct {
	perMinute int
	mu        sync.Mutex
	clients   map[netip.Prefix]*client
}

type client struct {
	*rate.Limiter
	last time.Time
}

// NewLimiter lets each client do something so many times a minute, all of them
// at once if it likes; 0 = any number.
func NewLimiter(perMinute int) *Limiter {
	return &Limiter{perMinute: perMinute, clients: map[netip.Prefix]*client{}}
}

// Take is 0 if a client at an address may go on at a time, or else how long it has to wait.
func (l *Limiter) Take(from netip.Addr, now time.Time) time.Duration {
	if l.perMinute == 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.client(from, now)
	c.last = now
	turn := c.ReserveN(now, 1)
	wait := turn.DelayFrom(now)
	if wait > 0 {
		turn.CancelAt(now)
	}
	return wait
}

// client is who is at an address. Whoever has an IPv6 address has at least the
// 2⁶⁴ of its network, so these are one client.
func (l *Limiter) client(from netip.Addr, now time.Time) *client {
	from = from.Unmap().WithZone("")
	bits := min(from.BitLen(), 64)
	network, _ := from.Prefix(bits) // of no address: the zero one, a client like others
	c, ok := l.clients[network]
	if !ok {
		if len(l.clients) >= maxClients {
			l.forget(now)
		}
		c = &client{Limiter: rate.NewLimiter(rate.Limit(float64(l.perMinute)/60), l.perMinute)}
		l.clients[network] = c
	}
	return c
}

// forget makes room: for a client that was away for a minute nothing changes,
// and if there is none, some start anew.
func (l *Limiter) forget(now time.Time) {
	for network, c := range l.clients {
		if now.Sub(c.last) >= time.Minute {
			delete(l.clients, network)
		}
	}
	for network := range l.clients {
		if len(l.clients) < maxClients*9/10 {
			return
		}
		delete(l.clients, network)
	}
}

// Limit refuses what goes beyond the limit of a client on some routes, given
// as "METHOD /route/:template". It is for callers who proved nothing: where
// there is a password whoever comes here has it. This machine's own are free
// unless strangers come by a proxy on it, as publicURL ("" = none) says.
func (e *Errors) Limit(l *Limiter, password, publicURL string, routes ...string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if c.Request.Method == http.MethodGet || password != "" || !slices.Contains(routes, c.Request.Method+" "+c.FullPath()) {
			return
		}
		peer, _ := netip.ParseAddrPort(c.Request.RemoteAddr)
		if peer.Addr().Unmap().IsLoopback() && publicURL == "" {
			return
		}
		if wait := l.Take(peer.Addr(), time.Now()); wait > 0 {
			p := NewProblem(CodeRateLimited, "That was too much at once. Wait a moment, then go on.")
			p.retryAfter = wait
			e.Write(c, p)
		}
	}
}
