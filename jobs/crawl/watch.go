package crawl

import (
	"context"
	"sync"
	"time"
)

const (
	watchEvery  = 500 * time.Millisecond // how soon a crawl that was cancelled elsewhere is noticed
	watchFor    = time.Minute            // how long a crawl is watched after its last request
	watchBudget = 5 * time.Second        // for asking the store
)

// watch cancels the requests of crawls that end, on whichever instance that happens.
// It is safe for concurrent use.
type watch struct {
	running func(context.Context, map[int64]bool) (map[int64]bool, error)
	mu      sync.Mutex
	crawls  map[int64]*watched
}

// watched is a crawl of which something was fetched lately.
type watched struct {
	ctx    context.Context // ends when the crawl does
	cancel context.CancelFunc
	used   time.Time
}

func newWatch(running func(context.Context, map[int64]bool) (map[int64]bool, error)) *watch {
	return &watch{running: running, crawls: map[int64]*watched{}}
}

// lookout is one request of a crawl.
type lookout struct {
	crawl context.Context
	stop  func() bool
	leave context.CancelFunc
}

// ended reports whether the crawl has ended.
func (l lookout) ended() bool { return l.crawl.Err() != nil }

// done is the end of the request.
func (l lookout) done() { l.stop(); l.leave() }

// during returns a context for a request of a crawl: it ends with ctx, and with the
// crawl.
func (w *watch) during(ctx context.Context, crawl int64) (context.Context, lookout) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.crawls[crawl]
	if c == nil {
		c = &watched{}
		c.ctx, c.cancel = context.WithCancel(context.Background())
		w.crawls[crawl] = c
	}
	c.used = time.Now()
	during, leave := context.WithCancel(ctx)
	return during, lookout{c.ctx, context.AfterFunc(c.ctx, leave), leave}
}

// run looks at the crawls until ctx ends.
func (w *watch) run(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
}

// look ends the contexts of crawls that are not running any more, and forgets those
// that nothing was fetched of for a while.
func (w *watch) look(ctx context.Context) error {
	asked := map[int64]bool{}
	w.mu.Lock()
	for crawl, c := range w.crawls {
		if time.Since(c.used) > watchFor {
			c.cancel()
			delete(w.crawls, crawl)
		} else if crawl != 0 { // those added by hand do not end
			asked[crawl] = true
		}
	}
	w.mu.Unlock()
	if len(asked) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, watchBudget)
	defer cancel()
	running, err := w.running(ctx, asked)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for crawl := range asked {
		c := w.crawls[crawl]
		switch {
		case c == nil:
		case !running[crawl]:
			c.cancel()
		case c.ctx.Err() != nil: // it goes on in another execution
			delete(w.crawls, crawl)
		}
	}
	return nil
}
