package crawl

import (
	"context"
	"sync"
	"time"
)

const (
	watchInterval = 500 * time.Millisecond // between two checks for runs that ended
	watchTTL      = time.Minute            // how long a run is watched after its last request
	watchTimeout  = 5 * time.Second        // of a query
)

// watch cancels the requests of executions that end, on any instance. The next execution of the same crawl sends them
// again. It is safe for concurrent use.
type watch struct {
	running func(context.Context, map[int64]bool) (map[int64]bool, error)
	mu      sync.Mutex
	runs    map[int64]*watched // by execution
}

// watched is an execution with a recent request.
type watched struct {
	ctx      context.Context // ends when the execution does
	cancel   context.CancelFunc
	used     time.Time
	requests int // that are being sent
}

func newWatch(running func(context.Context, map[int64]bool) (map[int64]bool, error)) *watch {
	return &watch{running: running, runs: map[int64]*watched{}}
}

type watchedRequest struct {
	run    context.Context
	stop   func() bool
	cancel context.CancelFunc
	used   func()
}

func (l watchedRequest) runEnded() bool { return l.run.Err() != nil }

func (l watchedRequest) done() { l.stop(); l.cancel(); l.used() }

// startRequest returns a context for a request of an execution. The context is cancelled with ctx and when the execution ends.
func (w *watch) startRequest(ctx context.Context, execution int64) (context.Context, watchedRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.runs[execution]
	if c == nil {
		c = &watched{}
		c.ctx, c.cancel = context.WithCancel(context.Background())
		w.runs[execution] = c
	}
	c.requests++
	requestCtx, cancel := context.WithCancel(ctx)
	return requestCtx, watchedRequest{c.ctx, context.AfterFunc(c.ctx, cancel), cancel, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		c.requests--
		c.used = time.Now()
	}}
}

// run checks the watched executions until ctx is done.
func (w *watch) run(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := w.check(ctx); err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
}

// check cancels the contexts of executions that are no longer running, and stops watching those without recent requests.
func (w *watch) check(ctx context.Context) error {
	watching := map[int64]bool{}
	w.mu.Lock()
	for execution, c := range w.runs {
		if c.requests == 0 && time.Since(c.used) > watchTTL {
			c.cancel()
			delete(w.runs, execution)
		} else if execution != 0 { // 0 = URLs outside any crawl, which do not end
			watching[execution] = true
		}
	}
	w.mu.Unlock()
	if len(watching) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	running, err := w.running(ctx, watching)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for execution := range watching {
		if c := w.runs[execution]; c != nil && !running[execution] {
			c.cancel()
		}
	}
	return nil
}
