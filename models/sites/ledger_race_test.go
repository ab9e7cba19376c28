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

// race lets 16 goroutines per store acquire permits until a limit refuses them. It returns the number of permits.
func race(t *testing.T, stores []*ledger, limit sites.LimitKind, call sites.Call, ws ...sites.Website) int {
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
					if e, ok := errors.AsType[*sites.QuotaError](err); ok && e.Limit == limit {
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

// raceAll runs race for each limit, with two websites of one project.
func raceAll(t *testing.T, stores ...*ledger) {
	t.Helper()
	limits := sites.Limits{PublishPerDay: 37, MetadataPerMinute: 41, RequestsPerMinute: 61, InspectionsPerDay: 29, InspectionsPerMinute: 53, Concurrency: 1000}
	next := func(change func(*sites.Limits)) {
		limits := limits
		change(&limits)
		for _, b := range stores {
			b.clock.Advance(2 * models.Day) // reset all quotas
			b.restart(limits)
		}
	}
	for _, c := range []struct {
		limit  sites.LimitKind
		call   sites.Call
		ws     []sites.Website
		change func(*sites.Limits)
		want   int
	}{
		{sites.LimitDay, sites.CallPublish, []sites.Website{one, two}, func(*sites.Limits) {}, 37},
		{sites.LimitMinute, sites.CallMetadata, []sites.Website{one, two}, func(*sites.Limits) {}, 41},
		{sites.LimitRequests, sites.CallPublish, []sites.Website{one, two}, func(l *sites.Limits) { l.PublishPerDay = 100 }, 61},
		{sites.LimitDay, sites.CallInspect, []sites.Website{one}, func(*sites.Limits) {}, 29},
		{sites.LimitMinute, sites.CallInspect, []sites.Website{one}, func(l *sites.Limits) { l.InspectionsPerDay = 100 }, 53},
		{sites.LimitConcurrency, sites.CallInspect, []sites.Website{one}, func(l *sites.Limits) { l.Concurrency = 5 }, 5},
		{sites.LimitConcurrency, sites.CallMetadata, []sites.Website{one, {Seq: one.Seq, SiteURL: one.SiteURL, ProjectID: "other"}}, func(l *sites.Limits) { l.Concurrency = 5 }, 5},
	} {
		next(c.change)
		if got := race(t, stores, c.limit, c.call, c.ws...); got != c.want {
			t.Errorf("%s, %s: %d permits, want %d", c.call, c.limit, got, c.want)
		}
	}
	raceConcurrency(t, stores, func(set func(*sites.Limits)) { next(set) })
}

// raceConcurrency lets all stores acquire and release permits. At most Concurrency permits may be held at a time.
func raceConcurrency(t *testing.T, stores []*ledger, next func(func(*sites.Limits))) {
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
					if e, ok := errors.AsType[*sites.QuotaError](err); ok && e.Limit == sites.LimitConcurrency {
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
					if err := b.ReleasePermit(context.Background(), p); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	if most.Load() > 3 {
		t.Errorf("%d requests in flight at once, want at most 3", most.Load())
	}
}

// 16 goroutines of one instance get exactly the limit.
func TestRacingWorkers(t *testing.T) {
	eachLedger(t, many, func(b *ledger) { raceAll(b.T, b) })
}
