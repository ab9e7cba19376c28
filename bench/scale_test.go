package bench

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linkwatch/jobs/dispatch"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
)

// simulation is a crawl of a web in memory by the real dispatcher, in virtual time.
type simulation struct {
	hosts, workers, maxHosts int
	hanging                  int           // of a hundred hosts
	window                   time.Duration // virtual
}

// simulated is what a simulation came to.
type simulated struct {
	simSums
	left   time.Duration // that the hosts were due at the end which had to wait longest
	due    int           // hosts that were due at the end
	web    []int32       // the pages of each host at the beginning
	memory int64         // that the dispatcher and its turns took at the end, in bytes
	took   time.Duration // of real time
}

// run runs a simulation. It fails the test if two requests were made at once to a host, or too soon after each other.
func (s simulation) run(t *testing.T) (r simulated) {
	t.Helper()
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		held := lease.New(modelstest.New(t), nil)
		beat := func() {
			if err := held.Beat(context.Background()); err != nil {
				t.Error(err)
			}
		}
		beat()
		q := newSimQueue(s.hosts, s.maxHosts, s.hanging)
		for _, h := range q.hosts {
			r.web = append(r.web, h.pages)
		}
		before := heapInUse()
		taking, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		d := dispatch.New[*simTurn](q, dispatch.Options{
			Name: "simulation", Lease: held, Workers: s.workers, Log: slog.New(slog.DiscardHandler), Metrics: dispatch.NewMetrics(), MaxDelay: time.Minute,
		})
		go func() { ended <- d.Run(taking, t.Context()) }()
		for time.Since(q.begun) < s.window {
			time.Sleep(lease.Heartbeat)
			beat()
		}
		q.mu.Lock()
		r.simSums, r.busy = q.simSums, slices.Clone(q.busy[:s.window/simStep])
		r.memory = heapInUse() - before
		for _, i := range q.due {
			if waits := q.now() - q.hosts[i].nextAt; waits > 0 {
				r.due++
				r.left = max(r.left, waits)
			}
		}
		q.mu.Unlock()
		stop()
		for done := false; !done; {
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
				done = true
			case <-time.After(lease.Heartbeat):
				beat()
			}
		}
	})
	r.took = time.Since(began)
	if r.overlaps > 0 || r.shortest < simDelay {
		t.Errorf("%d requests to a host that has one under way; the shortest pause is %v, want %v", r.overlaps, r.shortest, simDelay)
	}
	return r
}

// heapInUse is the memory that is reachable, in bytes.
func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// mean is how long a request took.
func (r simulated) mean() time.Duration { return r.spent / time.Duration(max(1, r.requests)) }

// byWorkers is how many requests workers make in a time if they are never idle.
func (s simulation) byWorkers(r simulated) float64 {
	return float64(s.workers) * s.window.Seconds() / r.mean().Seconds()
}

// byHosts is how many requests are made in a time to the hosts that are held: two in a turn of two seconds, with a pause of
// one between them, if a turn is stored as soon as it ends.
func (s simulation) byHosts(r simulated) float64 {
	return 2 * float64(s.maxHosts) * s.window.Seconds() / (simDelay + 2*r.mean()).Seconds()
}

// The dispatcher asks each host for one thing at a time, with the pause between two requests, and keeps its workers busy
// meanwhile, though some hosts hang.
func TestCrawlOfManyHostsIsPoliteAndBusy(t *testing.T) {
	s := simulation{hosts: 2_000, workers: 32, maxHosts: simHeld, hanging: 1, window: 20 * time.Second}
	r := s.run(t)
	if limit := min(s.byWorkers(r), s.byHosts(r)); float64(r.requests) < 0.8*limit {
		t.Errorf("%d requests were made, want 80 %% of %.0f", r.requests, limit)
	}
	if r.timeouts == 0 || r.mostHeld > s.maxHosts {
		t.Errorf("%d requests timed out, %d hosts were held", r.timeouts, r.mostHeld)
	}
}

// TestScaleFigures simulates crawls of a million hosts. It asserts nothing about time.
func TestScaleFigures(t *testing.T) {
	if !*figures {
		t.Skip("figures are measured with -figures (task bench)")
	}
	for _, s := range []simulation{
		{1_000_000, 128, simHeld, 1, time.Hour},      // MAX_CONCURRENCY=64; each host has its turn
		{1_000_000, 16, simHeld, 1, 5 * time.Minute}, // MAX_CONCURRENCY=8, the default
		{1_000_000, 128, simHeld, 10, 5 * time.Minute},
		{1_000_000, 1024, simHeld, 1, 5 * time.Minute}, // what more workers bring with so few hosts
		{1_000_000, 1024, 4096, 1, 5 * time.Minute},    // MAX_CONCURRENCY=512
	} {
		s.print(s.run(t))
	}
}

// print prints a simulation as a table.
func (s simulation) print(r simulated) {
	table("A simulated crawl of %d hosts of which %d %% hang, %d workers, %d hosts held at most: %v of virtual time",
		s.hosts, s.hanging, s.workers, s.maxHosts, s.window)
	pages, single, most := 0, 0, int32(0)
	for _, n := range r.web {
		pages += int(n)
		most = max(most, n)
		if n == 1 {
			single++
		}
	}
	row("pages of the web; hosts with one; of the largest", "", "%.1f million; %.0f %%; %d", float64(pages)/1e6, float64(single)*100/float64(s.hosts), most)
	second := s.window.Seconds()
	row("requests, robots.txt and timeouts included", "", "%.1f/s", float64(r.requests)/second)
	row("  limit by workers that are never idle", "", "%.1f/s", s.byWorkers(r)/second)
	row("  limit by the hosts held, each stored at once", "", "%.1f/s", s.byHosts(r)/second)
	row("  of the smaller limit", "", "%.1f %%", float64(r.requests)*100/min(s.byWorkers(r), s.byHosts(r)))
	row("pages", "", "%.1f/s", float64(r.pages)/second)
	row("a request takes", "", "%.0f ms", r.mean().Seconds()*1000)
	row("timed out", "", "%.2f %%", float64(r.timeouts)*100/float64(r.requests))
	row("requests of a turn; a host is held for", "", "%.2f; %.2f s", float64(r.requests)/float64(r.turns), r.holding.Seconds()/float64(r.turns))
	var tenths []string
	for i := range 10 {
		tenths = append(tenths, fmt.Sprintf("%.0f", s.share(r.busy[i*len(r.busy)/10:(i+1)*len(r.busy)/10])))
	}
	least := slices.Min(r.busy[1 : len(r.busy)-1])
	row("workers that are busy", "", "%.1f %%", s.share(r.busy))
	row("  in each tenth of the time, in %", "", "%s", strings.Join(tenths, " "))
	row("  in the worst 10 s after the first", "", "%.1f %%", s.share([]time.Duration{least}))
	row("two requests at once to a host", "0", "%d", r.overlaps)
	row("shortest pause between two requests to a host", "≥ 1 s", "%.3f s", r.shortest.Seconds())
	row("longest wait of a due host, until it was claimed", "", "%.0f s", r.longest.Seconds())
	row("longest wait of those that still wait", "", "%.0f s (%d hosts)", r.left.Seconds(), r.due)
	row("longest wait of a claimed host for its worker", "", "%.2f s", r.longestHeld.Seconds())
	row("memory of the dispatcher and its turns", "", "%.1f MB", float64(r.memory)/1e6)
	row("real time", "", "%.1f s", r.took.Seconds())
}

// share is how much of the workers' time in some steps was spent, in percent.
func (s simulation) share(steps []time.Duration) float64 {
	busy := 0.0
	for _, b := range steps {
		busy += b.Seconds()
	}
	return busy * 100 / (float64(s.workers*len(steps)) * simStep.Seconds())
}
