package targets

import (
	"errors"
	"time"

	"linkwatch/jobs"
	"linkwatch/models/targets"
)

// holdOn sees to the lease. One that has ended, and any error of the store,
// leave it unknown what is claimed: then what waits is forgotten, what runs is
// brought to its end and recorded, and all begins anew.
func (d *dispatcher) holdOn(now time.Time) {
	if d.state == held && !now.Before(d.until) {
		d.lose("the lease has ended")
	}
	if d.state == noLease && !d.ended && !d.ordered && !now.Before(d.tryAt) && d.inMemory() == 0 {
		d.state = beginning
		d.begin <- struct{}{}
	}
}

func (d *dispatcher) lose(why string) {
	d.log.Warn("checks begin anew", "reason", why)
	d.state = noLease
	d.queue.drain()
	clear(d.back)
}

// news takes in what became of the lease.
func (d *dispatcher) news(l lease) {
	switch {
	case l.asked && l.err != nil:
		d.state, d.tryAt = noLease, time.Now().Add(storePause)
	case l.asked:
		d.state, d.until, d.lookAt = held, l.until, time.Time{}
	case d.state != held: // older news
	case l.lost:
		d.lose("others may have had the lease")
	case l.err == nil:
		d.until, d.lookAt = l.until, time.Time{} // it may have freed what others had
	}
}

// inMemory is how many claimed targets there are.
func (d *dispatcher) inMemory() int {
	n := d.queue.size + d.queue.underWay + int(d.unrecorded.Load())
	for _, ts := range d.back {
		n += len(ts)
	}
	return n
}

// order asks the store for more targets, if some may be due, and gives those back that are put off.
func (d *dispatcher) order(now time.Time) {
	if d.state != held || d.ordered || now.Before(d.orderAt) {
		return
	}
	o := order{putOff: d.back}
	if !now.Before(d.lookAt) {
		o.claim = d.free()
	}
	if o.claim == 0 && len(o.putOff) == 0 {
		return
	}
	d.back = map[time.Duration][]targets.Target{}
	d.ordered, d.asked, d.orderAt = true, o.claim, now.Add(passGap)
	if o.claim > 0 {
		d.lookAt = now.Add(atMostIn) // unless something rings meanwhile
	}
	d.orders <- o
}

// free is how many targets may be claimed now; 0 if it is too early or too late for that.
func (d *dispatcher) free() int {
	n := d.room() - d.inMemory()
	if d.state != held || d.ended || n < minRoom || !time.Now().Add(leaseMargin).Before(d.until) {
		return 0
	}
	return min(n, maxClaim)
}

// take queues what was claimed.
func (d *dispatcher) take(c claimed) {
	d.ordered = false
	now := time.Now()
	lost := errors.Is(c.err, targets.ErrLeaseLost)
	failed := c.err != nil && !lost
	if failed && !d.failing {
		jobs.LogError(d.log, "claiming checks", c.err)
	}
	d.failing = failed
	if failed {
		d.tryAt = now.Add(storePause)
	}
	switch {
	case d.state != held: // lost meanwhile
		return
	case lost:
		d.lose("others may have had the lease")
		return
	case failed:
		d.lose("the store failed")
		return
	}
	lookAt := d.lookAt
	if d.asked > 0 && len(c.targets) == d.asked { // there may be more
		lookAt = now
	} else if d.asked > 0 && !c.next.IsZero() {
		lookAt = now.Add(c.next.Sub(d.store.Now().Time))
	}
	d.lookAt = earlier(d.lookAt, lookAt)
	for _, t := range c.targets {
		if d.ended {
			d.giveBack(&check{Target: t}, 0)
		} else if out, in := d.queue.add(&check{Target: t}, now); out != nil {
			d.giveBack(out, in)
		}
	}
}

// giveBack has a target that was claimed looked at again after a time. It is
// rounded so that few times are many targets'.
func (d *dispatcher) giveBack(c *check, in time.Duration) {
	if d.state != held {
		return
	}
	if in > 0 {
		d.metrics.deferred.Inc()
		step := passGap
		if in > time.Second {
			step = time.Second
		}
		in = (in + step - 1).Truncate(step)
	}
	d.back[in] = append(d.back[in], c.Target)
}

// nextIn is how long there is nothing to do, unless something happens.
func (d *dispatcher) nextIn(now time.Time) time.Duration {
	at := now.Add(atMostIn)
	for _, paused := range d.retries {
		if len(paused) > 0 {
			at = earlier(at, paused[0].retryAt)
		}
	}
	if d.short() {
		at = earlier(at, d.givesWayAt(now))
	}
	switch {
	case d.state == held && !d.ordered && len(d.back) > 0:
		at = earlier(at, d.orderAt)
	case d.state == held && !d.ordered && d.free() > 0:
		at = earlier(at, later(d.orderAt, d.lookAt))
	case d.state == noLease && !d.ordered && d.inMemory() == 0:
		at = earlier(at, d.tryAt)
	}
	if d.state == held {
		at = earlier(at, d.until)
	}
	return max(0, at.Sub(now))
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
