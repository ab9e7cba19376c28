//go:build e2e

package e2e

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

var (
	chaosLength = flag.Duration("chaos", 20*time.Second, "duration of the faults in the chaos test")
	chaosPooler = flag.Bool("chaos-pooler", false, "put PgBouncer in transaction mode between the instances and PostgreSQL")
	chaosSeed   = flag.Uint64("chaos-seed", 0, "random seed of the faults; 0 = random")
)

// healthyAfter is the maximum recovery time after the last fault.
const healthyAfter = 15 * time.Second

// chaos has three instances on one PostgreSQL and one Redis, the load, and the errors in
// their responses.
type chaos struct {
	t        *testing.T
	nodes    []*node
	postgres *chaosPostgres
	redis    *chaosRedis
	peers    []*peer

	mu         sync.Mutex
	faults     []fault               // that have ended
	links      []*shortLink          // acknowledged
	titles     map[string]*shortLink // all that were sent
	kept       []string              // URLs of acknowledged links
	broken     []broken              // replies
	notFetched []broken              // replies to saves
	errors     map[string][]string   // by kind

	requests, unanswered, unavailable  count
	redirects, creates, changes        count
	deletes, saved, checks             count
	late, oldest                       count // redirects to an older destination within the promise
	twice, outages                     count // checks
	repeated, unexplained, lost, again count
	longest                            time.Duration // longest time without checks after a kill
	stopping                           time.Time     // when the instances got SIGTERM
	recovered                          time.Duration // time after the last fault
}

// Three instances keep their promises while they, PostgreSQL and Redis are killed,
// stopped and restarted.
func TestChaos(t *testing.T) {
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64N(1_000_000)
	}
	t.Logf("-chaos %s -chaos-seed %d", *chaosLength, seed)
	random := rand.New(rand.NewPCG(seed, seed))
	c := newChaos(t)
	db := c.postgres.open(t)
	for _, p := range c.peers {
		if r := c.nodes[0].try(t.Context(), http.MethodPost, "/v1/targets", map[string]any{"url": p.url}); r.status != http.StatusCreated {
			t.Fatalf("add target: got status %d: %s", r.status, r.body)
		}
	}
	ctx, endLoad := context.WithCancel(t.Context())
	defer endLoad()
	var load sync.WaitGroup
	web := site(t)
	for i := range 6 {
		load.Go(func() { c.edits(ctx, fmt.Sprintf("editor%d", i), rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	for i := range 4 * chaosNodes {
		load.Go(func() { c.follows(ctx, c.nodes[i%chaosNodes], rand.New(rand.NewPCG(seed, uint64(100+i)))) })
	}
	load.Go(func() { c.saves(ctx, web.URL, rand.New(rand.NewPCG(seed, 200))) })

	c.inject(planFaults(random, *chaosLength))
	c.recover()
	endLoad()
	load.Wait()
	c.stopping = time.Now()
	for _, n := range c.nodes {
		n.stop()
	}
	c.hasAllWrites(db)
	c.checksAreRight(db)
	c.report()
}

// newChaos starts everything. One instance is without Redis.
func newChaos(t *testing.T) *chaos {
	c := &chaos{t: t, titles: map[string]*shortLink{}, errors: map[string][]string{}}
	c.postgres, c.redis, c.peers = newPostgres(t), newRedis(t), newPeers(t)
	database := c.postgres.url()
	if *chaosPooler {
		database = modelstest.Pooler(t, database, modelstest.PoolTransactions)
	}
	for i := range chaosNodes {
		n := &node{chaos: c, port: freePort(t)}
		n.env = environ("DATABASE_URL="+database, fmt.Sprintf("HTTP_PORT=%d", n.port),
			"OUTBOUND_ALLOW_CIDRS=127.0.0.0/8", "CHECK_INTERVAL="+checkInterval.String(), "LOG_LEVEL=warn", "OUTBOUND_USER_AGENT="+fmt.Sprintf(nodeAgent, i),
			"CLEANUP_INTERVAL=1s", "CLEANUP_BUFFER_TIME=2s")
		if i > 0 { // the first has no Redis: the promises hold without it
			n.env = append(n.env, "REDIS_URL="+c.redis.url())
		}
		t.Cleanup(func() {
			if n.process != nil && !n.hasEnded() {
				n.kill()
			}
		})
		n.start()
		c.nodes = append(c.nodes, n)
	}
	return c
}

func (c *chaos) anyNode(random *rand.Rand) *node { return c.nodes[random.IntN(len(c.nodes))] }

// wrong records an error of the program.
func (c *chaos) wrong(kind, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errors[kind] = append(c.errors[kind], fmt.Sprintf(format, args...))
}

// recover waits until all instances work.
func (c *chaos) recover() {
	started := time.Now()
	ctx, cancel := context.WithTimeout(c.t.Context(), healthyAfter)
	defer cancel()
	var group sync.WaitGroup
	for i, n := range c.nodes {
		group.Go(func() {
			for !n.serves(ctx) && ctx.Err() == nil {
				time.Sleep(50 * time.Millisecond)
			}
			if !n.checkedOn(ctx) {
				c.wrong("recovery", "instance %d (port %d) did not work %s after the last fault", i, n.port, healthyAfter)
			}
		})
	}
	group.Wait()
	c.recovered = time.Since(started)
}

// serves reports whether an instance is ready, adds short links and redirects them.
func (n *node) serves(ctx context.Context) bool {
	if n.try(ctx, http.MethodGet, "/readyz", nil).status != http.StatusOK {
		return false
	}
	r := n.try(ctx, http.MethodPost, "/v1/shortlinks", map[string]any{"long_url": "https://example.com/", "title": "well"})
	_, key, ok := strings.Cut(string(r.body), `"short_key":"`)
	if r.status != http.StatusCreated || !ok {
		return false
	}
	key, _, _ = strings.Cut(key, `"`)
	return n.try(ctx, http.MethodGet, "/s/"+key, nil).status == http.StatusFound
}

// hasAllWrites verifies that the database has all acknowledged writes.
func (c *chaos) hasAllWrites(db *sql.DB) {
	c.t.Helper()
	rows, err := db.Query("SELECT short_key, title, long_url, deleted_at IS NOT NULL FROM short_links")
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close()
	rowsOf := map[string]int{} // by title
	for rows.Next() {
		var key, title, url string
		var deleted bool
		if err := rows.Scan(&key, &title, &url, &deleted); err != nil {
			c.t.Fatal(err)
		}
		if l := c.titles[title]; l != nil {
			if rowsOf[title]++; rowsOf[title] > 1 {
				c.again.Add(1)
				c.wrong("create", "Idempotency-Key %s created %d short links", title, rowsOf[title])
			}
			c.isAsAcknowledged(l, key, url, deleted)
		}
	}
	if err := rows.Err(); err != nil {
		c.t.Fatal(err)
	}
	for _, l := range c.links {
		if rowsOf[l.title] == 0 && l.sort == lasting {
			c.lose("the short link %s of %s is missing", l.key, l.title)
		}
	}
	for _, url := range c.kept {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM links WHERE url = $1", url).Scan(&n); err != nil || n != 1 {
			c.lose("the saved link %s exists %d times (%v)", url, n, err)
		}
	}
}

// isAsAcknowledged compares a row with the last acknowledged change, and with the next
// one, which may have been applied.
func (c *chaos) isAsAcknowledged(l *shortLink, key, url string, deleted bool) {
	if l.key == "" {
		return // it was not acknowledged
	}
	newest := l.known[len(l.known)-1].version
	possible := []string{l.url(newest)}
	if l.doubtful {
		possible = append(possible, l.url(l.version))
	}
	switch {
	case key != l.key && l.sort == lasting:
		c.lose("%s: got key %s, want %s", l.title, key, l.key)
	case deleted != !l.deleted.IsZero() && !(l.doubtful && l.deleting):
		c.lose("%s: got deleted %v", l.title, deleted)
	case !slices.Contains(possible, url):
		c.lose("%s: got destination %s, want one of %v", l.title, url, possible)
	}
}

func (c *chaos) lose(format string, args ...any) {
	c.lost.Add(1)
	c.wrong("lost", format, args...)
}

// mistakes describes the kinds of errors that wrong records.
var mistakes = []struct{ kind, meaning string }{
	{"lost", "acknowledged writes that were lost"},
	{"create", "creates that failed or were duplicated"},
	{"twice", "checks recorded twice in an interval"},
	{"outage", "false outages"},
	{"repeated", "repeated check requests without a fault of the instance"},
	{"late", "kills after which targets were not checked in time"},
	{"stale", "redirects to an older destination after the promised time"},
	{"max_visits", "redirects beyond the visit limit"},
	{"expired", "redirects after expiry"},
	{"redirect", "other wrong redirects"},
	{"5xx", "5xx responses other than 503"},
	{"status", "other unexpected statuses"},
	{"recovery", "instances that did not recover in time"},
}

// report prints the results, and fails the test if there were errors.
func (c *chaos) report() {
	for _, r := range c.broken {
		c.wrong("5xx", "%s", r)
	}
	for _, r := range c.notFetched {
		if !c.stoppedAt(slices.Index(c.nodes, r.node), r.sent, r.received) {
			c.wrong("status", "save link: got status %d: %s", r.status, r.body)
		}
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "\n\t"+format, args...) }
	for _, k := range append([]faultKind{quietKill}, kinds()...) {
		n := 0
		for _, f := range c.faults {
			if f.kind == k {
				n++
			}
		}
		line("%4d × %s", n, k)
	}
	line("requests: %d; without a response: %d; 503 or 429: %d", c.requests.Load(), c.unanswered.Load(), c.unavailable.Load())
	line("redirects: %d; to an older destination: %d, changed at most %s before", c.redirects.Load(), c.late.Load(), time.Duration(c.oldest.Load()).Round(time.Millisecond))
	line("acknowledged: %d creates, %d edits, %d deletes, %d saves; lost: %d; duplicated: %d", c.creates.Load(), c.changes.Load(), c.deletes.Load(), c.saved.Load(), c.lost.Load(), c.again.Load())
	line("checks recorded: %d; twice in an interval: %d; false outages: %d", c.checks.Load(), c.twice.Load(), c.outages.Load())
	line("check requests that were not recorded: %d because of a fault, %d for other reasons", c.repeated.Load(), c.unexplained.Load())
	line("longest time without a check after a kill: %s", c.longest.Round(time.Millisecond))
	line("recovery after the last fault: %s", c.recovered.Round(time.Millisecond))
	for _, m := range mistakes {
		line("%s: %d", m.meaning, len(c.errors[m.kind]))
	}
	c.t.Log(b.String())
	for kind, all := range c.errors {
		slices.Sort(all)
		distinct := slices.Compact(all)
		for _, e := range distinct[:min(len(distinct), 10)] {
			c.t.Errorf("%s: %s", kind, e)
		}
	}
	if len(c.errors) > 0 {
		for _, f := range c.faults {
			c.t.Logf("%s to %s: %s (%s)", f.from.Format(time.StampMicro), f.to.Format(time.StampMicro), f.kind, f.subject())
		}
	}
}

func kinds() (all []faultKind) {
	for _, k := range faultKinds {
		all = append(all, k.kind)
	}
	return all
}
