// Package dispatch sends claimed items, such as targets to check, to a fixed number
// of workers, with a limit of items in progress per host. Hosts that are slow or hang
// do not delay others, and neither do items that hang delay those of their host for long. All queues of Linkwatch use it.
package dispatch

import (
	"context"
	"time"

	"linkwatch/models/lease"
)

// Queue is a queue in the database, with the work to do for its items. T is a claimed item, or a pointer to one if
// attempts store state in it. Workers call Try concurrently. Of the other methods only one runs at a time.
type Queue[T any] interface {
	// Claim claims up to n due items under a lease. wait is the time until the next
	// item is due; negative if there is none.
	Claim(ctx context.Context, holder lease.ID, n int) (items []T, wait time.Duration, err error)
	// Try makes one attempt. If ctx ends it returns at once, with Release unless the
	// item is done.
	Try(ctx context.Context, item T) Outcome
	// Finish stores finished items and releases their claims in one transaction.
	// Items whose claim was lost are skipped.
	Finish(ctx context.Context, items []T) error
	// Release releases items to be claimed again, each after its own delay.
	Release(ctx context.Context, items []lease.Released[T]) error
	// ReleaseOthers releases all items claimed under a lease, except those in keep.
	ReleaseOthers(ctx context.Context, holder lease.ID, keep []T) error

	Host(item T) string   // the host of its requests, with the port
	Due(item T) time.Time // the order of the items of a host
	Slow(item T) bool     // whether the item was slow when it was last tried
	// Tried is when the item was last tried; zero: never.
	Tried(item T) time.Time
}

// Prioritizer is a Queue in which some items precede all others of their host that wait.
type Prioritizer[T any] interface {
	// First reports whether an item does, now: it may change while the item waits.
	First(item T) bool
}

// Outcome is the result of an attempt. The zero value means that the item is done.
type Outcome struct {
	Step     Step
	After    time.Duration // the delay of Retry and Release
	TimedOut bool          // the host counts as slow, however short the attempt was
}

// Step is the next step for an item after an attempt.
type Step int

// The steps.
const (
	Finish  Step = iota // it is done
	Retry               // another attempt after a delay, in which it counts as in progress
	Release             // it was not tried and is claimed again
)
