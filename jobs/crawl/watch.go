package crawl

import (
	"context"
	"sync"
	"time"
)

const (
	watchInterval = 500 * time.Millisecond // between two checks for crawls that were cancelled
	watchTTL      = time.Minute            // how long a crawl is watched after its last request
	watchTimeout  = 5 * time.Second        // of a query
)

// watch cancels the requests of crawls that end, on any instance. It is safe for concurrent
// use.
type watch struct {
	running func(context.Context, map[int64]bool) (map[int64]bool, error)
	mu      sync.Mutex
	crawls  map[int64]*watched
}

// watched is a crawl with a recent request.
type watched struct {
	ctx    context.Context // ends when the crawl does
	cancel context.CancelFunc
	used   time.Time
}

func newWatch(running func(context.Context, map[int64]bool) (map[int64]bool, error)) *watch {
	return &watch{running: running, crawls: map[int64]*watched{}}
}

type watchedRequest struct {
	crawl  context.Context
	stop   func() bool
	cancel context.CancelFunc
}

func (l watchedRequest) crawlEnded() bool { return l.crawl.Err() != nil }

func (l watchedRequest) done() { l.stop(); l.cancel() }

// startRequest returns a context for a request of a crawl. The context is cancelled with ctx and when the crawl ends.
func (w *watch) startRequest(ctx context.Context, crawl int64) (context.Context, watchedRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.crawls[crawl]
	if c == nil {
		c = &watched{}
		c.ctx, c.cancel = context.WithCancel(context.Background())
		w.crawls[crawl] = c
	}
	c.used = time.Now()
	requestCtx, cancel := context.WithCancel(ctx)
	return requestCtx, watchedRequest{c.ctx, context.AfterFunc(c.ctx, cancel), cancel}
}

// run checks the watched crawls until ctx is done.
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

// check cancels the contexts of crawls that are no longer running, and stops watching crawls without
// recent requests.
func (w *watch) check(ctx context.Context) error {
	watching := map[int64]bool{}
	w.mu.Lock()
	for crawl, c := range w.crawls {
		if time.Since(c.used) > watchTTL {
			c.cancel()
			delete(w.crawls, crawl)
		} else if crawl != 0 { // 0 = URLs outside any crawl, which do not end
			watching[crawl] = true
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
	for crawl := range watching {
		c := w.crawls[crawl]
		switch {
		case c == nil:
		case !running[crawl]:
			c.cancel()
		case c.ctx.Err() != nil: // it continues in another execution
			delete(w.crawls, crawl)
		}
	}
	return nil
}
