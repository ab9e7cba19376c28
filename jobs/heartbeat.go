package jobs

import (
	"context"
	"log/slog"
	"time"

	"linkwatch/models/lease"
)

// leaveTime is the time to end the lease after the grace period is over.
const leaveTime = 300 * time.Millisecond

// NewHeartbeat returns the service that renews the lease of this instance. Start it before all services that
// claim, and stop it after them: stopping ends the lease and releases all claims under it.
func NewHeartbeat(instance *lease.Lease, log *slog.Logger) Service {
	return NewBackground(func(taking, working context.Context) {
		for failed := false; ; {
			err := beatOnce(taking, instance)
			if err != nil && !failed && taking.Err() == nil {
				LogError(log, "heartbeat failed", err)
			}
			failed = err != nil
			select {
			// Counted from the end of the last heartbeat: other instances must not be
			// checked more often.
			case <-time.After(lease.Heartbeat):
				continue
			case <-taking.Done():
			}
			if err := leave(working, instance); err != nil {
				LogError(log, "lease not ended: other instances release its claims", err)
			}
			return
		}
	})
}

// leave ends the lease. It may run for leaveTime after working has ended.
func leave(working context.Context, instance *lease.Lease) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(working))
	defer cancel()
	defer context.AfterFunc(working, func() { time.AfterFunc(leaveTime, cancel) })()
	return instance.End(ctx)
}

// beatOnce renews the lease. It times out early enough for the next attempts.
func beatOnce(ctx context.Context, instance *lease.Lease) error {
	ctx, cancel := context.WithTimeout(ctx, lease.Duration)
	defer cancel()
	return instance.Beat(ctx)
}
