// Package targets checks the watched targets: when, how many at a time, and how
// politely. What a check means is decided in models/targets.
//
// One dispatcher goroutine owns the queue, the hosts and the retries;
// MAX_CONCURRENCY workers make one request each; one goroutine keeps the lease,
// one claims targets, one records what was found.
package targets

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs"
	"linkwatch/models"
	"linkwatch/models/targets"
	"linkwatch/outbound"
)

const (
	// storeTime is for one call of the store. It is not cut short when the
	// program stops: of a claim that is cancelled as it commits nobody would know.
	storeTime = 10 * time.Second
	// lastTime is for each call after the program's grace has ended, of which a
	// tenth is left for that.
	lastTime = 300 * time.Millisecond
	// storePause is between two tries while the store fails.
	storePause = time.Second
)

// Checker is the Service that checks targets as they come due. Those of several
// programs share the targets of a store without checking any twice.
type Checker struct {
	*jobs.Background
	id      string
	store   *targets.Store
	client  *outbound.Client
	workers int
	log     *slog.Logger
	metrics *metrics

	unrecorded atomic.Int64 // finished checks that the store does not have yet
}

// NewChecker makes a checker that makes so many requests at a time (MAX_CONCURRENCY).
// client must have room for them, and stays the caller's to close. It fails if
// reg has metrics of these names.
func NewChecker(store *targets.Store, client *outbound.Client, workers int, log *slog.Logger, reg prometheus.Registerer) (*Checker, error) {
	m, err := newMetrics(reg, store, log)
	if err != nil {
		return nil, err
	}
	c := &Checker{
		id: models.NewID(models.KindChecker), store: store, client: client, workers: max(1, workers), log: log, metrics: m,
	}
	c.Background = jobs.NewBackground(c.run)
	return c, nil
}

// room is how many claimed targets there are in memory at most: enough that no
// worker waits for the store.
func (c *Checker) room() int { return min(max(1024, 16*c.workers), 8192) }

// job is an attempt to be made.
type job struct {
	ctx context.Context // of this attempt
	*check
}

// run checks until taking ends. What is running then finishes, with its
// retries, unless working ends first; the rest is given back.
func (c *Checker) run(taking, working context.Context) {
	// Each has room for all there can be, so that the dispatcher never waits to send.
	work, found := make(chan job, c.workers), make(chan finding, c.workers)
	finished, recorded := make(chan *targets.Checked, c.room()), make(chan struct{}, 1)
	orders, claims := make(chan order, 1), make(chan claimed, 1)
	begin, leases := make(chan struct{}, 1), make(chan lease, 1)
	holding, endLease := context.WithCancel(context.WithoutCancel(working))

	var pool, recorder, claimer, keeper sync.WaitGroup
	for range c.workers {
		pool.Go(func() {
			for j := range work {
				found <- probe(j.ctx, c.client, j.check)
			}
		})
	}
	recorder.Go(func() { c.record(working, finished, recorded) })
	claimer.Go(func() { c.claim(working, orders, claims) })
	keeper.Go(func() { c.keep(holding, begin, leases) })

	d := &dispatcher{
		Checker: c, queue: newQueue(c.room()), back: map[time.Duration][]targets.Target{},
		work: work, found: found, finished: finished, recorded: recorded,
		orders: orders, claims: claims, begin: begin, leases: leases,
	}
	d.loop(taking, working)

	close(work)
	pool.Wait()
	close(orders)
	claimer.Wait()
	close(finished)
	recorder.Wait()
	endLease()
	keeper.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(working), lastTime)
	defer cancel()
	if err := c.store.Leave(ctx, c.id); err != nil {
		jobs.LogError(c.log, "targets stay claimed until the checker's lease ends", err)
	}
}
