package links

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	claimBatch = 50
	// perWorker bounds the links that wait in memory: so many fetches of four
	// seconds, and a batch more, are over before their claims end (after ten minutes).
	perWorker = 50
	// releaseTime is for giving links back after the context has ended.
	releaseTime = 5 * time.Second
)

// dispatcher fetches claimed links with a fixed number of workers and never two
// of them on one host. A host that hangs holds up its own links only: of each
// host a few wait in the queue, the others are given back until they have gone.
type dispatcher[T any] struct {
	workers int
	host    func(T) string
	// claim takes up to n links; none: there is nothing to do for now.
	claim func(ctx context.Context, n int) ([]T, error)
	// refuse gives links back whose host has enough in the queue. more is
	// false if they are what the next claim would bring.
	refuse func(ctx context.Context, items []T) (more bool, err error)
	// work fetches one link; it runs on a worker. An error, which is the
	// store's, ends the run.
	work func(ctx context.Context, item T) error
	// release gives links back that nothing was done about.
	release func(ctx context.Context, items []T) error
	// Each of these tells that there may be more to claim; nil: never.
	wanted <-chan struct{}
	poll   <-chan time.Time
}

type outcome[T any] struct {
	item T
	err  error
}

// run fetches until nothing is left to claim, taking ends or the store fails,
// and returns when no fetch is under way. What it has claimed and not done then
// is released, so that it need not wait for the claims to end.
func (d *dispatcher[T]) run(taking, working context.Context) error {
	work, outcomes := make(chan T), make(chan outcome[T])
	var pool sync.WaitGroup
	for range d.workers {
		pool.Go(func() {
			for item := range work {
				outcomes <- outcome[T]{item, d.work(working, item)}
			}
		})
	}
	undone, err := d.dispatch(taking, working, work, outcomes)
	close(work)
	pool.Wait()
	if len(undone) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(working), releaseTime)
	defer cancel()
	return errors.Join(err, d.release(ctx, undone))
}

// dispatch is run in the one goroutine that the queue belongs to. undone are
// the links that wait and those whose fetch was cut short.
func (d *dispatcher[T]) dispatch(taking, working context.Context, work chan<- T, outcomes <-chan outcome[T]) (undone []T, failed error) {
	q := newQueue[T]()
	stop := taking.Done()
	underWay := 0
	more := true     // there may be links to claim
	refused := false // some were given back since
	ended := false   // none is handed out any more
	for {
		if taking.Err() != nil {
			stop, ended = nil, true
		}
		next, ok := q.peek()
		if !ok && !ended && more && underWay < d.workers && q.size < perWorker*d.workers {
			var back []T
			var err error
			if more, back, err = d.fill(taking, q); err != nil {
				undone = append(undone, back...)
				if taking.Err() == nil {
					failed, ended = err, true
				}
			}
			refused = refused || len(back) > 0
			continue
		}
		if underWay == 0 && (ended || !ok) {
			return append(undone, q.rest()...), failed
		}
		to := work
		if !ok || ended { // !ok: every host that has links is busy
			to = nil
		}
		select {
		case to <- next:
			q.take()
			underWay++
		case o := <-outcomes:
			underWay--
			if q.done(d.host(o.item)) && refused { // there is room for what was given back
				more, refused = true, false
			}
			switch {
			case o.err == nil:
			case working.Err() != nil:
				undone = append(undone, o.item)
			case failed == nil:
				failed, ended = o.err, true
			}
		case <-d.wanted:
			more = true
		case <-d.poll:
			more = true
		case <-stop:
		}
	}
}

// fill claims links and queues them. back are those that were given back or,
// with an error, should have been.
func (d *dispatcher[T]) fill(ctx context.Context, q *queue[T]) (more bool, back []T, err error) {
	// Not cut short: of a claim that is cancelled as it commits nobody would know.
	claiming, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	items, err := d.claim(claiming, claimBatch)
	if err != nil || len(items) == 0 {
		return false, nil, err
	}
	for _, item := range items {
		if !q.add(d.host(item), item) {
			back = append(back, item)
		}
	}
	if len(back) == 0 {
		return true, nil, nil
	}
	more, err = d.refuse(ctx, back)
	return more, back, err
}
