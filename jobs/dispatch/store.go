package dispatch

import (
	"context"
	"errors"
	"time"

	"linkwatch/jobs"
	"linkwatch/models/lease"
)

const (
	// Finished items are stored when there are finishBatch of them, or finishAfter
	// after the first. A commit costs about as much as a few dozen items, and items of a
	// batch that are in the same page of a table are written together.
	finishBatch = 2048
	finishAfter = 100 * time.Millisecond
	// storeGap is the shortest time between two calls of the store, so that items come in batches.
	storeGap = 50 * time.Millisecond
	// storePause is the time between two calls while the store fails.
	storePause = time.Second
	// maxClaim is the largest number of items in one claim. minRoom is the least room in memory for a claim.
	maxClaim = 2048
	minRoom  = 64
	// callTime limits one call of the store. Stopping the program does not cut it short: if a claim is canceled
	// while it commits, its items are unknown to this instance.
	callTime = 10 * time.Second
	// lastTime limits a call after the grace period. A tenth of that period is reserved for it.
	lastTime = 300 * time.Millisecond
)

// storeState is the state of the calls of the store and their pending items.
type storeState[T any] struct {
	busy      bool      // a call is in progress
	calling   int       // items in that call
	notBefore time.Time // of the next call
	pollAt    time.Time // when to claim again
	drained   bool      // the last claim found nothing due
	failing   bool      // the last call failed; its error is logged
	err       error     // the first error, with Drain

	done     []T                 // finished items to store
	doneAt   time.Time           // the latest time to store the first of them
	released []lease.Released[T] // items to release
	// uncertain is set after an error, when a call may have been committed or not.
	// The next call then releases all claims except those of items in memory.
	uncertain bool
}

func (s *storeState[T]) finished(item T) {
	if len(s.done) == 0 {
		s.doneAt = time.Now().Add(finishAfter)
	}
	s.done = append(s.done, item)
}

// pending is the number of items to store or release.
func (s *storeState[T]) pending() int { return len(s.done) + len(s.released) }

// startOver resets the state for a new lease. Items finished under the lost one cannot be stored.
func (s *storeState[T]) startOver() {
	s.done, s.released, s.uncertain, s.pollAt = nil, nil, true, time.Time{}
}

type call[T any] struct {
	holder    lease.ID
	finish    []T
	release   []lease.Released[T]
	keep      []T // with keepOnly: the items to keep; all other claims are released
	keepOnly  bool
	claim     int // the number of items to claim
	items     []T
	wait      time.Duration
	finishErr error // probably nothing of finish was stored
	err       error // of the other steps
}

// storeDue is the time of the next call of the store.
func (d *Dispatcher[T]) storeDue() time.Time {
	s := &d.store
	at := time.Time{}
	switch {
	case len(s.released) > 0, s.uncertain, len(s.done) >= finishBatch, len(s.done) > 0 && d.ending:
	case len(s.done) > 0 && d.free() > 0 && s.pollAt.Before(s.doneAt):
		at = s.pollAt
	case len(s.done) > 0:
		at = s.doneAt
	case d.free() > 0:
		at = s.pollAt
	default:
		return time.Now().Add(pollInterval)
	}
	if at.Before(s.notBefore) {
		return s.notBefore
	}
	return at
}

// free is the number of items that may be claimed now.
func (d *Dispatcher[T]) free() int {
	s := &d.store
	room := d.hosts.room - d.hosts.waiting - d.hosts.busy - s.pending() - s.calling
	if !d.mayWork || d.ending || room < minRoom {
		return 0
	}
	return min(room, maxClaim)
}

// callStore starts a call of the store if one is due.
func (d *Dispatcher[T]) callStore(working context.Context, now time.Time) {
	s := &d.store
	if d.Drain && d.idle() { // find out at once whether the queue is drained
		s.pollAt = time.Time{}
	}
	if s.busy || d.storeDue().After(now) {
		return
	}
	c := &call[T]{holder: d.holder, release: s.released, keepOnly: s.uncertain}
	if s.uncertain {
		c.keep = append(d.hosts.all(d.holder), s.done...)
		for _, r := range s.released { // these are released with their own delays
			c.keep = append(c.keep, r.Item)
		}
	}
	if len(s.done) >= finishBatch || len(s.done) > 0 && (d.ending || !s.doneAt.After(now)) {
		c.finish = s.done[:min(len(s.done), finishBatch)]
		s.done = append([]T(nil), s.done[len(c.finish):]...)
		s.doneAt = now.Add(finishAfter)
	}
	if !s.pollAt.After(now) {
		c.claim = d.free()
	}
	s.released, s.calling = nil, len(c.finish)
	s.busy, s.notBefore = true, now.Add(storeGap)
	d.tasks <- func() func() {
		d.doCall(working, c)
		return func() { d.applyCall(working, c) }
	}
}

// doCall makes a call of the store.
func (d *Dispatcher[T]) doCall(working context.Context, c *call[T]) {
	ctx, cancel := detached(working)
	defer cancel()
	if len(c.finish) > 0 {
		c.finishErr = d.queue.Finish(ctx, c.finish)
	}
	if c.finishErr == nil && c.keepOnly {
		c.err = d.queue.ReleaseOthers(ctx, c.holder, c.keep)
	}
	if c.finishErr == nil && c.err == nil && len(c.release) > 0 {
		c.err = d.queue.Release(ctx, c.release)
	}
	if c.finishErr == nil && c.err == nil && c.claim > 0 {
		c.items, c.wait, c.err = d.queue.Claim(ctx, c.holder, c.claim)
	}
}

// applyCall applies the results of a call.
func (d *Dispatcher[T]) applyCall(working context.Context, c *call[T]) {
	s := &d.store
	now := time.Now()
	s.busy, s.calling = false, 0
	err := errors.Join(c.finishErr, c.err)
	if errors.Is(err, lease.ErrLost) { // checkLease handles it
		s.notBefore = now.Add(storeGap)
		return
	}
	if c.holder != d.holder { // lost meanwhile
		return
	}
	if err != nil {
		d.failed(working, c, err, now)
		return
	}
	if s.failing {
		d.Log.Info("store recovered", "queue", d.Name)
	}
	s.failing = false
	if c.keepOnly {
		s.uncertain = false
	}
	if c.claim > 0 {
		d.claimed(c, now)
	}
}

// failed schedules another call. A batch that was not stored is kept, unless the grace period is over.
func (d *Dispatcher[T]) failed(working context.Context, c *call[T], err error, now time.Time) {
	s := &d.store
	s.uncertain, s.notBefore, s.pollAt = true, now.Add(storePause), time.Time{}
	s.released = append(c.release, s.released...)
	over := working.Err() != nil
	switch {
	case c.finishErr != nil && over:
		d.Log.Error("finished items lost", "queue", d.Name, "error", c.finishErr, "items", len(c.finish))
	case c.finishErr != nil:
		s.done = append(c.finish, s.done...)
		s.doneAt = now
	}
	if over { // the end of the lease releases the rest
		s.uncertain, s.released = false, nil
		s.notBefore = now
	}
	if !s.failing {
		jobs.LogError(d.Log.With("queue", d.Name), "store failed", err)
	}
	s.failing = true
	if d.Drain {
		if s.err == nil {
			s.err = err
		}
		d.end()
	}
}

// claimed adds the claimed items to the queues of their hosts.
func (d *Dispatcher[T]) claimed(c *call[T], now time.Time) {
	s := &d.store
	s.drained = len(c.items) == 0
	switch {
	case len(c.items) == c.claim: // there may be more
		s.pollAt = now
	case c.wait < 0 || c.wait > pollInterval:
		s.pollAt = now.Add(pollInterval)
	default:
		s.pollAt = now.Add(c.wait)
	}
	for _, item := range c.items {
		e := &entry[T]{item: item, holder: c.holder}
		if d.ending {
			d.requeue(e, 0)
		} else if out, after := d.hosts.add(e, now); out != nil {
			d.requeue(out, after)
		}
	}
}

// detached returns a context for a call of the store. It ends lastTime after ctx, and after callTime at the
// latest.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	stop := context.AfterFunc(ctx, func() {
		last := time.NewTimer(lastTime)
		defer last.Stop()
		select {
		case <-last.C:
			cancel()
		case <-call.Done():
		}
	})
	return call, func() { stop(); cancel() }
}
