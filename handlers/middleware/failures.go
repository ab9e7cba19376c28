package middleware

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// The limits of wrong credentials. Beyond the first, a client is refused;
// beyond the second, which counts all clients, a line is logged.
const (
	maxFailures    = 10
	maxAllFailures = 100
	failureWindow  = time.Minute // not longer than idleClient
)

// failures counts wrong credentials, so that they cannot be guessed at the
// speed of the network. It is safe for concurrent use.
type failures struct {
	log *slog.Logger
	now func() time.Time

	mu      sync.Mutex
	clients clients[*recent]
	all     *recent
	warned  time.Time // when the line about all clients was last logged
}

func newFailures(log *slog.Logger, now func() time.Time) *failures {
	return &failures{log: log, now: now, clients: newClients[*recent](), all: newRecent(maxAllFailures)}
}

// wait returns how long a client has to wait until its credentials are accepted
// again; 0 if they are now.
func (f *failures) wait(client netip.Prefix) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.clients.find(client); c != nil {
		return (*c).wait(f.now())
	}
	return 0
}

// add counts wrong credentials of a client. It returns 0 while the client is
// not refused: for the first maxFailures within failureWindow.
func (f *failures) add(ctx context.Context, client netip.Prefix) time.Duration {
	f.mu.Lock()
	now := f.now()
	c := f.clients.get(client, now)
	if *c == nil {
		*c = newRecent(maxFailures)
	}
	wait := (*c).wait(now)
	refused := wait > 0
	if !refused { // further attempts do not make the wait longer
		(*c).add(now)
		wait = (*c).wait(now)
	}
	f.all.add(now)
	tooMany := f.all.wait(now) > 0 && now.Sub(f.warned) >= failureWindow
	if tooMany {
		f.warned = now
	}
	f.mu.Unlock()

	if wait > 0 && !refused {
		f.log.WarnContext(ctx, "client refused after failed logins",
			"client", name(client), "failures", maxFailures, "request_id", RequestID(ctx))
	}
	if tooMany {
		f.log.WarnContext(ctx, "many failed logins", "failures", maxAllFailures, "window", failureWindow.String(), "request_id", RequestID(ctx))
	}
	if !refused {
		return 0
	}
	return wait
}

// name is a client in the log: an IPv4 address, or an IPv6 network.
func name(client netip.Prefix) string {
	if client.IsSingleIP() {
		return client.Addr().String()
	}
	return client.String()
}

// recent holds the times of the last few failures.
type recent struct {
	at   []time.Time
	next int // the oldest one, which the next replaces
}

func newRecent(n int) *recent { return &recent{at: make([]time.Time, n)} }

func (r *recent) add(now time.Time) {
	r.at[r.next] = now
	r.next = (r.next + 1) % len(r.at)
}

// wait returns how long it takes until the oldest of them is failureWindow ago;
// 0 if it is, or if there are not that many yet.
func (r *recent) wait(now time.Time) time.Duration {
	oldest := r.at[r.next]
	if oldest.IsZero() {
		return 0
	}
	return max(0, oldest.Add(failureWindow).Sub(now))
}
