// Package targets checks targets: it claims those that are due, makes the
// requests and records the results. What a check means is decided in
// models/targets, and how many run at a time in jobs/dispatch.
package targets

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs"
	"linkwatch/jobs/dispatch"
	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/targets"
	"linkwatch/outbound"
)

// NewChecker makes the Service that checks targets when they are due, with so many
// requests at a time (MAX_CONCURRENCY), under a lease that a Heartbeat keeps.
// client must have room for them, and stays the caller's to close. It fails if
// reg has metrics of these names.
func NewChecker(store *targets.Store, held *lease.Lease, client *outbound.Client, workers int, log *slog.Logger, reg prometheus.Registerer) (jobs.Service, error) {
	m, err := newMetrics(reg, store, log)
	if err != nil {
		return nil, err
	}
	return jobs.NewBackground(func(taking, working context.Context) {
		q := &queue{store: store, client: client, log: log, metrics: m}
		d := dispatch.New(q, dispatch.Options{
			Name: "checks", Lease: held, Workers: workers, Log: log, Metrics: m.Metrics,
			MaxPutOff: maxPutOff, Wanted: store.Wanted(),
		})
		_ = d.Run(taking, working) // it has an error only if it drains
	}), nil
}

// queue is the dispatch.Queue of due targets.
type queue struct {
	store   *targets.Store
	client  *outbound.Client
	log     *slog.Logger
	metrics *metrics

	// Of the last claim, to notice what makes the schedule wrong.
	holder lease.ID
	at     models.Time
}

// check is a claimed target on its way to a result.
type check struct {
	targets.Target
	began models.Time   // its first attempt; zero: there was none
	start time.Time     // the same by the monotonic clock
	made  int           // attempts
	found finding       // of the last attempt that sent a request
	took  time.Duration // all attempts, with the pauses between them
}

// herdAfter is how late checks are as an instance starts that it spreads them
// over an interval, as after a time without checks. Later only what is late by a
// whole CHECK_INTERVAL is spread: a moment's trouble with the store puts nothing off.
const herdAfter = time.Second

// maxPutOff is for how long a target is released at most because its host has too
// many in memory.
const maxPutOff = time.Minute

// Claim implements dispatch.Queue. First it puts the schedule in order if the lease
// is new, or if the clock was set back, since what was planned is too far ahead then.
func (q *queue) Claim(ctx context.Context, holder lease.ID, n int) ([]*check, time.Duration, error) {
	now := q.store.Now()
	if holder != q.holder || now.Before(q.at.Time) {
		late := q.store.Options().CheckInterval
		if q.holder == "" {
			late = herdAfter
		}
		moved, err := q.store.Spread(ctx, holder, late)
		if err != nil {
			return nil, 0, err
		}
		if moved > 0 {
			q.log.Info("overdue checks spread over an interval", "targets", moved)
		}
	}
	q.holder, q.at = holder, now
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
