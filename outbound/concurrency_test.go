package outbound

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestNoMoreThanMaxConcurrent(t *testing.T) {
	const limit, all = 3, 30
	var now, asked atomic.Int64
	full := make(chan struct{})
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		defer now.Add(-1)
		if n := now.Add(1); n > limit {
			t.Errorf("%d at once", n)
		}
		if asked.Add(1) == limit {
			close(full)
		}
		<-full // so many are under way together
		if r.URL.Path == "/broken" {
			panic(http.ErrAbortHandler)
		}
	})
	c := testClient(t, Options{MaxConcurrent: limit, Timeout: time.Minute})
	var fetches sync.WaitGroup
	for i := range all {
		path := "/fine"
		if i%2 == 0 { // failed fetches release their slot too
			path = "/broken"
		}
		fetches.Go(func() {
			if _, err := c.Fetch(t.Context(), Request{URL: srv.URL + path}); (err == nil) != (path == "/fine") {
				t.Errorf("%s: %v", path, err)
			}
		})
	}
	fetches.Wait()
	if asked.Load() < all {
		t.Errorf("%d requests", asked.Load())
	}
}

// waitedContext is a context that reports when someone waits for its end.
type waitedContext struct {
	context.Context
	once    sync.Once
	waiting chan struct{}
}

func (n *waitedContext) Done() <-chan struct{} {
	n.once.Do(func() { close(n.waiting) })
	return n.Context.Done()
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	under, release := make(chan struct{}), make(chan struct{})
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/slow" {
			t.Errorf("unexpected request for %s", r.URL.Path)
		}
		close(under)
		<-release
	})
	c := testClient(t, Options{MaxConcurrent: 1, Timeout: time.Minute})
	var slow sync.WaitGroup
	slow.Go(func() { get(t, c, Request{URL: srv.URL + "/slow"}) })
	<-under

	ctx, cancel := context.WithCancel(t.Context())
	waiter := &waitedContext{Context: ctx, waiting: make(chan struct{})}
	go func() { <-waiter.waiting; cancel() }()
	_, err := c.Fetch(waiter, Request{URL: srv.URL + "/waiter"})
	fails(t, err, KindCanceled, "canceled")

	ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = c.Fetch(ctx, Request{URL: srv.URL + "/waiter"})
	fails(t, err, KindTimeout, "timed out")
	close(release)
	slow.Wait()
}

// A budget uses no slots of another one, and fails after its wait.
func TestBudgets(t *testing.T) {
	under, release := make(chan struct{}), make(chan struct{})
	srv := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			under <- struct{}{}
			<-release
		}
	})
	c := testClient(t, Options{MaxConcurrent: 1, Timeout: time.Minute})
	budget := c.Budget(1, 10*time.Millisecond)
	var slow sync.WaitGroup
	slow.Go(func() { get(t, budget, Request{URL: srv.URL + "/slow"}) })
	<-under
	_, err := budget.Fetch(t.Context(), Request{URL: srv.URL + "/not-sent"})
	fails(t, err, KindBusy, "too many fetches at a time")
	if e, _ := errors.AsType[*Error](err); e.RetryAfter != 10*time.Millisecond {
		t.Errorf("RetryAfter %v", e.RetryAfter)
	}
	get(t, c, Request{URL: srv.URL + "/quick"}) // the client has a free slot
	release <- struct{}{}
	slow.Wait()
	get(t, budget, Request{URL: srv.URL + "/quick"})

	slow.Go(func() { get(t, c, Request{URL: srv.URL + "/slow"}) })
	<-under
	get(t, budget, Request{URL: srv.URL + "/quick"})
	patient := c.Budget(1, 0)
	slow.Go(func() { get(t, patient, Request{URL: srv.URL + "/slow"}) })
	<-under
	waiter := &waitedContext{Context: t.Context(), waiting: make(chan struct{})}
	slow.Go(func() {
		if _, err := patient.Fetch(waiter, Request{URL: srv.URL + "/quick"}); err != nil {
			t.Errorf("the one that waited: %v", err)
		}
	})
	<-waiter.waiting
	close(release)
	slow.Wait()
}

// Memory is limited to the pages that are fetched at the same time, even if their heads never end.
func TestMemoryOfManyFetches(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=windows-1252")
		piece := []byte(strings.Repeat("<meta name=x content='\xe9'>\n", 3000))
		for {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	})
	const limit = 2
	c := testClient(t, Options{MaxConcurrent: limit, Timeout: time.Minute})
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var mu sync.Mutex
	var peak uint64
	var fetches sync.WaitGroup
	for range 10 {
		fetches.Go(func() {
			looked := false
			res := get(t, c, Request{URL: srv.URL, Until: func(b []byte) bool {
				if !looked && int64(len(b)) > PageLimit*9/10 {
					looked = true
					var m runtime.MemStats
					runtime.GC()
					runtime.ReadMemStats(&m)
					mu.Lock()
					peak = max(peak, m.HeapAlloc)
					mu.Unlock()
				}
				return false
			}})
			if !res.Truncated || int64(len(res.Body)) > PageLimit {
				t.Errorf("%d bytes, truncated %v", len(res.Body), res.Truncated)
			}
		})
	}
	fetches.Wait()
	// Each running request may hold its body with its spare capacity, and a copy before or after conversion. All ten at
	// once would need more than twice as much.
	if used := int64(peak) - int64(before.HeapAlloc); peak == 0 || used > limit*3*PageLimit+4<<20 {
		t.Errorf("%d MiB at once, for %d pages of %d MiB", used>>20, limit, PageLimit>>20)
	} else {
		t.Logf("%.1f MiB at once", float64(used)/(1<<20))
	}
}
