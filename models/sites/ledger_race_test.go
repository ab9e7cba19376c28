package sites_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"linkwatch/models"
	"linkwatch/models/sites"
)

// race has 16 workers of each store take permits until they are refused for a bound,
// and returns how many they got.
func race(t *testing.T, stores []*books, bound sites.Bound, call sites.Call, ws ...sites.Website) int {
	t.Helper()
	var got atomic.Int32
	start := make(chan struct{})
	var all sync.WaitGroup
	for _, b := range stores {
		for i := range 16 {
			all.Go(func() {
				<-start
				for {
					_, err := b.Acquire(context.Background(), b.me, ws[i%len(ws)], call)
					if e, ok := errors.AsType[*sites.QuotaError](err); ok && e.Bound == bound {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					got.Add(1)
				}
			})
		}
	}
	close(start)
	all.Wait()
	return int(got.Load())
}

// raceAll races for each limit, by calls of two websites of one project.
func raceAll(t *testing.T, stores ...*books) {
	t.Helper()
	limits := sites.Limits{PublishPerDay: 37, MetadataPerMinute: 41, RequestsPerMinute: 61, InspectionsPerDay: 29, InspectionsPerMinute: 53, Concurrency: 1000}
	next := func(change func(*sites.Limits)) {
		limits := limits
		change(&limits)
		for _, b := range stores {
			b.clock.Advance(2 * models.Day) // all quotas are free, and nothing is under way
			b.restart(limits)
		}
	}
	for _, c := range []struct {
		bound  sites.Bound
		call   sites.Call
		ws     []sites.Website
		change func(*sites.Limits)
		want   int
	}{
		{sites.BoundDay, sites.CallPublish, []sites.Website{one, two}, func(*sites.Limits) {}, 37},
		{sites.BoundMinute, sites.CallMetadata, []sites.Website{one, two}, func(*sites.Limits) {}, 41},
		{sites.BoundRequests, sites.CallPublish, []sites.Website{one, two}, func(l *sites.Limits) { l.PublishPerDay = 100 }, 61},
		{sites.BoundDay, sites.CallInspect, []sites.Website{one}, func(*sites.Limits) {}, 29},
		{sites.BoundMinute, sites.CallInspect, []sites.Website{one}, func(l *sites.Limits) { l.InspectionsPerDay = 100 }, 53},
		{sites.BoundConcurrency, sites.CallInspect, []sites.Website{one}, func(l *sites.Limits) { l.Concurrency = 5 }, 5},
		{sites.BoundConcurrency, sites.CallMetadata, []sites.Website{one, {Seq: one.Seq, SiteURL: one.SiteURL, ProjectID: "other"}}, func(l *sites.Limits) { l.Concurrency = 5 }, 5},
	} {
		next(c.change)
		if got := race(t, stores, c.bound, c.call, c.ws...); got != c.want {
			t.Errorf("%s, %s: %d permits, want %d", c.call, c.bound, got, c.want)
		}
	}
	underWay(t, stores, func(set func(*sites.Limits)) { next(set) })
}

// underWay has the workers of all stores take and end permits: never more than
// Concurrency are under way, and all get theirs.
func underWay(t *testing.T, stores []*books, next func(func(*sites.Limits))) {
	t.Helper()
	next(func(l *sites.Limits) { *l = many; l.Concurrency = 3 })
	var now, most, refused atomic.Int32
	var all sync.WaitGroup
	for _, b := range stores {
		for i := range 16 {
			all.Go(func() {
				call := []sites.Call{sites.CallPublish, sites.CallMetadata, sites.CallInspect}[i%3]
				for granted := 0; granted < 2; {
					p, err := b.Acquire(context.Background(), b.me, one, call)
					if e, ok := errors.AsType[*sites.QuotaError](err); ok && e.Bound == sites.BoundConcurrency {
						refused.Add(1)
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					granted++
					for n := now.Add(1); ; {
						if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
							break
						}
					}
					now.Add(-1)
					if err := b.Done(context.Background(), p); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	if most.Load() > 3 {
		t.Errorf("%d requests were under way at once", most.Load())
	}
}

// 16 workers of one instance get exactly the limit.
func TestRacingWorkers(t *testing.T) {
	limited(t, many, func(b *books) { raceAll(b.T, b) })
}
