// Package links runs the background jobs of saved links: rechecks and bulk refreshes. Package models/links interprets
// the results, and package jobs/dispatch limits concurrency.
package links

import (
	"context"
	"log/slog"
	"time"

	"linkwatch/jobs"
	"linkwatch/jobs/dispatch"
	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/links"
)

const (
	// maxDelay is the longest time for which a link is released because its host has too many links in memory.
	maxDelay = 10 * time.Minute
	// faultDelay is the delay before a retry after an internal error.
	faultDelay = time.Minute
	timedOut   = "timed out" // text of outbound.KindTimeout
)

// queue implements dispatch.Queue with methods of the store. C is the type of claimed links, D that of results.
type queue[C, D any] struct {
	store *links.Store
	log   *slog.Logger

	claim func(ctx context.Context, holder lease.ID, n int) (claimed []C, next models.Time, err error)
	// request requests the page. If wait > 0, there is no result: try again after wait.
	request       func(ctx context.Context, claimed C) (result D, wait time.Duration, err error)
	finish        func(ctx context.Context, done ...D) error
	release       func(ctx context.Context, items ...lease.Released[C]) error
	releaseOthers func(ctx context.Context, holder lease.ID, keep ...C) error
	// link returns the link and when it was due.
	link func(claimed C) (l links.Link, due models.Time)
}

// item is a claimed link, with its result when it is done.
type item[C, D any] struct {
	claimed C
	result  D
}

func (q *queue[C, D]) run(taking, working context.Context, o dispatch.Options) error {
	o.Log, o.Metrics, o.MaxDelay = q.log, dispatch.NewMetrics(), maxDelay
	return dispatch.New(q, o).Run(taking, working)
}

// Claim implements dispatch.Queue.
func (q *queue[C, D]) Claim(ctx context.Context, holder lease.ID, n int) ([]*item[C, D], time.Duration, error) {
	claimed, next, err := q.claim(ctx, holder, n)
	if err != nil {
		return nil, 0, err
	}
	items := make([]*item[C, D], len(claimed))
	for i, c := range claimed {
		items[i] = &item[C, D]{claimed: c}
	}
	if next.IsZero() {
		return items, -1, nil
	}
	return items, max(0, next.Sub(q.store.Now().Time)), nil
}

// Try implements dispatch.Queue.
func (q *queue[C, D]) Try(ctx context.Context, i *item[C, D]) dispatch.Outcome {
	result, wait, err := q.request(ctx, i.claimed)
	switch {
	case ctx.Err() != nil: // the program is stopping
		return dispatch.Outcome{Step: dispatch.Release}
	case err != nil:
		jobs.LogError(q.log, "link not fetched", err)
		return dispatch.Outcome{Step: dispatch.Release, After: faultDelay}
	case wait > 0:
		return dispatch.Outcome{Step: dispatch.Release, After: wait}
	}
	i.result = result
	return dispatch.Outcome{}
}

// Finish implements dispatch.Queue.
func (q *queue[C, D]) Finish(ctx context.Context, items []*item[C, D]) error {
	done := make([]D, len(items))
	for i, it := range items {
		done[i] = it.result
	}
	return q.finish(ctx, done...)
}

// Release implements dispatch.Queue.
func (q *queue[C, D]) Release(ctx context.Context, items []lease.Released[*item[C, D]]) error {
	back := make([]lease.Released[C], len(items))
	for i, it := range items {
		back[i] = lease.Released[C]{Item: it.Item.claimed, After: it.After}
	}
	return q.release(ctx, back...)
}

// ReleaseOthers implements dispatch.Queue.
func (q *queue[C, D]) ReleaseOthers(ctx context.Context, holder lease.ID, items []*item[C, D]) error {
	keep := make([]C, len(items))
	for i, it := range items {
		keep[i] = it.claimed
	}
	return q.releaseOthers(ctx, holder, keep...)
}

// Host implements dispatch.Queue.
func (q *queue[C, D]) Host(i *item[C, D]) string {
	l, _ := q.link(i.claimed)
	return models.HostPort(l.CanonicalURL)
}

// Due implements dispatch.Queue.
func (q *queue[C, D]) Due(i *item[C, D]) time.Time {
	_, due := q.link(i.claimed)
	return due.Time
}

// Slow implements dispatch.Queue.
func (q *queue[C, D]) Slow(i *item[C, D]) bool {
	l, _ := q.link(i.claimed)
	return l.LastError == timedOut
}

// Tried implements dispatch.Queue.
func (q *queue[C, D]) Tried(i *item[C, D]) time.Time {
	l, _ := q.link(i.claimed)
	return l.LastCheckedAt.Time
}
