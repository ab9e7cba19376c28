package targets

import (
	"container/list"
	"context"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
)

const (
	// passGap is between two orders at least, so that they come in batches.
	passGap = 50 * time.Millisecond
	// maxClaim is how many targets are claimed at once, and minRoom how much
	// room there must be for it.
	maxClaim = 500
	minRoom  = 64
	// leaseMargin is how long before the end of its lease a checker claims nothing more.
	leaseMargin = targets.Heartbeat
	// laneMemory is for how long hosts that answer in time have workers to
	// themselves after there were such, or too few workers for them.
	laneMemory = time.Minute
	// atMostIn is when the loop looks around although nothing is to happen.
	atMostIn = time.Hour
)

// pauses are before the second and the third attempt.
var pauses = [...]time.Duration{200 * time.Millisecond, 400 * time.Millisecond}

// check is one claimed target on its way to a result.
type check struct {
	targets.Target
	host    *host
	began   models.Time // its first attempt; zero: it waits for that
	start   time.Time   // the same by the machine's clock
	made    int         // attempts
	last    finding     // of the attempt before
	retryAt time.Time

	// Of the attempt under way.
	lane      lane
	since     time.Time
	cancel    context.CancelFunc
	place     *list.Element // among those that are not of the slow lane
	preempted bool
}

// dispatcher decides what is done next. All of it belongs to one goroutine.
type dispatcher struct {
	*Checker
	queue *queue

	work     chan<- job
	found    <-chan finding
	running  [lanes]int              // attempts under way
	quick    list.List               // of *check: those that are not of the slow lane, the longest under way first
	giveWay  int                     // those of them that were told to
	lastTurn lane                    // the lane whose turn was last
	fastAt   time.Time               // when a host last answered in time
	shortAt  time.Time               // when a host that is not slow last had to wait for a worker
	retries  [len(pauses)][]*check   // those in a pause, the first to end it first
	finished chan<- *targets.Checked // to be recorded
	recorded <-chan struct{}         // some were

	orders  chan<- order
	claims  <-chan claimed
	ordered bool      // one is being fulfilled
	asked   int       // of targets in it
	orderAt time.Time // no order before
	lookAt  time.Time // when more targets may be due
	back    map[time.Duration][]targets.Target
	failing bool

	begin  chan<- struct{}
	leases <-chan lease
	state  leaseState
	until  time.Time // when the lease ends unless it is renewed
	tryAt  time.Time // no new lease before

	ended bool // nothing new is begun
}

// leaseState is what the dispatcher knows of its lease.
type leaseState int

const (
	noLease leaseState = iota // there is none, or nobody knows what is claimed under it
	beginning
	held
)

// loop runs until taking has ended and nothing is under way any more, which is
// at once when working ends.
func (d *dispatcher) loop(taking, working context.Context) {
	tick := time.NewTicker(d.store.Options().CheckInterval)
	defer tick.Stop()
	wake := time.NewTimer(0)
	defer wake.Stop()
	stop, giveUp := taking.Done(), working.Done()
	for {
		now := time.Now()
		d.holdOn(now)
		d.resume(now, working.Err() != nil)
		d.handOut(working, now)
		d.preempt(now)
		d.order(now)
		d.metrics.waiting.Set(float64(d.queue.size))
		if d.ended && d.queue.underWay == 0 && !d.ordered && len(d.back) == 0 {
			return
		}
		wake.Reset(d.nextIn(now))
		select {
		case f := <-d.found:
			d.finish(f)
		case c := <-d.claims:
			d.take(c)
		case l := <-d.leases:
			d.news(l)
		case <-d.recorded: // there is room
		case <-tick.C:
			d.lookAt = time.Time{}
		case <-d.store.Wanted():
			d.lookAt = time.Time{}
		case <-wake.C:
		case <-stop:
			stop, d.ended = nil, true
			for _, c := range d.queue.drain() {
				d.giveBack(c, 0)
			}
		case <-giveUp:
			giveUp = nil
		}
	}
}

// resume lets checks whose pause is over have another attempt.
func (d *dispatcher) resume(now time.Time, all bool) {
	for i := range d.retries {
		n := 0
		for _, c := range d.retries[i] {
			if !all && c.retryAt.After(now) {
				break
			}
			d.queue.again(c)
			n++
		}
		clear(d.retries[i][:n])
		d.retries[i] = d.retries[i][n:]
	}
}

// handOut gives the workers what they can do, by turns of the lanes, so that
// none waits for another to be empty.
func (d *dispatcher) handOut(working context.Context, now time.Time) {
	for d.busy() < d.workers {
		l, ok := d.nextTurn(now)
		if !ok {
			break
		}
		d.lastTurn = l
		d.start(working, d.queue.next(l), l, now)
	}
	if d.queue.quick() > 0 {
		d.shortAt = now
	}
}

// nextTurn is the lane whose turn it is, of those that may have a worker.
func (d *dispatcher) nextTurn(now time.Time) (lane, bool) {
	for i := range lanes {
		if l := (d.lastTurn + 1 + i) % lanes; d.queue.waits(l) && d.mayRun(l, now) {
			return l, true
		}
	}
	return 0, false
}

func (d *dispatcher) busy() int {
	return d.running[fastLane] + d.running[newLane] + d.running[slowLane]
}

// mayRun says whether there is a worker for a lane. One is kept for hosts that
// answer in time, as long as there are such. Slow hosts have half of the workers
// while others have to wait now and then, and only one while there are new
// hosts to get to know.
func (d *dispatcher) mayRun(l lane, now time.Time) bool {
	others := d.workers
	if now.Sub(d.fastAt) < laneMemory {
		others = max(1, d.workers-1)
	}
	slow := others
	switch {
	case d.queue.waits(newLane):
		slow = 1
	case now.Sub(d.shortAt) < laneMemory:
		slow = max(1, d.workers/2)
	}
	switch l {
	case newLane:
		return d.running[newLane]+d.running[slowLane] < others
	case slowLane:
		return d.running[newLane]+d.running[slowLane] < others && d.running[slowLane] < slow
	default:
		return true
	}
}

func (d *dispatcher) start(working context.Context, c *check, l lane, now time.Time) {
	if c.began.IsZero() {
		d.beginCheck(c, now)
	}
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(working)
	c.lane, c.since = l, now
	c.made++
	d.running[l]++
	d.metrics.running.Inc()
	if l != slowLane {
		c.place = d.quick.PushBack(c)
	}
	d.work <- job{ctx, c}
}

// beginCheck is before the first attempt. What came due again meanwhile was skipped.
func (d *dispatcher) beginCheck(c *check, now time.Time) {
	c.began, c.start = d.store.Now(), now
	// No two checks of a target begin at the same time, also by a clock that
	// stands still. One that was far ahead before is not followed there.
	if ahead := c.LastCheckedAt.Sub(c.began.Time); ahead >= 0 && ahead < time.Second {
		c.began = c.LastCheckedAt.Add(time.Microsecond)
	}
	lag := max(0, c.began.Sub(c.LateSince().Time))
	d.metrics.lag.Observe(lag.Seconds())
	d.metrics.skipped.Add(float64(lag / d.store.Interval(c.Target)))
}

// preempt makes room for hosts that are not slow and wait while all workers are
// busy: an attempt that takes long makes way, and begins anew in the slow lane,
// with all of its time.
func (d *dispatcher) preempt(now time.Time) {
	if !d.short() {
		return
	}
	for e := d.quick.Front(); e != nil && d.giveWay < d.queue.quick(); e = e.Next() {
		c := e.Value.(*check)
		if now.Sub(c.since) < d.patience(now) {
			return
		}
		if !c.preempted {
			c.preempted = true
			d.giveWay++
			c.cancel()
		}
	}
}

// givesWayAt is when the next attempt is to make way, while a host waits for that.
func (d *dispatcher) givesWayAt(now time.Time) time.Time {
	for e := d.quick.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*check); !c.preempted {
			return c.since.Add(d.patience(now))
		}
	}
	return now.Add(atMostIn)
}

// short says whether a host that is not slow waits for a worker, once handOut
// has given all that it may.
func (d *dispatcher) short() bool { return d.queue.quick() > d.giveWay }

// patience is how long an attempt may take while a host waits for its worker.
// Where none answers in time it is longer: the next may be no better.
func (d *dispatcher) patience(now time.Time) time.Duration {
	if now.Sub(d.fastAt) < laneMemory {
		return slowAfter
	}
	return 3 * slowAfter
}

// finish takes in what an attempt found.
func (d *dispatcher) finish(f finding) {
	c := f.check
	c.cancel()
	d.running[c.lane]--
	d.metrics.running.Dec()
	if c.lane != slowLane {
		d.quick.Remove(c.place)
	}
	preempted := c.preempted
	if preempted {
		d.giveWay--
		c.preempted = false
	}
	switch {
	case f.cut && preempted:
		c.made--
		d.queue.note(c.host, true)
		d.queue.again(c)
		return
	case f.cut: // the program stops: Leave gives it back
		d.done(c)
		return
	}
	slow := f.took > slowAfter || f.problem == timedOut
	d.queue.note(c.host, slow)
	if !slow {
		d.fastAt = time.Now()
	}
	switch {
	case f.refused && c.made == 1: // nothing was asked
		d.done(c)
		d.giveBack(c, f.retryAfter)
	case f.refused: // the pause that the answer before asked for
		c.made--
		d.report(c, c.last)
	case f.transient && c.made <= len(pauses):
		c.last, c.retryAt = f, time.Now().Add(pauses[c.made-1])
		d.retries[c.made-1] = append(d.retries[c.made-1], c)
		d.metrics.retries.Inc()
	default:
		d.report(c, f)
	}
}

// report ends a check with what was found, which is recorded in a moment.
func (d *dispatcher) report(c *check, f finding) {
	d.done(c)
	d.metrics.checks.WithLabelValues(f.outcome.String()).Inc()
	d.unrecorded.Add(1)
	d.finished <- &targets.Checked{
		Target: c.Target,
		Result: targets.Result{
			CheckedAt: c.began, Outcome: f.outcome, StatusCode: f.status,
			LatencyMS: int(f.latency.Milliseconds()), Attempts: c.made, Error: f.problem,
		},
		Took: time.Since(c.start), TLSExpiresAt: f.tlsExpiresAt, RetryAfter: f.retryAfter,
	}
}

func (d *dispatcher) done(c *check) { d.queue.done(c, time.Since(c.start)) }
