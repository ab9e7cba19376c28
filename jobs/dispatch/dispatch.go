package dispatch

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/models/lease"
)

// Options are the settings of a dispatcher.
type Options struct {
	Name    string // of the queue, for the log: "checks"
	Lease   *lease.Lease
	Workers int // the number of concurrent attempts
	PerHost int // the number of items of a host in progress; 0 = 1
	Log     *slog.Logger
	Metrics Metrics

	// MaxDelay is the longest time for which an item is released because its host, or slow hosts in total, have
	// too many items in memory.
	MaxDelay time.Duration
	// Wanted receives a value when an item becomes due ahead of schedule. May be nil.
	Wanted <-chan struct{}
	// Drain makes Run return when nothing is due, or at the first error of the queue.
	Drain bool
}

// Metrics are the Prometheus metrics of a dispatcher.
type Metrics struct {
	Waiting  prometheus.Gauge   // items in memory waiting for a worker or for their host
	Running  prometheus.Gauge   // attempts in progress
	Deferred prometheus.Counter // items that were released for a while
	Retries  prometheus.Counter
}

// NewMetrics returns metrics that are not registered anywhere.
func NewMetrics() Metrics {
	gauge := func() prometheus.Gauge { return prometheus.NewGauge(prometheus.GaugeOpts{}) }
	counter := func() prometheus.Counter { return prometheus.NewCounter(prometheus.CounterOpts{}) }
	return Metrics{Waiting: gauge(), Running: gauge(), Deferred: counter(), Retries: counter()}
}

// pollInterval is the longest time between two claims. It finds items that another instance made due, or that were
// released from a dead instance.
const pollInterval = lease.Heartbeat

// Dispatcher claims the items of a queue and attempts each, with a fixed number of workers and at most PerHost items
// of a host at a time. One goroutine, the loop, owns all its state. It sends tasks to a pool of workers: attempts,
// and at most one call of the store at a time.
type Dispatcher[T any] struct {
	Options
	queue Queue[T]
	hosts hosts[T]
	tasks chan func() (apply func()) // for the pool; buffered for the largest number of running tasks
	done  chan func()                // results of tasks, for the loop to apply

	holder  lease.ID // the lease under which the items in memory were claimed
	mayWork bool     // the lease is valid
	ending  bool     // no new work is started

	running   [classes]int // attempts in progress
	quickNext bool         // quick hosts are next; false: the other classes
	other     class        // which of the other classes is next
	pauses    []*entry[T]  // entries waiting for a retry, earliest first
	store     storeState[T]
}

// New returns a dispatcher that does nothing until Run.
func New[T any](q Queue[T], o Options) *Dispatcher[T] {
	o.Workers = max(1, o.Workers)
	room := min(max(1024, 64*o.Workers), 8192) // a batch being stored, and enough that no worker waits for it
	d := &Dispatcher[T]{
		Options: o, queue: q, quickNext: true, other: unsure,
		hosts: hosts[T]{queue: q, perHost: max(1, o.PerHost), room: room, maxDelay: o.MaxDelay, byName: map[string]*host[T]{}},
		tasks: make(chan func() func(), o.Workers+1), done: make(chan func(), o.Workers+1),
	}
	if p, ok := q.(Prioritizer[T]); ok {
		d.hosts.first = p.First
	}
	return d
}

// Run dispatches items until taking ends, then releases waiting items and finishes attempts in progress, with
// their retries. When working ends, attempts are canceled and their items released. With Drain, Run returns by
// itself, with the first error of the queue.
func (d *Dispatcher[T]) Run(taking, working context.Context) (err error) {
	var pool sync.WaitGroup
	for range d.Workers + 1 {
		pool.Go(func() {
			for task := range d.tasks {
				d.done <- task()
			}
		})
	}
	defer pool.Wait()
	defer close(d.tasks)
	d.loop(taking, working)
	return d.store.err
}

func (d *Dispatcher[T]) loop(taking, working context.Context) {
	wake := time.NewTimer(0)
	defer wake.Stop()
	stop, giveUp := taking.Done(), working.Done()
	for {
		now := time.Now()
		if taking.Err() != nil { // checked first, so that nothing starts after it
			d.end()
		}
		d.checkLease(now)
		d.resume(now)
		d.start(working, now)
		d.callStore(working, now)
		d.Metrics.Waiting.Set(float64(d.hosts.waiting))
		if d.over() {
			return
		}
		wake.Reset(max(0, d.nextAt(now).Sub(now)))
		select {
		case apply := <-d.done:
			apply()
			for range len(d.done) { // apply all results before the next decision
				(<-d.done)()
			}
		case <-d.Wanted:
			d.store.pollAt = time.Time{}
		case <-wake.C:
		case <-stop:
			stop = nil
		case <-giveUp:
			giveUp = nil
			d.giveUp()
		}
	}
}

// checkLease drops waiting items if the lease under which they were claimed is lost: other instances may have
// claimed them. Attempts in progress run to their end.
func (d *Dispatcher[T]) checkLease(now time.Time) {
	holder, _, ok := d.Lease.Current()
	d.mayWork = ok
	if holder == d.holder {
		return
	}
	if d.holder != "" && !d.ending {
		d.Log.Warn("lease lost, restarting the queue", "queue", d.Name)
	}
	d.holder = holder
	d.hosts.drain()
	for _, e := range d.pauses {
		d.hosts.done(e, now)
	}
	d.pauses = nil
	d.store.startOver()
}

// resume makes items ready whose retry is due.
func (d *Dispatcher[T]) resume(now time.Time) {
	n := 0
	for n < len(d.pauses) && !d.pauses[n].retryAt.After(now) {
		d.hosts.retry(d.pauses[n])
		n++
	}
	d.pauses = slices.Delete(d.pauses, 0, n)
}

// start sends ready items to idle workers, with the classes in turn.
func (d *Dispatcher[T]) start(working context.Context, now time.Time) {
	for d.mayWork && d.running[quick]+d.running[unsure]+d.running[slow] < d.Workers {
		e := d.next()
		if e == nil {
			return
		}
		if e.holder != d.holder { // a retry of an item whose lease is lost
			d.hosts.done(e, now)
			continue
		}
		if e.start.IsZero() {
			e.start = now
		}
		d.running[e.class]++
		d.Metrics.Running.Inc()
		d.tasks <- func() func() {
			started := time.Now()
			outcome := d.queue.Try(working, e.item)
			took := time.Since(started)
			return func() { d.tried(working, e, outcome, started, took) }
		}
	}
}

// next returns the entry to attempt next, or nil if none is ready. Quick hosts alternate with the other classes,
// and unsure hosts with slow ones among these.
func (d *Dispatcher[T]) next() *entry[T] {
	order := [...]class{d.other, unsure + slow - d.other, quick}
	if d.quickNext {
		order = [...]class{quick, order[0], order[1]}
	}
	for _, c := range order {
		if c != quick && d.full(c) {
			continue
		}
		if e := d.hosts.next(c); e != nil {
			e.class, d.quickNext = c, c != quick
			if c != quick {
				d.other = unsure + slow - c
			}
			return e
		}
	}
	if d.full(slow) {
		if e := d.hosts.passSlow(); e != nil {
			e.class, d.quickNext = quick, false
			return e
		}
	}
	return nil
}

// full reports whether a class other than quick uses its whole share of the workers.
func (d *Dispatcher[T]) full(c class) bool {
	if d.running[unsure]+d.running[slow] >= max(1, d.Workers-max(1, d.Workers/8)) {
		return true
	}
	share := d.Workers / 2
	if d.hosts.ready[unsure].Len() > 0 { // find out soon which of them hang
		share = d.Workers / 4
	}
	return c == slow && d.running[slow] >= max(1, share)
}

// tried applies the outcome of an attempt.
func (d *Dispatcher[T]) tried(working context.Context, e *entry[T], o Outcome, started time.Time, took time.Duration) {
	d.running[e.class]--
	d.Metrics.Running.Dec()
	if e.holder != d.holder { // another instance may have it
		d.hosts.done(e, time.Now())
		return
	}
	if o.Step == Retry && working.Err() != nil {
		o = Outcome{Step: Release}
	}
	if o.Step != Release {
		d.hosts.note(e, classOf(o, took), time.Now())
		if o.TimedOut && e.class == quick {
			d.hosts.timedOut(started)
		}
	}
	switch o.Step {
	case Finish:
		d.hosts.done(e, time.Now())
		d.store.finished(e.item)
	case Release:
		d.release(e, o.After)
	case Retry:
		d.Metrics.Retries.Inc()
		e.retryAt = time.Now().Add(o.After)
		at, _ := slices.BinarySearchFunc(d.pauses, e, func(a, b *entry[T]) int {
			if a.retryAt.After(b.retryAt) {
				return 1
			}
			return -1
		})
		d.pauses = slices.Insert(d.pauses, at, e)
	}
}

func classOf(o Outcome, took time.Duration) class {
	if o.TimedOut || took > slowAfter {
		return slow
	}
	return quick
}

// release ends an attempt and requeues its item.
func (d *Dispatcher[T]) release(e *entry[T], after time.Duration) {
	d.hosts.done(e, time.Now())
	d.requeue(e, after)
}

// requeue releases an item with the next call of the store, to be claimed again after a delay.
func (d *Dispatcher[T]) requeue(e *entry[T], after time.Duration) {
	if e.holder != d.holder {
		return
	}
	if after > 0 {
		d.Metrics.Deferred.Inc()
	}
	d.store.released = append(d.store.released, lease.Released[T]{Item: e.item, After: after})
}

// end stops starting new work and requeues waiting items.
func (d *Dispatcher[T]) end() {
	if d.ending {
		return
	}
	d.ending = true
	for _, e := range d.hosts.drain() {
		d.requeue(e, 0)
	}
}

// giveUp requeues items that wait for a retry. Attempts in progress end with their context.
func (d *Dispatcher[T]) giveUp() {
	d.end()
	for _, e := range d.pauses {
		d.hosts.retry(e)
	}
	d.pauses = nil
	for c := range classes {
		for e := d.hosts.next(c); e != nil; e = d.hosts.next(c) {
			d.release(e, 0)
		}
	}
}

// over reports whether Run may return.
func (d *Dispatcher[T]) over() bool {
	return d.idle() && (d.ending || d.Drain && d.store.drained)
}

// idle reports whether nothing is in memory or in progress.
func (d *Dispatcher[T]) idle() bool {
	return d.hosts.busy+d.hosts.waiting+d.store.pending() == 0 && !d.store.busy
}

// nextAt is the time of the next pass of the loop, unless an event comes first.
func (d *Dispatcher[T]) nextAt(now time.Time) time.Time {
	at := now.Add(pollInterval)
	if len(d.pauses) > 0 && d.pauses[0].retryAt.Before(at) {
		at = d.pauses[0].retryAt
	}
	if due := d.storeDue(); !d.store.busy && due.Before(at) {
		at = due
	}
	return at
}
