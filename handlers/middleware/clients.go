package middleware

import (
	"cmp"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// maxClients is the maximum size of a table of clients.
const maxClients = 10_000

// idleClient is how long a client must be idle before its entry has no effect any more and can
// be removed.
const idleClient = time.Minute

// clients holds a value for each of at most maxClients clients. The key is an address or the name
// of an account. It is not safe for concurrent use. Libraries do not fit: sethvargo/go-limiter
// does not limit the number of clients, and a cache such as otter may evict a refused client.
type clients[K comparable, T any] struct {
	entries map[K]*entry[T]
	idle    time.Duration // see idleClient
	// weight returns how important a value is: the lightest entries are evicted first. nil = all are equal.
	weight func(T) int
}

type entry[T any] struct {
	value T
	last  time.Time // last call of get
}

func newClients[K comparable, T any](idle time.Duration) clients[K, T] {
	return clients[K, T]{entries: map[K]*entry[T]{}, idle: idle}
}

// get returns a pointer to the value of a client. The value of a new client is the zero T.
func (cs clients[K, T]) get(from K, now time.Time) *T {
	c, ok := cs.entries[from]
	if !ok {
		if len(cs.entries) >= maxClients {
			cs.evict(now)
		}
		c = &entry[T]{}
		cs.entries[from] = c
	}
	c.last = now
	return &c.value
}

// find returns the value of a client, or nil.
func (cs clients[K, T]) find(from K) *T {
	if c, ok := cs.entries[from]; ok {
		return &c.value
	}
	return nil
}

// evict removes idle clients. If the table is still more than 90% full, it also removes the
// lightest of the others, down to 90%.
func (cs clients[K, T]) evict(now time.Time) {
	for from, c := range cs.entries {
		if now.Sub(c.last) >= cs.idle {
			delete(cs.entries, from)
		}
	}
	others := slices.Collect(maps.Keys(cs.entries))
	if cs.weight != nil {
		slices.SortFunc(others, func(a, b K) int { return cmp.Compare(cs.weight(cs.entries[a].value), cs.weight(cs.entries[b].value)) })
	}
	for _, from := range others[:max(0, len(others)-maxClients*9/10+1)] {
		delete(cs.entries, from)
	}
}

// peer returns the IP address of the client: that of the connection, or the one reported by a
// trusted proxy (BehindProxies).
func peer(r *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	return from.Addr().Unmap()
}

// clientAt returns the client of an address: the IPv4 address, or the /64 network of an IPv6
// address, because a client usually has a whole /64. The zero address is a client too.
func clientAt(from netip.Addr) netip.Prefix {
	from = from.Unmap().WithZone("")
	client, _ := from.Prefix(min(from.BitLen(), 64))
	return client
}
