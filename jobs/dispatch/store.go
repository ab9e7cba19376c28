package dispatch

import (
	"context"
	"errors"
	"time"

	"linkwatch/jobs"
	"linkwatch/models/lease"
)

const (
	// Finished items are stored when they are a batch, or this long after the first
	// of them. A commit costs about as much as some dozen items in it.
	finishBatch = 512
	finishAfter = 100 * time.Millisecond
	// storeGap is between two calls of the store at least, so that items come in batches.
	storeGap = 50 * time.Millisecond
	// storePause is between two tries while the store fails.
	storePause = time.Second
	// maxClaim is how many items are claimed at once, and minRoom how much room
	// there must be for it.
	maxClaim = 500
	minRoom  = 64
	// callTime is for one call of the store. It is not cut short when the program
	// stops: of a claim that is cancelled as it commits nobody would know.
	callTime = 10 * time.Second
	// lastTime is for a call after the program's grace has ended, of which a tenth
	// is left for that.
	lastTime = 300 * time.Millisecond
)

// storeState is what the loop knows of the store, and has for it.
type storeState[T any] struct {
	busy     bool      // a call is under way
	calling  int       // items in that call
	notFirst time.Time // no call before
	lookAt   time.Time // when items may be due
	drained  bool      // the last claim found nothing due
	failing  bool      // the last call failed; its error is logged
	err      error     // the first error, with Drain

	done     []T                 // to be stored
	doneAt   time.Time           // when the first of them is stored at the latest
	released []lease.Released[T] // to be freed
	// After an error nobody knows whether the call was committed: then all that is
	// claimed is freed, but for what is in memory.
	uncertain bool
}

// finished has an item stored.
func (s *storeState[T]) finished(item T) {
	if len(s.done) == 0 {
		s.doneAt = time.Now().Add(finishAfter)
	}
	s.done = append(s.done, item)
}

// pending is how many items are to be stored or freed.
func (s *storeState[T]) pending() int { return len(s.done) + len(s.released) }

// startOver is for a lease of which nothing is in memory. What was done under the
// one before cannot be stored.
func (s *storeState[T]) startOver() {
	s.done, s.released, s.uncertain, s.lookAt = nil, nil, true, time.Time{}
}

// call is one visit to the store.
type call[T any] struct {
	holder    lease.ID
	finish    []T
	release   []lease.Released[T]
	keep      []T // all that is in memory, if the rest of what is claimed is to be freed
	keepOnly  bool
	claim     int // how many items to claim; 0 = none
	items     []T
	wait      time.Duration
	finishErr error // nothing of finish was stored, as far as we know
	err       error // of the rest
}

// storeDue is when the store is called next, if no call is under way.
func (d *Dispatcher[T]) storeDue() time.Time {
	s := &d.store
	at := time.Time{}
	switch {
	case len(s.released) > 0, s.uncertain, len(s.done) >= finishBatch, len(s.done) > 0 && d.ending:
	case len(s.done) > 0 && d.free() > 0 && s.lookAt.Before(s.doneAt):
		at = s.lookAt
	case len(s.done) > 0:
		at = s.doneAt
	case d.free() > 0:
		at = s.lookAt
	default:
		return time.Now().Add(pollInterval)
	}
	if at.Before(s.notFirst) {
		return s.notFirst
	}
	return at
}

// free is how many items may be claimed.
func (d *Dispatcher[T]) free() int {
	s := &d.store
	room := d.hosts.room - d.hosts.waiting - d.hosts.busy - s.pending() - s.calling
	if !d.mayWork || d.ending || room < minRoom {
		return 0
	}
	return min(room, maxClaim)
}

// callStore begins a call of the store if there is something for it.
func (d *Dispatcher[T]) callStore(working context.Context, now time.Time) {
	s := &d.store
	if d.Drain && d.idle() { // look at once whether that was all
		s.lookAt = time.Time{}
	}
	if s.busy || d.storeDue().After(now) {
		return
	}
	c := &call[T]{holder: d.holder, release: s.released, keepOnly: s.uncertain}
	if s.uncertain {
		c.keep = append(d.hosts.all(d.holder), s.done...)
		for _, r := range s.released { // each is released for its time
			c.keep = append(c.keep, r.Item)
		}
	}
	if len(s.done) >= finishBatch || len(s.done) > 0 && (d.ending || !s.doneAt.After(now)) {
		c.finish = s.done[:min(len(s.done), finishBatch)]
		s.done = append([]T(nil), s.done[len(c.finish):]...)
		s.doneAt = now.Add(finishAfter)
	}
	if !s.lookAt.After(now) {
		c.claim = d.free()
	}
	s.released, s.calling = nil, len(c.finish)
	s.busy, s.notFirst = true, now.Add(storeGap)
	d.tasks <- func() func() {
		d.visit(working, c)
		return func() { d.visited(working, c) }
	}
}

// visit makes a call of the store.
func (d *Dispatcher[T]) visit(working context.Context, c *call[T]) {
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

// visited takes in what a call brought.
func (d *Dispatcher[T]) visited(working context.Context, c *call[T]) {
	s := &d.store
	now := time.Now()
	s.busy, s.calling = false, 0
	err := errors.Join(c.finishErr, c.err)
	if errors.Is(err, lease.ErrLost) { // checkLease will see it
		s.notFirst = now.Add(storeGap)
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
		d.Log.Info("store works again", "queue", d.Name)
	}
	s.failing = false
	if c.keepOnly {
		s.uncertain = false
	}
	if c.claim > 0 {
		d.claimed(c, now)
	}
}

// failed plans another try. A batch that was not stored is kept, unless the
// program's grace is over.
func (d *Dispatcher[T]) failed(working context.Context, c *call[T], err error, now time.Time) {
	s := &d.store
	s.uncertain, s.notFirst, s.lookAt = true, now.Add(storePause), time.Time{}
	s.released = append(c.release, s.released...)
	over := working.Err() != nil
	switch {
	case c.finishErr != nil && over:
		d.Log.Error("finished work is lost", "queue", d.Name, "error", c.finishErr, "items", len(c.finish))
	case c.finishErr != nil:
		s.done = append(c.finish, s.done...)
		s.doneAt = now
	}
	if over { // the end of the lease frees the rest
		s.uncertain, s.released = false, nil
		s.notFirst = now
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

// claimed queues what was claimed.
func (d *Dispatcher[T]) claimed(c *call[T], now time.Time) {
	s := &d.store
	s.drained = len(c.items) == 0
	switch {
	case len(c.items) == c.claim: // there may be more
		s.lookAt = now
	case c.wait < 0 || c.wait > pollInterval:
		s.lookAt = now.Add(pollInterval)
	default:
		s.lookAt = now.Add(c.wait)
	}
	for _, item := range c.items {
		e := &entry[T]{item: item, holder: c.holder}
		if d.ending {
			d.giveBack(e, 0)
		} else if out, after := d.hosts.add(e, now); out != nil {
			d.giveBack(out, after)
		}
	}
}

// detached is ctx for a call of the store that is not cut short by its end, but soon
// after it.
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
