package targets

import (
	"context"
	"time"

	"linkwatch/jobs"
	"linkwatch/models"
	"linkwatch/models/targets"
)

// order is what the dispatcher asks of the store at once.
type order struct {
	putOff map[time.Duration][]targets.Target // to be looked at again after that time
	claim  int                                // how many due targets to take; 0 = none
}

// claimed is the answer to an order. After an error nobody knows which targets
// are claimed.
type claimed struct {
	targets []targets.Target
	next    models.Time // when the first of the others comes due; zero: none does
	err     error
}

// claim fulfils orders, beside the dispatcher: requests go on while the store is busy.
func (c *Checker) claim(working context.Context, orders <-chan order, claims chan<- claimed) {
	for o := range orders {
		claims <- c.fulfil(working, o)
	}
}

func (c *Checker) fulfil(working context.Context, o order) (got claimed) {
	ctx, cancel := detached(working)
	defer cancel()
	for d, ts := range o.putOff {
		if got.err = c.store.PutOff(ctx, c.id, d, ts...); got.err != nil {
			return got
		}
	}
	if o.claim > 0 {
		got.targets, got.next, got.err = c.store.Claim(ctx, c.id, o.claim)
	}
	return got
}

// lease is news of the checker's lease.
type lease struct {
	asked bool      // it has begun anew, or should have
	lost  bool      // others may have the targets that were claimed under it
	until time.Time // when it ends unless it is renewed
	err   error     // it was not renewed
}

// keep renews the lease in time, however long a claim or a record takes. When
// begin rings it gives back what is claimed and begins a new lease.
func (c *Checker) keep(ctx context.Context, begin <-chan struct{}, leases chan<- lease) {
	renew := time.NewTicker(targets.Heartbeat)
	defer renew.Stop()
	var peers targets.Peers
	held, failing := false, false
	late, last := herdAfter, c.store.Now()
	for {
		var news lease
		select {
		case <-ctx.Done():
			return
		case <-begin:
			if news = c.beginLease(ctx, late); news.err == nil {
				held, late = true, c.store.Options().CheckInterval
			}
		case <-renew.C:
			if !held { // it is about to begin
				continue
			}
			news = c.hold(ctx, &peers)
			now := c.store.Now()
			news.lost = news.lost || now.Before(last.Time) // the clock was set back: what was planned is too far ahead
			last = now
		}
		if news.err != nil && !failing && ctx.Err() == nil {
			jobs.LogError(c.log, "holding the lease of checks", news.err)
		}
		failing = news.err != nil
		select {
		case leases <- news:
		case <-ctx.Done():
			return
		}
	}
}

// hold renews the lease and frees what dead checkers had claimed.
func (c *Checker) hold(ctx context.Context, peers *targets.Peers) (news lease) {
	ctx, cancel := context.WithTimeout(ctx, targets.CheckerLease)
	defer cancel()
	news.until = time.Now().Add(targets.CheckerLease)
	if news.lost, news.err = c.store.Hold(ctx, c.id); news.err != nil {
		*peers = targets.Peers{} // the others may be unable to renew theirs too
		return news
	}
	if err := c.store.FreeDead(ctx, c.id, peers); err != nil && ctx.Err() == nil {
		jobs.LogError(c.log, "freeing the targets of dead checkers", err)
	}
	return news
}

// herdAfter is how late checks are, as a checker starts, that it takes for a
// herd which nobody checked before. Later on only what missed a whole
// CHECK_INTERVAL is one: a moment's trouble with the store puts nothing off.
const herdAfter = time.Second

// beginLease frees all that the checker has, and spreads what came due that
// late, since nobody checked.
func (c *Checker) beginLease(ctx context.Context, late time.Duration) lease {
	ctx, cancel := detached(ctx)
	defer cancel()
	if err := c.store.Leave(ctx, c.id); err != nil {
		return lease{asked: true, err: err}
	}
	until := time.Now().Add(targets.CheckerLease)
	if _, err := c.store.Hold(ctx, c.id); err != nil {
		return lease{asked: true, err: err}
	}
	n, err := c.store.Spread(ctx, c.id, late)
	if n > 0 {
		c.log.Info("what came due while nobody checked is spread over an interval", "targets", n)
	}
	return lease{asked: true, until: until, err: err}
}

// detached is ctx for a call of the store that is not cut short by its end, but
// soon after it.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	stop := context.AfterFunc(ctx, func() {
		last := time.NewTimer(lastTime)
		defer last.Stop()
		select {
		case <-last.C:
			cancel()
		case <-call.Done():
		}
	})
	return call, func() { stop(); cancel() }
}
