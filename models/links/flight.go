package links

import (
	"context"
	"fmt"
	"sync"
	"time"

	"linkwatch/models"
)

const (
	// flightLimit limits a fetch whose requests have all gone: FetchTimeout, and the wait for its turn.
	flightLimit = 10 * time.Second
	// flightRest is how long the result of such a fetch is kept for a repeated request, as when a browser drops a request
	// because its user pressed Save again.
	flightRest = 10 * time.Second
)

// flights are the pages that requests of users are adding or previewing, so that requests of an actor for the same URL
// at the same time fetch it once.
type flights struct {
	mu   sync.Mutex
	open map[flightKey]*flight
}

type flightKey struct{ owner, url string }

// flight is one fetch of a page. Its requests share the result until the last of them is done.
type flight struct {
	key   flightKey
	holds int           // requests, and the fetch while it runs
	done  chan struct{} // nil = not started
	used  bool          // a request has the result
	page  Page
	err   error
}

// hold returns the flight of a URL for the actor of ctx, until release. A request holds it before it reads whether the
// link exists: then it finds either the flight or what the flight has stored.
func (fs *flights) hold(ctx context.Context, url string) *flight {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	key := flightKey{models.Owner(ctx), url}
	f := fs.open[key]
	if f == nil {
		f = &flight{key: key}
		if fs.open == nil {
			fs.open = map[flightKey]*flight{}
		}
		fs.open[key] = f
	}
	f.holds++
	return f
}

func (fs *flights) release(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.holds--; f.holds > 0 {
		return
	}
	if f.done != nil && !f.used {
		time.AfterFunc(flightRest, func() { fs.drop(f) })
		return
	}
	delete(fs.open, f.key)
}

// drop ends the rest of a flight that no request holds.
func (fs *flights) drop(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.holds == 0 && fs.open[f.key] == f {
		delete(fs.open, f.key)
	}
}

// page fetches the page of a flight, unless another request has. The fetch goes on if ctx ends, since others may wait
// for it.
func (fs *flights) page(ctx context.Context, f *flight, fetch Fetcher) (Page, error) {
	fs.mu.Lock()
	if f.done == nil {
		f.done = make(chan struct{})
		f.holds++
		go func() {
			defer close(f.done)
			defer fs.release(f) // first, so that a request that comes after the others starts a new flight
			defer func() {
				if p := recover(); p != nil {
					f.err = fmt.Errorf("panic: %v", p)
				}
			}()
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flightLimit)
			defer cancel()
			f.page, f.err = fetch.Fetch(ctx, f.key.url)
			f.page = f.page.clean()
		}()
	}
	fs.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
		return Page{}, ctx.Err()
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.used = true
	return f.page, f.err
}
