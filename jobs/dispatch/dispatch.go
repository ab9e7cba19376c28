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
	Name    string // what is dispatched, for the log: "checks"
	Lease   *lease.Lease
	Workers int // attempts at a time
	Log     *slog.Logger
	Metrics Metrics

	// MaxPutOff is for how long an item is released at most because its host, or
	// slow hosts altogether, have too many items in memory.
	MaxPutOff time.Duration
	// Wanted gets a value when something is due that was not before; nil: never.
	Wanted <-chan struct{}
	// Drain ends Run when nothing is due any more, or at the first error of the queue.
	Drain bool
}

// Metrics are what Prometheus sees of a dispatcher.
type Metrics struct {
	Waiting  prometheus.Gauge   // items in memory that wait for a worker or for their host
	Running  prometheus.Gauge   // attempts under way
	Deferred prometheus.Counter // items that were released for a while
	Retries  prometheus.Counter
}

// NewMetrics makes metrics that nobody reads.
func NewMetrics() Metrics {
	gauge := func() prometheus.Gauge { return prometheus.NewGauge(prometheus.GaugeOpts{}) }
	counter := func() prometheus.Counter { return prometheus.NewCounter(prometheus.CounterOpts{}) }
	return Metrics{Waiting: gauge(), Running: gauge(), Deferred: counter(), Retries: counter()}
}

// pollInterval is how often a dispatcher looks for due items when it knows of none:
// those that other instances made due, or that were freed from a dead one.
const pollInterval = lease.Heartbeat

// Dispatcher claims the items of a queue and tries each, with a fixed number of
// workers and at most one item per host at a time. One goroutine, the loop, owns
// all its state. It gives tasks to a pool: attempts, and at most one call of the store.
type Dispatcher[T any] struct {
	Options
	queue Queue[T]
	hosts hosts[T]
	tasks chan func() (apply func()) // for the pool; room for all that can be under way
	done  chan func()                // what a task changes, for the loop to apply

	holder  lease.ID // what is in memory was claimed under it
	mayWork bool     // the lease was renewed in time
	ending  bool     // nothing new is begun

	running   [classes]int // attempts under way
	quickNext bool         // whose turn is next: that of quick hosts, or of others
	other     class        // whose turn is next among the others
	pauses    []*entry[T]  // those in a pause, the first to end it first
	store     storeState[T]
}

// New makes a dispatcher, which does nothing before Run.
func New[T any](q Queue[T], o Options) *Dispatcher[T] {
	o.Workers = max(1, o.Workers)
	room := min(max(1024, 16*o.Workers), 8192) // enough that no worker waits for the store
	return &Dispatcher[T]{
		Options: o, queue: q, quickNext: true, other: unsure,
		hosts: hosts[T]{queue: q, room: room, maxPutOff: o.MaxPutOff, of: map[string]*host[T]{}},
		tasks: make(chan func() func(), o.Workers+1), done: make(chan func(), o.Workers+1),
	}
}

// Run dispatches until taking ends, then releases what waits and finishes what is
// under way, with its retries. When working ends, attempts are cancelled and
// their items released. With Drain it ends by itself; err is the first error of
// the queue then.
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
		if taking.Err() != nil { // first: nothing begins after it
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
			for range len(d.done) { // all that is done, before anything is decided
				(<-d.done)()
			}
		case <-d.Wanted:
			d.store.lookAt = time.Time{}
		case <-wake.C:
		case <-stop:
			stop = nil
		case <-giveUp:
			giveUp = nil
			d.giveUp()
		}
	}
}

// checkLease forgets what waits if the lease under which it was claimed is lost:
// others may have it. What is under way is brought to its end.
func (d *Dispatcher[T]) checkLease(now time.Time) {
	holder, _, ok := d.Lease.Current()
	d.mayWork = ok
	if holder == d.holder {
		return
	}
	if d.holder != "" && !d.ending {
		d.Log.Warn("lease lost, starting over", "queue", d.Name)
	}
	d.holder = holder
	d.hosts.drain()
	for _, e := range d.pauses {
		d.hosts.done(e, now)
	}
	d.pauses = nil
	d.store.startOver()
}

// resume lets items whose pause is over have another attempt.
func (d *Dispatcher[T]) resume(now time.Time) {
	n := 0
	for n < len(d.pauses) && !d.pauses[n].retryAt.After(now) {
		d.hosts.again(d.pauses[n])
		n++
	}
	d.pauses = slices.Delete(d.pauses, 0, n)
}

// start gives the workers what may be tried now, the classes in turn.
func (d *Dispatcher[T]) start(working context.Context, now time.Time) {
	for d.mayWork && d.running[quick]+d.running[unsure]+d.running[slow] < d.Workers {
		e := d.next()
		if e == nil {
			return
		}
		if e.holder != d.holder { // another attempt, of an item whose lease is lost
			d.hosts.done(e, now)
			continue
		}
		if e.start.IsZero() {
			e.start = now
		}
		d.running[e.class]++
		d.Metrics.Running.Inc()
		d.tasks <- func() func() {
			began := time.Now()
			outcome := d.queue.Try(working, e.item)
			took := time.Since(began)
			return func() { d.tried(working, e, outcome, began, took) }
		}
	}
}

// next is the entry whose turn it is; nil if none may be tried. Quick hosts and the
// others take turns, and so do unsure and slow ones among the others.
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
	return nil
}

// full reports whether a class other than quick has its share of the workers.
func (d *Dispatcher[T]) full(c class) bool {
	if d.running[unsure]+d.running[slow] >= max(1, d.Workers-max(1, d.Workers/8)) {
		return true
	}
	share := d.Workers / 2
	if d.hosts.ready[unsure].Len() > 0 { // the sooner it is known which of them hang, the better
		share = d.Workers / 4
	}
	return c == slow && d.running[slow] >= max(1, share)
}

// tried takes in what an attempt led to.
func (d *Dispatcher[T]) tried(working context.Context, e *entry[T], o Outcome, began time.Time, took time.Duration) {
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
		d.hosts.note(e.host, classOf(o, took), time.Now())
		if o.TimedOut && e.class == quick {
			d.hosts.timedOut(began)
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

// release frees an item that is under way.
func (d *Dispatcher[T]) release(e *entry[T], after time.Duration) {
	d.hosts.done(e, time.Now())
	d.giveBack(e, after)
}

// giveBack has an item released with the next call of the store.
func (d *Dispatcher[T]) giveBack(e *entry[T], after time.Duration) {
	if e.holder != d.holder {
		return
	}
	if after > 0 {
		d.Metrics.Deferred.Inc()
	}
	d.store.released = append(d.store.released, lease.Released[T]{Item: e.item, After: after})
}

// end begins nothing new from now on.
func (d *Dispatcher[T]) end() {
	if d.ending {
		return
	}
	d.ending = true
	for _, e := range d.hosts.drain() {
		d.giveBack(e, 0)
	}
}

// giveUp releases what waits for another attempt. Attempts under way end by
// their context.
func (d *Dispatcher[T]) giveUp() {
	d.end()
	for _, e := range d.pauses {
		d.hosts.again(e)
	}
	d.pauses = nil
	for c := range classes {
		for e := d.hosts.next(c); e != nil; e = d.hosts.next(c) {
			d.release(e, 0)
		}
	}
}

// over reports whether Run is done.
func (d *Dispatcher[T]) over() bool {
	return d.idle() && (d.ending || d.Drain && d.store.drained)
}

// idle reports whether nothing is in memory or under way.
func (d *Dispatcher[T]) idle() bool {
	return d.hosts.busy+d.hosts.waiting+d.store.pending() == 0 && !d.store.busy
}

// nextAt is when there is something to do, unless something happens before.
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
