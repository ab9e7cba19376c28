// Package targets checks targets: it claims due targets, makes the requests and records
// the results. models/targets evaluates responses, and jobs/dispatch limits concurrency.
package targets

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs"
	"linkwatch/jobs/dispatch"
	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/targets"
	"linkwatch/outbound"
)

// NewChecker returns the Service that checks due targets. workers is the maximum number of
// concurrent requests (MAX_CONCURRENCY), which client must allow. perHost is that for one
// host and port (CHECKS_PER_HOST). A Heartbeat must renew the lease. The caller closes
// client. It returns an error if reg already has metrics with the same names.
func NewChecker(
	store *targets.Store, l *lease.Lease, client *outbound.Client, workers, perHost int, log *slog.Logger, reg prometheus.Registerer,
) (jobs.Service, error) {
	m, err := newMetrics(reg)
	if err != nil {
		return nil, err
	}
	return jobs.NewBackground(func(taking, working context.Context) {
		q := &queue{store: store, client: client, log: log, metrics: m}
		d := dispatch.New(q, dispatch.Options{
			Name: "checks", Lease: l, Workers: workers, PerHost: perHost, Log: log, Metrics: m.Metrics,
			MaxDelay: targets.MaxPostponed, Wanted: store.Wanted(),
		})
		_ = d.Run(taking, working) // Run returns an error only when it drains
	}), nil
}

// queue is the dispatch.Queue of due targets.
type queue struct {
	store   *targets.Store
	client  *outbound.Client
	log     *slog.Logger
	metrics *metrics
	running running

	// requested has the keys of the claimed targets whose check was requested since they were claimed.
	requested atomic.Pointer[map[int64]bool]

	// The lease and time of the last claim, to detect a new lease and clock changes.
	holder lease.ID
	at     models.Time
}

// check is a claimed target and the state of its check.
type check struct {
	targets.Target
	startedAt      models.Time // start of the first attempt; zero: none yet
	monotonicStart time.Time   // the same, with a monotonic clock reading
	attempts       int
	found          finding       // of the last attempt that sent a request
	elapsed        time.Duration // of all attempts, with the delays between them
	long           bool          // stored as started; guarded by running
}

// spreadAfter is how late checks must be when an instance starts for it to spread them
// over an interval. Later, only checks that are late by a whole CHECK_INTERVAL are spread,
// so that a short failure of the store does not delay checks.
const spreadAfter = time.Second

// Claim implements dispatch.Queue. If the lease is new or the clock was set back, it first
// spreads targets that are overdue or due too far ahead. It also exchanges with the database
// which checks take long, and which were requested.
func (q *queue) Claim(ctx context.Context, holder lease.ID, n int) ([]*check, time.Duration, error) {
	now := q.store.Now()
	if holder != q.holder || now.Before(q.at.Time) {
		overdue := q.store.Options().CheckInterval
		if q.holder == "" {
			overdue = spreadAfter
		}
		moved, err := q.store.Spread(ctx, holder, overdue)
		if err != nil {
			return nil, 0, err
		}
		if moved > 0 {
			q.log.Info("overdue checks spread over an interval", "targets", moved)
		}
	}
	q.holder, q.at = holder, now
	if err := q.exchange(ctx, holder); err != nil {
		return nil, 0, err
	}
	ts, next, err := q.store.Claim(ctx, holder, n)
	if err != nil {
		return nil, 0, err
	}
	checks := make([]*check, len(ts))
	for i, t := range ts {
		checks[i] = &check{Target: t}
	}
	if next.IsZero() {
		return checks, -1, nil
	}
	return checks, max(0, next.Sub(q.store.Now().Time)), nil
}

// exchange stores which checks take long, and loads which checks were requested.
func (q *queue) exchange(ctx context.Context, holder lease.ID) error {
	if long := q.running.long(holder); len(long) > 0 {
		if err := q.store.Started(ctx, holder, long); err != nil {
			return err
		}
	}
	requested, err := q.store.Requested(ctx, holder)
	if err != nil {
		return err
	}
	q.requested.Store(&requested)
	return nil
}

// First implements dispatch.Prioritizer: requested checks precede others.
func (q *queue) First(c *check) bool {
	requested := q.requested.Load()
	return !c.RequestedAt.IsZero() || requested != nil && (*requested)[c.Seq]
}

// Finish implements dispatch.Queue.
func (q *queue) Finish(ctx context.Context, done []*check) error {
	all := make([]targets.Checked, len(done))
	for i, c := range done {
		all[i] = c.checked()
	}
	return q.store.Record(ctx, all...)
}

// Release implements dispatch.Queue.
func (q *queue) Release(ctx context.Context, back []lease.Released[*check]) error {
	released := make([]lease.Released[targets.Target], len(back))
	for i, b := range back {
		released[i] = lease.Released[targets.Target]{Item: b.Item.Target, After: b.After}
	}
	return q.store.Release(ctx, released...)
}

// ReleaseOthers implements dispatch.Queue.
func (q *queue) ReleaseOthers(ctx context.Context, holder lease.ID, keep []*check) error {
	ts := make([]targets.Target, len(keep))
	for i, c := range keep {
		ts[i] = c.Target
	}
	return q.store.ReleaseOthers(ctx, holder, ts...)
}

// Host implements dispatch.Queue.
func (*queue) Host(c *check) string { return models.HostPort(c.CanonicalURL) }

// Due implements dispatch.Queue.
func (*queue) Due(c *check) time.Time { return c.DueAt.Time }

// Slow implements dispatch.Queue.
func (*queue) Slow(c *check) bool {
	return c.LastError == timedOut || c.LastLatencyMS > int(time.Second.Milliseconds())
}

// Tried implements dispatch.Queue.
func (*queue) Tried(c *check) time.Time { return c.LastCheckedAt.Time }
