//go:build e2e

package bench

import (
	"container/heap"
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"linkwatch/jobs/dispatch"
	"linkwatch/models/crawl"
	"linkwatch/models/lease"
)

// Constants of the crawler's queue (jobs/crawl/queue.go and fetch.go) and of outbound.Robots.
const (
	simDelay     = time.Second // between two requests to a host: the default of a source
	simTimeout   = 5 * time.Second
	simSlow      = time.Second
	simShareWait = 200 * time.Millisecond
	simIdle      = 5 * time.Second
	simFailPause = time.Second
	simMaxPause  = 15 * time.Second
	simRobots    = time.Minute // until robots.txt is retried after an error
	simDead      = 8
	simAttempts  = 3
	simCached    = 32_768 // number of hosts whose robots.txt is cached
	simHeld      = 512    // hosts that an instance claims with up to 128 workers
)

// Durations of store calls in the simulation, similar to those that TestSizeFigures measures.
const (
	simCall    = 2 * time.Millisecond
	simPerPage = 430 * time.Microsecond
)

// simHost is a host of the simulated web.
type simHost struct {
	nextAt   time.Duration // since the start of the simulation, like all its times
	tried    time.Duration // the end of the last request; 0 = none
	pages    int32         // not fetched yet
	robots   int32         // number of the last fetch of its robots.txt; 0 = none
	sent     int32         // number of requests
	median   float32       // response time, in milliseconds
	failures int8          // consecutive
	hangs    hangs
	slow     bool
	busy     bool // a request is running
}

// hangs reports whether the next request to the host hangs.
type hangs int8

const (
	responds   hangs = iota
	hangsOften       // every second page
	hangsAll
)

type simTurn struct {
	host    int32
	last    simHost // time of the claim
	loaded  bool
	left    int // pages
	fetched int
	claimed time.Duration
	ends    time.Duration
	nextAt  time.Duration
}

// simQueue is the crawler's queue over a web in memory, in virtual time. Only the calls to the database and the network take
// time.
type simQueue struct {
	started  time.Time
	maxHosts int

	mu      sync.Mutex
	hosts   []simHost
	due     []int32 // heap of unclaimed hosts with pages, by nextAt
	claimed map[int32]*simTurn
	robots  int32 // number of robots.txt fetches
	simSums
}

// simSums has the counts of a simulation.
type simSums struct {
	requests, pages, timeouts, turns int
	overlaps                         int             // requests to a host during another request
	shortest                         time.Duration   // pause between two requests to a host
	longest                          time.Duration   // time from due to claimed
	longestHeld                      time.Duration   // time from claimed to the first request
	busy                             []time.Duration // total of all workers, per simStep
	spent, holding                   time.Duration   // time in requests; time that hosts were claimed
	mostHeld                         int
}

// simStep is the duration of a step of simSums.busy.
const simStep = 10 * time.Second

// newSimQueue generates n hosts. Their numbers of pages have a Pareto distribution. Their response times have a log-normal one,
// with a median per host. hanging percent of the hosts hang: half of these always, the other half on every second page.
func newSimQueue(n, maxHosts, hanging int) *simQueue {
	q := &simQueue{started: time.Now(), maxHosts: maxHosts, hosts: make([]simHost, n), due: make([]int32, n), claimed: map[int32]*simTurn{}}
	q.shortest = math.MaxInt64
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range q.hosts {
		h := &q.hosts[i]
		h.pages = int32(min(1e6, math.Pow(1-r.Float64(), -1/1.1)))
		h.median = float32(150 * math.Exp(0.6*r.NormFloat64()))
		if r.IntN(100) < hanging {
			h.hangs = hangsOften + hangs(r.IntN(2))
		}
		q.due[i] = int32(i)
	}
	return q
}

// Len, Less, Swap, Push and Pop implement heap.Interface over the hosts that are due.
func (q *simQueue) Len() int           { return len(q.due) }
func (q *simQueue) Less(i, j int) bool { return q.hosts[q.due[i]].nextAt < q.hosts[q.due[j]].nextAt }
func (q *simQueue) Swap(i, j int)      { q.due[i], q.due[j] = q.due[j], q.due[i] }
func (q *simQueue) Push(x any)         { q.due = append(q.due, x.(int32)) }
func (q *simQueue) Pop() any {
	last := q.due[len(q.due)-1]
	q.due = q.due[:len(q.due)-1]
	return last
}

func (q *simQueue) now() time.Duration { return time.Since(q.started) }

// Claim implements dispatch.Queue. It returns the hosts that are due longest, and keeps at most maxHosts claimed.
func (q *simQueue) Claim(_ context.Context, _ lease.ID, n int) (turns []*simTurn, wait time.Duration, err error) {
	time.Sleep(simCall)
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for n = min(n, q.maxHosts-len(q.claimed)); n > 0 && len(q.due) > 0 && q.hosts[q.due[0]].nextAt <= now; n-- {
		i := heap.Pop(q).(int32)
		t := &simTurn{host: i, last: q.hosts[i], claimed: now, nextAt: q.hosts[i].nextAt}
		q.longest = max(q.longest, now-t.nextAt)
		q.claimed[i] = t
		turns = append(turns, t)
	}
	q.mostHeld = max(q.mostHeld, len(q.claimed))
	switch {
	case len(q.due) == 0:
		return turns, -1, nil
	case len(turns) == 0:
		return nil, max(simShareWait, q.hosts[q.due[0]].nextAt-now), nil
	}
	return turns, max(0, q.hosts[q.due[0]].nextAt-now), nil
}

// Try implements dispatch.Queue. It sends one request: to robots.txt if that is not cached, else to a page.
func (q *simQueue) Try(ctx context.Context, t *simTurn) dispatch.Outcome {
	page, hangs, takes, ok := q.begin(t)
	if !ok {
		return dispatch.Outcome{}
	}
	started := q.now()
	timer := time.NewTimer(takes)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return q.end(t, page, hangs, started)
}

// begin starts a request and returns its duration; ok is false if the turn has nothing to fetch.
func (q *simQueue) begin(t *simTurn) (page, hangs bool, takes time.Duration, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now, h := q.now(), &q.hosts[t.host]
	if !t.loaded {
		t.loaded, t.ends, t.nextAt = true, now+crawl.MaxClaimTime, now
		q.longestHeld = max(q.longestHeld, now-t.claimed)
		n := crawl.MaxBatchEntries
		if h.tried > 0 { // robots.txt is cached
			n = 1 + int(crawl.MaxClaimTime/simDelay)
		}
		t.left = min(n, int(h.pages))
	}
	if t.left == 0 {
		t.nextAt = now + simIdle
		return false, false, 0, false
	}
	if h.busy {
		q.overlaps++
	}
	if h.sent > 0 {
		q.shortest = min(q.shortest, now-h.tried)
	}
	h.busy = true
	h.sent++
	r := rand.New(rand.NewPCG(uint64(t.host), uint64(h.sent)))
	page = h.robots > 0 && q.robots-h.robots < simCached
	takes = time.Duration(float64(h.median) * math.Exp(0.5*r.NormFloat64()) * float64(time.Millisecond))
	if hangs = h.hangs == hangsAll || h.hangs == hangsOften && page && r.IntN(2) == 0 || takes > simTimeout; hangs {
		takes = simTimeout
	}
	return page, hangs, takes, true
}

// end ends a request and returns the outcome, as the crawler does.
func (q *simQueue) end(t *simTurn, page, hangs bool, started time.Duration) dispatch.Outcome {
	q.mu.Lock()
	defer q.mu.Unlock()
	now, h := q.now(), &q.hosts[t.host]
	h.busy, h.tried, h.slow = false, now, now-started > simSlow
	q.requests++
	q.spent += now - started
	for at := started; at < now; {
		step := int(at / simStep)
		for len(q.busy) <= step {
			q.busy = append(q.busy, 0)
		}
		until := min(now, time.Duration(step+1)*simStep)
		q.busy[step] += until - at
		at = until
	}
	pause := simDelay
	switch {
	case hangs:
		q.timeouts++
		h.failures++
		pause = max(pause, min(simFailPause<<min(h.failures-1, 10), simMaxPause))
		if !page {
			pause = simRobots
		}
		t.left--
		if h.failures%simAttempts == 0 {
			h.pages--
		}
		if h.failures >= simDead {
			h.pages -= int32(t.left)
			t.left = 0
		}
	case !page: // after robots.txt comes the page
		q.robots++
		h.robots = q.robots
	default:
		h.failures = 0
		h.pages--
		t.left--
		t.fetched++
		q.pages++
	}
	t.nextAt = now + pause
	o := dispatch.Outcome{TimedOut: hangs && page}
	if t.left > 0 && t.nextAt <= t.ends {
		o.Step, o.After = dispatch.Retry, pause
	}
	return o
}

// Finish implements dispatch.Queue.
func (q *simQueue) Finish(_ context.Context, turns []*simTurn) error {
	fetched := 0
	for _, t := range turns {
		fetched += t.fetched
	}
	time.Sleep(simCall + time.Duration(fetched)*simPerPage)
	q.free(turns)
	return nil
}

func (q *simQueue) free(turns []*simTurn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range turns {
		if q.claimed[t.host] != t {
			continue
		}
		delete(q.claimed, t.host)
		q.turns++
		q.holding += q.now() - t.claimed
		if h := &q.hosts[t.host]; h.pages > 0 {
			h.nextAt = t.nextAt
			heap.Push(q, t.host)
		}
	}
}

// Release implements dispatch.Queue.
func (q *simQueue) Release(_ context.Context, back []lease.Released[*simTurn]) error {
	var turns []*simTurn
	for _, b := range back {
		if at := q.now() + b.After; at > b.Item.nextAt || !b.Item.loaded {
			b.Item.nextAt = at
		}
		turns = append(turns, b.Item)
	}
	q.free(turns)
	return nil
}

// ReleaseOthers implements dispatch.Queue. The simulated store never fails, so all claims are in memory.
func (*simQueue) ReleaseOthers(context.Context, lease.ID, []*simTurn) error { return nil }

// Host implements dispatch.Queue.
func (*simQueue) Host(t *simTurn) string { return strconv.Itoa(int(t.host)) }

// Due implements dispatch.Queue.
func (q *simQueue) Due(t *simTurn) time.Time { return q.started.Add(t.last.nextAt) }

// Slow implements dispatch.Queue.
func (*simQueue) Slow(t *simTurn) bool { return t.last.slow }

// Tried implements dispatch.Queue.
func (q *simQueue) Tried(t *simTurn) time.Time {
	if t.last.tried == 0 {
		return time.Time{}
	}
	return q.started.Add(t.last.tried)
}
