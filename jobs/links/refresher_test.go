package links_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/app/apptest"
	linkjobs "linkwatch/jobs/links"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

func (w world) startRefresh(t *testing.T) links.Refresh {
	t.Helper()
	var ids []string
	for _, l := range w.all(t) {
		ids = append(ids, l.ID)
	}
	r, err := w.StartRefresh(t.Context(), ids...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (w world) refreshOf(t *testing.T, id string) links.Refresh {
	t.Helper()
	r, err := w.RefreshOf(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// queued claims the free items of the queue, and counts them.
func (w world) queued(t *testing.T) int {
	t.Helper()
	items, _, err := w.ClaimRefreshes(t.Context(), modelstest.Lease(t, w.db, "k_other"), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return len(items)
}

func TestRefresherEmptiesTheQueue(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		asked := make(chan string)
		s := apptest.NewSite(t, func(rw http.ResponseWriter, r *http.Request) {
			asked <- r.URL.Path
			_, _ = fmt.Fprint(rw, "<title>New</title>")
		})
		w.add(t, numbered(s, 9)...)
		before := w.startRefresh(t) // of another process
		refresher := linkjobs.NewRefresher(w.Store, w.lease, 3, discard)
		refresher.Start()
		for range 9 {
			<-asked
		}
		during := w.startRefresh(t)
		for range 9 {
			<-asked
		}
		refresher.Stop(t.Context())
		for _, id := range []string{before.ID, during.ID} {
			if r := w.refreshOf(t, id); !r.Finished() || r.Total != 9 || r.Failed != 0 {
				t.Errorf("got %+v", r)
			}
		}
		for url, l := range w.all(t) {
			if l.Title != "New" {
				t.Errorf("%s: title %q", url, l.Title)
			}
		}
	})
}

func TestStoppedRefresherRequeues(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		asked := make(chan struct{}, 10)
		s := apptest.NewSite(t, func(_ http.ResponseWriter, r *http.Request) {
			asked <- struct{}{}
			<-r.Context().Done() // until the client disconnects
		})
		w.add(t, numbered(s, 3)...)
		batch := w.startRefresh(t)
		refresher := linkjobs.NewRefresher(w.Store, w.lease, 1, discard)
		refresher.Start()
		<-asked
		over, cancel := context.WithCancel(t.Context())
		cancel()
		refresher.Stop(over)
		if r := w.refreshOf(t, batch.ID); r.Done != 0 || r.Total != 3 {
			t.Errorf("got %+v", r)
		}
		if n := w.queued(t); n != 3 {
			t.Errorf("%d of 3 links are back in the queue", n)
		}
		if len(asked) != 0 {
			t.Error("a refresh started while stopping")
		}
	})
}

// A host gets one request at a time. A slow host with many links does not delay others.
func TestRefresherLimitsRequestsPerHost(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		// The clock must move, because links of a busy host are released for a short time.
		w.Store = links.NewStore(w.db, nil, apptest.NewFetcher(t), links.Options{CheckInterval: week})
		const perHost = 45
		var others, all sync.WaitGroup
		others.Add(perHost)
		all.Add(2 * perHost)
		count := func(then func()) http.HandlerFunc {
			var now atomic.Int64
			return func(_ http.ResponseWriter, r *http.Request) {
				if n := now.Add(1); n > 1 {
					t.Errorf("%d concurrent requests to %s", n, r.Host)
				}
				then()
				now.Add(-1)
				all.Done()
			}
		}
		hanging, other := apptest.NewSite(t, count(others.Wait)), apptest.NewSite(t, count(others.Done))
		w.add(t, numbered(hanging, perHost)...)
		first := w.startRefresh(t)
		w.add(t, numbered(other, perHost)...)
		var ids []string
		for url, l := range w.all(t) {
			if strings.HasPrefix(url, other) {
				ids = append(ids, l.ID)
			}
		}
		second, err := w.StartRefresh(t.Context(), ids...)
		if err != nil {
			t.Fatal(err)
		}
		refresher := linkjobs.NewRefresher(w.Store, w.lease, 8, discard)
		refresher.Start()
		all.Wait()
		refresher.Stop(t.Context())
		for _, id := range []string{first.ID, second.ID} {
			if r := w.refreshOf(t, id); !r.Finished() || r.Total != perHost || r.Failed != 0 {
				t.Errorf("got %+v", r)
			}
		}
	})
}

func TestRefresherRespectsRetryAfter(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		const all = 30
		asked := make(chan struct{}, all)
		s := apptest.NewSite(t, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", "60")
			rw.WriteHeader(http.StatusTooManyRequests)
			asked <- struct{}{}
		})
		w.add(t, numbered(s, all)...)
		batch := w.startRefresh(t)
		refresher := linkjobs.NewRefresher(w.Store, w.lease, 4, discard)
		refresher.Start()
		<-asked
		refresher.Stop(t.Context())
		if len(asked) != 0 {
			t.Errorf("%d requests before Retry-After has passed", len(asked))
		}
		r := w.refreshOf(t, batch.ID)
		if r.Done > 1 || r.Failed > 1 {
			t.Errorf("finished without a request: %+v", r)
		}
		w.clock.Advance(time.Minute)
		if n := w.queued(t); n != all-r.Done {
			t.Errorf("%d links are queued after the pause, want %d", n, all-r.Done)
		}
	})
}

// waitedContext is a context that signals the first call of Done.
type waitedContext struct {
	context.Context
	once  sync.Once
	asked chan struct{}
}

func (n *waitedContext) Done() <-chan struct{} {
	n.once.Do(func() { close(n.asked) })
	return n.Context.Done()
}

func TestStoppingRefresherFinishesRequests(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		asked, answer := make(chan struct{}, 10), make(chan struct{})
		s := apptest.NewSite(t, func(http.ResponseWriter, *http.Request) {
			asked <- struct{}{}
			<-answer
		})
		w.add(t, numbered(s, 3)...)
		batch := w.startRefresh(t)
		refresher := linkjobs.NewRefresher(w.Store, w.lease, 1, discard)
		refresher.Start()
		<-asked
		grace := &waitedContext{Context: t.Context(), asked: answer} // the page responds when Stop waits
		refresher.Stop(grace)
		if r := w.refreshOf(t, batch.ID); r.Done != 1 || r.Failed != 0 {
			t.Errorf("got %+v", r)
		}
		if n := w.queued(t); n != 2 {
			t.Errorf("%d of 2 links are back in the queue", n)
		}
		if len(asked) != 0 {
			t.Error("a refresh started while stopping")
		}
	})
}
