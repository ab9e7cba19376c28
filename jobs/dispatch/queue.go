// Package dispatch hands claimed items, such as targets to check, to a fixed number
// of workers: at most one item of each host at a time, and so that hosts that are
// slow or hang do not delay the others. All queues of the program run on it.
package dispatch

import (
	"context"
	"time"

	"linkwatch/models/lease"
)

// Queue is a queue in the database, and what is done with an item of it. T is a
// claimed item; a pointer, if attempts remember something in it. Try is called by
// workers; only one other method runs at a time.
type Queue[T any] interface {
	// Claim takes up to n items that are due under a lease. wait is how long it is
	// until the first of the others is due; negative: none is.
	Claim(ctx context.Context, holder lease.ID, n int) (items []T, wait time.Duration, err error)
	// Try makes one attempt. If ctx ends meanwhile it returns at once, with Release
	// unless the item is done all the same.
	Try(ctx context.Context, item T) Outcome
	// Finish stores items that are done and frees their claims, in one transaction.
	// Items whose claim was lost are passed over.
	Finish(ctx context.Context, items []T) error
	// Release frees items to be claimed again, each after a time of its own.
	Release(ctx context.Context, items []lease.Released[T]) error
	// ReleaseOthers frees all that is claimed under a lease, but for the items of keep.
	ReleaseOthers(ctx context.Context, holder lease.ID, keep []T) error

	Host(item T) string   // the host that is asked, with its port
	Due(item T) time.Time // items of a host go in this order
	Slow(item T) bool     // whether the host was slow when the item was last tried
	// Tried is when the item was last tried; zero: never.
	Tried(item T) time.Time
}

// Outcome is what an attempt leads to. The zero value is: the item is done.
type Outcome struct {
	Step     Step
	After    time.Duration // of Retry and Release
	TimedOut bool          // so the host is slow, however soon it was
}

// Step is what becomes of an item after an attempt.
type Step int

// The steps.
const (
	Finish  Step = iota // it is done
	Retry               // another attempt after a pause, in which nothing else of its host is tried
	Release             // it was not tried, and is to be claimed again
)
