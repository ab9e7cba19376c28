//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

// gate is a page that does not respond until it is opened.
type gate struct {
	open     chan struct{}
	mu       sync.Mutex
	waiting  map[string]int // blocked requests, by path
	answered map[string]int // by path
}

func newGate() *gate {
	return &gate{open: make(chan struct{}), waiting: map[string]int{}, answered: map[string]int{}}
}

func (g *gate) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	g.note(g.waiting, r.URL.Path, 1)
	defer g.note(g.waiting, r.URL.Path, -1)
	select {
	case <-g.open:
		rw.WriteHeader(http.StatusOK)
		g.note(g.answered, r.URL.Path, 1)
	case <-r.Context().Done(): // the client disconnected
	}
}

func (g *gate) note(in map[string]int, path string, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	in[path] += n
}

// count returns the number of requests in waiting or answered.
func (g *gate) count(of map[string]int) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, k := range of {
		n += k
	}
	return n
}

const (
	claimedTargets = `SELECT canonical_url FROM targets JOIN target_schedule ON target_seq = seq WHERE claimed_by IS NOT NULL UNION ALL SELECT id FROM instances`
	checkedTargets = `SELECT canonical_url FROM targets JOIN check_results ON target_seq = seq`
)

// fullQueue starts an instance with four workers and adds 120 targets on 40 hosts that do not respond yet. It waits
// until some checks run.
func fullQueue(t *testing.T, g *gate, env ...string) *Server {
	t.Helper()
	s := Start(t, append(env, "MAX_CONCURRENCY=4", "HTTP_TIMEOUT=1m", "CHECK_INTERVAL=1h")...)
	for i, url := range hosts(t, 40, g) {
		for k := range 3 {
			s.addTarget(fmt.Sprintf("%s/%d-%d", url, i, k))
		}
	}
	modelstest.Eventually(t, "checks are under way", func() bool { return g.count(g.waiting) >= 2 })
	return s
}

// After SIGTERM with a full queue, running checks finish and are stored, no others start, and no target stays claimed.
func TestStopWithAFullQueue(t *testing.T) {
	t.Parallel()
	g := newGate()
	s := fullQueue(t, g)
	s.signal(syscall.SIGTERM)
	modelstest.Eventually(t, "the program is stopping", func() bool { return strings.Contains(s.log(), `"msg":"stopping"`) })
	close(g.open)
	if err := s.wait(); err != nil {
		t.Errorf("got %v, want exit code 0", err)
	}
	stored := map[string]bool{}
	for _, url := range Rows(t, s.store, checkedTargets) {
		stored["/"+url[strings.LastIndexByte(url, '/')+1:]] = true
	}
	if len(g.answered) == 0 || len(g.answered) > 8 {
		t.Errorf("got %d responses after the signal; 120 checks were due and 4 could run", len(g.answered))
	}
	for path := range g.answered {
		if !stored[path] {
			t.Errorf("the result of %s is lost", path)
		}
	}
	if len(stored) != len(g.answered) {
		t.Errorf("got %d stored results, want %d", len(stored), len(g.answered))
	}
	if left := Rows(t, s.store, claimedTargets); len(left) > 0 {
		t.Errorf("targets still claimed after the stop: %q", left)
	}
}

// Checks that hang are canceled at the end of the grace period. The exit code is 0, and there are no results and no claims.
func TestStopCancelsHangingChecks(t *testing.T) {
	t.Parallel()
	g := newGate()
	s := fullQueue(t, g, "SHUTDOWN_GRACE=500ms")
	s.Stop()
	if n := g.count(g.answered); n > 0 {
		t.Errorf("got %d results of a host that never responds, want 0", n)
	}
	if stored := Rows(t, s.store, checkedTargets); len(stored) > 0 {
		t.Errorf("canceled checks are stored as results: %q", stored)
	}
	if left := Rows(t, s.store, claimedTargets); len(left) > 0 {
		t.Errorf("targets still claimed after the stop: %q", left)
	}
}

// The targets of a killed instance are checked again after its lease has ended.
func TestKillDuringChecks(t *testing.T) {
	t.Parallel() // waits for a lease to end
	g, store := newGate(), storeIn(t)
	s := fullQueue(t, g, store)
	s.Kill()
	if left := Rows(t, s.store, claimedTargets); len(left) == 0 {
		t.Error("no target was claimed at the kill, so this test proves nothing")
	}
	close(g.open)
	again := Start(t, store, "MAX_CONCURRENCY=4", "CHECK_INTERVAL=1s")
	modelstest.Eventually(t, "every target is up", func() bool {
		up, _ := listed[target](again, "/v1/targets?status=up&limit=500")
		return len(up) == 120
	})
	again.Stop()
	if left := Rows(t, again.store, claimedTargets); len(left) > 0 {
		t.Errorf("targets still claimed after the stop: %q", left)
	}
}

// seen records the checks of each page of a host.
type seen struct {
	mu      sync.Mutex
	last    map[string]time.Time // time of the last request of a page
	running map[string]int
	by      map[string]map[string]int // checks by page and user agent
	twice   []string                  // pages that were checked too soon
	least   time.Duration             // between two checks of a page
}

func (h *seen) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	key, who := r.Host+r.URL.Path, r.UserAgent()
	h.mu.Lock()
	if h.running[key]++; h.running[key] > 1 {
		h.twice = append(h.twice, key+" is asked by two at once")
	}
	now := time.Now()
	if gap := now.Sub(h.last[key]); gap < h.least {
		h.twice = append(h.twice, fmt.Sprintf("%s again after %s", key, gap))
	}
	h.last[key] = now
	if h.by[who] == nil {
		h.by[who] = map[string]int{}
	}
	h.by[who][key]++
	h.mu.Unlock()
	rw.WriteHeader(http.StatusOK)
	h.mu.Lock()
	h.running[key]--
	h.mu.Unlock()
}

// pages returns the number of different pages that a user agent has requested.
func (h *seen) pages(who string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.by[who])
}

// forget resets the counts of checks.
func (h *seen) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.by = map[string]map[string]int{}
}

// Two instances on one PostgreSQL share the targets: none is checked twice in its interval, and when one instance
// dies, the other checks all targets.
func TestTwoInstancesShareTargets(t *testing.T) {
	t.Parallel() // waits for a lease to end
	const interval = 3 * time.Second
	// A check runs at its offset in the interval, at least half an interval after the previous one. On a busy machine it
	// is slightly late, so that the next one seems early.
	h := &seen{last: map[string]time.Time{}, running: map[string]int{}, by: map[string]map[string]int{}, least: interval / 4}
	env := []string{"DATABASE_URL=" + modelstest.NewPostgres(t), "CHECK_INTERVAL=" + interval.String(), "MAX_CONCURRENCY=4"}
	anna := Start(t, append(env, "OUTBOUND_USER_AGENT=Anna")...)
	ben := Start(t, append(env, "OUTBOUND_USER_AGENT=Ben")...)
	const all = 200
	for i, url := range hosts(t, 20, h) {
		for k := range all / 20 {
			[]*Server{anna, ben}[k%2].addTarget(fmt.Sprintf("%s/%d-%d", url, i, k))
		}
	}
	both := func() bool { // each has checked most targets by now
		return h.pages("Anna") > all/2 && h.pages("Ben") > all/2
	}
	modelstest.Eventually(t, "both check", both)
	anna.Kill()
	h.forget()
	modelstest.Eventually(t, "the other checks all targets", func() bool { return h.pages("Ben") == all })
	if n := h.pages("Anna"); n > 0 {
		t.Errorf("got checks of %d targets by the killed instance", n)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.twice) > 0 {
		t.Errorf("got %d duplicate checks: %q", len(h.twice), h.twice[:min(len(h.twice), 5)])
	}
}
