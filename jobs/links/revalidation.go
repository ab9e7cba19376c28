package links

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/linkwatch/linkwatch/jobs"
	"github.com/linkwatch/linkwatch/models"
	"github.com/linkwatch/linkwatch/models/links"
)

const (
	claimBatch = 50
	// maxWaiting bounds the links held in memory while their hosts are busy.
	maxWaiting = 500
	// checkBudget ends a run well before its first claims come due again (after ten minutes).
	checkBudget = 8 * time.Minute
)

// Revalidation is the job that rechecks links whose time has come (contract
// §3), with a fixed number of workers and never two of them on one host. A host
// that hangs holds up its own links only. What a run has claimed and does not
// get to comes due again by itself.
func Revalidation(store *links.Store, workers int) jobs.Job {
	return jobs.Job{ID: "revalidation", Schedule: "@every 1m", Run: func(taking, working context.Context) (string, error) {
		r := &revalidation{store: store, workers: workers, queue: newQueue(), found: map[links.Health]int{}}
		return r.run(taking, working)
	}}
}

// Retention is the job that drops what links keep only for a while.
func Retention(store *links.Store) jobs.Job {
	return jobs.Job{ID: "retention", Schedule: "@every 1h", Run: func(_, working context.Context) (string, error) {
		return "", store.Purge(working)
	}}
}

// revalidation is one run of the job. Its fields belong to the goroutine of run.
type revalidation struct {
	store   *links.Store
	workers int
	queue   *queue
	checked int
	found   map[links.Health]int
}

type outcome struct {
	link links.Link // as it was claimed
	now  links.Link
	err  error
}

func (r *revalidation) run(taking, working context.Context) (string, error) {
	work, outcomes := make(chan links.Link), make(chan outcome)
	var pool sync.WaitGroup
	for range r.workers {
		pool.Go(func() {
			for l := range work {
				now, err := r.store.Check(working, l)
				outcomes <- outcome{l, now, err}
			}
		})
	}
	err := r.dispatch(taking, work, outcomes)
	close(work)
	pool.Wait()
	if taking.Err() != nil {
		return r.summary() + ", interrupted", nil //nolint:nilerr // a run that is told to end did not fail
	}
	return r.summary(), err
}

// dispatch hands out links until none is due, the budget is spent, taking ends
// or the store fails, and returns when the last check under way has ended.
func (r *revalidation) dispatch(taking context.Context, work chan<- links.Link, outcomes <-chan outcome) error {
	over := time.NewTimer(checkBudget)
	defer over.Stop()
	stop := taking.Done()
	underWay, more := 0, true
	var failed error
	for {
		next, ok := r.queue.peek()
		if !ok && more && underWay < r.workers && r.queue.size < maxWaiting {
			due, err := r.store.ClaimDue(taking, claimBatch)
			if err != nil {
				failed = err
			}
			more = len(due) > 0
			r.queue.add(due)
			continue
		}
		if !ok && underWay == 0 {
			return failed
		}
		to := work
		if !ok {
			to = nil // every host that has links is busy
		}
		select {
		case to <- next:
			r.queue.take()
			underWay++
		case o := <-outcomes:
			r.queue.done(o.link)
			underWay--
			if err := r.count(o); err != nil && failed == nil {
				failed = err // the store fails: go no further
				more, r.queue = false, newQueue()
			}
		case <-over.C:
			more, r.queue = false, newQueue()
		case <-stop:
			stop, more, r.queue = nil, false, newQueue()
		}
	}
}

// count takes in how a check went. A link that was deleted meanwhile is no error.
func (r *revalidation) count(o outcome) error {
	switch {
	case models.CodeOf(o.err) == models.CodeNotFound:
		return nil
	case o.err != nil:
		return fmt.Errorf("checking links: %w", o.err)
	}
	r.checked++
	r.found[o.now.Health]++
	return nil
}

// summary is what the run did: "120 checked: 3 dead, 1 moved".
func (r *revalidation) summary() string {
	var parts []string
	for _, h := range []links.Health{links.Dead, links.Suspect, links.Moved, links.Blocked} {
		if n := r.found[h]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, h))
		}
	}
	s := fmt.Sprintf("%d checked", r.checked)
	if len(parts) > 0 {
		s += ": " + strings.Join(parts, ", ")
	}
	return s
}
