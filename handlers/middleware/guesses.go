package middleware

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// The limits of wrong credentials. Beyond the first, a client is refused; beyond the second,
// an account is closed to clients that it does not know; beyond the third, which counts all
// clients, a line is logged.
const (
	maxFailures        = 10
	maxAccountFailures = 20
	maxAllFailures     = 100

	failureWindow = time.Minute // of a client; not longer than idleClient
	accountWindow = 15 * time.Minute
)

// Guesses counts wrong credentials, so that they cannot be guessed at the speed of the network.
// Each instance counts its own. It is safe for concurrent use.
type Guesses struct {
	log *slog.Logger
	now func() time.Time

	mu       sync.Mutex
	clients  clients[netip.Prefix, *recent]
	accounts clients[string, *recent]
	all      *recent
	warned   time.Time // when the line about all clients was last logged
}

// NewGuesses makes Guesses that have counted nothing yet.
func NewGuesses(log *slog.Logger) *Guesses {
	g := &Guesses{
		log: log, now: time.Now, all: newRecent(maxAllFailures, failureWindow),
		clients: newClients[netip.Prefix, *recent](idleClient), accounts: newClients[string, *recent](accountWindow),
	}
	// A flood of other names and addresses must not make it forget whom it refuses.
	g.clients.weight, g.accounts.weight = (*recent).failures, (*recent).failures
	return g
}

// wait returns how long a client has to wait until its credentials are accepted
// again; 0 if they are now.
func (g *Guesses) wait(client netip.Prefix) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.clients.find(client); c != nil {
		return (*c).wait(g.now())
	}
	return 0
}

// Refuses reports whether the client of a request is refused at the moment.
func (g *Guesses) Refuses(r *http.Request) bool { return g.wait(clientAt(peer(r))) > 0 }

// add counts wrong credentials of a client. It returns 0 while the client is
// not refused: for the first maxFailures within failureWindow.
func (g *Guesses) add(ctx context.Context, client netip.Prefix) time.Duration {
	g.mu.Lock()
	now := g.now()
	c := g.client(client, now)
	wait := c.wait(now)
	refused := wait > 0
	if !refused { // further attempts do not make the wait longer
		c.add(now)
		wait = c.wait(now)
	}
	g.all.add(now)
	tooMany := g.all.wait(now) > 0 && now.Sub(g.warned) >= failureWindow
	if tooMany {
		g.warned = now
	}
	g.mu.Unlock()

	if wait > 0 && !refused {
		g.log.WarnContext(ctx, "client refused after failed logins",
			"client", name(client), "failures", maxFailures, "request_id", RequestID(ctx))
	}
	if tooMany {
		g.log.WarnContext(ctx, "many failed logins", "failures", maxAllFailures, "window", failureWindow.String(), "request_id", RequestID(ctx))
	}
	if !refused {
		return 0
	}
	return wait
}

func (g *Guesses) client(at netip.Prefix, now time.Time) *recent {
	c := g.clients.get(at, now)
	if *c == nil {
		*c = newRecent(maxFailures, failureWindow)
	}
	return *c
}

// Login counts an attempt to sign in to an account, before it is known whether it is wrong, so
// that parallel attempts gain nothing. It returns how long the client has to wait, or 0 with a
// function that takes the attempt back: call it if the credentials were right. known reports
// whether the account knows the client, which others cannot keep out of it then; it is asked
// only if the account is closed to others.
func (g *Guesses) Login(r *http.Request, account string, known func() bool) (wait time.Duration, right func()) {
	ctx, client := r.Context(), clientAt(peer(r))
	if wait := g.closed(account); wait > 0 && !known() {
		return wait, nil
	}
	if wait := g.add(ctx, client); wait > 0 {
		return wait, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	of, by := g.account(account, now), g.client(client, now)
	before := of.wait(now) > 0
	of.add(now)
	if !before && of.wait(now) > 0 {
		g.log.WarnContext(ctx, "account closed after failed logins", "failures", maxAccountFailures, "request_id", RequestID(ctx))
	}
	return 0, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		of.takeBack()
		by.takeBack()
		g.all.takeBack()
	}
}

// closed returns how long an account is closed to clients that it does not know; 0 if it is not.
func (g *Guesses) closed(account string) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a := g.accounts.find(account); a != nil {
		return (*a).wait(g.now())
	}
	return 0
}

func (g *Guesses) account(name string, now time.Time) *recent {
	a := g.accounts.get(name, now)
	if *a == nil {
		*a = newRecent(maxAccountFailures, accountWindow)
	}
	return *a
}

// name is a client in the log: an IPv4 address, or an IPv6 network.
func name(client netip.Prefix) string {
	if client.IsSingleIP() {
		return client.Addr().String()
	}
	return client.String()
}

// recent holds the times of the last few failures, the oldest first.
type recent struct {
	at     []time.Time
	most   int
	window time.Duration
}

func newRecent(most int, window time.Duration) *recent { return &recent{most: most, window: window} }

func (r *recent) add(now time.Time) {
	if len(r.at) == r.most {
		r.at = slices.Delete(r.at, 0, 1)
	}
	r.at = append(r.at, now)
}

// takeBack forgets the newest failure: that of an attempt which was right after all, or of
// one that was made at the same time, which is the same.
func (r *recent) takeBack() { r.at = r.at[:max(0, len(r.at)-1)] }

// failures is how many it holds.
func (r *recent) failures() int {
	if r == nil {
		return 0
	}
	return len(r.at)
}

// wait returns how long it takes until the oldest of them is window ago; 0 if it is,
// or if there are not that many yet.
func (r *recent) wait(now time.Time) time.Duration {
	if len(r.at) < r.most {
		return 0
	}
	return max(0, r.at[0].Add(r.window).Sub(now))
}
