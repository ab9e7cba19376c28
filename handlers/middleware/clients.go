package middleware

import (
	"cmp"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// maxClients is how many clients a table of clients holds.
const maxClients = 10_000

// idleClient is how long a client must be quiet before a table may forget it
// without any effect.
const idleClient = time.Minute

// clients holds something about each client (by its address, or the name of an account), of at
// most maxClients. It is not safe for concurrent use: its owner locks it. A library does not
// do: sethvargo/go-limiter bounds no number of clients, and a cache such as otter may drop one
// that is being refused.
type clients[K comparable, T any] struct {
	known map[K]*known[T]
	idle  time.Duration // see idleClient
	// weight says how much would be lost with a value: the lightest are forgotten first. nil: all are the same.
	weight func(T) int
}

type known[T any] struct {
	value T
	last  time.Time // when get was last called for it
}

func newClients[K comparable, T any](idle time.Duration) clients[K, T] {
	return clients[K, T]{known: map[K]*known[T]{}, idle: idle}
}

// get returns what is held about a client, for reading and changing. A client
// that is not held yet gets the zero T.
func (cs clients[K, T]) get(from K, now time.Time) *T {
	c, ok := cs.known[from]
	if !ok {
		if len(cs.known) >= maxClients {
			cs.forget(now)
		}
		c = &known[T]{}
		cs.known[from] = c
	}
	c.last = now
	return &c.value
}

// find returns what is held about a client, or nil.
func (cs clients[K, T]) find(from K) *T {
	if c, ok := cs.known[from]; ok {
		return &c.value
	}
	return nil
}

// forget makes room: it removes the clients that were quiet for idle, and
// if there are too few of them, a tenth of the others, the lightest first.
func (cs clients[K, T]) forget(now time.Time) {
	for from, c := range cs.known {
		if now.Sub(c.last) >= cs.idle {
			delete(cs.known, from)
		}
	}
	others := slices.Collect(maps.Keys(cs.known))
	if cs.weight != nil {
		slices.SortFunc(others, func(a, b K) int { return cmp.Compare(cs.weight(cs.known[a].value), cs.weight(cs.known[b].value)) })
	}
	for _, from := range others[:max(0, len(others)-maxClients*9/10+1)] {
		delete(cs.known, from)
	}
}

// peer returns the address that a request comes from: that of its connection, or
// what a trusted proxy says (BehindProxies). Nothing else that a client sends is believed.
func peer(r *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	return from.Addr().Unmap()
}

// clientAt returns the client at an address: the address itself, or the /64
// network of an IPv6 address, since a client has at least that many addresses.
// No address is a client like others.
func clientAt(from netip.Addr) netip.Prefix {
	from = from.Unmap().WithZone("")
	client, _ := from.Prefix(min(from.BitLen(), 64))
	return client
}
