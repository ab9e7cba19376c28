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

// Limits of failed logins.
const (
	maxFailures        = 10  // then a client is refused
	maxAccountFailures = 20  // then an account is locked for unknown clients
	maxAllFailures     = 100 // of all clients: then a warning is logged

	failureWindow = time.Minute // per client; at most idleClient
	accountWindow = 15 * time.Minute
)

// Guesses counts failed logins and limits their rate. Each node counts its own. It is safe for
// concurrent use.
type Guesses struct {
	log *slog.Logger
	now func() time.Time

	mu       sync.Mutex
	clients  clients[netip.Prefix, *recent]
	devices  clients[string, *recent] // known browsers and sessions
	accounts clients[string, *recent]
	all      *recent
	warned   time.Time // time of the last warning about all clients
}

// NewGuesses returns Guesses without counted failures.
func NewGuesses(log *slog.Logger) *Guesses {
	g := &Guesses{
		log: log, now: time.Now, all: newRecent(maxAllFailures, failureWindow),
		clients: newClients[netip.Prefix, *recent](idleClient), devices: newClients[string, *recent](idleClient),
		accounts: newClients[string, *recent](accountWindow),
	}
	// A flood of new names and addresses must not evict the clients that are refused.
	g.clients.weight, g.devices.weight, g.accounts.weight = (*recent).failures, (*recent).failures, (*recent).failures
	return g
}

// wait returns how long a client is still refused; 0 = not refused.
func (g *Guesses) wait(client netip.Prefix) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.clients.find(client); c != nil {
		return (*c).wait(g.now())
	}
	return 0
}

// Refuses reports whether the client of a request is refused now.
func (g *Guesses) Refuses(r *http.Request) bool { return g.wait(clientAt(peer(r))) > 0 }

// add counts a failed login of a client. It returns 0 for the first maxFailures within
// failureWindow, and then how long the client is refused.
func (g *Guesses) add(ctx context.Context, client netip.Prefix) time.Duration {
	return g.count(ctx, client, "")
}

// count is add for a device of a client; "" = none. Failures of a device are not counted for its network.
func (g *Guesses) count(ctx context.Context, client netip.Prefix, device string) time.Duration {
	g.mu.Lock()
	now := g.now()
	c := g.client(client, device, now)
	wait := c.wait(now)
	refused := wait > 0
	if !refused { // attempts while refused do not extend the wait
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

func (g *Guesses) client(at netip.Prefix, device string, now time.Time) *recent {
	var c **recent
	if device != "" {
		c = g.devices.get(device, now)
	} else {
		c = g.clients.get(at, now)
	}
	if *c == nil {
		*c = newRecent(maxFailures, failureWindow)
	}
	return *c
}

// Login counts an attempt to sign in to an account. It counts before the credentials are verified,
// so that parallel attempts cannot exceed the limit. It returns how long the client has to wait,
// or 0 and a function that uncounts the attempt: call it if the credentials are right.
//
// device identifies a browser in which the account has signed in, or a session of it; "" = none. It is
// counted instead of its network and is not locked out, so that others cannot keep it from signing in.
// known reports whether the network has signed in to the account before; such clients are not locked
// out either. It is called only if the account is locked.
func (g *Guesses) Login(r *http.Request, account, device string, known func() bool) (wait time.Duration, right func()) {
	ctx, client := r.Context(), clientAt(peer(r))
	if wait := g.closed(account); wait > 0 && device == "" && !known() {
		return wait, nil
	}
	if wait := g.count(ctx, client, device); wait > 0 {
		return wait, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	byAccount, byClient := g.account(account, now), g.client(client, device, now)
	locked := byAccount.wait(now) > 0 // then a login of a known client must not replace a failure and take it away again
	if !locked {
		byAccount.add(now)
	}
	if !locked && byAccount.wait(now) > 0 {
		g.log.WarnContext(ctx, "account locked after failed logins", "failures", maxAccountFailures, "request_id", RequestID(ctx))
	}
	return 0, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if !locked {
			byAccount.uncount()
		}
		byClient.uncount()
		g.all.uncount()
	}
}

// closed returns how long an account is still locked for unknown clients; 0 = not locked.
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

// name returns a client for logs: an IPv4 address or an IPv6 network.
func name(client netip.Prefix) string {
	if client.IsSingleIP() {
		return client.Addr().String()
	}
	return client.String()
}

// recent holds the times of the last failures, oldest first.
type recent struct {
	at     []time.Time
	limit  int
	window time.Duration
}

func newRecent(limit int, window time.Duration) *recent {
	return &recent{limit: limit, window: window}
}

func (r *recent) add(now time.Time) {
	if len(r.at) == r.limit {
		r.at = slices.Delete(r.at, 0, 1)
	}
	r.at = append(r.at, now)
}

// uncount removes the newest failure. With parallel attempts it may be that of another one, which
// makes no difference.
func (r *recent) uncount() { r.at = r.at[:max(0, len(r.at)-1)] }

func (r *recent) failures() int {
	if r == nil {
		return 0
	}
	return len(r.at)
}

// wait returns the time until the oldest failure leaves the window; 0 if the limit is not reached.
func (r *recent) wait(now time.Time) time.Duration {
	if len(r.at) < r.limit {
		return 0
	}
	return max(0, r.at[0].Add(r.window).Sub(now))
}
