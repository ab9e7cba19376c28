//go:build e2e

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

// simulation is a crawl of simulated hosts by the real dispatcher, in virtual time.
type simulation struct {
	hosts, workers, maxHosts int
	hanging                  int           // percent of the hosts
	window                   time.Duration // virtual time
}

// simulated is the result of a simulation.
type simulated struct {
	simSums
	left   time.Duration // longest time that a host is due at the end
	due    int           // number of hosts that are due at the end
	web    []int32       // number of pages per host at the start
	memory int64         // memory of the dispatcher and its turns at the end, in bytes
	took   time.Duration // real time
}

// run runs a simulation. It fails the test if a host gets two requests at once or too soon after each other.
func (s simulation) run(t *testing.T) (r simulated) {
	t.Helper()
	started := time.Now()
	synctest.Test(t, func(t *testing.T) {
		instance := lease.New(modelstest.New(t), nil)
		beat := func() {
			if err := instance.Beat(context.Background()); err != nil {
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
			Name: "simulation", Lease: instance, Workers: s.workers, Log: slog.New(slog.DiscardHandler), Metrics: dispatch.NewMetrics(), MaxDelay: time.Minute,
		})
		go func() { ended <- d.Run(taking, t.Context()) }()
		for time.Since(q.started) < s.window {
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
	r.took = time.Since(started)
	if r.overlaps > 0 || r.shortest < simDelay {
		t.Errorf("got %d overlapping requests and a shortest pause of %v, want 0 and at least %v", r.overlaps, r.shortest, simDelay)
	}
	return r
}

// heapInUse returns the size of the reachable heap, in bytes.
func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func (r simulated) mean() time.Duration { return r.spent / time.Duration(max(1, r.requests)) }

// byWorkers returns how many requests the workers could send if they were never idle.
func (s simulation) byWorkers(r simulated) float64 {
	return float64(s.workers) * s.window.Seconds() / r.mean().Seconds()
}

// byHosts returns how many requests the claimed hosts could get. It assumes two per claim, with a pause between them, and that
// each claim is stored as soon as it ends.
func (s simulation) byHosts(r simulated) float64 {
	return 2 * float64(s.maxHosts) * s.window.Seconds() / (simDelay + 2*r.mean()).Seconds()
}

// The dispatcher sends each host one request at a time, with a pause between two, and keeps its workers busy even if some
// hosts hang.
func TestCrawlOfManyHostsIsPoliteAndBusy(t *testing.T) {
	s := simulation{hosts: 2_000, workers: 32, maxHosts: simHeld, hanging: 1, window: 20 * time.Second}
	r := s.run(t)
	if limit := min(s.byWorkers(r), s.byHosts(r)); float64(r.requests) < 0.8*limit {
		t.Errorf("got %d requests, want at least 80%% of %.0f", r.requests, limit)
	}
	if r.timeouts == 0 || r.mostHeld > s.maxHosts {
		t.Errorf("got %d timeouts and %d claimed hosts, want some timeouts and at most %d hosts", r.timeouts, r.mostHeld, s.maxHosts)
	}
}

// TestScaleFigures simulates crawls of a million hosts. It asserts no times.
func TestScaleFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	for _, s := range []simulation{
		{1_000_000, 128, simHeld, 1, time.Hour},      // MAX_CONCURRENCY=64; long enough that each host has a turn
		{1_000_000, 16, simHeld, 1, 5 * time.Minute}, // MAX_CONCURRENCY=8, the default
		{1_000_000, 128, simHeld, 10, 5 * time.Minute},
		{1_000_000, 1024, simHeld, 1, 5 * time.Minute}, // more workers than the claimed hosts need
		{1_000_000, 1024, 4096, 1, 5 * time.Minute},    // MAX_CONCURRENCY=512
	} {
		s.print(s.run(t))
	}
}

func (s simulation) print(r simulated) {
	table("A simulated crawl: %d hosts of which %d%% hang, %d workers, at most %d claimed hosts, %v of virtual time",
		s.hosts, s.hanging, s.workers, s.maxHosts, s.window)
	pages, single, most := 0, 0, int32(0)
	for _, n := range r.web {
		pages += int(n)
		most = max(most, n)
		if n == 1 {
			single++
		}
	}
	row("pages; hosts with one page; pages of the largest host", "", "%.1f million; %.0f%%; %d", float64(pages)/1e6, float64(single)*100/float64(s.hosts), most)
	second := s.window.Seconds()
	row("requests per second", "", "%.1f/s", float64(r.requests)/second)
	row("limit by workers", "", "%.1f/s", s.byWorkers(r)/second)
	row("limit by claimed hosts", "", "%.1f/s", s.byHosts(r)/second)
	row("share of the theoretical limit", "", "%.1f%%", float64(r.requests)*100/min(s.byWorkers(r), s.byHosts(r)))
	row("pages per second", "", "%.1f/s", float64(r.pages)/second)
	row("mean duration of a request", "", "%.0f ms", r.mean().Seconds()*1000)
	row("requests that time out", "", "%.2f%%", float64(r.timeouts)*100/float64(r.requests))
	row("requests per turn; time that a host is claimed", "", "%.2f; %.2f s", float64(r.requests)/float64(r.turns), r.holding.Seconds()/float64(r.turns))
	var tenths []string
	for i := range 10 {
		tenths = append(tenths, fmt.Sprintf("%.0f", s.share(r.busy[i*len(r.busy)/10:(i+1)*len(r.busy)/10])))
	}
	least := slices.Min(r.busy[1 : len(r.busy)-1])
	row("busy workers", "", "%.1f%%", s.share(r.busy))
	row("busy workers in each tenth of the time, in %", "", "%s", strings.Join(tenths, " "))
	row("busy workers in the worst 10 s after the first 10 s", "", "%.1f%%", s.share([]time.Duration{least}))
	row("concurrent requests to one host", "0", "%d", r.overlaps)
	row("shortest pause between requests to a host", "≥ 1 s", "%.3f s", r.shortest.Seconds())
	row("longest wait of a due host", "", "%.0f s", r.longest.Seconds())
	row("longest wait of a host that is still due", "", "%.0f s (%d hosts)", r.left.Seconds(), r.due)
	row("longest wait of a claimed host for a worker", "", "%.2f s", r.longestHeld.Seconds())
	row("memory of the dispatcher", "", "%.1f MB", float64(r.memory)/1e6)
	row("real time", "", "%.1f s", r.took.Seconds())
}

// share returns the busy share of the workers in some steps, in percent.
func (s simulation) share(steps []time.Duration) float64 {
	busy := 0.0
	for _, b := range steps {
		busy += b.Seconds()
	}
	return busy * 100 / (float64(s.workers*len(steps)) * simStep.Seconds())
}
