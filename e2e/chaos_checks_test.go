//go:build e2e

package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

const (
	chaosTargets  = 30
	checkInterval = time.Second
	// peerTime is the response time of a peer. It is long, so that checks run at any time.
	peerTime = 300 * time.Millisecond
	// checkedAfter is the maximum time until a target is checked after its instance was killed.
	checkedAfter = checkInterval + 5*time.Second
)

// peer is a target of checks that is always healthy. Each has its own host.
type peer struct {
	url string

	mu       sync.Mutex
	requests []checkRequest
}

type checkRequest struct {
	at   time.Time
	node int // sender
}

// nodeAgent is the User-Agent of the checks of an instance.
const nodeAgent = "Chaos/%d"

// ServeHTTP implements http.Handler.
func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	from := checkRequest{at: time.Now(), node: -1}
	_, _ = fmt.Sscanf(r.UserAgent(), nodeAgent, &from.node)
	p.mu.Lock()
	p.requests = append(p.requests, from)
	p.mu.Unlock()
	time.Sleep(peerTime)
	_, _ = w.Write([]byte("ok"))
}

// newPeers serves the targets until the test ends.
func newPeers(t *testing.T) (peers []*peer) {
	t.Helper()
	for i := range chaosTargets {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.1.%d:0", i+1))
		if err != nil {
			t.Fatal(err)
		}
		p := &peer{url: "http://" + l.Addr().String()}
		server := &http.Server{Handler: p, ReadHeaderTimeout: patience}
		var serving sync.WaitGroup
		serving.Go(func() { _ = server.Serve(l) })
		t.Cleanup(func() { _ = server.Close(); serving.Wait() })
		peers = append(peers, p)
	}
	return peers
}

// recorded is a result as it is in the database.
type recorded struct {
	at       time.Time
	latency  time.Duration
	outcome  int // 0: up
	status   int
	attempts int
	err      string
}

// recordedOf returns the results of a target, oldest first.
func (c *chaos) recordedOf(db *sql.DB, url string) (seq int64, all []recorded) {
	c.t.Helper()
	if err := db.QueryRow("SELECT seq FROM targets WHERE url = $1", url).Scan(&seq); err != nil {
		c.t.Fatal("looking for a target: ", err)
	}
	rows, err := db.Query("SELECT checked_at, latency_ms, outcome, status_code, attempts, error FROM check_results WHERE target_seq = $1 ORDER BY checked_at", seq)
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var r recorded
		var at, ms int64
		if err := rows.Scan(&at, &ms, &r.outcome, &r.status, &r.attempts, &r.err); err != nil {
			c.t.Fatal(err)
		}
		r.at, r.latency = time.UnixMicro(at), time.Duration(ms)*time.Millisecond
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		c.t.Fatal(err)
	}
	return seq, all
}

// checksAreRight verifies all results and all requests of checks.
func (c *chaos) checksAreRight(db *sql.DB) {
	c.t.Helper()
	for _, p := range c.peers {
		seq, results := c.recordedOf(db, p.url)
		c.checks.Add(int64(len(results)))
		c.noneTwice(p, seq, results)
		for _, r := range results {
			if r.outcome != 0 || r.status != http.StatusOK || r.err != "" {
				c.outages.Add(1)
				c.wrong("outage", "failed check of a healthy target at %s: %+v", r.at.Format(time.StampMicro), r)
			}
		}
		p.mu.Lock()
		c.explain(p, results)
		p.mu.Unlock()
	}
	for query, what := range map[string]string{
		"SELECT count(*) FROM outages":                     "outages",
		"SELECT count(*) FROM targets WHERE state <> 'up'": "targets that are not up",
	} {
		var n int64
		if err := db.QueryRow(query).Scan(&n); err != nil {
			c.t.Fatal(err)
		}
		if n > 0 {
			c.wrong("outage", "got %d %s, but all peers were healthy", n, what)
		}
	}
	c.killsDelayLittle()
}

// noneTwice verifies that each interval has one result, and that consecutive results
// are at least half an interval apart.
func (c *chaos) noneTwice(p *peer, seq int64, results []recorded) {
	c.t.Helper()
	step := uint64(checkInterval.Microseconds())
	offset := uint64(seq) * 0x9E3779B97F4A7C15 >> 20 % step
	slot := func(r recorded) uint64 { return (uint64(r.at.UnixMicro()) - offset) / step }
	for i := 1; i < len(results); i++ {
		before, r := results[i-1], results[i]
		if r.at.Sub(before.at) < checkInterval/2 || slot(r) == slot(before) && i > 1 { // the first check has no slot
			c.twice.Add(1)
			c.wrong("twice", "%s was checked at %s and %s after that", p.url, before.at.Format(time.StampMicro), r.at.Sub(before.at))
		}
	}
}

// explain verifies that a fault explains each request without a result. The caller
// holds p.mu.
func (c *chaos) explain(p *peer, results []recorded) {
	c.t.Helper()
	const (
		jitter = 50 * time.Millisecond // a check starts slightly before its request arrives
		around = 3 * time.Second       // maximum duration of a check, with retries
	)
	next := 0
	for _, r := range p.requests {
		at := r.at
		for next < len(results) && results[next].attempts == 0 {
			next++
		}
		for next < len(results) && results[next].at.Add(results[next].latency+3*time.Second).Before(at) && !c.stoppedAt(r.node, results[next].at, at) {
			next++ // its requests did not arrive
		}
		if next < len(results) && !results[next].at.After(at.Add(jitter)) {
			results[next].attempts--
			continue
		}
		switch {
		case at.After(c.stopping.Add(-checkInterval)): // the program is stopping
		case c.stoppedAt(r.node, at.Add(-around), c.recordedBy(at.Add(around))):
			c.repeated.Add(1)
		default:
			c.unexplained.Add(1)
			c.wrong("repeated", "%s got a request at %s from instance %d whose check was not recorded, but the instance was not killed or stopped",
				p.url, at.Format(time.StampMicro), r.node)
		}
	}
}

// recordedBy returns the latest time at which a check is stored that would be stored at
// the given time if PostgreSQL were available.
func (c *chaos) recordedBy(at time.Time) time.Time {
	for again := true; again; {
		again = false
		for _, f := range c.faults {
			if (f.kind == restartPostgres || f.kind == stopPostgres) && f.overlaps(at.Add(-3*time.Second), at) && f.to.Add(3*time.Second).After(at) {
				at, again = f.to.Add(3*time.Second), true
			}
		}
	}
	return at
}

// stoppedAt reports whether an instance was killed or stopped between two times.
func (c *chaos) stoppedAt(node int, from, to time.Time) bool {
	return slices.ContainsFunc(c.faults, func(f fault) bool { return f.node == node && f.overlaps(from, to) })
}

// killsDelayLittle verifies how long targets were not checked after an instance was
// killed and no other fault happened.
func (c *chaos) killsDelayLittle() {
	c.t.Helper()
	for _, f := range c.faults {
		if f.kind != quietKill {
			continue
		}
		late := 0
		for _, p := range c.peers {
			killed := f.from.Add(10 * time.Millisecond)
			i := slices.IndexFunc(p.requests, func(r checkRequest) bool { return r.at.After(killed) })
			if i < 0 {
				c.wrong("late", "%s was not checked again after instance %d was killed", p.url, f.node)
				continue
			}
			gap := p.requests[i].at.Sub(f.from)
			c.longest = max(c.longest, gap)
			if gap > checkedAfter {
				late++
			}
		}
		if late > 0 {
			c.wrong("late", "after instance %d was killed at %s, %d targets were not checked for more than %s; the maximum is %s",
				f.node, f.from.Format(time.StampMicro), late, checkedAfter, c.longest)
		}
	}
}

// checkedOn waits until an instance has finished another check.
func (n *node) checkedOn(ctx context.Context) bool {
	const name = "linkwatch_checks_total"
	for before := n.counter(name); ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		if n.counter(name) > before {
			return true
		}
	}
	return false
}
